"""What does work cost that is large enough for all cores: with one thread, and with all?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bench.question import Question, Step, Target, quickest_of
from bench.systems import all_threads

ROWS: dict[str, tuple[dict[str, Any], float]] = {
    "gelu, 4 M": ({"work": "gelu"}, 1.5),
    "tanh(x) exp(-x^2), 4 M": ({"work": "tanh_exp"}, 0.7),
    "conv2d (32, 32, 32, 16) -> 32, 3x3": ({"work": "convolution"}, 1.2),
    "cross entropy (512, 1000)": ({"work": "cross_entropy"}, 1.0),
    "attention (8, 64, 128), layer norm": ({"work": "attention"}, 1.0),
    "Cholesky 120^2, float64": ({"work": "cholesky"}, 1.0),
    "Jacobian of tanh(v @ A), 100^2": ({"work": "jacobian", "size": 100}, 0.2),
    "Jacobian of tanh(v @ A), 1000^2": ({"work": "jacobian", "size": 1000}, 1.0),
}
"""What is computed, and how much of PyTorch's time it may take with all threads."""

HEADS = 4


def threads(case: Mapping[str, Any]) -> Mapping[str, str | None]:
    return all_threads() if case["threads"] == "all" else {}


question = Question(
    title="large work",
    suite="large",
    note=(
        "forward, and the gradients of all arguments from a given cotangent (or the Jacobian); "
        "float32, but for Cholesky. Each row with one thread and with the threads that a system "
        "takes by default. Images are NHWC for TensorFlow's API and NCHW for PyTorch."
    ),
    cases={
        f"{row}, threads: {threads}": case | {"threads": threads}
        for row, (case, _) in ROWS.items()
        for threads in ("all", "1")
    },
    targets=tuple(
        Target(f"{row}, threads: all", "torch", at_most) for row, (_, at_most) in ROWS.items()
    ),
    measure=quickest_of(20),
    max_rounds=3,
    own_process=threads,
)


