"""What an op refuses eagerly a compiled function refuses: same class, same message, no change."""

import numpy as np
import pytest

import gradtape as tf

SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
ROW = [1.0, 2.0, 3.0, 4.0, 5.0]

REFUSED = {
    "floordiv": (lambda x, y: x // y, [1, 2], [0, 1]),
    "floormod": (lambda x, y: x % y, [1, 2], [0, 1]),
    "truncatediv": (tf.truncatediv, [1, 2], [0, 1]),
    "truncatemod": (tf.truncatemod, [1, 2], [0, 1]),
    "floordiv by a constant": (lambda x: x // 0, [1, 2]),
    "floormod by a constant": (lambda x: x % [0, 1], [1, 2]),
    "truncatediv by zeros made here": (lambda x: tf.truncatediv(x, tf.zeros_like(x)), [1, 2]),
    "pow": (lambda x, y: x**y, [1, 2], [-1, 1]),
    "invert_permutation": (tf.math.invert_permutation, [0, 2, 2]),
    "invert_permutation, part": (lambda x: tf.math.invert_permutation(x[1:]), [0, 2, 1]),
    "inv": (tf.linalg.inv, SINGULAR),
    "inv of NaN": (tf.linalg.inv, [[np.nan]]),
    "solve": (tf.linalg.solve, SINGULAR, [[1.0], [1.0]]),
    "lu": (tf.linalg.lu, SINGULAR),
    "eig": (tf.linalg.eig, [[np.nan]]),
    "banded_triangular_solve": (tf.linalg.banded_triangular_solve, [[0.0], [1.0]], [[1.0]]),
    "gather": (tf.gather, ROW, [0, 7]),
    "gather, negative": (tf.gather, ROW, [-1]),
    "gather, computed": (lambda x, i: tf.gather(x, i * 3), ROW, [0, 2]),
    "gather, part": (lambda x, i: tf.gather(x, i[1:]), ROW, [0, 7]),
    "gather, axis": (lambda x, i: tf.gather([x, x], i, axis=1), ROW, [7]),
    "gather, batch": (lambda x, i: tf.gather([x], [i], batch_dims=1), ROW, [7]),
    "gather_nd": (tf.gather_nd, ROW, [[7]]),
    "scatter_nd": (lambda i: tf.scatter_nd(i, [1.0], [5]), [[7]]),
    "update": (lambda x, i: tf.tensor_scatter_nd_update(x, i, [1.0]), ROW, [[7]]),
    "x[i]": (lambda x, i: x[i], ROW, 7),
    "x[-i]": (lambda x, i: x[i], ROW, -6),
    "x[constant]": (lambda x: x[tf.constant(7)], ROW),
    "x[:, i]": (lambda x, i: tf.reshape(x, [1, 5])[:, i], ROW, 5),
    "embedding_lookup": (tf.nn.embedding_lookup, [ROW], [1]),
    "segment": (lambda x, i: tf.math.unsorted_segment_sum(x, i, 3), ROW, [0, 1, 2, 3, 0]),
    "cross entropy": (
        lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(i, x), [ROW], [7]
    ),
    "reverse_sequence": (lambda x, n: tf.reverse_sequence(x, n, seq_axis=1), [ROW], [7]),
    "histogram": (lambda x: tf.histogram_fixed_width(x, [0.0, 1.0], 2), [0.5, np.nan]),
    "range of a histogram": (tf.histogram_fixed_width, ROW, [1.0, 0.0]),
    "check_numerics": (lambda x: tf.debugging.check_numerics(x, "here"), [np.nan]),
    "assert_less": (lambda x: tf.debugging.assert_less(x, 2.0), ROW),
}  # fmt: skip


def refusal(function, *arguments):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        function(*map(tf.constant, arguments))
    return caught.value


@pytest.mark.parametrize("name", REFUSED)
def test_a_compiled_function_refuses_what_eager_code_refuses(name):
    function, *arguments = REFUSED[name]
    eager = refusal(function, *arguments)
    compiled = refusal(tf.function(lambda *xs: function(*xs)), *arguments)
    assert type(compiled) is type(eager)
    assert str(compiled) == str(eager)
    assert any(__file__ in note for note in compiled.__notes__)


def test_cast_to_integers_keeps_the_bits_that_eager_code_keeps():
    values = tf.constant([300.0, -5.0, 3e10, -3e10, np.nan, np.inf, -np.inf, 7.9])
    for dtype in (tf.uint8, tf.int8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64):
        eager = tf.cast(values, dtype)
        compiled = tf.function(lambda x, dtype=dtype: tf.cast(x, dtype))(values)
        np.testing.assert_array_equal(compiled, eager, dtype.name)
    np.testing.assert_array_equal(tf.cast(values, tf.uint8)[:2], [44, 251])


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.bfloat16])
def test_cast_to_uint64_has_its_upper_half(dtype):
    expected = [3, 2**62, 2**63, 3 * 2**62, 2**64 - 2**56]
    values = tf.cast([3.5, *map(float, expected[1:])], dtype)
    compiled = tf.function(lambda x: tf.cast(x, tf.uint64))(values)
    assert tf.cast(values, tf.uint64).numpy().tolist() == expected
    assert compiled.numpy().tolist() == expected


