"""`python -m bench gpu`: eager ops and training steps on a GPU, beside PyTorch and `jax.jit`.

All systems are in one process and take turns; a sample is as many calls as take some milliseconds,
with one wait for the card at its end; what counts is the best of the rounds. All use TF32, as
TensorFlow does, unless the dtype says otherwise. The losses of the systems are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench.gpu_models import MODELS, step_of

SIZES = {
    "small": (10, 32, 3, 32),
    "medium": (784, 1024, 10, 512),
    "large": (4096, 8192, 1000, 4096),
}
OPS = {"16 numbers": 16, "16 M numbers": 2**24}


def run(rounds: int = 7, only: list[str] | None = None, systems: list[str] | None = None) -> int:
    """Print the table; only rows with one of these words, and models beside these systems."""
    from gradtape._src.core.placement import placement

    if placement.card is None:
        print(f"bench gpu needs a GPU: {placement.reason}.")
        return 0
    failed = 0
    print(f"{'':34s}{'gradtape':>12s}{'peer':>12s}{'ratio':>8s}  target")
    for title, make, target in questions(systems or ["torch", "jax"]):
        if only and not any([word in title for word in only]):
            continue
        try:
            times = measure(make(), rounds)
        except Exception as error:  # the other rows are of use all the same
            print(f"{title:34s} failed: {type(error).__name__}: {str(error)[:200]}")
            failed += 1
            continue
        ours = times.pop("gradtape")
        for name, peer in times.items():
            ratio = ours / peer
            word = "" if ratio <= target else "  MISSED"
            print(
                f"{title:34s}{shown(ours):>12s}{shown(peer):>12s}{ratio:8.2f}  {target:.2f} x "
                f"{name}{word}",
                flush=True,
            )
    return failed


def shown(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def wait() -> None:
    import cupy

    cupy.cuda.runtime.deviceSynchronize()


def measure(systems: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    counts = {}
    for name, call in systems.items():
        for _ in range(3):
            call()
        wait()
        start = time.perf_counter()
        for _ in range(3):
            call()
        wait()
        counts[name] = max(3, min(300, int(0.05 * 3 / (time.perf_counter() - start))))
    best = dict.fromkeys(systems, float("inf"))
    for _ in range(rounds):
        for name, call in systems.items():
            wait()
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            wait()
            best[name] = min(best[name], (time.perf_counter() - start) / counts[name])
    return best


def questions(peers: list[str]) -> Any:
    """A title, what makes the systems (gradtape, and its peers), and the ratio not to exceed."""
    for what, size in OPS.items():
        target = 1.5 if size == 16 else 1.05
        yield f"x * y, {what}", partial(op_forward, size), target
        yield f"x * y, {what}, with gradient", partial(op_gradient, size), target
        yield f"x * 2.0, {what}", partial(op_number, size), target
    for dtype in ("float16", "bfloat16"):
        yield f"x * y, 16 M {dtype}", partial(op_forward, 2**24, dtype), 1.05
    for name, sizes in SIZES.items():
        target = 1.1 if name == "large" else 1.0
        yield f"eager MLP step, {name}", partial(eager_steps, sizes), target
    for name, sizes in SIZES.items():
        yield f"@function MLP step, {name}", partial(compiled_steps, sizes), 1.05
    for what in ("uniform", "normal"):
        yield f"random.{what}, 16 M numbers", partial(draws, what), 1.1
    yield "prefetch_to_device, 16 x 256 MB", uploads, 1 / 0.8
    for model in MODELS:
        for dtype in ("float32", "bfloat16"):
            for compiled in (False, True):
                kind = "@function" if compiled else "eager"
                make = partial(models, model, dtype, compiled, peers)
                yield f"{model}, {dtype}, {kind}", make, 1.1


def models(
    model: str, dtype: str, compiled: bool, peers: list[str]
) -> dict[str, Callable[[], Any]]:
    """Steps of a model; the memory that the eager ones take is printed too."""
    import cupy
    import torch

    beside = {"torch": "torch"}
    if compiled:
        named = {"jax": ("jax.jit", "jax.jit"), "torch": ("torch.compile", "torch")}
        beside = dict([named[each] for each in peers])
    cupy.get_default_memory_pool().free_all_blocks()
    torch.cuda.empty_cache()
    before = cupy.get_default_memory_pool().total_bytes()
    steps = {"gradtape": step_of("gradtape", model, dtype, compiled)}
    losses = [float(steps["gradtape"]()) for _ in range(2)]
    if not compiled:
        wait()
        taken = cupy.get_default_memory_pool().total_bytes() - before
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_reserved()
    for name, system in beside.items():
        steps[name] = step_of(system, model, dtype, compiled)
        agree(losses[0], float(steps[name]()), 0.05 if dtype == "bfloat16" else 1e-2)
    if not compiled:
        steps["torch"]()
        wait()
        theirs = torch.cuda.max_memory_reserved() - before
        ratio = taken / theirs
        print(
            f"{'  memory':34s}{taken / 2**20:9.0f} MB{theirs / 2**20:9.0f} MB{ratio:8.2f}  1.10 x "
            f"torch{'' if ratio <= 1.1 else '  MISSED'}"
        )
    return steps


def draws(what: str) -> dict[str, Callable[[], Any]]:
    import torch

    import gradtape as tf

    size = 2**24
    draw = getattr(tf.random, f"stateless_{what}")

    def ours() -> Any:
        with tf.device("GPU:0"):
            return draw([size], [1, 2])

    theirs = {"uniform": torch.rand, "normal": torch.randn}[what]
    return {"gradtape": ours, "torch": lambda: theirs(size, device="cuda")}


def uploads() -> dict[str, Callable[[], Any]]:
    """Batches out of a large array, by the Dataset; beside them, copies from pinned memory."""
    import torch

    import gradtape as tf

    rows = 2**16
    data = np.ones((8 * rows, 1024), np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(rows)
    dataset = dataset.apply(tf.data.experimental.prefetch_to_device("/GPU:0"))
    elements = iter(dataset.repeat())
    pinned = torch.ones((rows, 1024)).pin_memory()

    def ours() -> None:
        for _ in range(16):  # of which two or three may have been brought before the sample began
            next(elements)

    def theirs() -> None:
        for _ in range(16):
            pinned.to("cuda", non_blocking=True)

    return {"gradtape": ours, "pinned copy": theirs}


def op_forward(size: int, dtype: str = "float32") -> dict[str, Callable[[], Any]]:
    import torch

    import gradtape as tf

    with tf.device("GPU:0"):
        a, b = tf.ones(size, dtype), tf.ones(size, dtype)
    kind = getattr(torch, dtype)
    c, d = torch.ones(size, device="cuda", dtype=kind), torch.ones(size, device="cuda", dtype=kind)
    return {"gradtape": lambda: a * b, "torch": lambda: c * d}


def op_number(size: int) -> dict[str, Callable[[], Any]]:
    import torch

    import gradtape as tf

    a = tf.Variable(np.ones(size, np.float32)).value()
    c = torch.ones(size, device="cuda")
    return {"gradtape": lambda: a * 2.0, "torch": lambda: c * 2.0}


def op_gradient(size: int) -> dict[str, Callable[[], Any]]:
    """Ten products in a chain, forward and back: the time of one of them."""
    import torch

    import gradtape as tf

    x = tf.Variable(np.ones(size, np.float32))
    c = torch.ones(size, device="cuda", requires_grad=True)

    def ours() -> Any:
        with tf.GradientTape() as tape:
            y = x * x
            for _ in range(9):
                y = y * x
        return tape.gradient(y, x)

    def theirs() -> Any:
        y = c * c
        for _ in range(9):
            y = y * c
        return torch.autograd.grad(y, c, torch.ones_like(y))

    return {"gradtape": ours, "torch": theirs}


def data_of(sizes: Any) -> Any:
    inputs, hidden, outputs, batch = sizes
    random = np.random.default_rng(0)
    weights = [
        random.normal(size=(inputs, hidden)) / inputs**0.5,
        np.zeros(hidden),
        random.normal(size=(hidden, outputs)) / hidden**0.5,
        np.zeros(outputs),
    ]
    x = random.normal(size=(batch, inputs)).astype(np.float32)
    return [w.astype(np.float32) for w in weights], x, random.integers(0, outputs, batch)


def gradtape_step(sizes: Any) -> Callable[[Any, Any], Any]:
    import gradtape as tf

    weights, _, _ = data_of(sizes)
    w1, b1, w2, b2 = variables = [tf.Variable(w) for w in weights]
    optimizer = tf.optimizers.Adam(1e-3)

    def step(x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ w1 + b1)
            logits = hidden @ w2 + b2
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return step


def on_card(sizes: Any) -> Any:
    import gradtape as tf

    _, x, labels = data_of(sizes)
    with tf.device("GPU:0"):
        return tf.constant(x), tf.constant(labels)


def eager_steps(sizes: Any) -> dict[str, Callable[[], Any]]:
    import torch

    step = gradtape_step(sizes)
    x, labels = on_card(sizes)
    torch.backends.cuda.matmul.allow_tf32 = True
    weights, data, classes = data_of(sizes)
    w1, b1, w2, b2 = own = [torch.tensor(w, device="cuda", requires_grad=True) for w in weights]
    optimizer = torch.optim.Adam(own, lr=1e-3)
    data, classes = torch.tensor(data, device="cuda"), torch.tensor(classes, device="cuda")

    def theirs() -> Any:
        optimizer.zero_grad()
        logits = torch.relu(data @ w1 + b1) @ w2 + b2
        loss = torch.nn.functional.cross_entropy(logits, classes)
        loss.backward()
        optimizer.step()
        return loss

    agree(float(step(x, labels)), float(theirs()))
    return {"gradtape": lambda: step(x, labels), "torch": theirs}


def compiled_steps(sizes: Any) -> dict[str, Callable[[], Any]]:
    import jax
    import jax.numpy as jnp

    import gradtape as tf

    step = tf.function(gradtape_step(sizes))
    x, labels = on_card(sizes)
    weights, data, classes = data_of(sizes)
    state = [[jnp.asarray(w) for w in weights]] + [
        [jnp.zeros_like(jnp.asarray(w)) for w in weights] for _ in range(2)
    ]
    state.append(jnp.zeros((), jnp.int32))
    data, classes = jnp.asarray(data), jnp.asarray(classes, jnp.int32)

    def loss_of(params: Any, x: Any, labels: Any) -> Any:
        w1, b1, w2, b2 = params
        logits = jax.nn.relu(x @ w1 + b1) @ w2 + b2
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -picked.mean()

    def adam(state: Any, x: Any, labels: Any) -> Any:
        params, ms, vs, count = state
        loss, gradients = jax.value_and_grad(loss_of)(params, x, labels)
        count = count + 1
        rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        ms = [m + (g - m) * 0.1 for m, g in zip(ms, gradients, strict=True)]
        vs = [v + (g * g - v) * 0.001 for v, g in zip(vs, gradients, strict=True)]
        params = [
            p - rate * m / (jnp.sqrt(v) + 1e-7) for p, m, v in zip(params, ms, vs, strict=True)
        ]
        return [params, ms, vs, count], loss

    jitted = jax.jit(adam, donate_argnums=0)
    box = [state]

    def theirs() -> Any:
        box[0], loss = jitted(box[0], data, classes)
        return loss

    agree(float(step(x, labels)), float(theirs()))
    return {"gradtape": lambda: step(x, labels), "jax.jit": theirs}


def agree(ours: float, theirs: float, tolerance: float = 1e-2) -> None:
    if abs(ours - theirs) > tolerance * abs(theirs):
        raise AssertionError(f"the losses differ: {ours} and {theirs}")