def make_data(work: str, size: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """The arguments, and the cotangent of the result."""
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    match work:
        case "gelu" | "tanh_exp":
            return [draw(1 << 22)], draw(1 << 22)
        case "convolution":
            return [draw(32, 32, 32, 16), draw(3, 3, 16, 32) / 12], draw(32, 32, 32, 32)
        case "cross_entropy":
            return [draw(512, 1000)], np.ones((), np.float32)
        case "attention":
            weights = [draw(128, 128) * np.float32(128**-0.5) for _ in range(4)]
            return [draw(8, 64, 128), draw(128), draw(128), *weights], draw(8, 64, 128)
        case "cholesky":
            x = rng.normal(size=(120, 120))
            return [x @ x.T / 120 + np.eye(120)], np.tril(rng.normal(size=(120, 120)))
    return [draw(size), draw(size, size) * np.float32(size**-0.5)], np.ones((), np.float32)


LABELS = np.random.default_rng(1).integers(0, 1000, 512)


@question.program("gradtape", "tensorflow")
def large_tape(tf: Any, work: str, threads: str, size: int = 0) -> Step:
    arrays, cotangent = make_data(work, size)
    arguments, g = [tf.constant(a) for a in arrays], tf.constant(cotangent)
    labels = tf.constant(LABELS)

    def convolution(x: Any, filters: Any) -> Any:
        return tf.nn.conv2d(x, filters, 1, "SAME")

    def cross_entropy(x: Any) -> Any:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
        return tf.reduce_mean(losses)

    def heads(x: Any) -> Any:
        return tf.transpose(tf.reshape(x, [8, 64, HEADS, 128 // HEADS]), [0, 2, 1, 3])

    def attention(x: Any, scale: Any, offset: Any, q: Any, k: Any, v: Any, o: Any) -> Any:
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        y = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-5)
        scores = tf.matmul(heads(y @ q), heads(y @ k), transpose_b=True) * (HEADS / 128) ** 0.5
        mixed = tf.matmul(tf.nn.softmax(scores), heads(y @ v))
        return x + tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [8, 64, 128]) @ o

    call: Callable[..., Any] = {
        "gelu": tf.nn.gelu,
        "tanh_exp": lambda x: tf.tanh(x) * tf.exp(-x * x),
        "convolution": convolution,
        "cross_entropy": cross_entropy,
        "attention": attention,
        "cholesky": tf.linalg.cholesky,
        "jacobian": lambda v, a: tf.tanh(tf.linalg.matvec(a, v, transpose_a=True)),
    }[work]

    def step() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            out = call(*arguments)
        return out, *tape.gradient(out, arguments, output_gradients=g)

    def jacobian() -> Any:
        v, a = arguments
        with tf.GradientTape() as tape:
            tape.watch(v)
            out = call(v, a)
        return out, tape.jacobian(out, v)

    return jacobian if work == "jacobian" else step


@question.program("torch")
def large_torch(torch: Any, work: str, threads: str, size: int = 0) -> Step:
    arrays, cotangent = make_data(work, size)
    functional = torch.nn.functional
    if work == "convolution":
        x, filters = arrays
        arrays = [x.transpose(0, 3, 1, 2).copy(), filters.transpose(3, 2, 0, 1).copy()]
        cotangent = cotangent.transpose(0, 3, 1, 2).copy()
    arguments = [torch.from_numpy(a).requires_grad_() for a in arrays]
    g, labels = torch.from_numpy(cotangent), torch.from_numpy(LABELS)

    def heads(x: Any) -> Any:
        return x.reshape(8, 64, HEADS, 128 // HEADS).transpose(1, 2)

    def attention(x: Any, scale: Any, offset: Any, q: Any, k: Any, v: Any, o: Any) -> Any:
        y = functional.layer_norm(x, (128,), scale, offset, 1e-5)
        scores = heads(y @ q) @ heads(y @ k).transpose(-1, -2) * (HEADS / 128) ** 0.5
        mixed = functional.softmax(scores, -1) @ heads(y @ v)
        return x + mixed.transpose(1, 2).reshape(8, 64, 128) @ o

    call: Callable[..., Any] = {
        "gelu": functional.gelu,
        "tanh_exp": lambda x: torch.tanh(x) * torch.exp(-x * x),
        "convolution": lambda x, filters: functional.conv2d(x, filters, padding=1),
        "cross_entropy": lambda x: functional.cross_entropy(x, labels),
        "attention": attention,
        "cholesky": torch.linalg.cholesky,
        "jacobian": lambda v, a: torch.tanh(v @ a),
    }[work]

    def step() -> Any:
        out = call(*arguments)
        return out, *torch.autograd.grad(out, arguments, g)

    def jacobian() -> Any:
        v, a = arguments[0].detach(), arguments[1].detach()
        return call(v, a), torch.autograd.functional.jacobian(lambda v: call(v, a), v)

    return jacobian if work == "jacobian" else step


@question.program("numpy")
def large_numpy(np: Any, work: str, threads: str, size: int = 0) -> Step | None:
    """By hand, as one would write it; None where that is a page."""
    from scipy.linalg import solve_triangular
    from scipy.special import ndtr

    (x, *others), g = make_data(work, size)

    def gelu() -> Any:
        below = ndtr(x)
        density = np.exp(x * x * np.float32(-0.5)) * np.float32((2 * np.pi) ** -0.5)
        return x * below, g * (below + x * density)

    def tanh_exp() -> Any:
        t, e = np.tanh(x), np.exp(-x * x)
        out = t * e
        return out, g * (e * (1 - t * t) - 2 * x * out)

    def cross_entropy() -> Any:
        rows = np.arange(512)
        below = x - x.max(1, keepdims=True)
        p = np.exp(below)
        total = p.sum(1, keepdims=True)
        loss = (np.log(total[:, 0]) - below[rows, LABELS]).mean()
        p /= total
        p[rows, LABELS] -= 1
        p *= np.float32(1 / 512)
        return loss, p

    def cholesky() -> Any:
        factor = np.linalg.cholesky(x)
        inner = np.tril(factor.T @ g)
        inner[np.diag_indices(120)] *= 0.5
        half = solve_triangular(factor, inner, lower=True, trans=1)
        whole = solve_triangular(factor, half.T, lower=True, trans=1)
        return factor, (whole + whole.T) / 2

    def jacobian() -> Any:
        out = np.tanh(x @ others[0])
        return out, (1 - out * out)[:, None] * others[0].T

    steps = {
        "gelu": gelu,
        "tanh_exp": tanh_exp,
        "cross_entropy": cross_entropy,
        "cholesky": cholesky,
        "jacobian": jacobian,
    }
    return steps.get(work)
