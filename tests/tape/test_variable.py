"""What variables promise beside their gradients: making, reading, assigning, copying."""

import copy
import pickle

import numpy as np
import pytest
from semantics.helpers import same

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)
gradtape_only = pytest.mark.gradtape_only


# Making one


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "int32"),
        (1.5, "float32"),
        (True, "bool"),
        (1j, "complex128"),
        ([1.0, 2.0], "float32"),
        (np.float64(2.0), "float64"),
        (np.arange(3), "int64"),
    ],
)
def test_the_dtype_is_that_of_the_initial_value(tf, value, dtype):
    v = tf.Variable(value)
    assert v.dtype == getattr(tf, dtype)
    assert v.shape == np.shape(value)
    same(v, value)


def test_a_dtype_may_be_given(tf):
    v = tf.Variable([1, 2], dtype=tf.float64)
    assert v.dtype == tf.float64
    same(v, [1.0, 2.0])


def test_an_initial_value_may_be_a_function(tf):
    same(tf.Variable(lambda: tf.ones([2]) * 3.0), [3.0, 3.0])


def test_the_array_of_the_initial_value_may_be_changed_afterwards(tf):
    array = np.ones(3, np.float32)
    v = tf.Variable(array)
    array[:] = 9.0
    same(v, [1.0, 1.0, 1.0])


def test_an_array_that_was_assigned_may_be_changed_afterwards(tf):
    array, v = np.ones(3, np.float32), tf.Variable(tf.zeros([3]))
    v.assign(array)
    array[:] = 9.0
    same(v, [1.0, 1.0, 1.0])


def test_names(tf):
    with tf.name_scope("model"), tf.name_scope("dense"):
        assert tf.Variable(1.0, name="w").name == "model/dense/w:0"
    assert tf.Variable(1.0, name="w").name == "w:0"


@pytest.mark.parametrize(("given", "trainable"), [(None, True), (True, True), (False, False)])
def test_trainable(tf, given, trainable):
    assert tf.Variable(1.0, trainable=given).trainable is trainable


def test_a_shape_that_is_left_open(tf):
    v = tf.Variable(ROWS, shape=tf.TensorShape([None, 3]))
    assert v.shape.as_list() == [None, 3]
    v.assign(ROWS[:2])
    same(v, ROWS[:2])
    with pytest.raises(ValueError):
        v.assign(ROWS[:, :2])
    same(v, ROWS[:2])


def test_what_is_kept_for_others_to_use(tf):
    v = tf.Variable(ROWS, constraint=tf.abs)
    assert v.constraint is tf.abs
    assert v.device.endswith("CPU:0")
    assert v.get_shape() == [4, 3]


# Reading


@gradtape_only
def test_tapes_know_a_read_by_the_key_of_the_variable(tf):
    v = tf.Variable([1.0, 2.0])
    assert v._as_tensor()._key == v._key
    with tf.GradientTape() as tape:
        v * v
    assert v._key in tape.tracked


def test_the_gradient_is_the_sum_over_reads_each_with_its_value(tf):
    v, x = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = v * v
        v.assign(x * x)
        y = y + 3.0 * v
    same(tape.gradient(y, v), 4.0 + 3.0)
    assert tape.gradient(y, x) is None


def test_a_tensor_that_was_read_keeps_its_value(tf):
    v = tf.Variable([1.0, 2.0])
    read = [v.value(), v.read_value(), tf.convert_to_tensor(v), v[:], tf.identity(v), v.numpy()]
    v.assign_add([1.0, 1.0])
    v.scatter_nd_update([[0]], [7.0])
    for tensor in read:
        same(tensor, [1.0, 2.0])
    same(v, [7.0, 3.0])


def test_numpy_gives_an_array_of_your_own(tf):
    v = tf.Variable([1.0, 2.0])
    array = v.numpy()
    array[:] = 9.0
    same(v, [1.0, 2.0])


@gradtape_only
def test_asarray_gives_a_view_that_cannot_be_written(tf):
    v = tf.Variable([1.0, 2.0])
    array = np.asarray(v)
    with pytest.raises(ValueError, match="read-only"):
        array[:] = 9.0
    assert np.asarray(v, np.float64).dtype == np.float64


def test_as_numbers(tf):
    assert float(tf.Variable(2.5)) == 2.5
    assert int(tf.Variable(2.5)) == 2
    assert complex(tf.Variable(2j)) == 2j
    assert bool(tf.Variable(1.0)) and not bool(tf.Variable(0.0))


