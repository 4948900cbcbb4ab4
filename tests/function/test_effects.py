"""What happens at each call of a compiled function: prints, checks of values, Python functions."""

import numpy as np
import pytest

only_gradtape = pytest.mark.gradtape_only


@pytest.fixture
def out(tmp_path):
    """Where `print` writes to, and what it has written."""
    path = tmp_path / "printed"

    class Out:
        stream = f"file://{path}"

        @property
        def lines(self):
            return path.read_text().splitlines() if path.exists() else []

    return Out()


def bad(tf):
    return pytest.raises(tf.errors.InvalidArgumentError)


# print


def test_print_writes_at_each_call(tf, out):
    @tf.function
    def f(x):
        tf.print("x is", x, output_stream=out.stream)
        tf.print("done", output_stream=out.stream)
        return x + 1.0

    for value in (1.0, 2.0):
        f(tf.constant([value, 0.5]))
    assert out.lines == ["x is [1 0.5]", "done", "x is [2 0.5]", "done"] or (
        out.lines == ["x is [1.  0.5]", "done", "x is [2.  0.5]", "done"]
    )


@only_gradtape
def test_print_writes_what_it_writes_eagerly(tf, out):
    v = tf.Variable([1.5, 2.5])

    def f(x):
        tf.print(
            "text", 3, 2.5, None, x, [x[0], {"k": (x, 7)}], v, tf.constant("s"), tf.range(20),
            sep="|", summarize=2, output_stream=out.stream,
        )  # fmt: skip
        tf.print(tf.cast(x, tf.bfloat16), x > 1, end="", summarize=-1, output_stream=out.stream)
        return x

    x = tf.constant(np.arange(9.0).reshape(3, 3), tf.float32)
    f(x)
    eager = out.lines
    tf.function(f)(x)
    assert "\n".join(out.lines) == "\n".join(eager) * 2


def test_print_sees_variables_as_they_are_at_the_line(tf, out):
    v = tf.Variable(1)

    @tf.function
    def f():
        tf.print(v, output_stream=out.stream)
        v.assign_add(1)
        tf.print(v, output_stream=out.stream)

    f()
    f()
    assert out.lines == ["1", "2", "2", "3"]


def test_print_in_control_flow(tf, out):
    @tf.function
    def f(n):
        def body(i):
            tf.print("round", i, output_stream=out.stream)

            def late():
                tf.print("late", output_stream=out.stream)
                return 1

            return (i + tf.cond(i > 1, late, lambda: 1),)

        return tf.while_loop(lambda i: i < n, body, (0,))

    f(tf.constant(3))
    assert out.lines == ["round 0", "round 1", "round 2", "late"]
    f(tf.constant(1))
    assert out.lines[4:] == ["round 0"]


def test_print_happens_once_with_a_tape_outside(tf, out):
    @tf.function
    def f(x):
        tf.print(x, output_stream=out.stream)
        return x * x

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 6.0
    assert [float(line) for line in out.lines] == [3.0]


# Checks of values

CHECKS = {
    "equal": (lambda d, x: d.assert_equal(x, [1.0, 2.0]), [1.0, 2.0], [1.0, 3.0]),
    "none_equal": (lambda d, x: d.assert_none_equal(x, [1.0, 2.0]), [2.0, 1.0], [1.0, 1.0]),
    "less": (lambda d, x: d.assert_less(x, 3.0), [1.0, 2.0], [1.0, 3.0]),
    "less_equal": (lambda d, x: d.assert_less_equal(x, 3.0), [1.0, 3.0], [4.0, 3.0]),
    "greater": (lambda d, x: d.assert_greater(x, 0.5), [1.0, 2.0], [0.5, 2.0]),
    "greater_equal": (lambda d, x: d.assert_greater_equal(x, 1.0), [1.0, 2.0], [0.5, 2.0]),
    "near": (lambda d, x: d.assert_near(x, [1.0, 2.0], atol=0.1), [1.05, 2.0], [1.0, 2.5]),
    "positive": (lambda d, x: d.assert_positive(x), [1.0, 2.0], [0.0, 1.0]),
    "negative": (lambda d, x: d.assert_negative(x), [-1.0, -2.0], [0.0, -1.0]),
    "non_negative": (lambda d, x: d.assert_non_negative(x), [0.0, 1.0], [-1.0, 1.0]),
    "non_positive": (lambda d, x: d.assert_non_positive(x), [0.0, -1.0], [-1.0, 1.0]),
    "Assert": (lambda d, x: d.Assert(x[0] < 2.0, ["x:", x]), [1.0, 5.0], [3.0, 5.0]),
    "all_finite": (lambda d, x: d.assert_all_finite(x, "why"), [0.0, -1.0], [np.nan, 1.0]),
    "check_numerics": (lambda d, x: d.check_numerics(x, "why"), [0.0, -1.0], [np.inf, 1.0]),
}


