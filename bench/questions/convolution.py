"""What do the heavy ops of a network cost: convolution, pooling, normalization, cross entropy?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.question import Question, Step, Target

CONV_3 = "conv2d (32, 32, 32, 16) -> 32, 3x3"
CONV_7 = "conv2d (32, 64, 64, 3) -> 64, 7x7 / 2"
POOL = "max_pool2d (32, 32, 32, 32), 2x2"
NORM = "batch norm (32, 32, 32, 32)"
ENTROPY = "softmax cross entropy (512, 1000)"

question = Question(
    title="network ops",
    note=(
        "one op, forward, then the gradients of all its arguments from a given cotangent. Images "
        "are NHWC for TensorFlow's API and NCHW for PyTorch, each one's own layout."
    ),
    cases={
        CONV_3: {"op": "conv", "image": [32, 32, 32, 16], "kernel": [3, 3, 16, 32], "stride": 1},
        CONV_7: {"op": "conv", "image": [32, 64, 64, 3], "kernel": [7, 7, 3, 64], "stride": 2},
        POOL: {"op": "pool", "image": [32, 32, 32, 32]},
        NORM: {"op": "norm", "image": [32, 32, 32, 32]},
        ENTROPY: {"op": "entropy", "image": [512, 1000]},
    },
    targets=(
        Target(CONV_3, "torch", 2.5),
        Target(CONV_7, "torch", 2.5),
        Target(POOL, "torch", 3.0),
        Target(NORM, "torch", 3.0),
        Target(ENTROPY, "torch", 1.5),
    ),
    suite="nn",
)

Call = Callable[..., Any]


def make_data(
    op: str, image: list[int], kernel: list[int] | None = None, stride: int = 1
) -> tuple[list[np.ndarray], np.ndarray]:
    """The arguments of the op that get a gradient, and the cotangent of its result."""
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    x = draw(*image)
    if op == "conv":
        assert kernel
        batch, height, width, _ = image
        scaled = draw(*kernel) * np.float32(np.prod(kernel[:3]) ** -0.5)
        return [x, scaled], draw(batch, height // stride, width // stride, kernel[-1])
    if op == "pool":
        batch, height, width, channels = image
        return [x], draw(batch, height // 2, width // 2, channels)
    if op == "norm":
        return [x, draw(image[-1]), draw(image[-1])], draw(*image)
    return [x], np.ones((), np.float32)


def make_labels(image: list[int]) -> np.ndarray:
    return np.random.default_rng(1).integers(0, image[1], image[0])


@question.program("gradtape", "tensorflow")
def ops_tape(tf: Any, op: str, **case: Any) -> Step:
    arrays, cotangent = make_data(op, **case)
    arguments, g = [tf.constant(a) for a in arrays], tf.constant(cotangent)
    labels = tf.constant(make_labels(case["image"]))

    def conv(x: Any, filters: Any) -> Any:
        edge = len(arrays[1]) // 2
        padding = [[0, 0], [edge, edge], [edge, edge], [0, 0]]
        return tf.nn.conv2d(x, filters, case["stride"], padding)

    def pool(x: Any) -> Any:
        return tf.nn.max_pool2d(x, 2, 2, "VALID")

    def norm(x: Any, scale: Any, offset: Any) -> Any:
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-5)

    def entropy(x: Any) -> Any:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
        return tf.reduce_mean(losses)

    call: Call = {"conv": conv, "pool": pool, "norm": norm, "entropy": entropy}[op]

    def step() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            out = call(*arguments)
        return out, *tape.gradient(out, arguments, output_gradients=g)

    return step


@question.program("torch")
def ops_torch(torch: Any, op: str, **case: Any) -> Step:
    arrays, cotangent = make_data(op, **case)
    functional = torch.nn.functional
    labels = torch.from_numpy(make_labels(case["image"]))

    def channels_first(array: np.ndarray) -> Any:
        moved = array.transpose(0, 3, 1, 2) if array.ndim == 4 else array
        return torch.from_numpy(moved.copy())

    arguments, g = [channels_first(a) for a in arrays], channels_first(cotangent)
    if op == "conv":
        arguments[1] = torch.from_numpy(arrays[1].transpose(3, 2, 0, 1).copy())
    for argument in arguments:
        argument.requires_grad_()

    def conv(x: Any, filters: Any) -> Any:
        edge = filters.shape[-1] // 2
        return functional.conv2d(x, filters, stride=case["stride"], padding=edge)

    def pool(x: Any) -> Any:
        return functional.max_pool2d(x, 2, 2)

    def norm(x: Any, scale: Any, offset: Any) -> Any:
        return functional.batch_norm(x, None, None, scale, offset, training=True)

    def entropy(x: Any) -> Any:
        return functional.cross_entropy(x, labels)

    call: Call = {"conv": conv, "pool": pool, "norm": norm, "entropy": entropy}[op]

    def step() -> Any:
        out = call(*arguments)
        return out, *torch.autograd.grad(out, arguments, g)

    return step