@pytest.mark.parametrize(
    "product",
    [
        lambda x: tf.cast(x < 2.0, x.dtype) * x,
        lambda x: tf.while_loop(
            lambda i, y: i < 1, lambda i, y: (i + 1, tf.cast(y < 2.0, y.dtype) * y), [0, x]
        )[1],
        lambda x: tf.vectorized_map(lambda y: tf.cast(y < 2.0, y.dtype) * y, x),
    ],
    ids=["product", "in a loop", "in a batch"],
)
def test_a_mask_that_is_multiplied_hides_no_nan(product):
    """XLA takes such a product for a choice between the number and 0."""
    x = tf.constant([1.0, np.nan, np.inf])
    np.testing.assert_array_equal(product(x), [1.0, np.nan, np.nan])
    np.testing.assert_array_equal(tf.function(product)(x), [1.0, np.nan, np.nan])
    open_size = tf.function(product, input_signature=[tf.TensorSpec([None])])
    np.testing.assert_array_equal(open_size(x), [1.0, np.nan, np.nan])


@pytest.mark.parametrize("reduce", [tf.reduce_max, tf.reduce_min, lambda x: tf.norm(x, np.inf)])
def test_the_gradient_of_an_extremum_that_is_nan_is_nan(reduce):
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = reduce(x)
        return tape.gradient(y, x)

    x = tf.constant([1.0, np.nan, 3.0])
    assert np.isnan(gradient(x)).all()
    assert np.isnan(tf.function(gradient)(x)).all()


@pytest.fixture
def v():
    return tf.Variable([1.0, 2.0, 3.0])


def step_of(v, indices):
    """A step that changes `v` and looks something up at `indices(i)`."""

    @tf.function
    def step(i):
        v.assign(v * 2)
        found = tf.gather(v, indices(i))
        v.assign_add([1.0, 1.0, 1.0])
        return found

    return step


@pytest.mark.parametrize("indices", [lambda i: i, lambda i: i + 0, lambda i: tf.abs(i)])
def test_variables_are_as_before_a_call_that_is_refused(v, indices):
    step = step_of(v, indices)
    step(tf.constant([0]))
    before = v.numpy()
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError):
            step(tf.constant([3]))
        np.testing.assert_array_equal(v, before)
    np.testing.assert_array_equal(step(tf.constant([1])), [2 * before[1]])
    np.testing.assert_array_equal(v, 2 * before + 1)


