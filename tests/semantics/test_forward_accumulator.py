"""docs/semantics.md, section T: ForwardAccumulator."""

import inspect
import math

import numpy as np
import pytest

from .helpers import grad, logged, on_gradtape, raises, same


def jvp(tf, f, x, tangent):
    with tf.autodiff.ForwardAccumulator(x, tangent) as acc:
        y = f(x)
    return acc.jvp(y)


def scalar(tf, value):
    return tf.constant(value, tf.float64)


def test_T1_jacobian_vector_product(tf):
    x, t = tf.constant([2.0, 3.0]), tf.constant([1.0, 10.0])
    with tf.autodiff.ForwardAccumulator(x, t) as acc:
        y = x**2
        z = tf.stack([x[0] * x[1], tf.reduce_sum(y)])
    same(acc.jvp(y), [4.0, 60.0])
    same(acc.jvp(z), [23.0, 64.0])
    assert acc.jvp(y).dtype == tf.float32


def test_T1_as_often_as_wanted_inside_and_after(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(5.0)) as acc:
        y = x**3
        same(acc.jvp(y), 60.0)
        z = y * 2.0
        same(acc.jvp(y), 60.0)
    for _ in range(2):
        same(acc.jvp(y), 60.0)
        same(acc.jvp(z), 120.0)


