"""Gradients of one's own."""

import numpy as np

import gradtape as tf


def gradient(f, *args):
    with tf.GradientTape() as tape:
        tape.watch(args)
        y = f(*args)
    return tape.gradient(y, list(args))


@tf.custom_gradient
def clipped(x):
    """The identity, whose gradient is at most 1."""
    return tf.identity(x), lambda g: tf.clip_by_value(g, -1.0, 1.0)


def test_the_gradient_is_that_of_grad_fn_alone():
    (g,) = gradient(lambda x: 5.0 * clipped(x), tf.constant(2.0))
    assert float(g) == 1


def test_it_keeps_name_and_text_of_the_function():
    assert clipped.__name__ == "clipped" and "at most 1" in clipped.__doc__
    assert tf.custom_gradient()(clipped._f).__name__ == "clipped"


def test_grad_fn_may_use_what_f_computed_and_is_differentiated_again():
    @tf.custom_gradient
    def cube(x):
        s = x * x
        return s * x, lambda g: g * 3.0 * s

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        (first,) = gradient(cube, x)
    assert (float(first), float(outer.gradient(first, x))) == (12, 12)


def test_nests_of_arguments_and_results():
    @tf.custom_gradient
    def f(xs, n):
        return {"a": xs[0] * 2.0, "b": xs[1]}, lambda ga, gb: ([ga, 10.0 * gb], None)

    x, y = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        result = f([x, y], 3)
    assert [float(g) for g in tape.gradient(result, [x, y])] == [1, 10]


def test_an_argument_passed_twice_gets_both_gradients():
    @tf.custom_gradient
    def f(a, b):
        return a * b, lambda g: (2.0 * g, 3.0 * g)

    assert float(gradient(lambda x: f(x, x), tf.constant(1.0))[0]) == 5


def test_rows_are_taken_as_they_are():
    @tf.custom_gradient
    def row(x):
        return x[1], lambda g: tf.IndexedSlices(g[None], [1], x.shape)

    (g,) = gradient(row, tf.ones([3, 2]))
    assert isinstance(g, tf.IndexedSlices)


def test_variables_that_f_reads_come_by_keyword_in_the_order_of_their_making():
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    fixed = tf.Variable(5.0, trainable=False)
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad(g, variables=None):
            seen.append([v.ref() for v in variables])
            return g, [10.0 * g, 20.0 * g]

        return x * b * a * a * fixed, grad

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert [float(g) for g in tape.gradient(y, [x, a, b])] == [1, 10, 20]
    assert seen == [[a.ref(), b.ref()]]


def test_a_variable_that_is_an_argument_is_none_of_those():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(v):
        return v * v, lambda g: 7.0 * g

    with tf.GradientTape() as tape:
        y = f(v)
    assert float(tape.gradient(y, v)) == 7


def test_a_stand_in_is_an_argument_too():
    """What is read of it is not what `f` reads by itself; Keras hands its variables over so."""

    class Mine(tf.__internal__.types.Tensor):
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.convert_to_tensor(v, dtype)

    v = tf.Variable([1.0, 2.0])

    @tf.custom_gradient
    def f(x, y):
        return tf.exp(x) * y, lambda g, variables=None: (10 * g, 5 * tf.reduce_sum(g))

    def gradient():
        with tf.GradientTape() as tape:
            z = f(Mine(), tf.constant(2.0))
        return tape.gradient(z, v)

    for take in (gradient, tf.function(gradient)):
        np.testing.assert_array_equal(take(), [10.0, 10.0])


def test_a_method():
    class Scale:
        def __init__(self, by):
            self.by = by

        @tf.custom_gradient
        def __call__(self, x):
            return x, lambda g: g * self.by

    scale = Scale(4.0)
    assert float(gradient(lambda x: scale(x), tf.constant(1.0))[0]) == 4


def test_grad_pass_through():
    quantize = tf.grad_pass_through(tf.round)
    (g,) = gradient(lambda x: 3.0 * quantize(x), tf.constant(1.4))
    assert float(g) == 3 and float(quantize(tf.constant(1.4))) == 1
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.grad_pass_through(lambda x: x * v)(v)
    assert float(tape.gradient(y, v)) == 1


def test_recompute_runs_f_again_with_the_same_draws():
    runs = []

    @tf.recompute_grad
    def f(x):
        mask = tf.random.normal([3])
        runs.append(mask.numpy())
        return x * mask

    (g,) = gradient(f, tf.ones([3]))
    assert len(runs) == 2
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(g, runs[0])


def test_recompute_keeps_the_arguments_only():
    @tf.recompute_grad
    def f(x):
        for _ in range(10):
            x = tf.tanh(x)
        return x

    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        f(x)
    assert [r.op.name for r in tape] == ["recompute_grad of f"]


def test_recompute_sees_variables_and_equal_arguments_apart():
    v = tf.Variable(3.0)
    f = tf.recompute_grad(lambda a, b: a * b * b * v)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, x)
    assert [float(g) for g in tape.gradient(y, [x, v])] == [36, 8]


def test_without_a_tape_it_is_the_function():
    for f in (clipped, tf.recompute_grad(tf.identity), tf.grad_pass_through(tf.identity)):
        y = f(tf.constant(3.0))
        assert float(y) == 3 and y._key is None
