"""docs/semantics.md, section Q: when a tf.function is traced, and what a trace is."""

import numpy as np
import pytest

from .helpers import grad, same, second


@pytest.fixture
def functions_run_eagerly(tf):
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def counting(tf, f=lambda *args: args[0]):
    calls = []

    @tf.function
    def counted(*args, **kwargs):
        calls.append((args, kwargs))
        return f(*args)

    return counted, calls


def test_Q12_one_trace_for_each_dtype_and_shape(tf):
    f, calls = counting(tf)
    for x in (1.0, 2.0, 3.0):
        same(f(tf.constant(x)), x)
    assert len(calls) == 1
    f(tf.constant([1.0]))
    f(tf.constant([5.0]))
    assert len(calls) == 2
    f(tf.constant([1.0, 2.0]))
    assert len(calls) == 3
    f(tf.constant(1.0, tf.float64))
    f(tf.constant(1))
    assert len(calls) == 5
    f(tf.constant(9.0))
    assert len(calls) == 5


def test_Q12_each_python_value_is_a_trace(tf):
    f, calls = counting(tf, lambda x, n: x * n)
    x = tf.constant(2.0)
    for n in (1, 2, 3, 2, 1):
        same(f(x, n), 2.0 * n)
    assert [args[1] for args, _ in calls] == [1, 2, 3]
    f(x, tf.constant(4.0))
    f(x, tf.constant(5.0))
    assert len(calls) == 4


def test_Q12_side_effects_happen_while_tracing(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append("traced")
        return x + 1.0

    with tf.GradientTape() as tape:
        x = tf.constant(1.0)
        tape.watch(x)
        y = f(f(f(x)))
    same(tape.gradient(y, x), 1.0)
    assert seen == ["traced"]


def test_Q13_an_input_signature_serves_all_lengths(tf):
    calls = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        calls.append(1)
        return tf.reduce_sum(x * x)

    for n in (1, 2, 5):
        same(f(tf.ones([n])), float(n))
        same(grad(tf, f, tf.ones([n])), 2.0 * np.ones(n))
    same(f([1.0, 2.0]), 5.0)
    assert len(calls) == 1


def test_Q13_another_rank_or_dtype_is_refused(tf):
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.float32)])
    for wrong in (tf.ones([2, 2]), tf.constant(1.0), tf.constant([1]), tf.ones([2], tf.float64)):
        with pytest.raises(TypeError):
            f(wrong)


def test_Q14_tensors_are_symbolic_while_tracing(tf):
    seen = {}

    @tf.function
    def f(x):
        seen["shape"], seen["dtype"] = x.shape, x.dtype
        with pytest.raises((AttributeError, NotImplementedError)):
            x.numpy()
        with pytest.raises(NotImplementedError):
            np.asarray(x)
        y = tf.matmul(x, x, transpose_b=True)
        seen["of y"] = y.shape
        return y

    f(tf.ones([2, 3]))
    assert seen == {"shape": [2, 3], "dtype": tf.float32, "of y": [2, 2]}


def test_Q14_float_and_int_of_a_symbolic_tensor_raise(tf):
    @tf.function(autograph=False)
    def f(x):
        with pytest.raises(TypeError):
            float(x)
        with pytest.raises(TypeError):
            int(x)
        return x

    same(f(tf.constant(2.0)), 2.0)


def test_Q14_a_symbolic_tensor_outside_is_refused(tf):
    kept = []
    tf.function(kept.append)(tf.constant(2.0))
    with pytest.raises((AttributeError, NotImplementedError)):
        kept[0].numpy()
    with pytest.raises((TypeError, ValueError)):
        tf.convert_to_tensor(kept[0] + 1.0).numpy()


def test_Q15_nested_results(tf):
    @tf.function
    def f(x):
        return {"a": (x, None), "b": [x + 1.0, {"c": 2.0 * x}], "d": None}

    result = f(tf.constant(3.0))
    assert set(result) == {"a", "b", "d"}
    same(result["a"][0], 3.0)
    assert result["a"][1] is None and result["d"] is None
    same(result["b"][0], 4.0)
    same(result["b"][1]["c"], 6.0)
    assert isinstance(result["a"], tuple) and isinstance(result["b"], list)


def test_Q15_no_result(tf):
    assert tf.function(lambda x: None)(tf.constant(1.0)) is None


def test_Q15_python_numbers_come_back_as_tensors(tf):
    @tf.function
    def f(x):
        return 1, 2.5, True, x

    one, real, true, _ = f(tf.constant(1.0))
    assert [tf.is_tensor(y) for y in (one, real, true)] == [True] * 3
    assert [y.dtype for y in (one, real, true)] == [tf.int32, tf.float32, tf.bool]
    assert (int(one), float(real), bool(true)) == (1, 2.5, True)


def test_Q15_gradients_of_nested_results(tf):
    f = tf.function(lambda x: {"a": x * x, "b": [x**3]})
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    same(tape.gradient(y, x), 16.0)


def test_Q15_an_argument_handed_back(tf):
    f = tf.function(lambda x: (x, x))
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, z = f(x)
        w = y * z
    same(tape.gradient(w, x), 4.0)


def test_Q18_python_values_are_constants_of_the_trace(tf):
    factor = 2.0
    f = tf.function(lambda x: x * factor)
    same(f(tf.constant(3.0)), 6.0)
    factor = 100.0
    same(f(tf.constant(4.0)), 8.0)
    same(f(tf.constant([4.0])), [400.0])