def test_T1_arguments_by_name(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(primals=x, tangents=tf.constant(1.0)) as acc:
        y = x**3
    same(acc.jvp(primals=y, unconnected_gradients="none"), 12.0)
    parameters = inspect.signature(tf.autodiff.ForwardAccumulator.jvp).parameters
    assert list(parameters)[1:] == ["primals", "unconnected_gradients"]


FUNCTIONS = {
    "matmul": lambda tf, x: tf.matmul(x, x, transpose_b=True),
    "solve": lambda tf, x: tf.linalg.solve(tf.matmul(x, x, transpose_b=True), x),
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "logsumexp": lambda tf, x: tf.reduce_logsumexp(x, axis=0),
    "cross_entropy": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(
        [[0.0, 1, 0], [1, 0, 0]], x
    ),
    "reduce_max": lambda tf, x: tf.reduce_max(x, axis=1),
    "reduce_prod": lambda tf, x: tf.reduce_prod(x, axis=1),
    "division": lambda tf, x: x / x[:, :1] ** 2,
    "power": lambda tf, x: x ** x[0],
    "concat": lambda tf, x: tf.concat([x, x[:1] ** 2], 0),
    "split": lambda tf, x: tf.split(x, 3, axis=1)[1] * tf.split(x, 3, axis=1)[2],
    "unstack": lambda tf, x: tf.unstack(x)[0] * tf.unstack(x)[1],
    "gather": lambda tf, x: tf.gather(x, [1, 1, 0]) ** 2,
    "where": lambda tf, x: tf.where(x > 0.5, x**2, x[0]),
    "sort": lambda tf, x: tf.sort(x, axis=0) * tf.constant([[1.0], [2.0]], tf.float64),
    "cumsum": lambda tf, x: tf.cumsum(x, axis=1) ** 2,
    "einsum": lambda tf, x: tf.einsum("ij,kj->ikj", x, x),
    "pad": lambda tf, x: tf.pad(tf.sin(x), [[1, 0], [0, 2]]),
    "tile": lambda tf, x: tf.tile(tf.exp(x), [2, 1]),
    "maximum": lambda tf, x: tf.maximum(x, x[::-1]) ** 2,
    "atan2": lambda tf, x: tf.atan2(x, x[0] + 1.0),
    "det": lambda tf, x: tf.linalg.det(tf.matmul(x, x, transpose_b=True)),
    "cast": lambda tf, x: tf.cast(tf.cast(x, tf.float32) * 2.0, tf.float64),
    "norm": lambda tf, x: tf.norm(x, axis=1),
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_T1_common_operations_against_differences(tf, f):
    x = tf.constant([[0.1, 0.9, 0.4], [0.7, 0.2, 0.8]], tf.float64)
    t = tf.constant([[0.3, -0.2, 0.5], [1.0, 0.1, -0.4]], tf.float64)
    h = 1e-2 if f is FUNCTIONS["cast"] else 1e-6
    expected = (f(tf, x + h * t) - f(tf, x - h * t)) / (2 * h)
    same(jvp(tf, lambda x: f(tf, x), x, t), expected, tol=1e-5)


def test_T2_of_a_primal_is_its_tangent(tf):
    x, v = tf.constant([2.0, 3.0]), tf.Variable(1.0)
    with tf.autodiff.ForwardAccumulator(
        [x, v], [tf.constant([1.0, 10.0]), tf.constant(5.0)]
    ) as acc:
        same(acc.jvp(x), [1.0, 10.0])
        same(acc.jvp(v), 5.0)
    same(acc.jvp(x), [1.0, 10.0])


def test_T2_before_entering(tf):
    x = tf.constant(2.0)
    same(tf.autodiff.ForwardAccumulator(x, tf.constant(5.0)).jvp(x), 5.0)


@pytest.mark.parametrize("trainable", [True, False])
def test_T3_variables(tf, trainable):
    v = tf.Variable([2.0, 3.0], trainable=trainable)
    same(jvp(tf, lambda v: v * v, v, tf.constant([1.0, 10.0])), [4.0, 60.0])
    same(jvp(tf, lambda v: v.read_value() * 2.0 + v[0], v, tf.constant([1.0, 10.0])), [3.0, 21.0])


def test_T3_other_variables_are_constants(tf):
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.autodiff.ForwardAccumulator(v, tf.constant(1.0)) as acc:
        y, z = v * w, w * w
    same(acc.jvp(y), 3.0)
    assert acc.jvp(z) is None


def test_T4_structures_of_primals(tf):
    x, y, v = tf.constant(2.0), tf.constant([3.0, 4.0]), tf.Variable(5.0)
    primals = {"x": x, "rest": [y, (v,)]}
    tangents = {"x": tf.constant(1.0), "rest": [tf.constant([10.0, 20.0]), (tf.constant(100.0),)]}
    with tf.autodiff.ForwardAccumulator(primals, tangents) as acc:
        z = x * y * v
    # dx y v + x dy v + x y dv
    same(acc.jvp(z), [15.0 + 100.0 + 600.0, 20.0 + 200.0 + 800.0])


def test_T4_the_products_add(tf):
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator([x, y], [tf.constant(1.0), tf.constant(10.0)]) as acc:
        total, product = x + y, x * y
    same(acc.jvp(total), 11.0)
    same(acc.jvp(product), 23.0)


def test_T5_jvp_maps_over_structures(tf):
    x, other = tf.constant([2.0, 3.0]), tf.constant([[1.0]])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 10.0])) as acc:
        y = {"square": x**2, "rest": [other * 2.0, (x * 3.0,)]}
    found = acc.jvp(y)
    assert list(found) == ["square", "rest"]
    same(found["square"], [4.0, 60.0])
    assert found["rest"][0] is None
    assert type(found["rest"][1]) is tuple
    same(found["rest"][1][0], [3.0, 30.0])


def test_T5_unconnected(tf):
    x, other = tf.constant([2.0, 3.0]), tf.constant([[1.0, 2.0]], tf.float64)
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 10.0])) as acc:
        y = other * 2.0
    assert acc.jvp(y) is None
    assert acc.jvp(y, unconnected_gradients=tf.UnconnectedGradients.NONE) is None
    for zero in ("zero", tf.UnconnectedGradients.ZERO):
        found = acc.jvp([y, x], unconnected_gradients=zero)
        same(found[0], [[0.0, 0.0]])
        assert found[0].dtype == tf.float64
        same(found[1], [1.0, 10.0])


