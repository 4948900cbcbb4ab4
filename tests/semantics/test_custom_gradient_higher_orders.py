"""docs/semantics.md, section R: second derivatives and Jacobians of custom_gradient functions."""

import numpy as np

from .helpers import grad, same, with_gradient
from .test_custom_gradient import log1pexp


def test_R14_second_derivative(tf):
    @tf.custom_gradient
    def f(x):
        return x**2, lambda upstream: upstream * x**5

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = grad(tf, f, x)
    same(first, 32.0)
    same(outer.gradient(first, x), 80.0)


def test_R14_by_the_upstream_gradient(tf):
    f = with_gradient(tf, lambda x: x**2, 7.0)
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = grad(tf, lambda x: f(x) * x**3, x)
    # 7 x^3 + 3 x^2 f(x), and f' counts as 7
    same(first, 56.0 + 48.0)
    same(outer.gradient(first, x), 7 * 12.0 + 12.0 * 4.0 + 12.0 * 7.0)


def test_R14_log1pexp(tf):
    f = log1pexp(tf)
    x = tf.constant(1.0, tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = grad(tf, f, x)
    sigmoid = 1 / (1 + np.exp(-1.0))
    same(first, sigmoid)
    same(outer.gradient(first, x), sigmoid * (1 - sigmoid))


def test_R14_through_what_f_computed(tf):
    @tf.custom_gradient
    def f(x):
        square = x * x
        return square * x, lambda upstream: upstream * square * x

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = grad(tf, f, x)
    same(first, 8.0)
    same(outer.gradient(first, x), 12.0)


def test_R15_a_custom_second_derivative(tf):
    @tf.custom_gradient
    def derivative(x, upstream):
        return upstream * 3.0 * x**2, lambda u: (u * 1000.0, u * 7.0)

    @tf.custom_gradient
    def cube(x):
        return x**3, lambda upstream: derivative(x, upstream)

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = grad(tf, cube, x)
    same(first, 12.0)
    same(outer.gradient(first, x), 1000.0)


def test_R15_both_arguments_have_their_gradient(tf):
    @tf.custom_gradient
    def derivative(x, upstream):
        return upstream * 3.0 * x**2, lambda u: (u * 1000.0, u * 7.0)

    @tf.custom_gradient
    def cube(x):
        return x**3, lambda upstream: derivative(x, upstream)

    x, k = tf.constant(2.0), tf.constant(5.0)
    with tf.GradientTape() as outer:
        outer.watch([x, k])
        first = grad(tf, lambda x: cube(x) * k, x)
    by_x, by_k = outer.gradient(first, [x, k])
    same(by_x, 1000.0)
    same(by_k, 7.0)


def test_R19_jacobian_uses_custom_gradients(tf):
    rounded = tf.custom_gradient(lambda x: (tf.round(x), lambda upstream: upstream))
    x = tf.constant([0.4, 1.6, 2.2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = rounded(x)
    same(y, [0.0, 2.0, 2.0])
    same(tape.jacobian(y, x), np.eye(3))


def test_R19_jacobian_of_a_custom_function_of_several(tf):
    @tf.custom_gradient
    def f(x, w):
        y = tf.linalg.matvec(w, x)
        return y, lambda u: (tf.linalg.matvec(w, u, transpose_a=True) * 10.0, u[:, None] * x)

    x, w = tf.constant([1.0, 2.0]), tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = f(x, w)
    jx, jw = tape.jacobian(y, [x, w])
    same(jx, 10 * w.numpy())
    same(jw, np.einsum("ij,k->ijk", np.eye(3), [1.0, 2.0]))
