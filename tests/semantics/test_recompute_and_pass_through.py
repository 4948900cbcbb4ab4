"""docs/semantics.md, section S: recompute_grad, grad_pass_through, straight-through estimators."""

import pytest

from .helpers import grad, same


def counted(tf, f):
    """tf.recompute_grad(f), and the list of the runs of f."""
    runs = []

    def counting(*args, **kwargs):
        runs.append(args)
        return f(*args, **kwargs)

    return tf.recompute_grad(counting), runs


def test_S1_values_and_gradients(tf):
    f = tf.recompute_grad(lambda x: tf.sin(x) * x**2)
    x = tf.constant([1.0, 2.0])
    same(f(x), tf.sin(x) * x**2)
    same(grad(tf, f, x), grad(tf, lambda x: tf.sin(x) * x**2, x))
    same(grad(tf, lambda x: f(x * 2.0) * 3.0, x), 6.0 * grad(tf, f, x * 2.0))


def test_S1_f_runs_once_forward_and_once_for_each_gradient(tf):
    f, runs = counted(tf, lambda x: x**3)
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    assert len(runs) == 1
    same(tape.gradient(y, x), 12.0)
    assert len(runs) == 2
    same(tape.gradient(y, x), 12.0)
    assert len(runs) == 3


def test_S1_without_a_tape_f_runs_once(tf):
    f, runs = counted(tf, lambda x: x**3)
    same(f(tf.constant(2.0)), 8.0)
    assert len(runs) == 1


def test_S1_several_outputs(tf):
    f = tf.recompute_grad(lambda x: (x**2, x**3))
    x = tf.constant(2.0)
    a, b = f(x)
    same(a, 4.0)
    same(b, 8.0)
    same(grad(tf, lambda x: f(x)[0] + 10.0 * f(x)[1], x), 124.0)
    same(grad(tf, lambda x: f(x)[1], x), 12.0)


def test_S1_blocks_one_after_another(tf):
    f, runs = counted(tf, lambda x: tf.sin(x))
    x = tf.constant(0.5, tf.float64)
    expected = grad(tf, lambda x: tf.sin(tf.sin(tf.sin(x))), x)
    same(grad(tf, lambda x: f(f(f(x))), x), expected, tol=1e-12)
    assert len(runs) == 6


def test_S1_nested(tf):
    inner = tf.recompute_grad(lambda x: tf.sin(x) * x)
    outer = tf.recompute_grad(lambda x: inner(inner(x)) + x**2)
    x = tf.constant(0.5, tf.float64)

    def g(x):
        return tf.sin(x) * x

    same(grad(tf, outer, x), grad(tf, lambda x: g(g(x)) + x**2, x), tol=1e-12)


def test_S1_second_derivative(tf):
    f = tf.recompute_grad(lambda x: x**3)
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = grad(tf, f, x)
    same(first, 12.0)
    same(outer.gradient(first, x), 12.0)


def test_S2_variables_of_the_closure(tf):
    v, w = tf.Variable([2.0, 3.0]), tf.Variable(4.0)
    f = tf.recompute_grad(lambda x: x * v**2 * w)
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gx, gv, gw = tape.gradient(y, [x, v, w])
    same(gx, [16.0, 36.0])
    same(gv, [16.0, 48.0])
    same(gw, 22.0)


def test_S2_a_variable_in_two_blocks(tf):
    v = tf.Variable(3.0)
    f = tf.recompute_grad(lambda x: x * v)
    with tf.GradientTape() as tape:
        y = f(f(tf.constant(2.0)))
    same(tape.gradient(y, v), 12.0)


def test_S3_several_arguments(tf):
    f = tf.recompute_grad(lambda x, y: x**2 * y)
    gx, gy = grad(tf, f, tf.constant(2.0), tf.constant(3.0))
    same(gx, 12.0)
    same(gy, 4.0)


def test_S3_the_same_tensor_twice(tf):
    f = tf.recompute_grad(lambda x, y: x**2 * y)
    same(grad(tf, lambda x: f(x, x), tf.constant(2.0)), 12.0)


def test_S3_zeros_by_an_argument_that_is_not_used(tf):
    f = tf.recompute_grad(lambda x, y: x * 2.0)
    y = tf.constant([1.0, 2.0])
    same(grad(tf, lambda y: f(tf.constant(3.0), y), y), [0.0, 0.0])


def test_S3_keyword_arguments(tf):
    seen = []

    def f(x, power=1, name=None):
        seen.append(name)
        return x**power

    wrapped = tf.recompute_grad(f)
    same(wrapped(tf.constant(2.0), power=3), 8.0)
    same(grad(tf, lambda x: wrapped(x, power=3, name="n"), tf.constant(2.0)), 12.0)
    assert seen == [None, "n", "n"]


def test_S4_the_gradient_of_the_identity(tf):
    f = tf.grad_pass_through(tf.round)
    x = tf.constant([0.4, 1.6])
    same(f(x), [0.0, 2.0])
    same(grad(tf, f, x), [1.0, 1.0])
    same(grad(tf, lambda x: f(x * 2.0) * tf.constant([3.0, 4.0]), x), [6.0, 8.0])


def test_S4_in_place_of_another_gradient(tf):
    same(grad(tf, tf.grad_pass_through(lambda x: x**3), tf.constant(2.0)), 1.0)


def test_S4_variables_inside_are_not_reached(tf):
    v = tf.Variable(3.0)
    f = tf.grad_pass_through(lambda x: x * v)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gx, gv = tape.gradient(y, [x, v])
    same(y, 6.0)
    same(gx, 1.0)
    assert gv is None


def test_S5_through_an_assignment(tf):
    v, x = tf.Variable(0.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        direct = v.assign(x * 2.0) * 5.0
        passed = tf.grad_pass_through(v.assign)(x * 2.0) * 5.0
    same(passed, 30.0)
    same(v.numpy(), 6.0)
    assert tape.gradient(direct, x) is None
    same(tape.gradient(passed, x), 10.0)


@pytest.mark.parametrize("name", ["round", "sign"])
def test_S6_straight_through_estimator(tf, name):
    f = getattr(tf, name)
    x = tf.constant([0.4, -1.6])
    y = x + tf.stop_gradient(f(x) - x)
    same(y, f(x))
    assert grad(tf, lambda x: tf.stop_gradient(f(x)), x) is None
    same(grad(tf, lambda x: (x + tf.stop_gradient(f(x) - x)) * 3.0, x), [3.0, 3.0])
