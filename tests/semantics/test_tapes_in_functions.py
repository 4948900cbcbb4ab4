"""docs/semantics.md, section Q: tapes inside a tf.function, and on both sides of its boundary."""

import numpy as np

from .helpers import grad, same, second


def test_Q2_a_tape_inside_for_arguments(tf):
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return tape.gradient(y, x)

    same(slope(tf.constant(2.0)), 12.0)
    same(slope(tf.constant([1.0, 3.0])), [3.0, 27.0])


def test_Q2_an_argument_must_be_watched(tf):
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            y = x**3
        return tape.gradient(y, x)

    assert slope(tf.constant(2.0)) is None


def test_Q2_a_tape_inside_for_variables(tf):
    v, w = tf.Variable(3.0), tf.Variable([1.0, 2.0])

    @tf.function
    def slopes(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(w * x) * v
        watched = [u.ref() for u in tape.watched_variables()]
        assert watched == [v.ref(), w.ref()]
        return tape.gradient(y, {"v": v, "w": w})

    grads = slopes(tf.constant(2.0))
    same(grads["v"], 6.0)
    same(grads["w"], [6.0, 6.0])


def test_Q2_a_variable_as_argument(tf):
    @tf.function
    def slope(v):
        with tf.GradientTape() as tape:
            y = v * v
        return tape.gradient(y, v)

    same(slope(tf.Variable(3.0)), 6.0)
    same(slope(tf.Variable(4.0)), 8.0)


def test_Q2_nested_tapes_inside(tf):
    @tf.function
    def curvature(x):
        return second(tf, lambda x: x**4, x)

    same(curvature(tf.constant(2.0)), 48.0)


def test_Q2_gradients_of_gradients_of_variables_inside(tf):
    v = tf.Variable(2.0)

    @tf.function
    def curvature():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = v**4
            first = inner.gradient(y, v)
        return first, outer.gradient(first, v)

    first, curved = curvature()
    same(first, 32.0)
    same(curved, 48.0)
    v.assign(1.0)
    same(curvature()[1], 12.0)


def test_Q5_nested_tapes_around_a_function(tf):
    f = tf.function(lambda x: x**4)
    same(second(tf, f, tf.constant(2.0)), 48.0)
    same(second(tf, f, tf.constant([1.0, 2.0])), [12.0, 48.0])


def test_Q5_third_derivatives_around_a_function(tf):
    f = tf.function(lambda x: tf.exp(2.0 * x) * x)
    x = tf.constant(0.5, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        curved = second(tf, f, x)
    same(tape.gradient(curved, x), (12 + 8 * 0.5) * np.exp(1.0), tol=1e-9)


def test_Q5_nested_tapes_around_a_function_of_variables(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: v**3 * x)
    x = tf.constant(5.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            y = f(x)
        first = inner.gradient(y, v)
    same(first, 60.0)
    gv, gx = outer.gradient(first, [v, x])
    same(gv, 60.0)
    same(gx, 12.0)


def test_Q5_a_tape_outside_and_one_inside(tf):
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return tape.gradient(y, x)

    same(grad(tf, slope, tf.constant(2.0)), 12.0)
    same(second(tf, slope, tf.constant(2.0)), 6.0)


def test_Q5_a_function_that_calls_a_function_between_tapes(tf):
    cube = tf.function(lambda x: x**3)

    @tf.function
    def slope(x):
        return grad(tf, cube, x)

    same(slope(tf.constant(2.0)), 12.0)
    same(grad(tf, slope, tf.constant(2.0)), 12.0)


def test_Q5_a_tape_inside_for_variables_and_one_outside(tf):
    v = tf.Variable(2.0)

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            y = x * v**3
        return tape.gradient(y, v)

    x = tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        g = slope(x)
    same(g, 60.0)
    gx, gv = tape.gradient(g, [x, v])
    same(gx, 12.0)
    same(gv, 60.0)


def test_Q5_the_inner_gradient_after_the_outer_block_is_not_recorded(tf):
    f = tf.function(lambda x: x**3)
    x = tf.constant(2.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        outer.watch(x)
        inner.watch(x)
        y = f(x)
    first = inner.gradient(y, x)
    same(first, 12.0)
    assert outer.gradient(first, x) is None


def test_Q5_a_hessian_through_a_function(tf):
    f = tf.function(lambda x: x[0] ** 2 * x[1] ** 3)
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        g = grad(tf, f, x)
    same(outer.jacobian(g, x), [[16.0, 24.0], [24.0, 12.0]])


def test_Q5_a_persistent_tape_that_records_its_own_gradient(tf):
    f = tf.function(lambda x: x**3)
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        first = tape.gradient(y, x)
    same(first, 12.0)
    same(tape.gradient(first, x), 12.0)


def test_Q6_a_persistent_tape_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = x**2, x**3
        return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(y, x)

    for got, expected in zip(f(tf.constant(2.0)), [4.0, 12.0, 4.0], strict=True):
        same(got, expected)


def test_Q6_jacobian_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x[0]
        return tape.jacobian(y, x)

    same(f(tf.constant([2.0, 3.0])), [[4.0, 0.0], [3.0, 2.0]])


def test_Q6_batch_jacobian_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x[:, :1]
        return tape.batch_jacobian(y, x)

    expected = [[[4.0, 0.0], [3.0, 2.0]], [[10.0, 0.0], [7.0, 5.0]]]
    same(f(tf.constant([[2.0, 3.0], [5.0, 7.0]])), expected)


def test_Q6_a_hessian_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            g = grad(tf, lambda x: x[0] ** 2 * x[1] ** 3, x)
        return outer.jacobian(g, x)

    same(f(tf.constant([1.0, 2.0])), [[16.0, 24.0], [24.0, 12.0]])


def test_Q6_use_pfor_false_needs_no_persistent_tape_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x[0]
        return tape.jacobian(y, x, experimental_use_pfor=False)

    same(f(tf.constant([2.0, 3.0])), [[4.0, 0.0], [3.0, 2.0]])


def test_Q6_batch_jacobian_with_use_pfor_false_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.batch_jacobian(y, x, experimental_use_pfor=False)

    same(f(tf.constant([[1.0, 2.0]])), [[[2.0, 0.0], [0.0, 4.0]]])


def test_Q7_unconnected_gradients_are_none_while_tracing(tf):
    seen = []

    @tf.function
    def f(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = x * x
        gx, gy = tape.gradient(z, [x, y])
        seen.append((gx is None, gy is None))
        return gx, gy

    gx, gy = f(tf.constant(3.0), tf.constant(4.0))
    same(gx, 6.0)
    assert gy is None
    assert seen == [(False, True)]


def test_Q7_unconnected_gradients_are_zeros_where_asked_for(tf):
    @tf.function
    def f(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = x * x
        return tape.gradient(z, [x, y], unconnected_gradients="zero")

    gx, gy = f(tf.constant(3.0), tf.constant([4.0, 5.0]))
    same(gx, 6.0)
    same(gy, [0.0, 0.0])