def test_variables_are_as_before_where_a_tape_watches(v):
    step = step_of(v, lambda i: i + 0)
    with pytest.raises(tf.errors.InvalidArgumentError), tf.GradientTape():
        step(tf.constant([3]))
    np.testing.assert_array_equal(v, [1.0, 2.0, 3.0])


def test_a_check_in_a_branch_is_of_the_branch_that_runs():
    @tf.function
    def look(x, i, careful):
        if careful:
            y = tf.constant(0.0)
        else:
            y = tf.gather(x, i)
        return y

    x = tf.constant(ROW)
    assert look(x, tf.constant(9), tf.constant(True)) == 0
    assert look(x, tf.constant(1), tf.constant(False)) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices = 9 is not in \[0, 5\)"):
        look(x, tf.constant(9), tf.constant(False))


@pytest.mark.parametrize("name", REFUSED)
def test_values_known_beforehand_are_refused_where_the_program_comes_to_them(name):
    op, *values = REFUSED[name]
    given = list(map(tf.constant, values))
    nested = tf.function(lambda: op(*given))

    @tf.function
    def f(x, is_called):
        while x > 0.0:
            x = x - 1.0
            if is_called:
                nested()
            else:
                op(*given)
        return x

    for is_called in (False, True):
        assert f(tf.constant(-1.0), tf.constant(is_called)) == -1.0
        error = refusal(f, tf.constant(1.0), tf.constant(is_called))
        assert str(error) == str(refusal(op, *given))
        assert f(tf.constant(-2.0), tf.constant(is_called)) == -2.0


def test_a_derivative_of_values_known_beforehand_is_refused_in_the_branch_that_runs():
    c = tf.constant(SINGULAR)

    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(c)
            with tf.GradientTape() as inner:
                inner.watch(c)
                y = tf.linalg.det(c) if x > 0.0 else x * tf.reduce_sum(c**2)
            g = inner.gradient(y, c)
        return g, outer.gradient(g, c)

    first, second = f(tf.constant(-2.0))
    assert np.array_equal(first, -4.0 * c)
    assert np.array_equal(second, np.full((2, 2), -4.0))
    assert "inv: a matrix is singular" in str(refusal(f, tf.constant(1.0)))


def test_a_check_in_a_round_of_a_loop():
    @tf.function
    def total(x, n):
        s = tf.constant(0.0)
        for i in tf.range(n):
            if i > 1:
                s += x[i]
        return s

    x = tf.constant(ROW)
    assert total(x, tf.constant(5)) == 12
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 5 is out of bounds"):
        total(x, tf.constant(6))


def test_a_check_in_the_test_of_a_loop_ends_it():
    @tf.function
    def until(x, bound):
        i = tf.constant(0)
        while x[i] < bound:
            i += 1
        return i

    x = tf.constant(ROW)
    assert until(x, tf.constant(4.0)) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 5 is out of bounds"):
        until(x, tf.constant(9.0))


def test_a_check_of_scan_and_map():
    x = tf.constant(ROW)
    scan = tf.function(lambda i: tf.scan(lambda s, j: s + tf.gather(x, j), i, 0.0))
    each = tf.function(
        lambda i: tf.map_fn(lambda j: tf.gather(x, j), i, fn_output_signature=x.dtype)
    )
    both = tf.function(lambda i: tf.vectorized_map(lambda j: tf.gather(x, j), i))
    for function in (scan, each, both):
        function(tf.constant([0, 4]))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 7 is not in \[0, 5\)"):
            function(tf.constant([0, 7]))


def test_a_check_in_a_derivative():
    """The value of det is defined at singular matrices; the gradient of log det is not."""

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.linalg.slogdet(x)[1]
        return tape.gradient(y, x)

    slope(tf.constant([[2.0, 0.0], [0.0, 1.0]]))
    eager = refusal(slope.python_function, SINGULAR)
    assert str(refusal(slope, SINGULAR)) == str(eager)
    outer = tf.function(lambda x: tf.linalg.slogdet(x)[1])
    x = tf.constant(SINGULAR)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="singular"):
        tape.gradient(y, x)