def test_T5_another_value_is_refused(tf):
    x = tf.constant(2.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))
    with pytest.raises(ValueError, match="nonsense"):
        acc.jvp(x, unconnected_gradients="nonsense")


def test_T6_before_and_after_the_block(tf):
    x = tf.constant(2.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(5.0))
    before = x * x
    with acc:
        inside = x * x
        from_before = before * 2.0
    after = x * x
    after_inside = inside * 2.0
    same(acc.jvp(inside), 20.0)
    assert acc.jvp([before, from_before, after, after_inside]) == [None] * 4


def test_T7_entering_again_goes_on(tf):
    x = tf.constant(2.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(5.0))
    with acc:
        y = x * x
    between = y * 3.0
    with acc:
        z = y * x
        w = between * x
    same(acc.jvp(y), 20.0)
    same(acc.jvp(z), 60.0)
    # between counts as the constant 12
    same(acc.jvp(w), 60.0)


def test_T7_entering_while_active(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(5.0)) as acc:
        with pytest.raises(ValueError):
            acc.__enter__()
        y = x * x
    same(acc.jvp(y), 20.0)


def test_T7_the_context_gives_the_accumulator(tf):
    x = tf.constant(2.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(5.0))
    with acc as entered:
        assert entered is acc


def test_T7_an_exception_leaves_the_block(tf):
    x = tf.constant(2.0)
    with pytest.raises(KeyError), tf.autodiff.ForwardAccumulator(x, tf.constant(5.0)) as acc:
        y = x * x
        raise KeyError
    same(acc.jvp(y), 20.0)
    assert acc.jvp(x * x) is None


def test_T8_a_primal_listed_twice(tf):
    x, v, one = tf.constant(2.0), tf.Variable(3.0), tf.constant(1.0)
    for primal in (x, v):
        with pytest.raises(ValueError):
            tf.autodiff.ForwardAccumulator([primal, primal], [one, one])
    tf.autodiff.ForwardAccumulator([x, v], [one, one])


def test_T9_another_dtype(tf):
    with pytest.raises(ValueError):
        tf.autodiff.ForwardAccumulator(tf.constant(2.0), tf.constant(1.0, tf.float64))
    with pytest.raises(ValueError):
        tf.autodiff.ForwardAccumulator(tf.Variable(2.0), tf.constant(1))


@pytest.mark.gradtape_only
def test_T9_another_shape(tf):
    with pytest.raises(ValueError, match=r"(?s)\(2,\).*\(3,\)|\(3,\).*\(2,\)"):
        tf.autodiff.ForwardAccumulator(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0]))


def test_T9_another_nesting(tf):
    x, one = tf.constant([2.0, 3.0]), tf.constant([1.0, 1.0])
    for primals, tangents in [
        (x, [1.0, 10.0]),
        ([x], one),
        ([x], [one, one]),
        ({"a": x}, {"b": one}),
        ([x, x], [[one, one]]),
    ]:
        with pytest.raises(ValueError):
            tf.autodiff.ForwardAccumulator(primals, tangents)


def test_T9_numpy_arrays_are_converted(tf):
    x = tf.constant([2.0, 3.0])
    same(jvp(tf, lambda x: x**2, x, np.array([1.0, 10.0], np.float32)), [4.0, 60.0])
    x = tf.constant([2.0, 3.0], tf.float64)
    same(jvp(tf, lambda x: x**2, x, np.array([1.0, 10.0])), [4.0, 60.0])


@pytest.mark.parametrize("primal", ["number", "array"])
def test_T9_primals_are_tensors_or_variables(tf, primal):
    primal = 2.0 if primal == "number" else np.float32(2.0)
    with raises(tf, ValueError):
        tf.autodiff.ForwardAccumulator(primal, tf.constant(1.0))


