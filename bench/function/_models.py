"""The models that are trained: data, parameters, and the loss, in TensorFlow's API and in JAX's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
Loss = Callable[..., Any]  # of the module, the parameters by name, the inputs and the labels

HEADS = 4
RATE, DECAY_1, DECAY_2, EPSILON = 1e-3, 0.9, 0.999, 1e-7


@dataclass(frozen=True)
class Model:
    """What a training step needs; `of_tape` serves gradtape and TensorFlow, `of_jax` JAX."""

    parameters: Arrays
    inputs: np.ndarray
    labels: np.ndarray
    of_tape: Loss
    of_jax: Loss
    adaptive: bool = True  # Adam, else gradient descent


class Draw:
    """Parameters and data, drawn from one stream of random numbers."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def normal(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        return self.rng.normal(0, scale, shape).astype(np.float32)

    def weights(self, *shape: int) -> np.ndarray:
        """With the variance that keeps that of the activations: 1 / fan in."""
        return self.normal(*shape, scale=float(np.prod(shape[:-1])) ** -0.5)

    def classes(self, count: int, *shape: int) -> np.ndarray:
        return self.rng.integers(0, count, shape, np.int32)


def entropy_of_tape(tf: Any, logits: Any, labels: Any) -> Any:
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def entropy_of_jax(jax: Any, logits: Any, labels: Any) -> Any:
    return jax.numpy.mean(losses_of_jax(jax, logits, labels))


def losses_of_jax(jax: Any, logits: Any, labels: Any) -> Any:
    chosen = jax.numpy.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    return jax.nn.logsumexp(logits, axis=-1) - chosen


# Three dense layers


def mlp(batch: int, sizes: list[int]) -> Model:
    draw = Draw()
    parameters = {}
    for layer, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        parameters[f"w{layer}"] = draw.weights(fan_in, fan_out)
        parameters[f"b{layer}"] = draw.normal(fan_out, scale=0.1)
    inputs = draw.normal(batch, sizes[0])
    return Model(parameters, inputs, draw.classes(sizes[-1], batch), mlp_of_tape, mlp_of_jax)


def mlp_logits(matmul: Any, relu: Any, p: Any, x: Any) -> Any:
    h = relu(matmul(x, p["w0"]) + p["b0"])
    h = relu(matmul(h, p["w1"]) + p["b1"])
    return matmul(h, p["w2"]) + p["b2"]


def mlp_of_tape(tf: Any, p: Any, x: Any, labels: Any) -> Any:
    return entropy_of_tape(tf, mlp_logits(tf.matmul, tf.nn.relu, p, x), labels)


def mlp_of_jax(jax: Any, p: Any, x: Any, labels: Any) -> Any:
    return entropy_of_jax(jax, mlp_logits(jax.numpy.matmul, jax.nn.relu, p, x), labels)


# Two convolutions, each with pooling, and a dense layer


def cnn(batch: int) -> Model:
    draw = Draw()
    parameters = {
        "k0": draw.weights(3, 3, 1, 16),
        "b0": draw.normal(16, scale=0.1),
        "k1": draw.weights(3, 3, 16, 32),
        "b1": draw.normal(32, scale=0.1),
        "w": draw.weights(7 * 7 * 32, 10),
        "b": draw.normal(10, scale=0.1),
    }
    inputs = draw.normal(batch, 28, 28, 1)
    return Model(parameters, inputs, draw.classes(10, batch), cnn_of_tape, cnn_of_jax)


def cnn_of_tape(tf: Any, p: Any, x: Any, labels: Any) -> Any:
    for layer in "01":
        x = tf.nn.relu(tf.nn.conv2d(x, p[f"k{layer}"], 1, "SAME") + p[f"b{layer}"])
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    x = tf.reshape(x, [x.shape[0], -1])
    return entropy_of_tape(tf, tf.matmul(x, p["w"]) + p["b"], labels)


def cnn_of_jax(jax: Any, p: Any, x: Any, labels: Any) -> Any:
    layout, lax = ("NHWC", "HWIO", "NHWC"), jax.lax
    for layer in "01":
        x = lax.conv_general_dilated(x, p[f"k{layer}"], (1, 1), "SAME", dimension_numbers=layout)
        x = jax.nn.relu(x + p[f"b{layer}"])
        window = (1, 2, 2, 1)
        x = lax.reduce_window(x, -jax.numpy.inf, lax.max, window, window, "VALID")
    return entropy_of_jax(jax, x.reshape(x.shape[0], -1) @ p["w"] + p["b"], labels)


# Blocks of attention and a dense network, normalized first


def transformer(batch: int, length: int, width: int, blocks: int, classes: int = 32) -> Model:
    draw = Draw()
    parameters = {"out": draw.weights(width, classes)}
    for i in range(blocks):
        parameters |= {
            f"scale{i}": 1 + draw.normal(2, width, scale=0.1),
            f"shift{i}": draw.normal(2, width, scale=0.1),
            f"qkv{i}": draw.weights(width, 3 * width),
            f"mix{i}": draw.weights(width, width),
            f"up{i}": draw.weights(width, 4 * width),
            f"up_bias{i}": draw.normal(4 * width, scale=0.1),
            f"down{i}": draw.weights(4 * width, width),
            f"down_bias{i}": draw.normal(width, scale=0.1),
        }
    inputs = draw.normal(batch, length, width)
    labels = draw.classes(classes, batch, length)
    return Model(parameters, inputs, labels, transformer_of_tape, transformer_of_jax)