def test_a_part_of_an_argument_that_is_not_used_is_not_refused():
    x = tf.constant(ROW)
    look = tf.function(lambda i: tf.gather(x, i[:2]))
    np.testing.assert_array_equal(look(tf.constant([0, 1, -1])), [1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        look(tf.constant([0, -1, 1]))


def test_checks_with_open_sizes(v):
    for change in (lambda i: i, lambda i: i * 1):
        _check_open_size(v, change)


def _check_open_size(v, change):
    v.assign([1.0, 2.0, 3.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def look(i):
        v.assign(v * 2)
        return tf.gather(v, change(i))

    look(tf.constant([0, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_checks\.py, line"):
        look(tf.constant([0, 1, 3]))
    np.testing.assert_array_equal(v, [2.0, 4.0, 6.0])


def test_python_in_the_program_runs_once_if_a_check_fails(v):
    seen = []

    @tf.function
    def look(i):
        j = tf.numpy_function(lambda i: seen.append(1) or i, [i], tf.TensorSpec([1], tf.int32))
        v.assign(v * 2)
        return tf.gather(v, j)

    look(tf.constant([0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 3 is not in"):
        look(tf.constant([3]))
    assert len(seen) == 2
    np.testing.assert_array_equal(v, [2.0, 4.0, 6.0])


def test_a_program_without_such_ops_has_no_checks():
    w = tf.Variable(tf.ones([3, 3]))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.tanh(x @ w))
        w.assign_sub(tape.gradient(y, w))
        return y // 2.0

    concrete = step.get_concrete_function(tf.ones([2, 3]))
    assert not concrete.graph.checks


def test_an_index_is_checked_once():
    """The derivative of a look-up scatters to the indices that were checked."""

    @tf.function
    def slope(x, i):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.gather(x, i) * tf.gather(x, i))
        return tf.convert_to_tensor(tape.gradient(y, x))

    concrete = slope.get_concrete_function(tf.constant(ROW), tf.constant([0, 1]))
    assert len(concrete.graph.checks) == 1


def test_verify_reports_an_error_that_only_one_of_the_two_raises():
    drawn = tf.function(lambda x: tf.random.categorical(x, 2))
    found = tf.function.verify(drawn, tf.constant([[np.nan, 1.0]]))
    assert not found
    assert "its largest logit finite" in str(found)
    assert "Compiled: no error" in str(found)
    divided = tf.function(lambda x, y: x // y)
    assert tf.function.verify(divided, tf.constant([2]), tf.constant([0]))


# In functions inside functions, and in programs that run again


@tf.function
def looked_up(x, i):
    return tf.gather(x, i + 0)


def test_a_check_of_a_function_inside_another_one(v):
    @tf.function
    def step(i):
        v.assign_add([1.0, 1.0, 1.0])
        return looked_up(v, i) + looked_up(v, 2 * i)

    np.testing.assert_array_equal(step(tf.constant([0, 1])), [4.0, 7.0])
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 4 is not in \[0, 3\)"):
            step(tf.constant([0, 2]))
        np.testing.assert_array_equal(v, [2.0, 3.0, 4.0])


def test_a_check_of_a_function_inside_one_that_calls_python(v):
    seen = []

    @tf.function
    def step(i):
        v.assign_add([1.0, 1.0, 1.0])
        tf.py_function(lambda: seen.append(1) or [], [], [])
        return looked_up(v, i)

    step(tf.constant([1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 3 is not in \[0, 3\)"):
        step(tf.constant([3]))
    assert len(seen) == 2
    np.testing.assert_array_equal(v, [2.0, 3.0, 4.0])


def test_a_check_that_only_the_derivative_of_an_inner_function_has():
    volume = tf.function(lambda x: tf.linalg.slogdet(x)[1])

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = volume(x)
        return tape.gradient(y, x)

    slope(tf.constant([[2.0, 0.0], [0.0, 1.0]]))
    assert str(refusal(slope, SINGULAR)) == str(refusal(slope.python_function, SINGULAR))


def rows_of(table, n):
    """How many rows a loop without a bound looks up, and the gradient of their product."""
    with tf.GradientTape() as tape:
        tape.watch(table)
        i, y = tf.constant(0), tf.constant(1.0)
        while i < n:
            y = y * tf.gather(table, i)
            i = i + 1
    slope = tape.gradient(y, table)
    return tf.gather(tf.range(60), i), tf.convert_to_tensor(slope)


def test_a_check_of_a_loop_whose_program_runs_again():
    table = tf.constant(np.linspace(0.9, 1.1, 50, dtype=np.float32))
    count, slope = tf.function(rows_of)(table, tf.constant(50))
    expected = rows_of(table, tf.constant(50))
    assert count == expected[0] == 50
    np.testing.assert_allclose(slope, expected[1], rtol=1e-5)
    eager = refusal(rows_of, table, 51)
    for n in (51, 10):  # at the first call, and once the program is compiled for its rounds
        compiled = tf.function(rows_of)
        if n == 10:
            compiled(table, tf.constant(n))
        assert str(refusal(compiled, table, 51)) == str(eager)


@pytest.mark.parametrize("calls_python", [False, True])
@pytest.mark.parametrize("indices", [[0], [0, -1]])
def test_a_check_that_fails_in_a_run_that_is_thrown_away_is_not_heard(calls_python, indices):
    """With too few rounds kept, the walk back adds up the numbers of wrong rounds.

    A part of the indices that is not used lets a program run whose checks speak.
    """
    seen = []

    @tf.custom_gradient
    def counted(y, i, limit):
        def gradient(g):
            total = g + tf.cast(i, g.dtype)
            tf.debugging.assert_less(total, limit)
            return total, None, None

        return y * 1.0, gradient

    def f(x, n, limit, indices):
        with tf.GradientTape() as tape:
            tape.watch(x)
            i, y = tf.constant(0), x
            while i < n:
                y = counted(y, i, limit)
                i = i + 1
        if calls_python:
            tf.py_function(lambda: seen.append(1) or [], [], [])
        return tape.gradient(y, x) + tf.gather([0.0, 1.0], indices[0])

    compiled = tf.function(f)
    for n in (5, 30, 80):
        total = 1.0 + sum(range(n))
        given = [tf.constant(1.0), tf.constant(n), tf.constant(total + 0.5), tf.constant(indices)]
        assert compiled(*given) == total
        given[2] = tf.constant(total)
        assert str(refusal(compiled, *given)) == str(refusal(f, *given))
    assert len(seen) == 9 * calls_python


def test_segment_ids_that_are_known_while_the_function_is_traced():
    def f(x):
        return tf.math.unsorted_segment_sum(x, [0, 1, 2, 3, -1], 3)

    assert str(refusal(tf.function(f), ROW)) == str(refusal(f, ROW))


NEVER_REACHED = {
    "floordiv": lambda x: tf.cast(tf.cast(x, tf.int32) // 0, tf.float32),
    "gather": lambda x: tf.gather(x, [9]),
    "x[constant]": lambda x: x[tf.constant(9)],
    "segment": lambda x: tf.math.unsorted_segment_sum(x, [0, 1, 2, 3, 9], 5),
}


@pytest.mark.parametrize("name", NEVER_REACHED)
def test_wrong_constants_where_the_program_may_never_come(name):
    compiled = tf.function(
        lambda x: tf.cond(x[0] > 5, lambda: tf.reduce_sum(NEVER_REACHED[name](x)), lambda: x[0])
    )
    assert compiled(tf.constant(ROW)) == 1.0
    beyond = tf.constant(ROW) + 8.0
    assert str(refusal(compiled, beyond)) == str(refusal(NEVER_REACHED[name], beyond))
