"""docs/semantics.md, section R: variables that a custom_gradient function reads."""

import numpy as np
import pytest

from .helpers import grad, on_gradtape, same, with_gradient


def test_R7_variables_of_f(tf):
    v, w = tf.Variable(2.0), tf.Variable([3.0, 4.0])
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad_fn(upstream, variables=None):
            seen.extend(variables)
            return upstream * 10.0, [tf.ones_like(u) * 100.0 for u in variables]

        return x * v * tf.reduce_sum(w), grad_fn

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gx, gv, gw = tape.gradient(y, [x, v, w])
    same(y, 14.0)
    same(gx, 10.0)
    same(gv, 100.0)
    same(gw, [100.0, 100.0])
    assert {u.ref() for u in seen} == {v.ref(), w.ref()}
    assert len(seen) == 2


def test_R7_the_order_of_the_list_is_that_of_variables(tf):
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        def grad_fn(upstream, variables):
            return upstream, [upstream * u * 10.0 for u in variables]

        return w * x * v, grad_fn

    with tf.GradientTape() as tape:
        y = f(tf.constant(1.0))
    gv, gw = tape.gradient(y, [v, w])
    same(gv, 20.0)
    same(gw, 30.0)


def test_R7_variables_are_watched(tf):
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda upstream, variables: (upstream, [upstream])

    with tf.GradientTape() as tape:
        f(tf.constant(1.0))
    assert [u.ref() for u in tape.watched_variables()] == [v.ref()]


def test_R7_a_variable_gradient_may_be_none(tf):
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda upstream, variables: (upstream * 10.0, [None])

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gx, gv = tape.gradient(y, [x, v])
    same(gx, 10.0)
    assert gv is None


def test_R8_without_the_keyword_the_call_fails(tf):
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda upstream: upstream

    x = tf.constant(1.0)
    with pytest.raises(TypeError, match="variables"):
        f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(TypeError, match="variables"):
            f(x)


def test_R8_any_keywords_will_do(tf):
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        def grad_fn(upstream, **kwargs):
            (variable,) = kwargs["variables"]
            return upstream * 10.0, [variable * 50.0]

        return x * v, grad_fn

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gx, gv = tape.gradient(y, [x, v])
    same(gx, 10.0)
    same(gv, 100.0)


def test_R9_too_few_variable_gradients(tf):
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return x * v * w, lambda upstream, variables: (upstream, [upstream])

    with tf.GradientTape() as tape:
        y = f(tf.constant(1.0))
    with pytest.raises(ValueError, match="gradient"):
        tape.gradient(y, v)


def test_R10_a_variable_as_an_argument(tf):
    v = tf.Variable([2.0, 3.0])
    f = with_gradient(tf, lambda x, u: x * u, 10.0, 100.0)
    with tf.GradientTape() as tape:
        y = f(tf.constant([1.0, 1.0]), v)
    same(y, [2.0, 3.0])
    same(tape.gradient(y, v), [100.0, 100.0])


def test_R11_captured_variables_that_are_not_trainable(tf):
    v = tf.Variable(2.0, trainable=False)
    f = with_gradient(tf, lambda x: x * v, 10.0)
    same(f(tf.constant(3.0)), 6.0)
    same(grad(tf, f, tf.constant(3.0)), 10.0)


def test_R18_the_shape_of_variable_gradients(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.custom_gradient
    def f(x):
        return x * v, lambda upstream, variables: (upstream, [tf.ones([3])])

    with tf.GradientTape() as tape:
        y = f(tf.constant([1.0, 1.0]))
    if on_gradtape(tf):
        with pytest.raises(ValueError, match=r"(?s)\(3,\).*\(2,\)"):
            tape.gradient(y, v)
    else:
        same(tape.gradient(y, v), np.ones(3))