def test_T10_nested_accumulators(tf):
    x = scalar(tf, 2.0)
    with tf.autodiff.ForwardAccumulator(x, scalar(tf, 1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, scalar(tf, 1.0)) as inner:
            y = x**4
        first = inner.jvp(y)
    same(first, 32.0)
    same(outer.jvp(y), 32.0)
    same(outer.jvp(first), 48.0)
    assert inner.jvp(outer.jvp(y)) is None


def test_T10_three_levels(tf):
    x, one = scalar(tf, 2.0), scalar(tf, 1.0)
    with tf.autodiff.ForwardAccumulator(x, one) as outer:
        with tf.autodiff.ForwardAccumulator(x, one) as middle:
            with tf.autodiff.ForwardAccumulator(x, one) as inner:
                y = tf.sin(x) * x
            first = inner.jvp(y)
        second = middle.jvp(first)
    same(second, 2 * math.cos(2.0) - 2.0 * math.sin(2.0), tol=1e-12)
    same(outer.jvp(second), -3 * math.sin(2.0) - 2.0 * math.cos(2.0), tol=1e-12)


def test_T10_the_jvp_is_asked_inside_both_blocks(tf):
    x, one = scalar(tf, 2.0), scalar(tf, 1.0)
    with (
        tf.autodiff.ForwardAccumulator(x, one) as outer,
        tf.autodiff.ForwardAccumulator(x, one) as inner,
    ):
        first = inner.jvp(x**4)
    same(outer.jvp(first), 48.0)


def test_T10_mixed_directions(tf):
    x, a, b = tf.constant([1.0, 2.0]), tf.constant([1.0, 0.0]), tf.constant([0.0, 1.0])
    with tf.autodiff.ForwardAccumulator(x, a) as outer:
        with tf.autodiff.ForwardAccumulator(x, b) as inner:
            y = x[0] ** 2 * x[1] ** 3
        first = inner.jvp(y)
    same(first, 12.0)
    same(outer.jvp(first), 24.0)


def test_T11_forward_over_reverse(tf):
    x, t = tf.constant([1.0, 2.0]), tf.constant([1.0, -1.0])
    with tf.autodiff.ForwardAccumulator(x, t) as acc:
        g = grad(tf, lambda x: x[0] ** 2 * x[1] ** 3, x)
    # the Hessian at (1, 2) is [[16, 24], [24, 12]]
    same(acc.jvp(g), [-8.0, 12.0])


def test_T11_of_variables(tf):
    v, w = tf.Variable([[1.0, 2.0]]), tf.Variable(3.0)
    tangents = [tf.constant([[1.0, 10.0]]), tf.constant(100.0)]
    with tf.autodiff.ForwardAccumulator([v, w], tangents) as acc:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v**2) * w**2
        grads = tape.gradient(y, [v, w])
    by_v, by_w = acc.jvp(grads)
    # grads: 2 v w^2 and 2 w v.v
    same(by_v, [[18.0 + 1200.0, 180.0 + 2400.0]])
    same(by_w, 12.0 * 21.0 + 10.0 * 100.0)


