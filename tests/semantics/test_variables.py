"""docs/semantics.md, section C: variables and automatic watching."""

import numpy as np
import pytest

from .helpers import same


def refs(variables):
    return [v.ref() for v in variables]


def test_C1_reading_a_trainable_variable_is_enough(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    same(tape.gradient(y, v), [2.0, 4.0])
    assert refs(tape.watched_variables()) == [v.ref()]


def test_C2_an_untrainable_variable_is_not_watched(tf):
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.watched_variables() == ()
    assert tape.gradient(y, v) is None


def test_C3_watch_works_for_an_untrainable_variable(tf):
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = v * v
    assert refs(tape.watched_variables()) == [v.ref()]
    same(tape.gradient(y, v), 6.0)


def test_C4_without_automatic_watching_only_the_given_ones(tf):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * w
    assert refs(tape.watched_variables()) == [v.ref()]
    gv, gw = tape.gradient(y, [v, w])
    same(gv, 4.0)
    assert gw is None


def test_C5_arithmetic_gives_a_plain_tensor(tf):
    v = tf.Variable(3.0)
    outside = v + 1.0
    assert not isinstance(outside, tf.Variable)
    with tf.GradientTape(persistent=True) as tape:
        y = outside * outside
    assert tape.gradient(y, v) is None
    assert tape.gradient(y, outside) is None
    assert tape.watched_variables() == ()


READS = {
    "value": lambda tf, v: v.value(),
    "read_value": lambda tf, v: v.read_value(),
    "convert": lambda tf, v: tf.convert_to_tensor(v),
    "identity": lambda tf, v: tf.identity(v),
    "index": lambda tf, v: v[:],
    "add": lambda tf, v: v + 0.0,
    "radd": lambda tf, v: 0.0 + v,
    "sub": lambda tf, v: v - 0.0,
    "mul": lambda tf, v: v * 1.0,
    "div": lambda tf, v: v / 1.0,
    "pow": lambda tf, v: v**1.0,
    "neg": lambda tf, v: tf.negative(-v),
    "function": lambda tf, v: tf.multiply(v, 1.0),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_C6_every_kind_of_read_is_recorded(tf, read):
    v = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        x = read(tf, v)
        y = x * x
    assert isinstance(x, tf.Tensor)
    assert refs(tape.watched_variables()) == [v.ref()]
    same(tape.gradient(y, v), [4.0, 6.0])


def test_C6_gradients_of_all_reads_add_up(tf):
    v = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.add_n([read(tf, v) for read in READS.values()])
    same(tape.gradient(y, v), [float(len(READS))] * 2)


def test_C7_watched_variables_are_ordered_by_creation(tf):
    a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        c * b * a
    watched = tape.watched_variables()
    assert isinstance(watched, tuple)
    assert refs(watched) == refs([a, b, c])


def test_C8_watched_variables_may_be_empty(tf):
    v = tf.Variable(1.0)
    assert tf.GradientTape().watched_variables() == ()
    with tf.GradientTape() as tape:
        assert tape.watched_variables() == ()
        v * 1.0
        assert refs(tape.watched_variables()) == [v.ref()]


def test_C9_watched_variables_answers_after_gradient(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    assert refs(tape.watched_variables()) == [v.ref()]


@pytest.mark.parametrize(
    "touch", [lambda v: v.numpy(), float, lambda v: v.assign(2.0)], ids=["numpy", "float", "assign"]
)
def test_C10_reading_as_a_number_and_assigning_count_as_access(tf, touch):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        touch(v)
    assert refs(tape.watched_variables()) == [v.ref()]


def test_C11_an_integer_variable_is_listed_without_gradient(tf):
    n = tf.Variable(3)
    with tf.GradientTape() as tape:
        y = tf.cast(n, tf.float32) * 2.0
    assert refs(tape.watched_variables()) == [n.ref()]
    assert tape.gradient(y, n) is None


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (2, 1), (2, 3)])
def test_C12_the_gradient_has_shape_and_dtype_of_the_source(tf, shape, dtype):
    v = tf.Variable(np.ones(shape), dtype=dtype)
    other = tf.ones((2, 3), dtype=dtype)
    with tf.GradientTape() as tape:
        y = v * other + other / v
    g = tape.gradient(y, v)
    assert tuple(g.shape) == shape
    assert g.dtype == v.dtype == tf.as_dtype(dtype)
    same(g, np.zeros(shape))


def test_C13_the_gradient_uses_the_values_seen_while_recording(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    v.assign(100.0)
    same(tape.gradient(y, v), 6.0)
    same(y, 9.0)


def test_C13_also_for_vectors_changed_in_place(tf):
    v = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = v * v
    v[0].assign(100.0)
    v.assign_add([1.0, 1.0])
    v.assign_sub([5.0, 5.0])
    same(tape.gradient(y, v), [6.0, 8.0])


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_C14_assignments_cut_the_chain(tf, method):
    x, v = tf.constant(3.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        getattr(v, method)(x * x)
        y = v * 2.0
    gx, gv = tape.gradient(y, [x, v])
    assert gx is None
    same(gv, 2.0)


def test_C15_reads_use_the_value_of_their_moment(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        before = v * v
        v.assign(10.0)
        after = v * v
        y = before + after
    same(y, 109.0)
    same(tape.gradient(y, v), 26.0)


def test_C16_the_result_of_assign_add_is_the_new_value(tf):
    v, x = tf.Variable(3.0), tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        new = v.assign_add(x)
        y = new * new
    same(y, 49.0)
    gv, gx = tape.gradient(y, [v, x])
    same(gv, 14.0)
    assert gx is None


def test_C17_a_variable_made_from_a_variable_is_a_copy(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        copy = tf.Variable(v)
        y = copy * copy
    gv, gcopy = tape.gradient(y, [v, copy])
    assert gv is None
    same(gcopy, 6.0)
    copy.assign(5.0)
    same(v.numpy(), 3.0)


def test_C18_a_read_without_influence_has_no_gradient(tf):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        y = v * v
        w * 2.0
    assert refs(tape.watched_variables()) == refs([v, w])
    gv, gw = tape.gradient(y, [v, w])
    same(gv, 6.0)
    assert gw is None


def test_C19_watching_the_tensor_read_from_a_variable(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        x = tf.convert_to_tensor(v)
        tape.watch(x)
        y = x * x
    gx, gv = tape.gradient(y, [x, v])
    same(gx, 6.0)
    assert gv is None


def test_C20_a_variable_may_be_a_target(tf):
    v, w = tf.Variable([3.0, 4.0]), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([v, w])
    same(tape.gradient(v, v), [1.0, 1.0])
    assert tape.gradient(v, w) is None


def test_C21_python_max_picks_one_variable(tf):
    small, big = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        best = max(small, big)
    assert best is big
    gsmall, gbig = tape.gradient(best, [small, big])
    assert gsmall is None
    same(gbig, 1.0)


def test_C22_augmented_assignment_points_at_assign_add(tf):
    v = tf.Variable(3.0)
    with pytest.raises(RuntimeError, match="assign_add"):
        v += 1.0
    same(v.numpy(), 3.0)


def test_C22_augmented_assignment_rebinds_a_tensor(tf):
    x = kept = tf.constant(3.0)
    x += 1.0
    same(x, 4.0)
    same(kept, 3.0)


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_C23_assign_converts_only_python_numbers(tf, method):
    v = tf.Variable([1.0, 2.0])
    assign = getattr(v, method)
    with pytest.raises(ValueError):
        assign(tf.constant([1.0, 2.0], tf.float64))
    with pytest.raises(ValueError):
        assign(tf.constant([1, 2]))
    same(v.numpy(), [1.0, 2.0])
    scalar = tf.Variable(5.0)
    getattr(scalar, method)(5)
    assert scalar.dtype == tf.float32
    same(scalar.numpy(), {"assign": 5.0, "assign_add": 10.0, "assign_sub": 0.0}[method])


@pytest.mark.parametrize("value", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], 1.0])
def test_C23_assign_refuses_another_shape(tf, value):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError):
        v.assign(value)
    same(v.numpy(), [1.0, 2.0])


@pytest.mark.parametrize("method", ["assign_add", "assign_sub"])
def test_C24_assign_add_does_not_broadcast(tf, method):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        getattr(v, method)(1.0)
    same(v.numpy(), [1.0, 2.0])


def test_C25_assigning_to_a_slice_writes_into_the_variable(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[0].assign([5.0, 6.0])
    v[1, 1].assign(tf.constant(9.0))
    v[:, 0].assign([7.0, 8.0])
    same(v.numpy(), [[7.0, 6.0], [8.0, 9.0]])


@pytest.mark.parametrize("make", ["constant", "Variable"])
def test_C26_tensors_and_variables_are_unhashable_but_have_refs(tf, make):
    x, twin = getattr(tf, make)(3.0), getattr(tf, make)(3.0)
    with pytest.raises(TypeError):
        hash(x)
    with pytest.raises(TypeError):
        dict.fromkeys([x])
    assert x.ref() == x.ref() and hash(x.ref()) == hash(x.ref())
    assert x.ref() != twin.ref()
    assert x.ref().deref() is x
    assert {x.ref(): "x", twin.ref(): "twin"}[x.ref()] == "x"


def test_C27_a_variable_describes_itself(tf):
    w = tf.Variable([1.0, 2.0], name="w")
    assert w.name == "w:0"
    assert tf.Variable(1.0).name == "Variable:0"
    assert w.shape == (2,) and isinstance(w.shape, tf.TensorShape)
    assert w.dtype == tf.float32
    assert w.trainable is True
    assert tf.Variable(1.0, trainable=False).trainable is False
    assert isinstance(w.numpy(), np.ndarray)
    same(w.numpy(), [1.0, 2.0])
    assert repr(w).startswith("<tf.Variable 'w:0' shape=(2,) dtype=float32")
