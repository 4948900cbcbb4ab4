"""docs/semantics.md, sections R and T: custom_gradient and ForwardAccumulator with tf.function."""

import pytest

from .helpers import grad, on_gradtape, same, second, with_gradient


def cube_with_its_own_gradient(tf):
    """x**3 with the gradient 7 x."""

    @tf.custom_gradient
    def f(x):
        return x**3, lambda upstream: upstream * 7.0 * x

    return f


def jvp(tf, f, x, tangent):
    with tf.autodiff.ForwardAccumulator(x, tangent) as acc:
        y = f(x)
    return acc.jvp(y)


def test_R12_keyword_arguments_inside_a_function(tf):
    @tf.custom_gradient
    def f(x, factor=1.0):
        return x * factor, lambda upstream: upstream * 7.0

    compiled = tf.function(lambda x: f(x, factor=5.0))
    x = tf.constant(2.0)
    if on_gradtape(tf):
        same(compiled(x), 10.0)
        same(grad(tf, compiled, x), 7.0)
    else:
        with pytest.raises(ValueError):
            compiled(x)


def test_R13_through_a_function(tf):
    f = tf.function(cube_with_its_own_gradient(tf))
    x = tf.constant(2.0)
    same(f(x), 8.0)
    same(grad(tf, f, x), 14.0)
    same(second(tf, f, x), 7.0)


def test_R13_between_other_operations_of_a_function(tf):
    custom = with_gradient(tf, lambda x: x * x, 7.0)
    f = tf.function(lambda x: 3.0 * custom(5.0 * x))
    same(f(tf.constant(2.0)), 300.0)
    same(grad(tf, f, tf.constant(2.0)), 105.0)


def test_R13_with_a_tape_inside(tf):
    custom = cube_with_its_own_gradient(tf)
    slope = tf.function(lambda x: grad(tf, custom, x))
    same(slope(tf.constant(2.0)), 14.0)
    same(grad(tf, slope, tf.constant(2.0)), 7.0)


def test_R13_a_function_inside_the_wrapped_one(tf):
    square = tf.function(lambda x: x * x)
    custom = with_gradient(tf, square, 7.0)
    same(custom(tf.constant(3.0)), 9.0)
    same(grad(tf, custom, tf.constant(3.0)), 7.0)


def test_T13_around_a_call(tf):
    v = tf.Variable(5.0)
    f = tf.function(lambda x: v * x**3)
    x = tf.constant([1.0, 2.0])
    same(jvp(tf, f, x, tf.constant([1.0, 10.0])), [15.0, 600.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant(2.0)) as acc:
        y = f(x)
    same(acc.jvp(y), [2.0, 16.0])


def test_T13_inside_a_function(tf):
    f = tf.function(lambda x, tangent: jvp(tf, lambda x: x**3, x, tangent))
    same(f(tf.constant([1.0, 2.0]), tf.constant([1.0, 10.0])), [3.0, 120.0])


def test_T13_around_a_tape_inside_a_function(tf):
    slope = tf.function(lambda x: grad(tf, lambda x: x**3, x))
    same(jvp(tf, slope, tf.constant(2.0), tf.constant(10.0)), 120.0)


def test_T13_inside_and_differentiated_from_outside(tf):
    f = tf.function(lambda x: jvp(tf, lambda x: x**3, x, tf.constant(1.0)))
    same(grad(tf, f, tf.constant(2.0)), 12.0)


def test_T17_inside_a_function_the_custom_derivative_is_used(tf):
    f = tf.function(with_gradient(tf, lambda x: x**2, 7.0))
    same(jvp(tf, f, tf.constant(3.0), tf.constant(1.0)), 7.0)