def transformer_of_tape(tf: Any, p: Any, x: Any, labels: Any) -> Any:
    batch, length, width = x.shape

    def normalized(x: Any, scale: Any, shift: Any) -> Any:
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + shift

    def attention(x: Any, qkv: Any, mix: Any) -> Any:
        heads = tf.reshape(tf.matmul(x, qkv), [batch, length, 3, HEADS, width // HEADS])
        q, k, v = tf.unstack(heads, axis=2)
        scores = tf.einsum("bqhd,bkhd->bhqk", q, k) * (width // HEADS) ** -0.5
        values = tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores), v)
        return tf.matmul(tf.reshape(values, [batch, length, width]), mix)

    for i in range(sum(name.startswith("qkv") for name in p)):
        scale, shift = tf.unstack(p[f"scale{i}"]), tf.unstack(p[f"shift{i}"])
        x += attention(normalized(x, scale[0], shift[0]), p[f"qkv{i}"], p[f"mix{i}"])
        h = tf.matmul(normalized(x, scale[1], shift[1]), p[f"up{i}"]) + p[f"up_bias{i}"]
        x += tf.matmul(tf.nn.gelu(h, approximate=True), p[f"down{i}"]) + p[f"down_bias{i}"]
    return entropy_of_tape(tf, tf.matmul(x, p["out"]), labels)


def transformer_of_jax(jax: Any, p: Any, x: Any, labels: Any) -> Any:
    jnp = jax.numpy
    batch, length, width = x.shape

    def normalized(x: Any, scale: Any, shift: Any) -> Any:
        mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift

    def attention(x: Any, qkv: Any, mix: Any) -> Any:
        heads = (x @ qkv).reshape(batch, length, 3, HEADS, width // HEADS)
        q, k, v = heads[:, :, 0], heads[:, :, 1], heads[:, :, 2]
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // HEADS) ** -0.5
        values = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
        return values.reshape(batch, length, width) @ mix

    for i in range(sum(name.startswith("qkv") for name in p)):
        scale, shift = p[f"scale{i}"], p[f"shift{i}"]
        x += attention(normalized(x, scale[0], shift[0]), p[f"qkv{i}"], p[f"mix{i}"])
        h = normalized(x, scale[1], shift[1]) @ p[f"up{i}"] + p[f"up_bias{i}"]
        x += jax.nn.gelu(h, approximate=True) @ p[f"down{i}"] + p[f"down_bias{i}"]
    return entropy_of_jax(jax, x @ p["out"], labels)


# A recurrent network


def lstm(batch: int, steps: int, width: int, classes: int = 16) -> Model:
    draw = Draw()
    parameters = {
        "w": draw.weights(width, 4 * width),
        "u": draw.weights(width, 4 * width),
        "b": draw.normal(4 * width, scale=0.1),
        "out": draw.weights(width, classes),
    }
    inputs = draw.normal(steps, batch, width)
    labels = draw.classes(classes, steps, batch)
    return Model(parameters, inputs, labels, lstm_of_tape, lstm_of_jax, adaptive=False)


def lstm_of_tape(tf: Any, p: Any, x: Any, labels: Any) -> Any:
    def cell(state: Any, x: Any) -> Any:
        h, c = state
        gates = tf.matmul(x, p["w"]) + tf.matmul(h, p["u"]) + p["b"]
        i, f, g, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.sigmoid(o) * tf.tanh(c), c

    start = tf.zeros(x.shape[1:])
    outputs, _ = tf.scan(cell, x, (start, start))
    return entropy_of_tape(tf, tf.matmul(outputs, p["out"]), labels)


def lstm_of_jax(jax: Any, p: Any, x: Any, labels: Any) -> Any:
    jnp, sigmoid = jax.numpy, jax.nn.sigmoid

    def cell(state: Any, x: Any) -> Any:
        h, c = state
        gates = x @ p["w"] + h @ p["u"] + p["b"]
        i, f, g, o = jnp.split(gates, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * jnp.tanh(g)
        h = sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = jnp.zeros(x.shape[1:], jnp.float32)
    _, outputs = jax.lax.scan(cell, (start, start), x)
    return entropy_of_jax(jax, outputs @ p["out"], labels)


MODELS: dict[str, Callable[..., Model]] = {
    "mlp": mlp,
    "cnn": cnn,
    "transformer": transformer,
    "lstm": lstm,
}

CASES: dict[str, dict[str, Any]] = {
    "MLP (32, 10, 32, 3)": {"model": "mlp", "batch": 32, "sizes": [10, 32, 32, 3]},
    "MLP (128, 784, 256, 10)": {"model": "mlp", "batch": 128, "sizes": [784, 256, 256, 10]},
    "MLP (512, 784, 1024, 10)": {"model": "mlp", "batch": 512, "sizes": [784, 1024, 1024, 10]},
    "CNN (32, 28, 28, 1)": {"model": "cnn", "batch": 32},
    "transformer (8, 64, 128) x 4": {
        "model": "transformer",
        "batch": 8,
        "length": 64,
        "width": 128,
        "blocks": 4,
    },
    "LSTM (128, 32, 64)": {"model": "lstm", "batch": 32, "steps": 128, "width": 64},
}


def make(model: str, **sizes: Any) -> Model:
    return MODELS[model](**sizes)
