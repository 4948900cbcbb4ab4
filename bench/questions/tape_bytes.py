"""How much memory does a tape hold between the forward and the backward pass?"""

from __future__ import annotations

import ctypes
import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.question import Question, Step, Target, returned

LAYERS, BATCH, WIDTH = 20, 128, 256

question = Question(
    title="bytes held by a tape",
    note=(
        "20-layer MLP, batch 128, width 256, after the forward pass; parameters and the input "
        "batch are not counted. `arrays`: array data alone, as NumPy reports it to tracemalloc, "
        "and for PyTorch the distinct storages that saved_tensors_hooks sees. `all`: the objects "
        "that hold them too, by tracemalloc, and for PyTorch by what malloc says is in use."
    ),
    cases={
        f"{activation}, {counted}": {"activation": activation, "counted": counted}
        for activation in ("relu", "tanh")
        for counted in ("arrays", "all")
    },
    targets=tuple(
        Target(f"{activation}, {counted}", "torch", 1.0)
        for activation in ("relu", "tanh")
        for counted in ("arrays", "all")
    ),
    unit="B",
    measure=returned,
    max_rounds=2,
)

Forward = Callable[[], tuple[Any, Any]]


def make_data() -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(0)
    scale = (1 / WIDTH) ** 0.5
    weights = [rng.normal(0, scale, (WIDTH, WIDTH)).astype(np.float32) for _ in range(LAYERS)]
    biases = [rng.normal(0, 0.1, WIDTH).astype(np.float32) for _ in range(LAYERS)]
    return rng.normal(size=(BATCH, WIDTH)).astype(np.float32), weights, biases


def freed_by_dropping(forward: Forward, alive: Callable[[], int]) -> dict[str, float]:
    """Bytes alive with what `forward` keeps, less bytes alive without; the loss lives in both."""
    forward()
    kept, loss = forward()
    gc.collect()
    held = alive()
    del kept
    gc.collect()
    released = held - alive()
    del loss
    return {"value": released}


def traced(forward: Forward, counted: str) -> Step:
    numpy_only = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)

    def alive() -> int:
        if counted == "all":
            return tracemalloc.get_traced_memory()[0]
        snapshot = tracemalloc.take_snapshot().filter_traces([numpy_only])
        return sum(trace.size for trace in snapshot.traces)

    def step() -> dict[str, float]:
        tracemalloc.start()
        try:
            return freed_by_dropping(forward, alive)
        finally:
            tracemalloc.stop()

    return step


@question.program("gradtape")
def bytes_tape(tf: Any, activation: str, counted: str) -> Step:
    inputs, *arrays = make_data()
    x = tf.constant(inputs)
    layers = [(tf.Variable(w), tf.Variable(b)) for w, b in zip(*arrays, strict=True)]
    activate = getattr(tf.nn, activation)

    def forward() -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            h = x
            for w, b in layers:
                h = activate(tf.matmul(h, w) + b)
            loss = tf.reduce_mean(h)
        return tape, loss

    return traced(forward, counted)


@question.program("torch")
def bytes_torch(torch: Any, activation: str, counted: str) -> Step:
    inputs, *arrays = make_data()
    x = torch.from_numpy(inputs)
    layers = [
        (torch.from_numpy(w.T.copy()).requires_grad_(), torch.from_numpy(b).requires_grad_())
        for w, b in zip(*arrays, strict=True)
    ]
    activate = getattr(torch, activation)
    linear = torch.nn.functional.linear

    def forward() -> tuple[Any, Any]:
        h = x
        for w, b in layers:
            h = activate(linear(h, w, b))
        loss = torch.mean(h)
        return loss, loss.detach()

    def storages_saved() -> dict[str, float]:
        storages: dict[int, Any] = {}

        def pack(tensor: Any) -> Any:
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            forward()
        for given in (x, *(parameter for layer in layers for parameter in layer)):
            storages.pop(given.untyped_storage().data_ptr(), None)
        return {"value": sum(storage.nbytes() for storage in storages.values())}

    if counted == "arrays":
        return storages_saved
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        return dict
    return lambda: freed_by_dropping(forward, malloc_in_use)


@question.program("autograd")
def bytes_autograd(autograd: Any, activation: str, counted: str) -> Step:
    x, weights, biases = make_data()
    anp = autograd.numpy
    activate = {"relu": lambda z: anp.maximum(z, 0), "tanh": anp.tanh}[activation]

    def loss_of(parameters: Any) -> Any:
        h = x
        for w, b in zip(*parameters, strict=True):
            h = activate(anp.dot(h, w) + b)
        return anp.mean(h)

    return traced(lambda: autograd.make_vjp(loss_of)((weights, biases)), counted)


@question.program("numpy")
def bytes_numpy(np: Any, activation: str, counted: str) -> Step:
    x, weights, biases = make_data()
    activate = {"relu": lambda z: np.maximum(z, 0), "tanh": np.tanh}[activation]

    def forward() -> tuple[Any, Any]:
        h, outputs = x, []
        for w, b in zip(weights, biases, strict=True):
            h = activate(h @ w + b)
            outputs.append(h)
        return outputs, np.mean(h)

    return traced(forward, counted)


class Mallinfo2(ctypes.Structure):
    """glibc's `struct mallinfo2` (malloc.h); the manual says which field is what."""

    _fields_ = [
        (field, ctypes.c_size_t)
        for field in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def malloc_in_use() -> int:
    """Bytes malloc has handed out, large blocks included; glibc 2.33 and later only."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo2
    info = mallinfo2()
    return info.uordblks + info.hblkhd
