"""Ops on each text by itself, and joining."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.dtypes import DType, as_dtype
from ...core.errors import DTypeError, InvalidArgumentError, OutOfRangeError, ShapeError
from ...core.tensor import Tensor
from ...ops.declare.static import static_axes, static_int, static_ints
from ...ops.effects.summarize import summarized
from .text import (
    as_text,
    choice,
    elementwise,
    is_ragged,
    scalar_text,
    text_tensor,
    values_of,
)

_UNITS = ("BYTE", "UTF8_CHAR")
_NUMBERS = (dt.float32, dt.float64, dt.int32, dt.int64, dt.uint32, dt.uint64)


@elementwise
def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Each text in lower case: the letters of ASCII, or with encoding="utf-8" all letters."""
    return _in_case(input, encoding, "lower")


@elementwise
def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Each text in upper case: the letters of ASCII, or with encoding="utf-8" all letters."""
    return _in_case(input, encoding, "upper")


def _in_case(input: Any, encoding: str, case: str) -> Tensor:
    array = as_text(input, case)
    if choice(encoding, ("", "utf-8"), case, "encoding"):
        texts = [getattr(t.decode(errors="replace"), case)().encode() for t in array.flat]
    else:
        texts = [getattr(t, case)() for t in array.flat]
    return text_tensor(texts, array.shape)


@elementwise
def strip(input: Any, name: str | None = None) -> Tensor:
    """Each text without the white space at its ends."""
    array = as_text(input, "strip")
    return text_tensor([t.strip() for t in array.flat], array.shape)


@elementwise
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The length of each text, in bytes or, with unit="UTF8_CHAR", in characters."""
    array = as_text(input, "length")
    size = len if choice(unit, _UNITS, "length", "unit") == "BYTE" else _count_characters
    result = np.fromiter(map(size, array.flat), np.int32, array.size)
    return Tensor(result.reshape(array.shape))


_NO_BEGINNINGS = bytes(range(0x80, 0xC0))  # the bytes of UTF-8 that go on with a character


def _count_characters(text: bytes) -> int:
    return len(text) if text.isascii() else len(text.translate(None, _NO_BEGINNINGS))


