"""SPEC Q: tf.function with tapes."""

import gc
import weakref

import numpy as np
import pytest

from .helpers import grad, on_gradtape, same


@pytest.fixture
def functions_run_eagerly(tf):
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def second(tf, f, x):
    """The second derivative of f at x, summed, by two nested tapes."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        first = inner.gradient(y, x)
    return outer.gradient(first, x)


def test_Q1_gradients_reach_arguments(tf):
    f = tf.function(lambda x, y: x * x * y)
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    gx, gy = grad(tf, f, x, y)
    same(f(x, y), [3.0, 12.0])
    same(gx, [6.0, 12.0])
    same(gy, 5.0)


def test_Q1_gradients_reach_captured_variables(tf):
    w, b = tf.Variable(3.0), tf.Variable(1.0)
    f = tf.function(lambda x: w * x * x + b)
    with tf.GradientTape() as tape:
        y = f(tf.constant(2.0))
    assert [v.ref() for v in tape.watched_variables()] == [w.ref(), b.ref()]
    gw, gb = tape.gradient(y, [w, b])
    same(gw, 4.0)
    same(gb, 1.0)


def test_Q1_a_captured_variable_that_is_not_trainable_must_be_watched(tf):
    v = tf.Variable(3.0, trainable=False)
    f = tf.function(lambda: v * v)
    with tf.GradientTape() as tape:
        y = f()
    assert tape.watched_variables() == ()
    assert tape.gradient(y, v) is None
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = f()
    same(tape.gradient(y, v), 6.0)


def test_Q1_variables_are_not_watched_where_the_tape_was_told_so(tf):
    v = tf.Variable(3.0)
    f = tf.function(lambda: v * v)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = f()
    assert tape.gradient(y, v) is None
    assert tape.watched_variables() == ()


def test_Q1_gradients_reach_captured_tensors(tf):
    c = tf.constant(5.0)
    f = tf.function(lambda x: c * c * x)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(c)
        y = f(x)
    same(tape.gradient(y, c), 20.0)
    assert grad(tf, lambda x: f(x), x) is not None


def test_Q1_variables_as_arguments(tf):
    f = tf.function(lambda v, w: v * v * w)
    v, w = tf.Variable(3.0), tf.Variable(5.0)
    with tf.GradientTape() as tape:
        y = f(v, w)
    gv, gw = tape.gradient(y, [v, w])
    same(gv, 30.0)
    same(gw, 9.0)
    with tf.GradientTape() as tape:
        y = f(w, v)
    gv, gw = tape.gradient(y, [v, w])
    same(gv, 25.0)
    same(gw, 30.0)


def test_Q1_a_call_goes_between_other_operations(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: x * v)
    with tf.GradientTape() as tape:
        y = tf.square(f(v + 1.0)) * v
    # (v (v + 1))^2 v = v^5 + 2 v^4 + v^3
    same(tape.gradient(y, v), 80.0 + 64.0 + 12.0)


def test_Q1_output_gradients(tf):
    f = tf.function(lambda x: x * x)
    x = tf.constant([1.0, 2.0])
    same(grad(tf, f, x, output_gradients=tf.constant([10.0, 100.0])), [20.0, 400.0])


def test_Q1_a_persistent_tape_is_asked_repeatedly(tf):
    f = tf.function(lambda x: (x * x, x**3))
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = f(x)
    for _ in range(2):
        same(tape.gradient(y, x), 4.0)
        same(tape.gradient(z, x), 12.0)
        same(tape.gradient([y, z], x), 16.0)


def test_Q1_jacobians_of_a_call(tf):
    f = tf.function(lambda x: x * x[0])
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    same(tape.jacobian(y, x), [[4.0, 0.0], [3.0, 2.0]])


def test_Q1_batch_jacobian_of_a_call(tf):
    f = tf.function(lambda x: x * x[:, :1])
    x = tf.constant([[2.0, 3.0], [5.0, 7.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    expected = [[[4.0, 0.0], [3.0, 2.0]], [[10.0, 0.0], [7.0, 5.0]]]
    same(tape.batch_jacobian(y, x), expected)


def test_Q1_a_gradient_goes_with_the_values_of_its_call(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: x * v * v)
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first = f(x)
        v.assign(5.0)
        again = f(x)
    v.assign(100.0)
    same(tape.gradient(first, x), 4.0)
    same(tape.gradient(again, x), 25.0)
    same(tape.gradient([first, again], v), 12.0 + 30.0)


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


def test_Q3_a_training_step(tf):
    v = tf.Variable(1.0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = (v * x - y) ** 2
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    losses = [float(step(tf.constant(2.0), tf.constant(6.0))) for _ in range(3)]
    expected, value = [], 1.0
    for _ in range(3):
        expected.append((2.0 * value - 6.0) ** 2)
        value -= 0.1 * 2 * 2.0 * (2.0 * value - 6.0)
    same(losses, expected)
    same(v, value)


def test_Q3_a_linear_regression_converges(tf):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 3)).astype(np.float32)
    true = np.array([[1.0], [-2.0], [0.5]], np.float32)
    y = x @ true + 0.25
    w, b = tf.Variable(tf.zeros([3, 1])), tf.Variable(0.0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w + b - y) ** 2)
        for v, g in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            v.assign_sub(0.2 * g)
        return loss

    for _ in range(100):
        loss = step(x, y)
    same(loss, 0.0)
    same(w, true, tol=1e-3)
    same(b, 0.25, tol=1e-3)


def test_Q3_eager_code_sees_the_variable_between_calls(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def double():
        v.assign(2.0 * v)

    before = v.value()
    double()
    same(v, [2.0, 4.0])
    v.assign_add([1.0, 1.0])
    double()
    same(v, [6.0, 10.0])
    same(before, [1.0, 2.0])


def test_Q4_a_watched_tensor_used_by_closure(tf):
    c = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(c)
        y = tf.function(lambda: tf.reduce_sum(c**3))()
    same(tape.gradient(y, c), [3.0, 12.0])


def test_Q4_a_result_of_recorded_operations_used_by_closure(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        doubled = 2.0 * v
        y = tf.function(lambda x: x * doubled)(tf.constant(5.0))
    same(tape.gradient(y, v), 10.0)


def test_Q4_a_closure_that_is_watched_only_at_a_later_call(tf):
    c = tf.constant(3.0)
    f = tf.function(lambda: c * c)
    same(f(), 9.0)
    with tf.GradientTape() as tape:
        tape.watch(c)
        y = f()
    same(tape.gradient(y, c), 6.0)


def test_Q4_second_derivatives_by_closure(tf):
    c = tf.constant(3.0)
    f = tf.function(lambda: c**3)
    same(second(tf, lambda _: f(), c), 18.0)


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


CUTS = {
    "stop_gradient": lambda tf, x: tf.stop_gradient(x),
    "integers": lambda tf, x: tf.cast(tf.cast(x, tf.int32), tf.float32),
    "an integer": lambda tf, x: tf.cast(x, tf.int32),
    "a constant": lambda tf, x: tf.constant(1.0),
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_Q8_a_disconnected_output_gives_none(tf, cut):
    f = tf.function(lambda x: cut(tf, x))
    x = tf.constant([1.0, 2.0])
    assert grad(tf, f, x) is None
    same(grad(tf, f, x, unconnected_gradients="zero"), [0.0, 0.0])


def test_Q8_a_disconnected_variable_gives_none(tf):
    v = tf.Variable(3.0)
    f = tf.function(lambda: tf.stop_gradient(v))
    with tf.GradientTape() as tape:
        y = f()
    assert tape.gradient(y, v) is None


def absolute(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            y = x * x
        else:
            y = -3.0 * x
        return y

    return f


def test_Q9_if_on_a_tensor(tf):
    f = absolute(tf)
    for x, value, slope in [(2.0, 4.0, 4.0), (-2.0, 6.0, -3.0)]:
        same(f(tf.constant(x)), value)
        same(grad(tf, f, tf.constant(x)), slope)
    assert f.experimental_get_tracing_count() == 1


def test_Q9_if_on_a_tensor_differentiated_twice(tf):
    f = absolute(tf)
    same(second(tf, f, tf.constant(2.0)), 2.0)


def test_Q9_elif_and_variables(tf):
    v, w = tf.Variable(2.0), tf.Variable(5.0)

    @tf.function
    def f(x):
        if x > 1.0:
            y = v * x
        elif x > 0.0:
            y = w * x
        else:
            y = v * w * x
        return y

    for x, gv, gw in [(2.0, 2.0, 0.0), (0.5, 0.0, 0.5), (-1.0, -5.0, -2.0)]:
        with tf.GradientTape() as tape:
            y = f(tf.constant(x))
        grads = tape.gradient(y, [v, w])
        same(grads[0], gv)
        same(grads[1], gw)


def test_Q9_a_conditional_expression_and_boolean_operators(tf):
    @tf.function
    def f(x):
        return x * x if (x > 0.0 and not x > 10.0) or x < -10.0 else 2.0 * x

    for x, slope in [(3.0, 6.0), (20.0, 2.0), (-20.0, -40.0), (-1.0, 2.0)]:
        same(grad(tf, f, tf.constant(x)), slope)


def test_Q9_for_in_range(tf):
    @tf.function
    def power(x, n):
        y = 1.0
        for _ in tf.range(n):
            y = y * x
        return y

    n = 4 if on_gradtape(tf) else tf.constant(4)  # XLA needs a bound for the gradient
    same(power(tf.constant(2.0), n), 16.0)
    same(grad(tf, lambda x: power(x, n), tf.constant(2.0)), 32.0)
    same(second(tf, lambda x: power(x, n), tf.constant(2.0)), 48.0)


def test_Q9_for_over_the_rows_of_a_tensor(tf):
    @tf.function
    def horner(x, coefficients):
        y = 0.0
        for c in coefficients:
            y = y * x + c
        return y

    x, coefficients = tf.constant(2.0), tf.constant([3.0, 0.0, -1.0])
    same(horner(x, coefficients), 11.0)
    gx, gc = grad(tf, horner, x, coefficients)
    same(gx, 12.0)
    same(gc, [4.0, 2.0, 1.0])


def test_Q9_while_on_a_tensor(tf):
    @tf.function
    def f(x):
        y = x
        while tf.abs(y) < 100.0:
            y = y * x
        return y

    same(f(tf.constant(3.0)), 243.0)
    same(f(tf.constant(20.0)), 400.0)


def test_Q9_while_is_differentiable(tf):
    @tf.function
    def f(x):
        y = x
        while tf.abs(y) < 100.0:
            # XLA needs a bound for the gradient.
            tf.autograph.experimental.set_loop_options(maximum_iterations=20)
            y = y * x
        return y

    same(grad(tf, f, tf.constant(3.0)), 5 * 81.0)
    same(second(tf, f, tf.constant(3.0)), 20 * 27.0)


def test_Q9_a_tape_inside_around_control_flow(tf):
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = 1.0
            for _ in tf.range(3):
                if x > 0.0:
                    y = y * x
                else:
                    y = y - x
        return tape.gradient(y, x)

    same(slope(tf.constant(2.0)), 12.0)
    same(slope(tf.constant(-2.0)), -3.0)


def test_Q9_a_tape_inside_control_flow(tf):
    @tf.function
    def f(x):
        total = tf.zeros_like(x)
        for _ in tf.range(3):
            total += grad(tf, lambda x: x**3, x)
        return total

    same(f(tf.constant(2.0)), 36.0)


def test_Q9_assignments_in_branches_and_loops(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        for _ in tf.range(3):
            if v < x:
                v.assign(2.0 * v)

    f(tf.constant(3.0))
    same(v, 4.0)
    f(tf.constant(100.0))
    same(v, 32.0)


def test_Q10_early_return(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            return x * x
        return -3.0 * x

    for x, value, slope in [(2.0, 4.0, 4.0), (-2.0, 6.0, -3.0)]:
        same(f(tf.constant(x)), value)
        same(grad(tf, f, tf.constant(x)), slope)


def test_Q10_break(tf):
    @tf.function
    def f(x):
        y = x
        for _ in tf.range(10):
            if tf.abs(y) > 50.0:
                break
            y = y * x
        return y

    same(f(tf.constant(3.0)), 81.0)
    same(grad(tf, f, tf.constant(3.0)), 4 * 27.0)


def test_Q10_continue(tf):
    @tf.function
    def f(x):
        y = 0.0 * x
        for i in tf.range(6):
            if i % 2 == 0:
                continue
            y += x ** tf.cast(i, tf.float32)
        return y

    same(f(tf.constant(2.0)), 2.0 + 8.0 + 32.0)
    same(grad(tf, f, tf.constant(2.0)), 1.0 + 12.0 + 80.0)


def test_Q11_cond_once_and_twice(tf):
    f = tf.function(lambda x: tf.cond(x > 0.0, lambda: x**3, lambda: x**2))
    same(grad(tf, f, tf.constant(2.0)), 12.0)
    same(grad(tf, f, tf.constant(-2.0)), -4.0)
    same(second(tf, f, tf.constant(2.0)), 12.0)
    same(second(tf, f, tf.constant(-2.0)), 2.0)


def test_Q11_cond_inside_twice(tf):
    @tf.function
    def curved(x):
        return second(tf, lambda x: tf.cond(x > 0.0, lambda: x**3, lambda: x**2), x)

    same(curved(tf.constant(2.0)), 12.0)
    same(curved(tf.constant(-2.0)), 2.0)


def powers(tf, x):
    """x**5 by a loop of a number of rounds that only the run knows."""
    _, y = tf.while_loop(
        lambda i, y: i < 4, lambda i, y: (i + 1, y * x), (tf.constant(0), x), maximum_iterations=9
    )
    return y


def test_Q11_while_loop_once_and_twice(tf):
    f = tf.function(lambda x: powers(tf, x))
    same(f(tf.constant(2.0)), 32.0)
    same(grad(tf, f, tf.constant(2.0)), 80.0)
    same(second(tf, f, tf.constant(2.0)), 160.0)


def test_Q11_while_loop_inside_twice(tf):
    f = tf.function(lambda x: second(tf, lambda x: powers(tf, x), x))
    same(f(tf.constant(2.0)), 160.0)


def test_Q11_a_loop_around_a_choice(tf):
    def body(i, y):
        return i + 1, tf.cond(i % 2 == 0, lambda: y * y, lambda: 3.0 * y)

    @tf.function
    def f(x):
        return tf.while_loop(lambda i, y: i < 4, body, (tf.constant(0), x), maximum_iterations=4)[1]

    # ((x^2 3)^2 3) = 27 x^4
    same(f(tf.constant(2.0)), 27.0 * 16.0)
    same(grad(tf, f, tf.constant(2.0)), 108.0 * 8.0)
    same(second(tf, f, tf.constant(2.0)), 324.0 * 4.0)


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


def test_Q16_a_variable_on_every_trace_is_refused(tf):
    @tf.function
    def f(x):
        return tf.Variable(1.0) * x

    with pytest.raises(ValueError):
        f(tf.constant(2.0))


def test_Q16_a_variable_of_the_first_call_only(tf):
    class Counter:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(10.0)
            return self.v.assign_add(x)

    count = Counter()
    same(count(tf.constant(1.0)), 11.0)
    same(count(tf.constant(2.0)), 13.0)
    same(count.v, 13.0)


def test_Q16_a_created_variable_is_differentiable_at_once(tf):
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(3.0))
        return made[0] * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    same(y, 12.0)
    same(tape.gradient(y, x), 12.0)
    with tf.GradientTape() as tape:
        y = f(x)
    same(tape.gradient(y, made[0]), 4.0)


def test_Q17_assignments_take_effect_in_program_order(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f():
        before = v + 0.0
        v.assign(10.0)
        between = v + 0.0
        v.assign_add(5.0)
        v.assign_sub(1.0)
        return before, between, v + 0.0

    for start in (1.0, 14.0):
        before, between, after = f()
        same(before, start)
        same(between, 10.0)
        same(after, 14.0)


def test_Q17_a_counter(tf):
    count = tf.Variable(0)

    @tf.function
    def f():
        count.assign_add(1)
        return count.read_value()

    assert [int(f()) for _ in range(4)] == [1, 2, 3, 4]
    assert int(count) == 4


def test_Q17_parts_of_a_variable(tf):
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(x):
        v[1].assign(x)
        return tf.reduce_sum(v)

    same(f(tf.constant(10.0)), 14.0)
    same(f(tf.constant(20.0)), 24.0)
    same(v, [1.0, 20.0, 3.0])


def test_Q17_an_assignment_cuts_the_chain(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(x * 5.0)
        return v * x

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    same(y, 20.0)
    gx, gv = tape.gradient(y, [x, v])
    same(gx, 10.0)
    same(gv, 2.0)


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


def model(tf):
    class Model:
        def __init__(self, w):
            self.w = tf.Variable(w)
            self.traced = 0

        @tf.function
        def __call__(self, x):
            self.traced += 1
            return self.w * x

        @tf.function
        def train(self, x, rate=0.5):
            self.w.assign_sub(rate * x)
            return self.w.read_value()

    return Model


def test_Q19_each_instance_has_its_own_state(tf):
    one, two = model(tf)(2.0), model(tf)(3.0)
    x = tf.constant(10.0)
    same(one(x), 20.0)
    same(two(x), 30.0)
    same(one.train(x), -3.0)
    same(one(x), -30.0)
    same(two(x), 30.0)
    assert (one.traced, two.traced) == (1, 1)


def test_Q19_gradients_of_methods(tf):
    one, two = model(tf)(2.0), model(tf)(3.0)
    with tf.GradientTape() as tape:
        y = one(tf.constant(10.0)) * two(tf.constant(100.0))
    g = tape.gradient(y, [one.w, two.w])
    same(g[0], 3000.0)
    same(g[1], 2000.0)


def test_Q19_an_instance_can_go(tf):
    one = model(tf)(2.0)
    one(tf.constant(1.0))
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


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


def test_Q23_gather_inside(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    f = tf.function(lambda i: tf.reduce_sum(tf.gather(v, i) ** 2))
    with tf.GradientTape() as tape:
        y = f(tf.constant([2, 0, 2]))
    same(y, 1.0 + 4.0 + 2 * (25.0 + 36.0))
    same(tf.convert_to_tensor(tape.gradient(y, v)), [[2.0, 4.0], [0.0, 0.0], [20.0, 24.0]])


def test_Q23_a_tape_inside_around_gather(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def step(i):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(v, i) ** 2)
        g = tape.gradient(y, v)
        v.assign_sub(0.5 * tf.convert_to_tensor(g))
        return g

    g = step(tf.constant([2, 0]))
    same(tf.convert_to_tensor(g), [[2.0, 4.0], [0.0, 0.0], [10.0, 12.0]])
    same(v, [[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])


def test_Q24_outputs_that_are_not_used_count_as_zero(tf):
    f = tf.function(lambda x: (x * x, x**3, tf.exp(x)))
    x = tf.constant(2.0)
    same(grad(tf, lambda x: f(x)[1], x), 12.0)
    same(second(tf, lambda x: f(x)[1], x), 12.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b, _ = f(x)
        y = 3.0 * a + b
    same(tape.gradient(y, x), 24.0)


def test_Q25_an_argument_that_reaches_one_output_gets_zeros_from_the_others(tf):
    f = tf.function(lambda x, y: (x * x, y * y, tf.stop_gradient(x)))
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        a, b, stopped = f(x, y)
    same(tape.gradient(a, x), 4.0)
    same(tape.gradient(b, y), 6.0)
    same(tape.gradient([a, b], y), 6.0)
    for target, source in [(a, y), (b, x), (stopped, x), (stopped, y)]:
        same(tape.gradient(target, source), 0.0)


def test_Q25_a_captured_variable_too(tf):
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    f = tf.function(lambda: (v * v, w * w))
    with tf.GradientTape(persistent=True) as tape:
        a, b = f()
    same(tape.gradient(a, v), 4.0)
    same(tape.gradient(a, w), 0.0)
    same(tape.gradient(b, v), 0.0)


def test_Q25_second_derivatives_of_one_of_two_outputs(tf):
    f = tf.function(lambda x, y: (x**3 * y, y**3))
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with tf.GradientTape(persistent=True) as inner:
            inner.watch([x, y])
            a, b = f(x, y)
        by_x, by_y = inner.gradient(a, [x, y])
        cube = inner.gradient(b, y)
    same(by_x, 36.0)
    same(by_y, 8.0)
    same(outer.gradient(by_x, [x, y]), [36.0, 12.0])
    same(outer.gradient(by_y, x), 12.0)
    same(outer.gradient(cube, y), 18.0)


def test_Q25_an_argument_that_reaches_no_output_gets_none(tf):
    f = tf.function(lambda x, y: (x * x, tf.stop_gradient(y)))
    x, y = tf.constant(2.0), tf.constant(3.0)
    gx, gy = grad(tf, lambda x, y: f(x, y)[0], x, y)
    same(gx, 4.0)
    assert gy is None


def test_Q26_a_variable_of_the_branch_not_taken_gets_zeros(tf):
    v, w = tf.Variable(2.0), tf.Variable(5.0)

    @tf.function
    def f(x):
        return tf.cond(x > 0.0, lambda: v * x, lambda: w * x)

    with tf.GradientTape() as tape:
        y = f(tf.constant(3.0))
    gv, gw = tape.gradient(y, [v, w])
    same(gv, 3.0)
    same(gw, 0.0)


def test_Q26_in_a_python_branch_it_gets_none(tf):
    v, w = tf.Variable(2.0), tf.Variable(5.0)
    f = tf.function(lambda x, positive: v * x if positive else w * x)
    with tf.GradientTape() as tape:
        y = f(tf.constant(3.0), True)
    gv, gw = tape.gradient(y, [v, w])
    same(gv, 3.0)
    assert gw is None


def test_Q27_a_variable_that_is_read_is_watched(tf):
    used, unused = tf.Variable(2.0), tf.Variable(5.0)

    @tf.function
    def f(x):
        unused.read_value()
        return used * x

    with tf.GradientTape() as tape:
        y = f(tf.constant(3.0))
    assert [v.ref() for v in tape.watched_variables()] == [used.ref(), unused.ref()]
    g = tape.gradient(y, [used, unused])
    same(g[0], 3.0)
    assert g[1] is None


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
