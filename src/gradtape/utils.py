"""Keras' `utils`, as far as training loops use it."""

from ._missing import missing_name
from .train.progress import Progbar as Progbar


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
