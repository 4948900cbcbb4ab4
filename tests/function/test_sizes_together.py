"""Sizes together with functions inside functions, loops without a bound, and iterators."""

import logging

import numpy as np
import pytest
from semantics.helpers import grad, same, second

pytestmark = pytest.mark.gradtape_only

X = np.array([1.0, -2.0, 3.0, -4.0], np.float32)


def positive(tf):
    return tf.function(lambda x: tf.boolean_mask(x, x > 0.0), name="positive")


# Functions inside functions


def test_what_is_plain_inside_makes_the_function_around_plain(tf, caplog):
    inner = positive(tf)
    outer = tf.function(lambda x: 2.0 * inner(x), name="outer")
    with caplog.at_level(logging.WARNING, "gradtape"):
        for _ in range(3):
            same(outer(tf.constant(X)), [2.0, 6.0])
            same(grad(tf, outer, tf.constant(X)), [2.0, 0.0, 2.0, 0.0])
    told = [record.getMessage().split()[0] for record in caplog.records]
    assert told == ["outer"]  # once: the one inside has no other reason
    assert inner.experimental_get_tracing_count() == outer.experimental_get_tracing_count() == 1


def test_a_size_that_the_function_around_knows(tf):
    first = tf.function(lambda x, n: x[:n])
    f = tf.function(lambda x: first(x, tf.constant(2)), jit_compile=True)
    same(f(tf.constant(X)), X[:2])


def test_what_must_be_compiled_inside_is_refused(tf):
    inner = tf.function(lambda x: tf.boolean_mask(x, x > 0.0), jit_compile=True)
    with pytest.raises(tf.errors.DynamicSizeError, match="jit_compile=True"):
        tf.function(lambda x: 2.0 * inner(x))(tf.constant(X))


def test_a_recursion_that_is_plain_is_not_traced_again_and_again(tf):
    runs = []

    @tf.function
    def f(x, depth):
        runs.append(depth)
        return f(x, depth - 1) + 1.0 if depth else tf.boolean_mask(x, x > 0.0)

    same(f(tf.constant(X), 8), [9.0, 11.0])
    assert len(runs) < 9 * 9  # and not 2**9


def test_variables_of_a_function_inside_that_is_plain(tf):
    class Scaled:
        scale = None

        @tf.function
        def inner(self, x):
            if self.scale is None:
                self.scale = tf.Variable(2.0)
            return tf.boolean_mask(self.scale * x, x > 0.0)

        @tf.function
        def __call__(self, x):
            return self.inner(x) + 1.0

    scaled = Scaled()
    for _ in range(2):
        same(scaled(tf.constant(X)), [3.0, 7.0])


def test_an_open_size_by_closure(tf):
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def outer(x):
        doubled = 2.0 * x
        return tf.function(lambda s: s * tf.reduce_sum(doubled**2))(tf.reduce_sum(x))

    for n in (4, 3, 2):
        x = X[:n]
        expected = 8.0 * x * x.sum() + 4.0 * (x**2).sum()
        same(grad(tf, outer, tf.constant(x)), expected)
    assert outer.experimental_get_tracing_count() == 1


def test_an_open_size_as_an_argument(tf):
    inner = tf.function(lambda x, n: tf.zeros([n]) + x)
    spec = tf.TensorSpec([None])
    f = tf.function(lambda x: inner(tf.reduce_sum(x), tf.shape(x)[0]), input_signature=[spec])
    for n in (4, 3):
        same(f(tf.constant(X[:n])), np.full(n, X[:n].sum()))
    assert f.experimental_get_tracing_count() == 1


def test_concrete_functions_inside(tf):
    squares = tf.function(lambda x: tf.reduce_sum(x * x))
    squares = squares.get_concrete_function(tf.TensorSpec([None]))
    plain = positive(tf).get_concrete_function(tf.TensorSpec([4]))
    f = tf.function(lambda x: squares(x) + tf.reduce_sum(plain(x)))
    same(f(tf.constant(X)), 34.0)


# Loops without a bound


def test_the_gradient_of_a_loop_without_a_bound_with_open_sizes(tf):
    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)])
    def f(x, n):
        i = tf.constant(0)
        while i < n:
            x = x * x
            i += 1
        return tf.reduce_sum(x)

    for size, n in ((4, 2), (3, 2), (2, 12), (4, 12), (3, 1)):  # 12: more than there is room for
        x, power = tf.ones([size]), 2.0**n
        same(grad(tf, lambda x, n=n: f(x, n), x), np.full(size, power))
        same(second(tf, lambda x, n=n: f(x, n), x), np.full(size, power * (power - 1.0)))
    assert f.experimental_get_tracing_count() == 1


# Iterators


def numbers(tf, count):
    return tf.data.Dataset.range(count).map(lambda i: tf.cast(i, tf.float32))


def test_elements_of_other_shapes_with_open_sizes(tf):
    @tf.function(reduce_retracing=True)
    def f(x, iterator):
        return tf.reduce_sum(x) + tf.reduce_sum(next(iterator))

    iterator = iter(numbers(tf, 7).batch(2))
    found = [f(tf.constant(X[:n]), iterator).numpy() for n in (1, 2, 3, 4)]
    assert found == [1.0 + 1.0, -1.0 + 5.0, 2.0 + 9.0, -2.0 + 6.0]


def test_no_element_is_lost_where_open_sizes_do_not_serve(tf):
    @tf.custom_gradient
    def times_its_size(x):
        return 1.0 * x, lambda g: g * float(g.shape[0])  # needs the number

    iterator = iter(numbers(tf, 9))

    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])])
    def f(x, y):
        return tf.reduce_sum(times_its_size(x)) * tf.reduce_sum(y) + next(iterator)

    pairs = [(2, 2), (2, 3), (0, 1)]
    found = [f(tf.constant(X[:n]), tf.constant(X[:m])).numpy() for n, m in pairs]
    assert found == [1.0 + 0.0, -2.0 + 1.0, 0.0 + 2.0]
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, x)
    assert y.numpy() == 4.0 + 3.0
    same(tape.gradient(y, x), 4 * [4.0 * -2.0 + -2.0])


def test_a_loop_over_batches_the_last_of_which_is_smaller(tf):
    dataset = numbers(tf, 5).batch(2)

    @tf.function
    def f():
        total = tf.constant(0.0)
        for batch in dataset:
            total += tf.reduce_sum(batch)
        return total

    assert f().numpy() == f().numpy() == 10.0
