"""The models, the data in the sizes of MNIST, and Keras on the backend of a system."""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

CLASSES, WORDS, LENGTH = 10, 1000, 32

CASES: dict[str, dict[str, Any]] = {
    "MLP (32, 784, 32, 32, 10)": {"model": "mlp", "width": 32, "batch": 32, "rows": 6400},
    "CNN (32, 28, 28), 8 and 16 filters": {"model": "cnn", "width": 8, "batch": 32, "rows": 1600},
    "LSTM (32, 28, 28), 32 units": {"model": "lstm", "width": 32, "batch": 32, "rows": 3200},
    "transformer (32, 32, 32) x 2": {
        "model": "transformer",
        "width": 32,
        "batch": 32,
        "rows": 1600,
    },
}
LARGE: dict[str, dict[str, Any]] = {
    "MLP (512, 784, 1024, 1024, 10)": {"model": "mlp", "width": 1024, "batch": 512, "rows": 4096},
    "CNN (128, 28, 28), 32 and 64 filters": {
        "model": "cnn",
        "width": 32,
        "batch": 128,
        "rows": 1024,
    },
    "LSTM (128, 28, 28), 256 units": {"model": "lstm", "width": 256, "batch": 128, "rows": 1024},
    "transformer (64, 32, 256) x 2": {
        "model": "transformer",
        "width": 256,
        "batch": 64,
        "rows": 512,
    },
}


def keras_on(module: Any) -> Any:
    """Keras on the backend that `module` is; a process has one."""
    name = module.__name__
    if name == "gradtape":
        return module.keras
    if name == "jax":
        module.config.update("jax_enable_x64", False)  # JAX as it comes
    os.environ["KERAS_BACKEND"] = name
    return importlib.import_module("keras")


def data(model: str, rows: int) -> tuple[Any, Any]:
    """Random images, rows of them as a series, or texts of word numbers; and classes."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, rows)
    if model == "transformer":
        return rng.integers(0, WORDS, (rows, LENGTH)).astype(np.int32), labels
    shape = {"mlp": (784,), "cnn": (28, 28, 1), "lstm": (28, 28)}[model]
    return rng.normal(size=(rows, *shape)).astype(np.float32), labels


def compiled_model(keras: Any, model: str, width: int) -> Any:
    made = MODELS[model](keras, width)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile("adam", loss, metrics=["accuracy"])
    return made


def mlp(keras: Any, width: int) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((784,)),
            layers.Dense(width, activation="relu"),
            layers.Dense(width, activation="relu"),
            layers.Dense(CLASSES),
        ]
    )


def cnn(keras: Any, width: int) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(width, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(2 * width, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(CLASSES),
        ]
    )


def lstm(keras: Any, width: int) -> Any:
    layers = keras.layers
    return keras.Sequential([keras.Input((28, 28)), layers.LSTM(width), layers.Dense(CLASSES)])


def transformer(keras: Any, width: int, blocks: int = 2) -> Any:
    layers = keras.layers
    words = keras.Input((LENGTH,), dtype="int32")
    x = layers.Embedding(WORDS, width)(words)
    for _ in range(blocks):
        attended = layers.MultiHeadAttention(4, width // 4)(x, x)
        x = layers.LayerNormalization()(x + attended)
        wide = layers.Dense(2 * width, activation="relu")(x)
        x = layers.LayerNormalization()(x + layers.Dense(width)(wide))
    return keras.Model(words, layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(x)))


MODELS = {"mlp": mlp, "cnn": cnn, "lstm": lstm, "transformer": transformer}


def epoch_timer(keras: Any, clock: Callable[[], float]) -> Any:
    """A callback that notes the seconds of each epoch, by `clock`."""

    class EpochTimer(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.seconds: list[float] = []

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self._start = clock()

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.seconds.append(clock() - self._start)
            if not math.isfinite(logs["loss"]):
                raise ArithmeticError(f"the loss is {logs['loss']}")

    return EpochTimer()


def timed_epochs(
    keras: Any,
    model: Any,
    x: Any,
    y: Any,
    batch: int,
    epochs: int,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """The seconds of each epoch of a `fit` without a progress bar."""
    timer = epoch_timer(keras, clock)
    model.fit(x, y, batch_size=batch, epochs=epochs, verbose=0, callbacks=[timer])
    seconds: list[float] = timer.seconds
    return seconds
