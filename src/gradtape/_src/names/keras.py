"""`tf.keras`: Keras 3 itself, on its own TensorFlow backend, with gradtape as that TensorFlow."""

from __future__ import annotations

import sys
from importlib import import_module, util

KERAS = "keras._tf_keras.keras"
"""The package in which Keras keeps its names as `tf.keras` has them."""


def answer_with_keras(name: str) -> bool:
    """Let the module `name` be Keras. False if that is not installed.

    What is imported below it, `gradtape.keras.layers`, is then found in the folder of Keras, as it
    is in TensorFlow.
    """
    spec = util.find_spec("keras")
    if spec is None or spec.origin is None:  # or a folder of the user's that is called keras
        return False
    from .alias import stay_installed

    stay_installed()  # Keras imports `tensorflow`
    sys.modules[name] = import_module(KERAS)
    return True
