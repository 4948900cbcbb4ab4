"""docs/semantics.md, section U: tf.gradients and tf.hessians."""

import pytest

from .helpers import grad, same


def test_U1_eagerly_it_raises(tf):
    x = tf.constant(2.0)
    with pytest.raises(RuntimeError, match="GradientTape"):
        tf.gradients(x * x, x)


def test_U2_one_entry_for_each_x(tf):
    @tf.function
    def f(x, y):
        z = x * x * y
        return tf.gradients(z, [x, y])

    result = f(tf.constant([1.0, 2.0]), tf.constant(3.0))
    assert isinstance(result, list)
    same(result[0], [6.0, 12.0])
    same(result[1], 5.0)


def test_U2_a_single_x_gives_a_list(tf):
    (g,) = tf.function(lambda x: tf.gradients(x**3, x))(tf.constant(2.0))
    same(g, 12.0)


def test_U2_several_ys_are_summed(tf):
    (g,) = tf.function(lambda x: tf.gradients([x**2, x**3], [x]))(tf.constant(2.0))
    same(g, 16.0)


def test_U2_intermediate_tensors_are_sources(tf):
    @tf.function
    def f(x):
        y = x * x
        z = 3.0 * y
        return tf.gradients(z, [x, y, z])

    for got, expected in zip(f(tf.constant(2.0)), [12.0, 3.0, 1.0], strict=True):
        same(got, expected)


def test_U2_variables(tf):
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        return tf.gradients(v * v * x, v)

    same(f(tf.constant(2.0))[0], 12.0)
    v.assign(1.0)
    same(f(tf.constant(2.0))[0], 4.0)


def test_U2_variables_that_are_not_trainable(tf):
    v = tf.Variable(3.0, trainable=False)
    same(tf.function(lambda x: tf.gradients(v * v * x, v))(tf.constant(2.0))[0], 12.0)


def test_U2_a_tape_outside_differentiates_the_result(tf):
    f = tf.function(lambda x: tf.gradients(x**3, x)[0])
    same(grad(tf, f, tf.constant(2.0)), 12.0)


def test_U2_through_control_flow(tf):
    f = tf.function(lambda x: tf.gradients(tf.cond(x > 0.0, lambda: x**3, lambda: -x), x)[0])
    same(f(tf.constant(2.0)), 12.0)
    same(f(tf.constant(-2.0)), -1.0)


def test_U3_grad_ys_weigh_the_ys(tf):
    @tf.function
    def f(x):
        return tf.gradients([x**2, x**3], x, grad_ys=[tf.constant([10.0, 100.0]), 1.0 * x])

    same(f(tf.constant([1.0, 2.0]))[0], [20.0 + 3.0, 400.0 + 24.0])


def test_U3_unconnected_xs_give_none(tf):
    result = tf.function(lambda x, y: tf.gradients(x * x, [x, y]))(
        tf.constant(2.0), tf.constant([3.0, 4.0])
    )
    same(result[0], 4.0)
    assert result[1] is None


def test_U3_unconnected_xs_give_zeros_where_asked_for(tf):
    @tf.function
    def f(x, y):
        return tf.gradients(x * x, [x, y], unconnected_gradients="zero")

    result = f(tf.constant(2.0), tf.constant([3.0, 4.0]))
    same(result[0], 4.0)
    same(result[1], [0.0, 0.0])


def test_U4_stop_gradients_gives_partial_derivatives(tf):
    @tf.function
    def f(x):
        y = 2.0 * x
        z = x * x + y * y
        return tf.gradients(z, [x, y]), tf.gradients(z, [x, y], stop_gradients=[y])

    total, partial = f(tf.constant(3.0))
    same(total[0], 6.0 + 24.0)
    same(partial[0], 6.0)
    same(total[1], 12.0)
    same(partial[1], 12.0)


def test_U4_stop_gradients_of_the_xs_themselves(tf):
    @tf.function
    def f(a):
        b = 2.0 * a
        return tf.gradients(a + b, [a, b], stop_gradients=[a, b])

    for got in f(tf.constant(3.0)):
        same(got, 1.0)


def test_U5_second_derivatives(tf):
    @tf.function
    def f(x):
        (first,) = tf.gradients(x**4, x)
        (second,) = tf.gradients(first, x)
        return first, second, tf.gradients(second, x)[0]

    for got, expected in zip(f(tf.constant(2.0)), [32.0, 48.0, 48.0], strict=True):
        same(got, expected)


def test_U5_inside_and_outside_a_tape(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            (first,) = tf.gradients(x**4, x)
        return tape.gradient(first, x)

    same(f(tf.constant(2.0)), 48.0)


def test_U6_hessians(tf):
    @tf.function
    def f(x):
        return tf.hessians(x[0] ** 2 * x[1] ** 3, x)

    result = f(tf.constant([1.0, 2.0]))
    assert isinstance(result, list)
    same(result[0], [[16.0, 24.0], [24.0, 12.0]])


def test_U6_the_shape_is_that_of_x_twice(tf):
    (h,) = tf.function(lambda x: tf.hessians(tf.reduce_sum(x**3), x))(tf.ones([2, 3]))
    assert h.shape == [2, 3, 2, 3]
    same(tf.reshape(h, [6, 6]), 6.0 * tf.eye(6).numpy())


def test_U6_several_xs(tf):
    @tf.function
    def f(x, y):
        return tf.hessians(tf.reduce_sum(x * x) * y[0] ** 3, [x, y])

    hx, hy = f(tf.constant([1.0, 2.0]), tf.constant([2.0]))
    same(hx, [[16.0, 0.0], [0.0, 16.0]])
    same(hy, [[60.0]])
