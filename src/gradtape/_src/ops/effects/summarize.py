"""The values of a tensor as a line of text, with the ends of long axes: as TensorFlow prints."""

from __future__ import annotations

from typing import Any

import numpy as np

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}


def summarized(array: Any, ends: int) -> str:
    """The elements of a NumPy array; of each axis the first and last `ends`, all if negative.

    >>> summarized(np.arange(8), 2)
    '[0 1 ... 6 7]'
    """
    if ends < 0:
        ends = max(array.shape, default=0)
    return _axis(array, ends, array.ndim)


def _axis(array: Any, ends: int, rank: int) -> str:
    if not getattr(array, "ndim", 0):  # (a row of an array of texts is a text)
        return _element(array[()] if isinstance(array, np.ndarray) else array)
    depth = rank - array.ndim
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    count = len(array)
    parts = [_axis(part, ends, rank) for part in array[: min(ends, count)]]
    if count > 2 * ends:
        parts.append("...")
    parts += [_axis(part, ends, rank) for part in array[max(ends, count - ends) :]]
    return f"[{between.join(parts)}]"


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return f'"{_escaped(value)}"'
    kind = value.dtype.kind
    if kind == "b":
        return "1" if value else "0"
    if kind in "iu":
        return str(int(value))
    if kind == "c":
        return f"({_element(value.real)},{_element(value.imag)})"
    if value.dtype.itemsize == 8:
        return _shortest(float(value), 15, 17)
    return _shortest(float(value), 6, 9)


def _shortest(number: float, digits: int, enough: int) -> str:
    """With `digits`, if that says the number exactly (of 32 bits, as those are), else with more."""
    text = f"{number:.{digits}g}"
    if digits < 15:
        exact = np.float32(text) == np.float32(number) or number != number
    else:
        exact = float(text) == number or number != number
    return text if exact else f"{number:.{enough}g}"


def _escaped(text: bytes) -> str:
    """The text with TensorFlow's escapes. Bytes that are no UTF-8 become lone surrogates."""
    shown = text.decode(errors="surrogateescape")
    return "".join([_ESCAPES.get(c) or _visible(c) for c in shown])


def _visible(character: str) -> str:
    code = ord(character)
    return f"\\{code:03o}" if code < 32 or code == 127 else character
