"""The models of `python -m bench gpu`: a CNN of the size of ResNet-18, the blocks of GPT-2 small.

Each is written three times, from the same numbers: with gradtape, PyTorch and JAX, attention as
products and a softmax in all. A step is loss, gradients and plain gradient descent, all in one
dtype, float32 (as TF32) or bfloat16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

Step = Callable[[], Any]
RATE = 1e-3


class Resnet:
    """ResNet-18 on images of 224 x 224, with the statistics of the batch."""

    constants: ClassVar[dict[str, Any]] = {}

    def __init__(self, batch: int = 64, size: int = 224, width: int = 64) -> None:
        random = np.random.default_rng(0)
        self.x = random.normal(size=(batch, size, size, 3)).astype(np.float32)
        self.labels = random.integers(0, 1000, batch)
        self.weights: dict[str, Any] = {}

        def conv(name: str, kernel: int, given: int, made: int) -> None:
            spread = (2 / (kernel * kernel * given)) ** 0.5
            self.weights[name] = random.normal(size=(kernel, kernel, given, made)) * spread
            self.weights[f"{name} scale"] = np.ones(made)
            self.weights[f"{name} shift"] = np.zeros(made)

        conv("stem", 7, 3, width)
        self.blocks = []
        given = width
        for stage in range(4):
            made = width * 2**stage
            for number in range(2):
                stride = 2 if stage and not number else 1
                name = f"{stage}{number}"
                conv(f"{name}a", 3, given, made)
                conv(f"{name}b", 3, made, made)
                if given != made:
                    conv(f"{name}s", 1, given, made)
                self.blocks.append((name, stride, given != made))
                given = made
        self.weights["head"] = random.normal(size=(given, 1000)) * given**-0.5

    def forward(self, lib: Any, w: Any, x: Any, labels: Any) -> Any:
        def conv(name: str, x: Any, stride: int) -> Any:
            y = lib.conv(x, w[name], stride)
            return lib.batch_norm(y, w[f"{name} scale"], w[f"{name} shift"])

        x = lib.max_pool(lib.relu(conv("stem", x, 2)))
        for name, stride, has_side in self.blocks:
            side = conv(f"{name}s", x, stride) if has_side else x
            x = lib.relu(conv(f"{name}a", x, stride))
            x = lib.relu(conv(f"{name}b", x, 1) + side)
        return lib.cross_entropy(lib.mean_of_places(x) @ w["head"], labels)


class Gpt2:
    """The 12 blocks of GPT-2 small on 8 texts of 1024 tokens; the loss is a mean square."""

    labels: Any = None

    def __init__(self, batch: int = 8, tokens: int = 1024, layers: int = 12, width: int = 768,
                 heads: int = 12) -> None:  # fmt: skip
        random = np.random.default_rng(0)
        self.x = random.normal(size=(batch, tokens, width)).astype(np.float32)
        self.layers, self.heads = layers, heads
        mask = np.triu(np.full((tokens, tokens), -1e9, np.float32), 1)
        self.constants: dict[str, Any] = {"mask": mask}
        self.weights: dict[str, Any] = {}
        for i in range(layers):
            shapes = {"qkv": (width, 3 * width), "out": (width, width),
                      "up": (width, 4 * width), "down": (4 * width, width)}  # fmt: skip
            for name, shape in shapes.items():
                self.weights[f"{name}{i}"] = random.normal(size=shape) * 0.02
                self.weights[f"{name} bias{i}"] = np.zeros(shape[1])
            for name in ("first", "second"):
                self.weights[f"{name} scale{i}"] = np.ones(width)
                self.weights[f"{name} shift{i}"] = np.zeros(width)

    def forward(self, lib: Any, w: Any, x: Any, labels: Any) -> Any:
        batch, tokens, width = self.x.shape
        each = width // self.heads
        mask = w["mask"]
        for i in range(self.layers):
            y = lib.layer_norm(x, w[f"first scale{i}"], w[f"first shift{i}"])
            y = lib.reshape(
                y @ w[f"qkv{i}"] + w[f"qkv bias{i}"], (batch, tokens, 3, self.heads, each)
            )
            q, k, v = lib.transpose(y, (2, 0, 3, 1, 4))
            scores = lib.product(q, k) * each**-0.5 + mask
            y = lib.transpose(lib.softmax(scores) @ v, (0, 2, 1, 3))
            x = x + lib.reshape(y, (batch, tokens, width)) @ w[f"out{i}"] + w[f"out bias{i}"]
            y = lib.layer_norm(x, w[f"second scale{i}"], w[f"second shift{i}"])
            y = lib.gelu(y @ w[f"up{i}"] + w[f"up bias{i}"])
            x = x + y @ w[f"down{i}"] + w[f"down bias{i}"]
        return lib.mean_square(x)


class Gradtape:
    def __init__(self) -> None:
        import gradtape as tf

        self.tf = tf
        self.relu, self.softmax = tf.nn.relu, tf.nn.softmax
        self.reshape, self.transpose = tf.reshape, tf.transpose

    def conv(self, x: Any, w: Any, stride: int) -> Any:
        pad = w.shape[0] // 2
        return self.tf.nn.conv2d(x, w, stride, [[0, 0], [pad, pad], [pad, pad], [0, 0]])

    def batch_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        mean, variance = self.tf.nn.moments(x, [0, 1, 2])
        return self.tf.nn.batch_normalization(x, mean, variance, shift, scale, 1e-5)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        mean, variance = self.tf.nn.moments(x, [-1], keepdims=True)
        return self.tf.nn.batch_normalization(x, mean, variance, shift, scale, 1e-5)

    def max_pool(self, x: Any) -> Any:
        padded = self.tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
        return self.tf.nn.max_pool2d(padded, 3, 2, "VALID")

    def mean_of_places(self, x: Any) -> Any:
        return self.tf.reduce_mean(x, [1, 2])

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        logits = self.tf.cast(logits, self.tf.float32)
        losses = self.tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return self.tf.reduce_mean(losses)

    def product(self, q: Any, k: Any) -> Any:
        return self.tf.matmul(q, k, transpose_b=True)

    def gelu(self, x: Any) -> Any:
        return self.tf.nn.gelu(x, approximate=True)

    def mean_square(self, x: Any) -> Any:
        return self.tf.reduce_mean(self.tf.cast(x, self.tf.float32) ** 2)

    def step(self, model: Any, dtype: str, compiled: bool) -> Step:
        tf = self.tf
        with tf.device("GPU:0"):
            w = {n: tf.Variable(tf.cast(v, dtype)) for n, v in model.weights.items()}
            x = tf.cast(tf.constant(model.x), dtype)
            labels = None if model.labels is None else tf.constant(model.labels)
            others = {n: tf.cast(tf.constant(v), dtype) for n, v in model.constants.items()}
        variables = list(w.values())
        optimizer = tf.optimizers.SGD(RATE)

        def step(x: Any, labels: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = model.forward(self, w | others, x, labels)
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        run = tf.function(step) if compiled else step
        return lambda: run(x, labels)


class Torch:
    def __init__(self) -> None:
        import torch

        self.torch, self.f = torch, torch.nn.functional
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
        self.relu = self.f.relu
        self.reshape, self.product = torch.reshape, lambda q, k: q @ k.transpose(-1, -2)
        self.transpose = torch.permute

    def conv(self, x: Any, w: Any, stride: int) -> Any:
        return self.f.conv2d(x, w, stride=stride, padding=w.shape[-1] // 2)

    def batch_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self.f.batch_norm(x, None, None, scale, shift, training=True, eps=1e-5)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self.f.layer_norm(x, x.shape[-1:], scale, shift, 1e-5)

    def max_pool(self, x: Any) -> Any:
        return self.f.max_pool2d(x, 3, 2, 1)

    def mean_of_places(self, x: Any) -> Any:
        return x.mean((2, 3))

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        return self.f.cross_entropy(logits.float(), labels)

    def softmax(self, x: Any) -> Any:
        return self.f.softmax(x, -1)

    def gelu(self, x: Any) -> Any:
        return self.f.gelu(x, approximate="tanh")

    def mean_square(self, x: Any) -> Any:
        return (x.float() ** 2).mean()

    def step(self, model: Any, dtype: str, compiled: bool) -> Step:
        torch = self.torch
        kind = getattr(torch, dtype)

        def put(values: Any) -> Any:
            array = torch.tensor(np.asarray(values), dtype=kind, device="cuda")
            if array.ndim != 4:
                return array
            return array.permute(3, 2, 0, 1).to(memory_format=torch.channels_last)

        w = {n: put(v).detach().requires_grad_() for n, v in model.weights.items()}
        x = torch.tensor(model.x, dtype=kind, device="cuda")
        others = {n: put(v) for n, v in model.constants.items()}
        labels = model.labels
        if labels is not None:
            x = x.permute(0, 3, 1, 2)  # in memory the channels are last, as they were
            labels = torch.tensor(labels, device="cuda")
        optimizer = torch.optim.SGD(list(w.values()), RATE)
        forward = torch.compile(model.forward) if compiled else model.forward

        def step() -> Any:
            optimizer.zero_grad()
            loss = forward(self, w | others, x, labels)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step


class Jax:
    def __init__(self) -> None:
        import jax
        import jax.numpy as jnp

        self.jax, self.jnp = jax, jnp
        self.relu, self.softmax = jax.nn.relu, jax.nn.softmax
        self.reshape, self.transpose = jnp.reshape, jnp.transpose

    def conv(self, x: Any, w: Any, stride: int) -> Any:
        pad = w.shape[0] // 2
        return self.jax.lax.conv_general_dilated(
            x, w, (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def _normal(self, x: Any, axes: Any, scale: Any, shift: Any) -> Any:
        wide = x.astype(self.jnp.float32)
        mean = wide.mean(axes, keepdims=True)
        factor = self.jax.lax.rsqrt(wide.var(axes, keepdims=True) + 1e-5)
        return ((wide - mean) * factor).astype(x.dtype) * scale + shift

    def batch_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self._normal(x, (0, 1, 2), scale, shift)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self._normal(x, -1, scale, shift)

    def max_pool(self, x: Any) -> Any:
        return self.jax.lax.reduce_window(
            x, -self.jnp.inf, self.jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1),
            [(0, 0), (1, 1), (1, 1), (0, 0)],
        )  # fmt: skip

    def mean_of_places(self, x: Any) -> Any:
        return x.mean((1, 2))

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        logs = self.jax.nn.log_softmax(logits.astype(self.jnp.float32))
        return -self.jnp.take_along_axis(logs, labels[:, None], 1).mean()

    def product(self, q: Any, k: Any) -> Any:
        return q @ self.jnp.swapaxes(k, -1, -2)

    def gelu(self, x: Any) -> Any:
        return self.jax.nn.gelu(x, approximate=True)

    def mean_square(self, x: Any) -> Any:
        return (x.astype(self.jnp.float32) ** 2).mean()

    def step(self, model: Any, dtype: str, compiled: bool) -> Step:
        jax, jnp = self.jax, self.jnp
        state = [{n: jnp.asarray(v, dtype) for n, v in model.weights.items()}]
        x = jnp.asarray(model.x, dtype)
        others = {n: jnp.asarray(v, dtype) for n, v in model.constants.items()}
        labels = None if model.labels is None else jnp.asarray(model.labels, jnp.int32)

        def step(w: Any, x: Any, labels: Any) -> Any:
            def loss_of(w: Any) -> Any:
                return model.forward(self, w | others, x, labels)

            loss, gradients = jax.value_and_grad(loss_of)(w)
            rate = jnp.asarray(RATE, dtype)
            return jax.tree.map(lambda a, g: a - rate * g, w, gradients), loss

        run = jax.jit(step, donate_argnums=0)

        def call() -> Any:
            state[0], loss = run(state[0], x, labels)
            return loss

        return call


MODELS = {"ResNet-18": Resnet, "GPT-2 small": Gpt2}
SYSTEMS = {"gradtape": Gradtape, "torch": Torch, "jax.jit": Jax}


def step_of(system: str, model: str, dtype: str, compiled: bool, **sizes: int) -> Step:
    """A training step of a model in one of the systems ("torch", compiled: `torch.compile`)."""
    return SYSTEMS[system]().step(MODELS[model](**sizes), dtype, compiled)  # type: ignore[no-any-return]
