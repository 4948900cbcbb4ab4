"""docs/semantics.md, section O: nested tapes and higher orders."""

import math

import pytest

from .helpers import grad, same, third


def test_O1_outer_tapes_record_inner_gradients(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as third_tape:
        with tf.GradientTape() as second_tape:
            with tf.GradientTape() as first_tape:
                y = v**4
            first = first_tape.gradient(y, v)
        second = second_tape.gradient(first, v)
    same(first, 32.0)
    same(second, 48.0)
    same(third_tape.gradient(second, v), 48.0)


def test_O2_an_inner_gradient_after_the_outer_block_is_not_recorded(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = v**3
    first = inner.gradient(y, v)
    same(first, 12.0)
    assert outer.gradient(first, v) is None


def test_O3_an_inner_gradient_inside_the_inner_block(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = v**3
        first = inner.gradient(y, v)
    same(first, 12.0)
    same(outer.gradient(first, v), 12.0)


def test_O4_each_tape_must_watch_a_constant(tf):
    x = tf.constant(2.0)

    def second(outer_watches, inner_watches):
        with tf.GradientTape() as outer:
            if outer_watches:
                outer.watch(x)
            with tf.GradientTape() as inner:
                if inner_watches:
                    inner.watch(x)
                y = x**3
            first = inner.gradient(y, x)
        return first, first is not None and outer.gradient(first, x)

    assert second(True, False)[0] is None
    first, nothing = second(False, True)
    same(first, 12.0)
    assert nothing is None
    same(second(True, True)[1], 12.0)


def test_O5_a_constant_first_derivative_has_no_second(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = 5.0 * v
        first = inner.gradient(y, v)
    same(first, 5.0)
    assert outer.gradient(first, v) is None


def test_O6_a_loss_may_contain_a_gradient(tf):
    w, x = tf.Variable([[1.0, 2.0]]), tf.constant([[3.0], [4.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.matmul(w, x) ** 2)
        g = inner.gradient(y, x)
        penalty = tf.reduce_sum(g * g)
        loss = y + penalty
    # y = (w.x)^2, penalty = 4 (w.x)^2 (w.w), with w.x = 11 and w.w = 5
    same(penalty, 4 * 121.0 * 5.0)
    expected = [22.0 * x_ + 88.0 * x_ * 5.0 + 968.0 * w_ for x_, w_ in [(3.0, 1.0), (4.0, 2.0)]]
    same(outer.gradient(loss, w), [expected])


def test_O7_hessian_vector_product(tf):
    x, direction = tf.constant([1.0, 2.0]), tf.constant([1.0, -1.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        g = grad(tf, lambda x: x[0] ** 2 * x[1] ** 3, x)
        product = tf.reduce_sum(g * direction)
    # the Hessian at (1, 2) is [[16, 24], [24, 12]]
    same(outer.gradient(product, x), [-8.0, 12.0])


def test_O8_a_persistent_inner_tape_asked_repeatedly(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape(persistent=True) as inner:
            y, z = v**3, v**4
        total = inner.gradient(y, v) * inner.gradient(z, v) + inner.gradient(y, v)
    # 12 v^5 + 3 v^2
    same(outer.gradient(total, v), 60 * 16.0 + 12.0)


X = 0.7
S = 1 / (1 + math.exp(-X))
T = math.tanh(X)
THIRD = {
    "exp": (lambda tf, x: tf.exp(x), math.exp(X)),
    "sin": (lambda tf, x: tf.sin(x), -math.cos(X)),
    "tanh": (lambda tf, x: tf.tanh(x), -2 * (1 - T * T) * (1 - 3 * T * T)),
    "sigmoid": (lambda tf, x: tf.sigmoid(x), S * (1 - S) * (1 - 6 * S + 6 * S * S)),
    "log": (lambda tf, x: tf.math.log(x), 2 / X**3),
    "sqrt": (lambda tf, x: tf.sqrt(x), 3 / 8 * X**-2.5),
    "x**3": (lambda tf, x: x**3, 6.0),
    "x**5": (lambda tf, x: x**5, 60 * X**2),
    "x**-2": (lambda tf, x: x**-2.0, -24 * X**-5),
    "1/x": (lambda tf, x: 1.0 / x, -6 / X**4),
    "x/(1+x)": (lambda tf, x: x / (1.0 + x), 6 / (1 + X) ** 4),
}


@pytest.mark.parametrize("f, expected", THIRD.values(), ids=THIRD)
def test_O9_third_derivatives(tf, f, expected):
    x = tf.constant(X, tf.float64)
    same(third(tf, lambda x: f(tf, x), x), expected, tol=1e-9)
