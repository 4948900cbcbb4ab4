"""Functions of JAX as functions of tensors."""

import subprocess
import sys

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import gradtape as tf
from gradtape._src.compat.jax2tf import convert


def layer(parameters, x, times=2):
    return {"y": jnp.tanh(x @ parameters["w"]) * times, "times": times + 1, "nothing": None}


X = np.arange(6.0, dtype=np.float32).reshape(2, 3) / 6
W = np.full((3, 2), 0.1, np.float32)


def loss(w):
    return jnp.sum(layer({"w": w}, X)["y"])


@pytest.mark.parametrize("compiled", [False, True])
def test_values_and_gradients_are_those_of_jax(compiled):
    f = convert(layer, polymorphic_shapes=["...", "(batch, 3)"])
    f = tf.function(f, autograph=False) if compiled else f
    w = tf.Variable(W)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            found = f({"w": w}, tf.constant(X), times=tf.constant(2))
            total = tf.reduce_sum(found["y"])
        slope = tape.gradient(total, w)
        squares = tf.reduce_sum(slope * slope)
    assert int(found["times"]) == 3 and found["nothing"] is None
    np.testing.assert_allclose(total, loss(W), rtol=1e-6)
    np.testing.assert_allclose(slope, jax.grad(loss)(W), rtol=1e-6)
    second = jax.grad(lambda w: jnp.sum(jax.grad(loss)(w) ** 2))(W)
    np.testing.assert_allclose(outer.gradient(squares, w), second, rtol=1e-5)


def test_numbers_are_of_32_bits_as_jax_has_them():
    assert convert(lambda x: x + jnp.ones(()))(tf.constant(1, tf.int64)).dtype == tf.float32


def test_without_a_gradient():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = convert(jnp.sin, with_gradient=False)(x)
    with pytest.raises(LookupError, match="with_gradient=False"):
        tape.gradient(y, x)


def test_it_stands_where_jax_has_it_while_tensorflow_is_gradtape():
    code = """
import gradtape
with gradtape.install_as_tensorflow():
    from jax.experimental import jax2tf
    assert jax2tf.convert.__module__ == "gradtape._src.compat.jax2tf", jax2tf
import sys
assert "jax.experimental.jax2tf" not in sys.modules
assert not hasattr(sys.modules["jax.experimental"], "jax2tf")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