@elementwise
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The part of each text from `pos` on, at most `len` long; a negative `pos` is from the end.

    >>> substr(["Hello", "World"], 1, 3).numpy()
    array([b'ell', b'orl'], dtype=object)
    """
    op = "substr"
    texts, starts = as_text(input, op), values_of(pos, op, "pos")
    lengths = values_of(len, op, "len")
    if starts.shape != lengths.shape:
        raise ShapeError(
            f"{op}: `pos` and `len` must have the same shape, and have {starts.shape} and "
            f"{lengths.shape}."
        )
    cut = _bytes_from if choice(unit, _UNITS, op, "unit") == "BYTE" else _characters_from
    try:
        each = np.broadcast(texts, starts, lengths)
    except ValueError:
        raise ShapeError(
            f"{op}: `pos` of shape {starts.shape} does not broadcast with `input` of shape "
            f"{texts.shape}."
        ) from None
    return text_tensor([cut(t, int(start), int(size)) for t, start, size in each], each.shape)


def _bytes_from(text: bytes, start: int, size: int) -> bytes:
    first = _first(start, len(text), text)
    return text[first:] if size < 0 else text[first : first + size]


def _characters_from(text: bytes, start: int, size: int) -> bytes:
    if text.isascii():
        return _bytes_from(text, start, size)
    begins = [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80] + [len(text)]
    first = _first(start, len(begins) - 1, text)
    last = len(begins) - 1 if size < 0 else min(first + size, len(begins) - 1)
    return text[begins[first] : begins[last]]


def _first(start: int, size: int, text: bytes) -> int:
    if not -size <= start <= size:
        raise InvalidArgumentError(
            f"substr: `pos`={start} is out of range for {text!r:.100}, of length {size}."
        )
    return start + size if start < 0 else start


@elementwise
def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """The texts of several tensors, joined element by element; a scalar goes with every element.

    >>> join([["a", "b"], "c"], separator="-").numpy()
    array([b'a-c', b'b-c'], dtype=object)
    """
    op = "join"
    if isinstance(inputs, (str, bytes)) or not hasattr(inputs, "__iter__"):
        raise DTypeError(f"{op}: `inputs` must be a list of tensors, not {inputs!r:.100}.")
    arrays = [as_text(each, op, "inputs") for each in inputs]
    shapes = {array.shape for array in arrays if array.ndim}
    if len(shapes) > 1:
        raise ShapeError(
            f"{op}: the tensors must be scalars or have one shape. Received shapes: "
            f"{[array.shape for array in arrays]}."
        )
    shape = shapes.pop() if shapes else ()
    between = scalar_text(separator, op, "separator")
    if not arrays:
        return text_tensor([b""], ())
    columns = [np.broadcast_to(array, shape).flat for array in arrays]
    return text_tensor([between.join(row) for row in zip(*columns, strict=True)], shape)


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor | Any:
    """The texts along axes joined to one, along the first axis named at first.

    >>> reduce_join([["a", "b"], ["c", "d"]], axis=0).numpy()
    array([b'ac', b'bd'], dtype=object)
    """
    op = "reduce_join"
    if is_ragged(inputs):
        return _join_ragged(inputs, axis, keepdims, separator)
    array = as_text(inputs, op, "inputs")
    between = scalar_text(separator, op, "separator")
    axes = range(array.ndim)[::-1] if axis is None else static_ints(axis, op, "axis")
    order = []
    for each in axes:
        if not -array.ndim <= each < array.ndim:
            raise OutOfRangeError(
                f"{op}: `axis`={each} is out of range for {array.ndim} dimensions."
            )
        order.append(each % array.ndim)
    if len(set(order)) < len(order):
        raise InvalidArgumentError(f"{op}: `axis`={axis!r} names an axis twice.")
    others = [i for i in range(array.ndim) if i not in order]
    shape = tuple([array.shape[i] for i in others])
    count = math.prod(shape)
    rows = array.transpose(others + order[::-1]).reshape(count, array.size // count if count else 0)
    if keepdims:
        shape = tuple([1 if i in order else n for i, n in enumerate(array.shape)])
    return text_tensor([between.join(row) for row in rows], shape)


def _join_ragged(rt: Any, axis: Any, keepdims: bool, separator: str) -> Any:
    """Along one axis after the other, the innermost first."""
    from ..ragged.reduction import along

    def of_tensor(tensor: Tensor, axis: int, keepdims: bool) -> Tensor:
        return reduce_join(tensor, axis, keepdims, separator)

    def by_segment(values: Any, segment_ids: Any, count: Any) -> Any:
        return unsorted_segment_join(values, segment_ids, count, separator)

    if axis is None and not keepdims:
        return reduce_join(rt.flat_values, separator=separator)
    for each in reversed(static_axes(axis, rt.shape.rank, "reduce_join")):
        rt = along(of_tensor, by_segment, rt, each, keepdims)
    return rt


def unsorted_segment_join(
    inputs: Any,
    segment_ids: Any,
    num_segments: Any,
    separator: str = "",
    name: str | None = None,
) -> Tensor | Any:
    """The texts of each segment joined, in their order; "" where a segment has none.

    >>> unsorted_segment_join(["this", "a", "test", "is"], [1, 0, 0, 1], 2, ":").numpy()
    array([b'a:test', b'this:is'], dtype=object)
    """
    op = "unsorted_segment_join"
    if is_ragged(inputs):
        from ..ragged.reduction import segments as of_ragged

        def joined(values: Any, ids: Any, count: Any) -> Any:
            return unsorted_segment_join(values, ids, count, separator)

        return of_ragged(joined, inputs, segment_ids, num_segments)
    array, segments = as_text(inputs, op, "inputs"), values_of(segment_ids, op, "segment_ids")
    count = static_int(num_segments, op, "num_segments")
    between = scalar_text(separator, op, "separator")
    if segments.shape != array.shape[: segments.ndim]:
        raise ShapeError(
            f"{op}: the shape of `segment_ids`, {segments.shape}, must be how that of `inputs`, "
            f"{array.shape}, begins."
        )
    if segments.size and not (segments.min() >= 0 and segments.max() < count):
        raise InvalidArgumentError(
            f"{op}: `segment_ids` must be from 0 to num_segments - 1 = {count - 1}. Received "
            f"values from {segments.min()} to {segments.max()}."
        )
    rows = array.reshape(segments.size, -1)
    inner = array.shape[segments.ndim :]
    parts: list[list[Any]] = [[] for _ in range(count)]
    for segment, row in zip(segments.flat, rows, strict=True):
        parts[segment].append(row)
    width = math.prod(inner)
    texts = [
        between.join(column)
        for segment in parts
        for column in (zip(*segment, strict=True) if segment else [()] * width)
    ]
    return text_tensor(texts, (count, *inner))


def format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """`template` with the values of tensors in its places; of a long axis both ends.

    >>> format("x: {}", tf.range(10)).numpy()
    b'x: [0 1 2 ... 7 8 9]'
    """
    op = "format"
    tensors = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    parts = str(template).split(placeholder)
    if len(parts) - 1 != len(tensors):
        raise ValueError(
            f"{op}: `template` has {len(parts) - 1} places, and there are {len(tensors)} `inputs`."
        )
    texts = [
        _lists(each.to_list(), summarize)
        if is_ragged(each)
        else summarized(values_of(each, op, "inputs"), summarize)
        for each in tensors
    ]
    text = parts[0] + "".join([t + after for t, after in zip(texts, parts[1:], strict=True)])
    return text_tensor([text.encode(errors="surrogateescape")], ())


def _lists(value: Any, ends: int) -> str:
    """The nested lists of a ragged tensor, as TensorFlow prints them."""
    if isinstance(value, list):
        parts = [_lists(each, ends) for each in value]
        if 0 <= 2 * ends < len(parts):
            parts = [*parts[:ends], "...", *parts[len(parts) - ends :]]
        return f"[{', '.join(parts)}]"
    return f"'{value.decode(errors='surrogateescape')}'" if isinstance(value, bytes) else str(value)


@elementwise
def to_number(input: Any, out_type: Any = dt.float32, name: str | None = None) -> Tensor:
    """Each text as the number that it says.

    >>> to_number(["1.5", "-2e3"])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 1.5e+00, -2.0e+03], dtype=float32)>
    """
    op = "to_number"
    array, wanted = as_text(input, op), as_dtype(out_type)
    if wanted not in _NUMBERS:
        raise DTypeError(
            f"{op}: `out_type` must be one of {', '.join(d.name for d in _NUMBERS)}, not "
            f"{wanted.name}."
        )
    read = _as_float if wanted.is_floating else _as_integer
    with np.errstate(over="ignore"):  # a float that is too large is infinite
        numbers = np.array([read(t, wanted) for t in array.flat], wanted.numpy_dtype)
    return Tensor(numbers.reshape(array.shape))


def _as_float(text: bytes, wanted: DType) -> float:
    try:
        if b"_" not in text:
            return float(text)
    except ValueError:
        stripped = text.strip().lower()
        if stripped.lstrip(b"+-").startswith(b"0x"):
            try:
                return float.fromhex(stripped.decode())
            except (ValueError, UnicodeDecodeError):
                pass
        elif stripped.lstrip(b"+-").startswith(b"nan(") and stripped.endswith(b")"):
            return float("nan")
    raise _not_a_number(text, wanted)


def _as_integer(text: bytes, wanted: DType) -> int:
    digits = text.strip()
    if digits.lstrip(b"+-").isdigit():  # (int() takes 1_000, too)
        try:
            number = int(digits)
        except ValueError:  # two signs
            raise _not_a_number(text, wanted) from None
        if wanted.min <= number <= wanted.max:
            return number
    raise _not_a_number(text, wanted)


def _not_a_number(text: bytes, wanted: DType) -> InvalidArgumentError:
    return InvalidArgumentError(f"to_number: {text!r:.100} is no number of {wanted.name}.")
