"""docs/semantics.md, section I: what cuts the tape."""

import numpy as np
import pytest

from .helpers import grad, on_gradtape, same


def test_I1_stop_gradient_is_a_constant(tf):
    x = tf.constant([2.0, 3.0])
    same(tf.stop_gradient(x), [2.0, 3.0])
    assert grad(tf, lambda x: tf.stop_gradient(x) * 2.0, x) is None
    same(grad(tf, lambda x: x * tf.stop_gradient(x), x), [2.0, 3.0])
    same(grad(tf, lambda x: x * x + tf.stop_gradient(x * x), x), [4.0, 6.0])


def test_I1_of_a_variable(tf):
    v = tf.Variable(3.0)
    assert grad(tf, lambda v: tf.stop_gradient(v), v) is None
    same(grad(tf, lambda v: v * tf.stop_gradient(v), v), 3.0)


def test_I2_numpy_cuts(tf):
    x = tf.constant([2.0, 3.0])
    assert grad(tf, lambda x: tf.constant(x.numpy()) * 2.0, x) is None
    assert grad(tf, lambda x: tf.convert_to_tensor(np.mean(x)) * 2.0, x) is None
    assert grad(tf, lambda x: tf.reduce_sum(np.asarray(x) * 2.0), x) is None
    same(grad(tf, lambda x: x * x.numpy(), x), [2.0, 3.0])


def test_I3_numpy_function_is_not_differentiable(tf):
    x = tf.constant([2.0, 3.0])

    def f(x):
        return tf.numpy_function(lambda a: a * a, [x], tf.float32)

    same(f(x), [4.0, 9.0])
    assert grad(tf, f, x) is None


def test_I3_py_function_is_differentiable(tf):
    x = tf.constant([2.0, 3.0])

    def f(x):
        return tf.py_function(lambda a: a * a, [x], tf.float32)

    same(f(x), [4.0, 9.0])
    same(grad(tf, f, x), [4.0, 6.0])
    same(grad(tf, lambda x: f(x) * x, x), [12.0, 27.0])


@pytest.mark.parametrize("number", [float, lambda x: x.numpy().item()], ids=["float", "item"])
def test_I4_plain_numbers_are_constants(tf, number):
    x = tf.constant(3.0)
    assert isinstance(number(x), float)
    assert grad(tf, lambda x: tf.constant(number(x)) * 2.0, x) is None
    same(grad(tf, lambda x: x * number(x), x), 3.0)
    v = tf.Variable(3.0)
    same(grad(tf, lambda v: v * number(v), v), 3.0)


def test_I5_overwriting_the_variable_by_a_tensor(tf):
    w = tf.Variable(2.0)
    found = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = w * w
        found.append(tape.gradient(loss, w))
        w = w + 1.0
    same(found[0], 4.0)
    assert found[1] is None


def test_I5_a_target_computed_outside_the_block(tf):
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        prediction = w * 3.0
    loss = prediction * prediction
    assert tape.gradient(loss, w) is None


def as_float(tf, y):
    return y if y.dtype.is_floating else tf.cast(y, tf.float32)


FLAT = {
    "argmax": lambda tf, x: tf.argmax(x),
    "argmin": lambda tf, x: tf.argmin(x),
    "floor": lambda tf, x: tf.floor(x),
    "ceil": lambda tf, x: tf.math.ceil(x),
    "round": lambda tf, x: tf.round(x),
    "less": lambda tf, x: x < 2.0,
    "less_equal": lambda tf, x: x <= 2.0,
    "greater": lambda tf, x: x > 2.0,
    "greater_equal": lambda tf, x: x >= 2.0,
    "equal": lambda tf, x: x == 2.0,
    "not_equal": lambda tf, x: x != 2.0,
    "shape": lambda tf, x: tf.shape(x),
    "size": lambda tf, x: tf.size(x),
    "rank": lambda tf, x: tf.rank(x),
    "zeros_like": lambda tf, x: tf.zeros_like(x),
    "ones_like": lambda tf, x: tf.ones_like(x),
    "is_nan": lambda tf, x: tf.math.is_nan(x),
    "floordiv": lambda tf, x: x // 2.0,
    "range": lambda tf, x: tf.range(x[1]),
}


@pytest.mark.parametrize("name", FLAT)
def test_I6_piecewise_constant_operations_give_none(tf, name):
    x = tf.constant([1.5, 2.5, -0.5])
    assert grad(tf, lambda x: as_float(tf, FLAT[name](tf, x)) * 2.0, x) is None


@pytest.mark.parametrize("name", FLAT)
def test_I6_also_as_the_target_itself(tf, name):
    if name == "is_nan" and not on_gradtape(tf):
        pytest.skip("LookupError in TensorFlow")
    x = tf.constant([1.5, 2.5, -0.5])
    assert grad(tf, lambda x: FLAT[name](tf, x), x) is None


def test_I7_sign_is_connected(tf):
    g = grad(tf, tf.sign, tf.constant([-2.0, 0.0, 3.0]))
    same(g, [0.0, 0.0, 0.0])


WITHOUT_GRADIENT = {
    "unique": lambda tf, x: tf.unique(x)[0],
    "bitcast": lambda tf, x: tf.bitcast(tf.bitcast(x, tf.int32), tf.float32),
    "bitcast to a float": lambda tf, x: tf.bitcast(x, tf.float16),
}


@pytest.mark.parametrize("name", ["unique", "bitcast to a float"])
def test_I8_no_gradient_is_a_lookup_error(tf, name):
    x = tf.constant([1.5, 2.5, 1.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = WITHOUT_GRADIENT[name](tf, x) * 2.0
    with pytest.raises(LookupError):
        tape.gradient(y, x)


@pytest.mark.parametrize("name", WITHOUT_GRADIENT)
def test_I9_harmless_if_the_target_does_not_depend_on_it(tf, name):
    x = tf.constant([1.5, 2.5, 1.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        unused = WITHOUT_GRADIENT[name](tf, x)
        y = x * x
    assert unused is not None
    same(tape.gradient(y, x), [3.0, 5.0, 3.0])
    assert grad(tf, lambda x: tf.stop_gradient(WITHOUT_GRADIENT[name](tf, x)), x) is None


def test_I10_the_mean_of_normal_samples_has_gradient_one(tf):
    mean, stddev = tf.constant([1.0, 2.0]), tf.constant([1.0, 0.5])
    noise = []

    def f(mean, stddev):
        sample = tf.random.normal((2,), mean, stddev)
        noise.append((sample.numpy() - mean.numpy()) / stddev.numpy())
        return sample

    gmean, gstddev = grad(tf, f, mean, stddev)
    same(gmean, [1.0, 1.0])
    same(gstddev, noise[0], tol=1e-4)


@pytest.mark.parametrize(
    "f",
    [
        lambda tf, x: tf.random.shuffle(x),
        lambda tf, x: tf.cast(tf.random.categorical(x, 3), tf.float32),
        lambda tf, x: tf.random.uniform((2,)),
    ],
    ids=["shuffle", "categorical", "uniform"],
)
def test_I10_sampling_is_a_constant(tf, f):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert grad(tf, lambda x: f(tf, x) * 2.0, x) is None
