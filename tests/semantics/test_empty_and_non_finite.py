"""Tapes over empty tensors, NaN and Inf."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

from .helpers import grad, same

EMPTY = {
    "multiply": (lambda tf, x: x * x, (0,), np.zeros(0)),
    "broadcast": (lambda tf, x: x + tf.ones((3, 1)), (0,), np.zeros((3, 0))),
    "exp": (lambda tf, x: tf.exp(x), (2, 0), np.zeros((2, 0))),
    "reduce_sum": (lambda tf, x: tf.reduce_sum(x), (0, 3), 0.0),
    "reduce_sum_axis": (lambda tf, x: tf.reduce_sum(x, 0), (0, 3), np.zeros(3)),
    "reduce_prod": (lambda tf, x: tf.reduce_prod(x), (0,), 1.0),
    "reduce_mean": (lambda tf, x: tf.reduce_mean(x), (0,), np.nan),
    "reduce_max": (lambda tf, x: tf.reduce_max(x), (0,), -np.inf),
    "reduce_min_axis": (lambda tf, x: tf.reduce_min(x, 0), (0, 2), [np.inf, np.inf]),
    "matmul_outer": (lambda tf, x: tf.matmul(x, tf.ones((3, 2))), (0, 3), np.zeros((0, 2))),
    "matmul_inner": (lambda tf, x: tf.matmul(x, tf.ones((0, 3))), (2, 0), np.zeros((2, 3))),
    "concat": (lambda tf, x: tf.concat([x, tf.ones((2, 3))], 0), (0, 3), np.ones((2, 3))),
    "stack": (lambda tf, x: tf.stack([x, x]), (0,), np.zeros((2, 0))),
    "reshape": (lambda tf, x: tf.reshape(x, (3, 0)), (0, 2), np.zeros((3, 0))),
    "transpose": (lambda tf, x: tf.transpose(x), (0, 2), np.zeros((2, 0))),
    "slice": (lambda tf, x: x[1:], (0, 2), np.zeros((0, 2))),
    "where": (lambda tf, x: tf.where(x > 0.0, x, 2.0 * x), (0,), np.zeros(0)),
    "cumsum": (lambda tf, x: tf.cumsum(x), (0,), np.zeros(0)),
    "softmax": (lambda tf, x: tf.nn.softmax(x), (0, 3), np.zeros((0, 3))),
}


@pytest.mark.parametrize("f, shape, value", EMPTY.values(), ids=EMPTY)
def test_empty_tensors_have_empty_gradients(tf, f, shape, value):
    x = tf.zeros(shape)
    same(f(tf, x), value)
    g = grad(tf, lambda x: f(tf, x), x)
    assert g.dtype == tf.float32
    same(g, np.zeros(shape))


def test_an_empty_part_of_something(tf):
    x = tf.constant([1.0, 2.0])
    same(grad(tf, lambda x: x[2:], x), [0.0, 0.0])
    same(grad(tf, lambda x: tf.reduce_sum(x[1:1]) + x[0], x), [1.0, 0.0])
    g = grad(tf, lambda x: tf.gather(x, tf.zeros((0,), tf.int32)), x)
    same(tf.convert_to_tensor(g), [0.0, 0.0])


def test_a_scalar_broadcast_to_nothing(tf):
    same(grad(tf, lambda x: x * tf.zeros((0, 3)), tf.constant(2.0)), 0.0)


def test_an_empty_variable(tf):
    v = tf.Variable(tf.zeros((0, 2)))
    g = grad(tf, lambda v: v * v, v)
    same(g, np.zeros((0, 2)))
    v.assign_sub(g)
    assert v.shape == (0, 2)


INF, NAN = np.inf, np.nan


NOT_FINITE = {
    "log": (lambda tf, x: tf.math.log(x), [0.0, -1.0, INF], [-INF, NAN, INF], [INF, -1.0, 0.0]),
    "sqrt": (lambda tf, x: tf.sqrt(x), [0.0, -1.0, INF], [0.0, NAN, INF], [INF, NAN, 0.0]),
    "exp": (lambda tf, x: tf.exp(x), [1000.0, -1000.0], [INF, 0.0], [INF, 0.0]),
    "reciprocal": (lambda tf, x: 1.0 / x, [0.0, INF], [INF, 0.0], [-INF, 0.0]),
    "zero_by_zero": (lambda tf, x: 0.0 / x, [0.0], [NAN], [NAN]),
    "by_zero": (lambda tf, x: x / 0.0, [1.0, -1.0, 0.0], [INF, -INF, NAN], [INF, INF, INF]),
    "overflow": (lambda tf, x: x * x, [1e30, -1e30], [INF, INF], [2e30, -2e30]),
    "minus": (lambda tf, x: x - x, [INF, NAN], [NAN, NAN], [0.0, 0.0]),
    "times_inf": (lambda tf, x: x * INF, [0.0, 1.0], [NAN, INF], [INF, INF]),
    "power": (lambda tf, x: x**0.5, [0.0, -1.0], [0.0, NAN], [INF, NAN]),
    "power_-1": (lambda tf, x: x**-1.0, [0.0], [INF], [-INF]),
    "sin": (lambda tf, x: tf.sin(x), [INF, NAN], [NAN, NAN], [NAN, NAN]),
    "asin": (lambda tf, x: tf.asin(x), [1.0, 2.0], [np.pi / 2, NAN], [INF, NAN]),
    "atanh": (lambda tf, x: tf.atanh(x), [1.0, 2.0], [INF, NAN], [INF, -1 / 3]),
    "tanh": (lambda tf, x: tf.tanh(x), [INF, -INF, NAN], [1.0, -1.0, NAN], [0.0, 0.0, NAN]),
    "sigmoid": (lambda tf, x: tf.sigmoid(x), [-1000.0, 1000.0], [0.0, 1.0], [0.0, 0.0]),
    "softplus": (lambda tf, x: tf.nn.softplus(x), [-1000.0, 1000.0], [0.0, 1000.0], [0.0, 1.0]),
    "softmax": (lambda tf, x: tf.nn.softmax(x), [1000.0, -1000.0], [1.0, 0.0], [0.0, 0.0]),
    "reduce_sum": (lambda tf, x: tf.reduce_sum(x), [INF, -INF], NAN, [1.0, 1.0]),
    "reduce_sum_big": (lambda tf, x: tf.reduce_sum(x), [3e38, 3e38], INF, [1.0, 1.0]),
    "reduce_mean": (lambda tf, x: tf.reduce_mean(x), [NAN, 1.0], NAN, [0.5, 0.5]),
    "reduce_std": (lambda tf, x: tf.math.reduce_std(x), [1.0, 1.0], 0.0, [NAN, NAN]),
    "norm": (lambda tf, x: tf.norm(x), [0.0, 0.0], 0.0, [NAN, NAN]),
    "logsumexp": (lambda tf, x: tf.reduce_logsumexp(x), [-INF, 0.0], 0.0, [0.0, 1.0]),
    "float16": (lambda tf, x: tf.cast(x, tf.float16), [1e30, 1.0], [INF, 1.0], [1.0, 1.0]),
    "maximum": (lambda tf, x: tf.maximum(x, 0.0), [NAN, 1.0], [NAN, 1.0], [0.0, 1.0]),
    "where": (lambda tf, x: tf.where(x > 0.0, tf.math.log(x), 0.0), [0.0], [0.0], [NAN]),
    "matmul": (lambda tf, x: tf.matmul([x], [[0.0], [1.0]]), [INF, 1.0], [[NAN]], [0.0, 1.0]),
}


@pytest.mark.parametrize("f, x, value, gradient", NOT_FINITE.values(), ids=NOT_FINITE)
def test_nan_and_inf_pass_where_warnings_are_errors(tf, f, x, value, gradient):
    x = tf.constant(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = f(tf, x)
        g = grad(tf, lambda x: f(tf, x), x)
    same(y, value)
    same(g, gradient)


def test_casting_nan_to_integers_where_warnings_are_errors(tf):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        n = tf.cast(tf.constant([NAN, INF, 1.0]), tf.int32)
    assert n.numpy()[2] == 1


@pytest.mark.gradtape_only
def test_nan_and_inf_pass_silently_by_default():
    program = """if True:
        import gradtape as tf
        x = tf.constant([0.0, 1e38, -1.0])
        y = [1 / x, tf.math.log(x), tf.exp(x), x * x * x, tf.sqrt(x), tf.cast(1 / x, tf.int32)]
        x = tf.constant(0.0)
        y = [1 / x, tf.math.log(x), tf.exp(x + 1000), x / x]
    """
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


def test_nan_does_not_spread_to_other_elements(tf):
    x = tf.constant([NAN, 2.0])
    same(grad(tf, lambda x: x * x, x), [NAN, 4.0])
    same(grad(tf, lambda x: tf.reduce_sum(x * x) + x[1], x), [NAN, 5.0])