@gradtape_only
def test_as_a_sequence_and_an_index(tf):
    assert [10, 20, 30][tf.Variable(2)] == 30
    v = tf.Variable(ROWS)
    assert len(v) == 4 and v.ndim == 2
    for row, expected in zip(v, ROWS, strict=True):
        same(row, expected)
    same(v.eval(), ROWS)


@pytest.mark.parametrize("key", [0, -1, slice(1, 3), (slice(None), 1), (Ellipsis, 0), (2, 1)])
def test_parts(tf, key):
    same(tf.Variable(ROWS)[key], ROWS[key])


def test_rows_and_places(tf):
    v = tf.Variable(ROWS)
    same(v.sparse_read([3, 0, 3]), ROWS[[3, 0, 3]])
    same(v.gather_nd([[3, 1], [0, 2]]), ROWS[[3, 0], [1, 2]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v.sparse_read([3, 0, 3]) ** 2)
    assert isinstance(tape.gradient(y, v), tf.IndexedSlices)


def test_operators(tf):
    v = tf.Variable([2.0, -3.0])
    same(v + 1.0, [3.0, -2.0])
    same(1.0 - v, [-1.0, 4.0])
    same(v * v / 2.0, [2.0, 4.5])
    same(-v, [-2.0, 3.0])
    same(abs(v) ** 2, [4.0, 9.0])
    same(v // 2.0, [1.0, -2.0])
    same(v % 2.0, [0.0, 1.0])
    assert np.asarray(v > 0.0).tolist() == [True, False]
    assert np.asarray(v == v).tolist() == [True, True]
    same(np.ones(2, np.float32) * v, [2.0, -3.0])
    m = tf.Variable(ROWS)
    same(m @ tf.ones([3, 1]), ROWS.sum(1, keepdims=True))


# Assigning


def test_every_assignment_returns_the_variable(tf):
    v = tf.Variable([1.0, 2.0])
    same(v.assign([5.0, 6.0]), [5.0, 6.0])
    same(v.assign_add([1.0, 1.0]), [6.0, 7.0])
    same(v.assign_sub([2.0, 2.0]), [4.0, 5.0])
    same(v.assign(v * 2.0), [8.0, 10.0])
    same(v, [8.0, 10.0])


def test_the_value_of_another_variable(tf):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([5.0, 6.0])
    v.assign(w)
    w.assign_add([1.0, 1.0])
    same(v, [5.0, 6.0])
    v.assign_sub(w)
    same(v, [-1.0, -1.0])


SCATTERS = {
    "scatter_add": np.add,
    "scatter_sub": np.subtract,
    "scatter_mul": np.multiply,
    "scatter_div": np.divide,
    "scatter_max": np.maximum,
    "scatter_min": np.minimum,
}


@pytest.mark.parametrize("method", [*SCATTERS, "scatter_update"])
@pytest.mark.parametrize("compiled", [False, True])
def test_scattering_rows(tf, method, compiled):
    indices, updates = np.array([2, 0]), np.array([[9, 5, 1], [2, 3, 4]], np.float32)
    v = tf.Variable(ROWS)

    def scatter():
        getattr(v, method)(tf.IndexedSlices(tf.constant(updates), tf.constant(indices)))

    (tf.function(scatter) if compiled else scatter)()
    expected = ROWS.copy()
    if method == "scatter_update":
        expected[indices] = updates
    else:
        SCATTERS[method].at(expected, indices, updates)
    same(v, expected)


@pytest.mark.parametrize(("method", "expected"), [("scatter_add", 7.0), ("scatter_sub", -5.0)])
def test_repeated_rows_add_up(tf, method, expected):
    v = tf.Variable([[1.0], [1.0]])
    getattr(v, method)(tf.IndexedSlices(tf.constant([[2.0], [4.0]]), tf.constant([1, 1])))
    same(v, [[1.0], [expected]])


@pytest.mark.parametrize(
    ("method", "function"), [("scatter_nd_add", np.add), ("scatter_nd_sub", np.subtract)]
)
def test_scattering_numbers(tf, method, function):
    v = tf.Variable(ROWS)
    getattr(v, method)([[3, 1], [0, 2], [3, 1]], [10.0, 20.0, 30.0])
    expected = ROWS.copy()
    function.at(expected, ([3, 0, 3], [1, 2, 1]), [10.0, 20.0, 30.0])
    same(v, expected)
    v.scatter_nd_update([[1]], [[7.0, 8.0, 9.0]])
    same(v[1], [7.0, 8.0, 9.0])


def test_a_part_is_assigned(tf):
    v = tf.Variable(ROWS)
    v[1:3, 0].assign([7.0, 8.0])
    v[-1].assign(tf.zeros([3]))
    expected = ROWS.copy()
    expected[1:3, 0], expected[-1] = [7.0, 8.0], 0.0
    same(v, expected)


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_an_assignment_that_fails_changes_nothing(tf, method):
    v = tf.Variable([1.0, 2.0])
    for value in (tf.constant([1, 2]), [1.0, 2.0, 3.0]):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            getattr(v, method)(value)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        v.scatter_nd_update([[5]], [1.0])
    same(v, [1.0, 2.0])


# As a whole


def test_a_copy_shares_the_value(tf):
    v = tf.Variable([1.0, 2.0])
    shallow = copy.copy(v)
    v.assign([3.0, 4.0])
    same(shallow, [3.0, 4.0])


def test_a_deep_copy_is_another_variable(tf):
    v = tf.Variable([1.0, 2.0], name="w", trainable=False)
    first, second = copy.deepcopy([v, v])
    assert first is second
    v.assign([3.0, 4.0])
    same(first, [1.0, 2.0])
    assert not first.trainable and first.shape == [2] and first.name == "w:0"
    with tf.name_scope("copies"):
        assert copy.deepcopy(v).name == "copies/w:0"


@gradtape_only
def test_through_a_file(tf):
    v = tf.Variable(ROWS, name="w", trainable=False, shape=[None, 3])
    with tf.name_scope("elsewhere"):
        other = pickle.loads(pickle.dumps(v))
    assert (other.name, other.trainable) == ("w:0", False)
    assert other.shape.as_list() == [None, 3]
    other.assign(ROWS[:1])
    same(v, ROWS)
    assert other.ref() != v.ref()


@gradtape_only
def test_how_it_is_shown(tf):
    v = tf.Variable([0.5, 1.5], name="w")
    text = "<tf.Variable 'w:0' shape=(2,) dtype=float32, numpy=array([0.5, 1.5], dtype=float32)>"
    assert repr(v) == text
    seen = []

    @tf.function
    def double():
        v.assign(2.0 * v)
        seen.append(repr(v))

    double()
    assert seen[0] == "<tf.Variable 'w:0' shape=(2,) dtype=float32, symbolic>"
    assert repr(v) == text.replace("0.5, 1.5", "1., 3.")


# With compiled programs


@pytest.fixture
def doubled(tf):
    """A variable whose value a compiled program left, and that no one has read since."""
    v = tf.Variable(ROWS)

    @tf.function
    def double():
        v.assign(2.0 * v)

    double()
    double()
    return v


@gradtape_only
def test_what_it_is_can_be_asked_without_moving_its_value(doubled, tf):
    with tf.GradientTape() as tape:
        tape.watch(doubled)
    assert (doubled.shape, doubled.dtype, doubled.ndim) == ([4, 3], tf.float32, 2)
    assert len(doubled) == 4 and doubled.device.endswith("CPU:0")
    assert doubled._cell.host is None


@gradtape_only
def test_a_value_is_not_fetched_to_be_replaced(doubled, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(type(doubled._cell), "_fetch", lambda cell: pytest.fail("fetched"))
        doubled.assign(ROWS)
    same(doubled, ROWS)


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (lambda tf, v: v.value(), ROWS * 4),
        (lambda tf, v: v.numpy(), ROWS * 4),
        (lambda tf, v: v[1], ROWS[1] * 4),
        (lambda tf, v: v + 1.0, ROWS * 4 + 1),
        (lambda tf, v: v.assign_add(tf.ones([4, 3])), ROWS * 4 + 1),
        (lambda tf, v: v.assign(tf.ones([4, 3])), np.ones((4, 3))),
        (lambda tf, v: copy.deepcopy(v), ROWS * 4),
    ],
    ids=["value", "numpy", "a part", "an operator", "assign_add", "assign", "deepcopy"],
)
def test_eager_code_after_a_program(doubled, tf, use, expected):
    same(use(tf, doubled), expected)


def test_one_read_in_a_step_leaves_the_values_right(tf):
    weights = [tf.Variable(np.full(3, float(i), np.float32)) for i in range(4)]

    @tf.function
    def step():
        for w in weights:
            w.assign_add(tf.ones([3]))

    seen = []
    for _ in range(5):
        step()
        seen.append(weights[2].value())
    for i, value in enumerate(seen):
        same(value, np.full(3, 3.0 + i))
    for i, w in enumerate(weights):
        same(w, np.full(3, 5.0 + i))