def test_T11_the_inner_tape_does_not_see_the_jvp(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc, tf.GradientTape() as tape:
        tape.watch(x)
        y = x**3
        product = acc.jvp(y)
    same(product, 12.0)
    assert tape.gradient(product, x) is None


def test_T11_the_gradient_taken_after_the_block(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc, tf.GradientTape() as tape:
        tape.watch(x)
        y = x**3
    assert acc.jvp(tape.gradient(y, x)) is None


def test_T12_reverse_over_forward(tf):
    x, t = tf.constant([1.0, 2.0]), tf.constant([1.0, -1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        product = jvp(tf, lambda x: x[0] ** 2 * x[1] ** 3, x, t)
    same(product, 16.0 - 12.0)
    same(tape.gradient(product, x), [-8.0, 12.0])


def test_T12_by_a_variable(tf):
    v, x = tf.Variable(3.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        product = jvp(tf, lambda x: v * x**2, x, tf.constant(1.0))
    same(product, 12.0)
    same(tape.gradient(product, v), 4.0)


def test_T12_by_the_tangent(tf):
    x, t = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(t)
        product = jvp(tf, lambda x: x**2, x, t)
    same(tape.gradient(product, t), [2.0, 4.0])


def test_T14_no_jvp_through_stop_gradient_and_integers(tf):
    x = tf.constant([1.4, 2.6])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 1.0])) as acc:
        stopped = tf.stop_gradient(x) * 2.0
        whole = tf.cast(x, tf.int32)
        back = tf.cast(whole, tf.float32)
        index = tf.argmax(x)
        partly = x * tf.stop_gradient(x)
    assert acc.jvp([stopped, whole, back, index]) == [None] * 4
    same(acc.jvp(partly), [1.4, 2.6])


def test_T15_integer_primals(tf):
    x, y = tf.constant([1, 2]), tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator([x, y], [tf.constant([1, 1]), tf.constant(1.0)]) as acc:
        z, w = x * x, y * y
    assert acc.jvp(z) is None
    same(acc.jvp(w), 6.0)


def test_T15_integer_primals_are_warned_about(tf):
    messages = logged(
        tf,
        """
        x = tf.constant([1, 2])
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1, 1])):
            pass
        """,
    )
    assert any(level == "WARNING" and "floating" in text for level, text in messages)


def test_T16_a_body_without_a_derivative(tf):
    rounded = tf.custom_gradient(lambda x: (tf.round(x), lambda upstream: upstream * 3.0))
    x = tf.constant([1.4, 2.6])
    same(jvp(tf, rounded, x, tf.constant([1.0, 10.0])), [3.0, 30.0])


def test_T16_the_transpose_of_grad_fn(tf):
    w = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.custom_gradient
    def f(x):
        y = tf.constant(w.numpy() @ x.numpy())
        return y, lambda upstream: tf.linalg.matvec(w, upstream, transpose_a=True)

    x = tf.constant([1.0, 2.0])
    same(jvp(tf, f, x, tf.constant([1.0, 10.0])), [21.0, 43.0, 65.0])


def test_T16_several_arguments_and_outputs(tf):
    @tf.custom_gradient
    def f(x, y):
        outputs = tf.constant(x.numpy() * y.numpy()), tf.constant(x.numpy() + y.numpy())
        return outputs, lambda a, b: (a * y + b, a * x + b)

    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator([x, y], [tf.constant(1.0), tf.constant(10.0)]) as acc:
        product, total = f(x, y)
    same(acc.jvp(product), 23.0)
    same(acc.jvp(total), 11.0)


def test_T17_a_body_with_a_derivative(tf):
    f = tf.custom_gradient(lambda x: (x**2, lambda upstream: upstream * 7.0))
    found = jvp(tf, f, tf.constant(3.0), tf.constant(1.0))
    same(found, 7.0 if on_gradtape(tf) else 6.0)


def test_T18_forward_and_reverse_are_adjoint(tf):
    rng = np.random.default_rng(0)
    x, t = (tf.constant(rng.uniform(0.1, 1, (2, 3))) for _ in range(2))
    w, u = tf.constant(rng.normal(size=(3, 4))), tf.constant(rng.normal(size=(2, 4)))

    def f(x):
        h = tf.tanh(tf.matmul(x * tf.reduce_sum(x, axis=0), w))
        return tf.nn.softmax(h) * tf.reduce_max(x, axis=1, keepdims=True) / (1.0 + h**2)

    forward = tf.reduce_sum(u * jvp(tf, f, x, t))
    reverse = tf.reduce_sum(t * grad(tf, f, x, output_gradients=u))
    same(forward, reverse, tol=1e-12)


def test_T19_there_is_no_public_watch(tf):
    assert not hasattr(tf.autodiff.ForwardAccumulator, "watch")
