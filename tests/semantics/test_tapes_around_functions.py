"""docs/semantics.md, section Q: what a tape outside sees of a call of a tf.function."""

import pytest

from .helpers import grad, on_gradtape, same, second


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


def test_Q25_an_integer_output(tf):
    f = tf.function(lambda x: (x * x, tf.cast(x, tf.int32)))
    x = tf.constant(2.0)
    assert grad(tf, lambda x: f(x)[1], x) is None
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        n = f(x)[1]
    if on_gradtape(tf):
        assert tape.gradient(n, x) is None
    else:
        same(tape.gradient(n, x), 0.0)


def test_Q25_an_argument_that_reaches_no_output_gets_none(tf):
    f = tf.function(lambda x, y: (x * x, tf.stop_gradient(y)))
    x, y = tf.constant(2.0), tf.constant(3.0)
    gx, gy = grad(tf, lambda x, y: f(x, y)[0], x, y)
    same(gx, 4.0)
    assert gy is None


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