@pytest.mark.parametrize("name", CHECKS)
def test_checks_raise_when_the_function_runs(tf, name):
    check, good, wrong = CHECKS[name]

    @tf.function
    def f(x):
        check(tf.debugging, x)
        return 2.0 * x

    for _ in range(2):
        np.testing.assert_allclose(f(tf.constant(good)), 2 * np.float32(good))
        with bad(tf):
            f(tf.constant(wrong))


@only_gradtape
@pytest.mark.parametrize("name", CHECKS)
def test_checks_say_what_they_say_eagerly(tf, name):
    check, _, wrong = CHECKS[name]
    messages = []
    for f in (lambda x: check(tf.debugging, x), tf.function(lambda x: check(tf.debugging, x))):
        with bad(tf) as caught:
            f(tf.constant(wrong))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@only_gradtape
def test_messages_show_the_places(tf):
    @tf.function
    def f(x):
        tf.debugging.assert_less(x, 5.0, message="too large", summarize=1)
        return x

    with bad(tf) as caught:
        f(tf.constant([[1.0, 7.0], [8.0, 2.0]]))
    assert str(caught.value).splitlines() == [
        "too large",
        "assert_less: x < y does not hold at 2 of 4 places.",
        "x[0, 1] = 7.0, ...",
        "y[0, 1] = 5.0, ...",
    ]


def test_gradients_flow_past_checks(tf):
    @tf.function
    def f(x):
        tf.debugging.assert_positive(x)
        tf.debugging.Assert(tf.reduce_all(x < 100.0), [x])
        return tf.reduce_sum(x * tf.debugging.check_numerics(x, "x"))

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.gradient(y, x), [2.0, 4.0])
    with tf.GradientTape() as tape, bad(tf):
        tape.watch(x)
        f(-x)


