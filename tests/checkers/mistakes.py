"""Mistakes that both checkers must find: each line marked so, and no other."""

import numpy as np

import gradtape as tf
from gradtape.math import reduce_summ  # expected: error

x = tf.constant([1.0, 2.0])
v = tf.Variable([1.0, 2.0])

# Names that are not there
tf.reduce_summ(x)  # expected: error
tf.linalg.choleski(x)  # expected: error
tf.keras.optimizers.Adamm(0.1)  # expected: error
tf.errors.InvalidArgument("text")  # expected: error
x.numpy_array()  # expected: error
v.asign(x)  # expected: error
x.numpy().shpe  # expected: error
x.at[0].put(1.0)  # expected: error

# Parameters
tf.exp(x, x, x)  # expected: error
tf.exp(y=x)  # expected: error
tf.add(x)  # expected: error
tf.reduce_sum(x, keep_dims=True)  # expected: error
tf.matmul(x, x, transpose=True)  # expected: error
tf.GradientTape(persist=True)  # expected: error
tf.keras.optimizers.SGD(learning_rate=0.1, clip_norm=1.0)  # expected: error
tf.function(lambda: x, jit=True)  # expected: error

# Values
tf.exp(None)  # expected: error
tf.square("2")  # expected: error
tf.reduce_mean({"x": x})  # expected: error
x + None  # expected: error
v * {"a": 1}  # expected: error
v @ "text"  # expected: error
-tf.float32  # expected: error
x[0] = 1.0  # expected: error
v[0] = 1.0  # expected: error

# Results
text: str = tf.sqrt(x)  # expected: error
number: int = x.numpy()  # expected: error
total: float = v + 1  # expected: error
tf.tanh(x).assign(x)  # expected: error
tf.reduce_sum(x).append(1)  # expected: error

# Derivatives
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(x * v)
tape.gradient(loss, v).assign(x)  # expected: error
tape.gradient(loss, [v, x]).numpy()  # expected: error
tape.gradient(loss)  # expected: error
tape.gradient(loss, "v")  # expected: error
tape.gradient(1.0, v)  # expected: error
tape.jacobian(loss, v).gradient()  # expected: error
tape.watch(1.0)  # expected: error
tape.watched()  # expected: error


# Functions
@tf.function
def twice(a: tf.Tensor, times: int = 2) -> tf.Tensor:
    return a * times


@tf.function(jit_compile=True)
def pair(a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return a, a


@tf.custom_gradient  # expected: error
def without_gradient(a: tf.Tensor) -> tf.Tensor:
    return a


@tf.autograph.experimental.do_not_convert
def plain(a: tf.Tensor) -> tf.Tensor:
    return a


@tf.recompute_grad
def again(a: tf.Tensor) -> tf.Tensor:
    return a


class Model(tf.Module):
    @tf.function
    def call(self, a: tf.Tensor) -> tf.Tensor:
        return a

    @tf.custom_gradient  # expected: error
    def scale(self, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return a, a


twice("text")  # expected: error
twice(x, 2, 3)  # expected: error
twice(x, time=3)  # expected: error
twice(x).assign(x)  # expected: error
first, second, third = pair(x)  # expected: error
twice.concrete()  # expected: error
again(x, x)  # expected: error
plain("text")  # expected: error
tf.autodiff.grad(again)(x).assign(x)  # expected: error
x.shape[0].rank  # expected: error
Model().call("text")  # expected: error
Model().call(x, x)  # expected: error
Model().call(x).assign(x)  # expected: error
tf.cond(x[0] > 0, lambda: x, lambda: -x).assign(x)  # expected: error

# Data and files
tf.data.Dataset.from_tensor_slices(np.zeros(3)).batched(2)  # expected: error
tf.data.Dataset.range(3).batch(2, drop=True)  # expected: error
tf.train.Checkpoint(v).save()  # expected: error