def test_Q18_lists_and_dicts_are_read_while_tracing(tf):
    settings = {"factor": 2.0}
    f = tf.function(lambda x: x * settings["factor"])
    same(f(tf.constant(3.0)), 6.0)
    settings["factor"] = 5.0
    same(f(tf.constant(3.0)), 6.0)


def test_Q20_functions_run_as_plain_python(tf, functions_run_eagerly):
    seen = []

    @tf.function
    def f(x):
        seen.append(float(x.numpy()))
        return x * x

    assert tf.config.functions_run_eagerly()
    for x in (1.0, 2.0, 2.0):
        same(f(tf.constant(x)), x * x)
    assert seen == [1.0, 2.0, 2.0]
    same(grad(tf, f, tf.constant(3.0)), 6.0)
    same(second(tf, f, tf.constant(3.0)), 2.0)


def test_Q20_it_can_be_switched_between_calls(tf):
    calls = []

    @tf.function
    def f(x):
        calls.append(tf.executing_eagerly())
        return x * x

    x = tf.constant(3.0)
    compiled = grad(tf, f, x)
    tf.config.run_functions_eagerly(True)
    try:
        eager = grad(tf, f, x)
    finally:
        tf.config.run_functions_eagerly(False)
    f(x)
    assert calls == [False, True]
    same(compiled, 6.0)
    same(eager, 6.0)


def test_Q21_a_concrete_function(tf):
    f, calls = counting(tf, lambda x, v: x * x + v)
    concrete = f.get_concrete_function(tf.TensorSpec([2]), tf.TensorSpec([]))
    assert len(calls) == 1
    same(concrete(tf.constant([1.0, 2.0]), tf.constant(3.0)), [4.0, 7.0])
    same(f(tf.constant([1.0, 2.0]), tf.constant(3.0)), [4.0, 7.0])
    assert len(calls) == 1


def test_Q21_a_concrete_function_is_differentiable(tf):
    w = tf.Variable(3.0)
    f = tf.function(lambda x: w * x**3)
    concrete = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    x = tf.constant(2.0)
    same(grad(tf, concrete, x), 36.0)
    same(second(tf, concrete, x), 36.0)
    with tf.GradientTape() as tape:
        y = concrete(x)
    same(tape.gradient(y, w), 8.0)


def test_Q21_another_dtype_is_refused(tf):
    concrete = tf.function(lambda x: x).get_concrete_function(tf.TensorSpec([2], tf.float32))
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        concrete(tf.constant([1, 2]))


def test_Q21_from_tensors(tf):
    concrete = tf.function(lambda x, y: x - y).get_concrete_function(
        tf.constant(1.0), tf.constant(2.0)
    )
    same(concrete(tf.constant(5.0), tf.constant(3.0)), 2.0)


def test_Q22_jit_compile_is_differentiable(tf):
    v = tf.Variable(3.0)
    f = tf.function(lambda x: v * x**3, jit_compile=True)
    x = tf.constant(2.0)
    same(grad(tf, f, x), 36.0)
    same(second(tf, f, x), 36.0)
    with tf.GradientTape() as tape:
        y = f(x)
    same(tape.gradient(y, v), 8.0)


def test_Q28_what_a_function_says_of_itself(tf):
    def double(x):
        """Twice x."""
        return 2.0 * x

    f = tf.function(double)
    assert f.python_function is double
    assert (f.__name__, f.__doc__) == ("double", "Twice x.")
    assert f.experimental_get_tracing_count() == 0
    f(tf.constant(1.0))
    f(tf.constant(2.0))
    f(tf.constant([2.0]))
    assert f.experimental_get_tracing_count() == 2


def test_Q28_decorators_with_arguments(tf):
    @tf.function(autograph=False)
    def triple(x):
        return 3.0 * x

    assert triple.__name__ == "triple"
    same(triple(tf.constant(2.0)), 6.0)


@pytest.mark.parametrize("kind", [KeyError, ValueError, TypeError, StopIteration])
def test_Q29_an_exception_while_tracing_keeps_its_type(tf, kind):
    @tf.function
    def f(x):
        raise kind("mine")

    with pytest.raises(kind, match="mine"):
        f(tf.constant(1.0))


def test_Q29_the_function_can_be_called_again(tf):
    fails = [True]

    @tf.function
    def f(x):
        if fails:
            raise KeyError("mine")
        return x * x

    with pytest.raises(KeyError, match="mine"):
        f(tf.constant(2.0))
    fails.clear()
    same(f(tf.constant(2.0)), 4.0)
    same(grad(tf, f, tf.constant(2.0)), 4.0)


def checked(tf):
    @tf.function
    def f(x):
        tf.debugging.assert_greater(x, 0.0, message="too small")
        return tf.math.log(x)

    return f


def test_Q30_a_check_raises_at_run_time(tf):
    f = checked(tf)
    same(f(tf.constant(1.0)), 0.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        f(tf.constant(-1.0))
    same(f(tf.constant(1.0)), 0.0)


def test_Q30_gradients_flow_past_a_check(tf):
    f = checked(tf)
    same(grad(tf, f, tf.constant(2.0)), 0.5)
    same(second(tf, f, tf.constant(2.0)), -0.25)
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        grad(tf, f, tf.constant(-1.0))