@only_gradtape
def test_a_failed_check_leaves_variables_as_they_were(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        tf.debugging.assert_positive(x)
        return v.assign_add(x)

    with bad(tf):
        f(tf.constant(-1.0))
    assert float(v) == 1.0
    f(tf.constant(2.0))
    assert float(v) == 3.0


@only_gradtape
def test_known_values_are_checked_while_tracing(tf):
    runs = []

    @tf.function
    def f(x):
        runs.append(1)
        tf.debugging.assert_equal(tf.shape(x), [2, 2])
        return x

    f(tf.zeros([2, 2]))
    with bad(tf):
        f(tf.zeros([3, 2]))
    with bad(tf):
        f(tf.zeros([3, 2]))
    assert len(runs) == 3  # what raises while it is traced is traced again


def test_static_checks_raise_while_tracing(tf):
    with pytest.raises(ValueError):
        tf.function(lambda x: tf.debugging.assert_rank(x, 1))(tf.zeros([2, 2]))
    with pytest.raises(TypeError):
        tf.function(lambda x: tf.debugging.assert_integer(x))(tf.zeros([2]))
    with pytest.raises(ValueError):
        tf.function(lambda x: tf.debugging.assert_shapes([(x, "NN")]))(tf.zeros([2, 3]))


def test_a_check_in_a_branch_is_made_where_the_program_goes(tf):
    @tf.function
    def f(x):
        def refuse():
            tf.debugging.Assert(False, ["negative:", x])
            return x

        return tf.cond(x > 0, lambda: x + 1.0, refuse)

    assert float(f(tf.constant(1.0))) == 2.0
    with bad(tf):
        f(tf.constant(-1.0))


def test_a_check_in_a_loop(tf):
    @tf.function
    def f(n):
        def body(i):
            tf.debugging.assert_less(i, 3)
            return (i + 1,)

        return tf.while_loop(lambda i: i < n, body, (0,))[0]

    assert int(f(tf.constant(3))) == 3
    with bad(tf):
        f(tf.constant(5))


@only_gradtape
def test_assert_takes_one_bool(tf):
    with pytest.raises(ValueError, match="reduce_all"):
        tf.function(lambda x: tf.debugging.Assert(x > 0, [x]))(tf.zeros([2]))


# check_numerics, in the value and in the gradient


def test_check_numerics_in_the_gradient_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sqrt(tf.debugging.check_numerics(x, "x"))
        return tape.gradient(y, x)

    np.testing.assert_allclose(f(tf.constant([4.0])), [0.25])
    with bad(tf):
        f(tf.constant([0.0]))


def test_check_numerics_in_the_gradient_outside(tf):
    f = tf.function(lambda x: tf.sqrt(tf.debugging.check_numerics(x, "x")))

    def slope(value):
        x = tf.constant([value])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    np.testing.assert_allclose(slope(4.0), [0.25])
    with bad(tf):
        slope(0.0)
    np.testing.assert_allclose(slope(4.0), [0.25])


@only_gradtape
def test_check_numerics_in_a_jacobian(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.debugging.check_numerics(tf.sqrt(x), "y") * tf.constant([1.0, 2.0])
        return tape.jacobian(y, x)

    np.testing.assert_allclose(f(tf.constant([4.0, 1.0])), [[0.25, 0], [0, 1.0]])
    with bad(tf):
        f(tf.constant([4.0, -1.0]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_check_numerics_of_other_dtypes(tf, dtype):
    f = tf.function(lambda x: tf.debugging.check_numerics(1 / x, "x"))
    assert f(tf.constant(2.0, dtype)).dtype == dtype
    with bad(tf):
        f(tf.constant(0.0, dtype))


# Python functions


@only_gradtape
def test_numpy_function_runs_at_each_call(tf):
    calls = []

    def host(a, b):
        calls.append((a.copy(), b.copy()))
        return a + b, len(calls)

    specs = [tf.TensorSpec([2], tf.float32), tf.TensorSpec([], tf.int64)]

    @tf.function
    def f(x):
        total, count = tf.numpy_function(host, [x, tf.constant([10.0, 20.0])], specs)
        return total * 2.0, count

    for number in (1, 2):
        total, count = f(tf.constant([1.0, number]))
        np.testing.assert_array_equal(total, [22.0, 40.0 + 2 * number])
        assert int(count) == number and count.dtype == tf.int64
    assert len(calls) == 2


@only_gradtape
@pytest.mark.parametrize("name", ["py_function", "numpy_function"])
def test_python_called_for_its_effects_alone(tf, name):
    seen = []

    def f(x):
        getattr(tf, name)(lambda x: seen.append(float(x)), [x], [])
        return x * 2.0

    compiled = tf.function(f)
    assert [float(g(tf.constant(x))) for g in (f, compiled) for x in (1.0, 3.0)] == [2, 6, 2, 6]
    assert seen == [1.0, 3.0, 1.0, 3.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="returned 1 values, and `Tout` has 2"):
        getattr(tf, name)(lambda x: x, [tf.constant(1.0)], [tf.float32, tf.float32])


def test_py_function_gets_tensors_and_has_no_gradient(tf):
    spec = tf.TensorSpec([2], tf.float32)
    f = tf.function(lambda x: tf.py_function(lambda t: tf.square(t), [x], spec))
    x = tf.constant([2.0, 3.0])
    np.testing.assert_array_equal(f(x), [4.0, 9.0])
    with tf.GradientTape() as tape, pytest.raises(LookupError, match="stop_gradient"):
        tape.watch(x)
        tape.gradient(f(x), x)


@only_gradtape
def test_python_functions_need_a_shape_to_be_compiled(tf):
    for name in ("numpy_function", "py_function"):
        call = getattr(tf, name)

        def f(x, call=call):
            return call(lambda a: a * 2.0, [x], tf.float32)

        with pytest.raises(NotImplementedError, match=f"(?s){name}: .*tf.TensorSpec"):
            tf.function(f, jit_compile=True)(1.0)
        assert float(tf.function(f)(1.0)) == 2.0  # as plain Python
        f = tf.function(lambda x, call=call: call(lambda a: a, [x], tf.TensorSpec([3], tf.float32)))
        with pytest.raises(ValueError, match=r"shape \(2,\)"):
            f(tf.zeros([2]))


@only_gradtape
def test_what_a_python_function_raises_comes_out(tf):
    def host(a):
        raise KeyError("mine")

    f = tf.function(lambda x: tf.numpy_function(host, [x], tf.TensorSpec([], tf.float32)))
    with pytest.raises(KeyError, match="mine"):
        f(tf.constant(1.0))


# Indices out of range


@only_gradtape
def test_known_indices_are_checked_while_it_is_traced(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with bad(tf):
        tf.function(lambda x: tf.gather(x, [0, 3]))(x)
