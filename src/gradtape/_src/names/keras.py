"""`tf.keras`: Keras 3 itself, on its own TensorFlow backend, with gradtape as that TensorFlow."""

from __future__ import annotations

import sys
from importlib import import_module, util
from types import ModuleType
from typing import Any

from .missing import missing_name

KERAS = "keras._tf_keras.keras"
"""The package in which Keras keeps its names as `tf.keras` has them."""


def __getattr__(name: str) -> Any:
    """What `tf` itself has of Keras: `tf.losses`, `tf.metrics`, `tf.initializers`."""
    keras = None if name.startswith("__") else _load_keras()
    if keras is None:
        raise missing_name("gradtape", name)
    return getattr(keras, name)


def _load_keras() -> ModuleType | None:
    """Keras, with its names as `tf.keras` has them; None if it is not installed."""
    spec = util.find_spec("keras")
    if spec is None or spec.origin is None:  # or a folder of the user's that is called keras
        return None
    from .alias import stay_installed

    stay_installed()  # Keras imports `tensorflow`
    return import_module(KERAS)


def answer_with_keras(name: str) -> bool:
    """Let the module `name` be Keras. False if that is not installed.

    What is imported below it, `gradtape.keras.layers`, is then found in the folder of Keras, as it
    is in TensorFlow.
    """
    keras = _load_keras()
    if keras is not None:
        sys.modules[name] = keras
    return keras is not None
