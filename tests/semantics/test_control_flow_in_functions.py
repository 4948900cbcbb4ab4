"""docs/semantics.md, section Q: if, while and for on tensors inside a tf.function."""

import pytest

from .helpers import grad, on_gradtape, same, second


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
            y = y * x
        return y

    same(grad(tf, f, tf.constant(3.0)), 5 * 81.0)
    same(second(tf, f, tf.constant(3.0)), 20 * 27.0)


def test_Q9_while_with_a_bound_is_differentiable(tf):
    @tf.function
    def f(x):
        y = x
        while tf.abs(y) < 100.0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=20)
            y = y * x
        return y

    same(grad(tf, f, tf.constant(3.0)), 5 * 81.0)
    same(second(tf, f, tf.constant(3.0)), 20 * 27.0)


def test_Q9_the_number_of_rounds_may_change_from_call_to_call(tf):
    v, traces = tf.Variable(1.5), []

    @tf.function
    def step(n):
        traces.append(n)
        with tf.GradientTape() as tape:
            y, i = v * 1.0, 0
            while i < n:
                y = y * v
                i += 1
        g = tape.gradient(y, v)
        v.assign_add(0.0 * g + 0.5)
        return g

    same(step(tf.constant(2)), 3 * 1.5**2)
    same(step(tf.constant(20)), 21 * 2.0**20)
    same(step(tf.constant(0)), 1.0)
    same(v, 3.0)
    assert len(traces) == 1


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


def powers(tf, x, bound=None):
    """x**5 by a loop of a number of rounds that only the run knows."""
    start = (tf.constant(0), x)
    _, y = tf.while_loop(
        lambda i, y: i < 4, lambda i, y: (i + 1, y * x), start, maximum_iterations=bound
    )
    return y


@pytest.mark.parametrize("bound", [None, 9])
def test_Q11_while_loop_once_and_twice(tf, bound):
    f = tf.function(lambda x: powers(tf, x, bound))
    same(f(tf.constant(2.0)), 32.0)
    same(grad(tf, f, tf.constant(2.0)), 80.0)
    same(second(tf, f, tf.constant(2.0)), 160.0)


@pytest.mark.parametrize("bound", [None, 9])
def test_Q11_while_loop_inside_twice(tf, bound):
    f = tf.function(lambda x: second(tf, lambda x: powers(tf, x, bound), x))
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
