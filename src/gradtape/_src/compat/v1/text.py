"""Python's two kinds of strings, each as the other; and the types that count as one kind."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """A string as bytes."""
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"as_bytes: expected a string or bytes, got {bytes_or_text!r:.100}.")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as a string."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"as_text: expected a string or bytes, got {bytes_or_text!r:.100}.")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Bytes as a string, and anything else as `str` gives it."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path object as a string; anything else as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def dimension_value(dimension: Any) -> Any:
    """A size, as a number or None."""
    return getattr(dimension, "value", dimension)


def dimension_at_index(shape: Any, index: int) -> Any:
    """The size of one axis; None if the rank is not known."""
    return None if shape.rank is None else shape[index]


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether what TensorFlow brought in at this date may be used. It may."""
    return True
