"""docs/semantics.md, section R: custom_gradient."""

import numpy as np
import pytest

from .helpers import grad, on_gradtape, same, with_gradient


def log1pexp(tf):
    @tf.custom_gradient
    def log1pexp(x):
        """log(1 + exp(x))."""
        e = tf.exp(x)
        return tf.math.log(1.0 + e), lambda upstream: upstream * (1.0 - 1.0 / (1.0 + e))

    return log1pexp


def test_R1_value_and_gradient(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda upstream: upstream * 7.0

    x = tf.constant(3.0)
    same(f(x), 9.0)
    same(grad(tf, f, x), 7.0)
    same(grad(tf, lambda x: 2.0 * f(x * 5.0), x), 70.0)


def test_R1_of_a_variable(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = with_gradient(tf, lambda x: x * x, 7.0)(v * 1.0)
    same(y, [1.0, 4.0])
    same(tape.gradient(y, v), [7.0, 7.0])


def test_R1_without_a_tape(tf):
    calls = []

    @tf.custom_gradient
    def f(x):
        return x * x, calls.append

    same(f(tf.constant(3.0)), 9.0)
    assert calls == []


def test_R1_calls_of_one_function_are_separate(tf):
    @tf.custom_gradient
    def times(x, factor):
        return x * factor, lambda upstream: (upstream * factor * 10.0, None)

    x = tf.constant(1.0)
    same(grad(tf, lambda x: times(x, tf.constant(2.0)) + times(x, tf.constant(3.0)), x), 50.0)


def test_R2_upstream_has_the_shape_of_the_output(tf):
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad_fn(*upstream):
            seen.extend(upstream)
            return tf.reduce_sum(upstream[0], axis=0)

        return tf.tile(x[None], [3, 1]), grad_fn

    x = tf.constant([1.0, 2.0])
    weights = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    same(grad(tf, lambda x: f(x) * weights, x), [9.0, 12.0])
    assert len(seen) == 1
    same(seen[0], weights)
    assert seen[0].dtype == tf.float32


@pytest.mark.parametrize("kind", [tuple, list])
def test_R3_one_gradient_for_each_argument(tf, kind):
    @tf.custom_gradient
    def f(x, y, z):
        return x * y * z, lambda upstream: kind([upstream, upstream * 2.0, upstream * 3.0])

    one = tf.constant(1.0)
    gx, gy, gz = grad(tf, f, one, tf.constant(2.0), tf.constant(3.0))
    same(gx, 1.0)
    same(gy, 2.0)
    same(gz, 3.0)


def test_R3_a_single_gradient_may_stand_alone(tf):
    for wrap in (lambda g: g, lambda g: (g,), lambda g: [g]):

        @tf.custom_gradient
        def f(x, wrap=wrap):
            return x * x, lambda upstream: wrap(upstream * 7.0)

        same(grad(tf, f, tf.constant(3.0)), 7.0)


@pytest.mark.gradtape_only
def test_R3_a_number_becomes_a_tensor(tf):
    f = tf.custom_gradient(lambda x: (x * x, lambda upstream: 7.0))
    g = grad(tf, f, tf.constant(3.0))
    assert g.dtype == tf.float32
    same(g, 7.0)


def test_R3_the_same_tensor_twice(tf):
    f = with_gradient(tf, lambda x, y: x * y, 10.0, 100.0)
    same(grad(tf, lambda x: f(x, x), tf.constant(3.0)), 110.0)


def test_R4_none_means_unconnected(tf):
    f = with_gradient(tf, lambda x, y: x * y, None, 5.0)
    gx, gy = grad(tf, f, tf.constant(2.0), tf.constant(3.0))
    assert gx is None
    same(gy, 5.0)
    zero, _ = grad(tf, f, tf.constant(2.0), tf.constant(3.0), unconnected_gradients="zero")
    same(zero, 0.0)


def test_R4_none_does_not_hide_another_path(tf):
    f = with_gradient(tf, lambda x: x * x, None)
    x = tf.constant(2.0)
    assert grad(tf, f, x) is None
    same(grad(tf, lambda x: f(x) + 3.0 * x, x), 3.0)


def test_R4_numbers_take_a_place(tf):
    @tf.custom_gradient
    def power(x, n):
        return x**n, lambda upstream: (upstream * 10.0, None)

    same(grad(tf, lambda x: power(x, 3), tf.constant(2.0)), 10.0)
    same(grad(tf, lambda x: power(x, 3.0), tf.constant(2.0)), 10.0)


@pytest.mark.parametrize("count", [1, 3])
def test_R5_another_number_of_gradients(tf, count):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda upstream: [upstream] * count

    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = f(x, y)
    same(z, 6.0)
    with pytest.raises(ValueError):
        tape.gradient(z, [x, y])


def test_R5_says_both_numbers(tf):
    @tf.custom_gradient
    def f(x, y, z):
        return x * y * z, lambda upstream: (upstream, upstream)

    with pytest.raises(ValueError, match=r"(?s)2.*3|3.*2"):
        grad(tf, f, tf.constant(2.0), tf.constant(3.0), tf.constant(4.0))


def test_R5_a_number_without_its_place(tf):
    @tf.custom_gradient
    def power(x, n):
        return x**n, lambda upstream: upstream * 10.0

    with pytest.raises(ValueError):
        grad(tf, lambda x: power(x, 3), tf.constant(2.0))


def test_R6_one_upstream_for_each_output(tf):
    @tf.custom_gradient
    def f(x):
        return (x * 2.0, x[:1] * 3.0), lambda a, b: a * 10.0 + b * 100.0

    x = tf.constant([1.0, 2.0])
    first, second = f(x)
    same(first, [2.0, 4.0])
    same(second, [3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = f(x)
    same(tape.gradient([a, b], x), [110.0, 110.0])


def test_R6_zeros_for_an_unused_output(tf):
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad_fn(a, b):
            seen.append((a, b))
            return a * 10.0 + tf.reduce_sum(b) * 100.0

        return (x * 2.0, tf.fill([2, 3], x)), grad_fn

    same(grad(tf, lambda x: f(x)[0], tf.constant(1.0)), 10.0)
    same(seen[0][0], 1.0)
    same(seen[0][1], np.zeros((2, 3)))
    same(grad(tf, lambda x: f(x)[1], tf.constant(1.0)), 600.0)
    same(seen[1][0], 0.0)


@pytest.mark.parametrize("kind", [tuple, list])
def test_R6_the_structure_of_the_outputs_is_kept(tf, kind):
    @tf.custom_gradient
    def f(x):
        return kind([x * 2.0, x * 3.0]), lambda a, b: a * 10.0 + b * 100.0

    result = f(tf.constant(1.0))
    assert type(result) is kind
    same(result[1], 3.0)


def test_R12_keyword_arguments(tf):
    seen = []

    @tf.custom_gradient
    def f(x, factor=1.0, name="f"):
        seen.append(name)
        return x * factor, lambda upstream: upstream * factor * 10.0

    same(f(tf.constant(2.0), factor=3.0), 6.0)
    same(grad(tf, lambda x: f(x, factor=3.0, name="g"), tf.constant(2.0)), 30.0)
    assert seen == ["f", "g"]


def test_R12_keyword_tensors_get_no_gradient(tf):
    @tf.custom_gradient
    def f(x, factor=None):
        return x * factor, lambda upstream: upstream * 10.0

    gx, nothing = grad(tf, lambda x, k: f(x, factor=k), tf.constant(2.0), tf.constant(3.0))
    same(gx, 10.0)
    assert nothing is None


def test_R16_exceptions_come_out(tf):
    class Mine(Exception):
        pass

    @tf.custom_gradient
    def f(x):
        def grad_fn(upstream):
            raise Mine("in grad_fn")

        return x * x, grad_fn

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    with pytest.raises(Mine, match="in grad_fn"):
        tape.gradient(y, x)


def test_R16_exceptions_in_f(tf):
    @tf.custom_gradient
    def f(x):
        raise KeyError("in f")

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(KeyError, match="in f"):
            f(x)
        y = x * x
    same(tape.gradient(y, x), 4.0)


@pytest.mark.parametrize(
    "result", [lambda x: x, lambda x: (x, None), lambda x: None], ids=["y", "none", "nothing"]
)
def test_R17_no_gradient_function(tf, result):
    f = tf.custom_gradient(lambda x: result(x * x))
    with pytest.raises(TypeError):
        f(tf.constant(2.0))


def test_R18_the_shape_of_gradients(tf):
    @tf.custom_gradient
    def f(x):
        return tf.reduce_sum(x), lambda upstream: upstream * tf.ones([5])

    x = tf.constant([1.0, 2.0])
    if on_gradtape(tf):
        with pytest.raises(ValueError, match=r"(?s)\(5,\).*\(2,\)"):
            grad(tf, f, x)
    else:
        same(grad(tf, f, x), np.ones(5))


def test_R18_a_scalar_for_a_vector(tf):
    f = tf.custom_gradient(lambda x: (tf.reduce_sum(x), lambda upstream: upstream))
    x = tf.constant([1.0, 2.0])
    if on_gradtape(tf):
        with pytest.raises(ValueError, match=r"(?s)\(\).*\(2,\)"):
            grad(tf, f, x)
    else:
        same(grad(tf, f, x), 1.0)


class Scaled:
    def __init__(self, factor):
        self.factor = factor


def test_R20_methods(tf):
    class Layer(Scaled):
        @tf.custom_gradient
        def call(self, x):
            """Times the factor."""
            return x * self.factor, lambda upstream: upstream * self.factor * 10.0

    layer = Layer(3.0)
    same(layer.call(tf.constant(2.0)), 6.0)
    same(grad(tf, layer.call, tf.constant(2.0)), 30.0)
    assert Layer.call.__name__ == "call"
    assert layer.call.__doc__ == "Times the factor."


def test_R20_name_and_documentation_are_kept(tf):
    f = log1pexp(tf)
    assert f.__name__ == "log1pexp"
    assert f.__doc__ == "log(1 + exp(x))."


def test_R20_with_empty_parentheses(tf):
    @tf.custom_gradient()
    def f(x):
        return x * x, lambda upstream: upstream * 7.0

    same(grad(tf, f, tf.constant(3.0)), 7.0)


def test_R21_nested_arguments(tf):
    @tf.custom_gradient
    def f(pair, options):
        a, b = pair
        y = a * b * options["k"]
        return y, lambda upstream: ([upstream * 10.0, upstream * 100.0], {"k": upstream * 1000.0})

    a, b, k = tf.constant(2.0), tf.constant(3.0), tf.constant(4.0)
    same(f([a, b], {"k": k}), 24.0)
    ga, gb, gk = grad(tf, lambda a, b, k: f([a, b], {"k": k}), a, b, k)
    same(ga, 10.0)
    same(gb, 100.0)
    same(gk, 1000.0)


def test_R21_gradients_may_be_flat(tf):
    @tf.custom_gradient
    def f(pair, k):
        a, b = pair
        return a * b * k, lambda u: (u * 10.0, u * 100.0, u * 1000.0)

    a, b, k = tf.constant(2.0), tf.constant(3.0), tf.constant(4.0)
    ga, gb, gk = grad(tf, lambda a, b, k: f((a, b), k), a, b, k)
    same(ga, 10.0)
    same(gb, 100.0)
    same(gk, 1000.0)


def test_R22_a_number_gives_a_tensor(tf):
    f = with_gradient(tf, lambda x: x * 2.0, 7.0)
    y = f(3.0)
    assert isinstance(y, tf.Tensor)
    same(y, 6.0)
    constant = tf.custom_gradient(lambda x: (5.0, lambda upstream: upstream))
    assert isinstance(constant(tf.constant(1.0)), tf.Tensor)


def test_R23_a_bad_derivative_does_not_leak(tf):
    x = tf.constant(100.0)
    naive = grad(tf, lambda x: tf.math.log(1.0 + tf.exp(x)), x)
    assert np.isnan(naive)
    same(grad(tf, log1pexp(tf), x), 1.0)


def test_R23_what_f_computed_is_not_a_source(tf):
    inside = []

    @tf.custom_gradient
    def f(x):
        inside.append(x * x)
        return inside[0] * 2.0, lambda upstream: upstream * 7.0

    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    same(tape.gradient(y, x), 7.0)
    assert tape.gradient(y, inside[0]) is None


def test_R23_the_argument_as_the_result(tf):
    f = tf.custom_gradient(lambda x: (x, lambda upstream: upstream * 7.0))
    same(grad(tf, f, tf.constant(3.0)), 7.0)
    clip = tf.custom_gradient(lambda x: (tf.identity(x), lambda g: tf.clip_by_value(g, -1.0, 1.0)))
    same(grad(tf, lambda x: clip(x) * 5.0, tf.constant([1.0, 2.0])), [1.0, 1.0])
