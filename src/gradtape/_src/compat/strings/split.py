"""One text made several: the results are vectors, and of many texts ragged tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from ...core.errors import DTypeError, ShapeError
from ...core.tensor import Tensor
from ...ops.array.shape import reshape
from ...ops.declare.static import static_int
from .text import as_text, is_ragged, scalar_text, text_array, text_tensor

Cut = Callable[[bytes], Sequence[Sequence[Any]]]
"""What makes of one text its parts: a list of them, or several lists, equally long."""


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Tensor | Any:
    """The parts of each text between white space, or between `sep`: as Python's `split`.

    A vector for one text, a RaggedTensor for several.

    >>> split("hello world").numpy()
    array([b'hello', b'world'], dtype=object)
    """
    between = b"" if sep is None else scalar_text(sep, "split", "sep")
    most = static_int(maxsplit, "split", "maxsplit")
    return parts_of(input, "split", lambda text: [text.split(between or None, most)], object)[0]


def bytes_split(input: Any, name: str | None = None) -> Tensor | Any:
    """The bytes of each text, each a text: a vector for one, a RaggedTensor for several."""
    cut: Cut = lambda text: [[text[i : i + 1] for i in range(len(text))]]  # noqa: E731
    return parts_of(input, "bytes_split", cut, object)[0]


def parts_of(input: Any, op: str, cut: Cut, *dtypes: Any) -> list[Any]:
    """The tensors of what `cut` makes of each text: one for each of `dtypes`."""
    if is_ragged(input):
        return [input.with_flat_values(each) for each in _inner(input.flat_values, op, cut, dtypes)]
    return _inner(input, op, cut, dtypes)


def _inner(input: Any, op: str, cut: Cut, dtypes: Sequence[Any]) -> list[Any]:
    array = as_text(input, op)
    rows = [cut(text) for text in array.flat]
    columns = zip(*rows, strict=True) if rows else [()] * len(dtypes)
    lengths = [len(row[0]) for row in rows]
    if not array.ndim:
        return [_tensor(column[0], dtype) for column, dtype in zip(columns, dtypes, strict=True)]
    from ..ragged.ragged_tensor import RaggedTensor

    flat = [
        RaggedTensor.from_row_lengths(
            _tensor(list(chain(*column)), dtype), np.array(lengths, np.int64), validate=False
        )
        for column, dtype in zip(columns, dtypes, strict=True)
    ]
    if array.ndim == 1:
        return flat
    outer = RaggedTensor.from_tensor(Tensor(array), ragged_rank=array.ndim - 1)
    return [outer.with_flat_values(each) for each in flat]


def _tensor(values: Sequence[Any], dtype: Any) -> Tensor:
    if dtype is object:
        return text_tensor(values, (len(values),))
    return Tensor(np.array(values, dtype))


def ngrams(
    data: Any,
    ngram_width: Any,
    separator: Any = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Tensor | Any:
    """Neighbours along the last axis joined: all runs of `ngram_width` texts, or of several widths.

    `pad_values`, a text or one for each side, stands `padding_width` times (as often as it fits) at
    both ends. Of a sequence that is too short for any run, `preserve_short_sequences` gives the
    whole.

    >>> ngrams(["A", "B", "C", "D"], 2).numpy()
    array([b'A B', b'B C', b'C D'], dtype=object)
    """
    op = "ngrams"
    pads = pad_values if isinstance(pad_values, (list, tuple)) else (pad_values, pad_values)
    if pad_values is not None and not all(isinstance(pad, (str, bytes)) for pad in pads):
        raise TypeError(f"{op}: `pad_values` must be a text or two of them, not {pad_values!r}.")
    if padding_width is not None and (padding_width < 1 or pad_values is None):
        raise ValueError(
            f"{op}: `padding_width` must be at least 1, and needs `pad_values`. Received "
            f"padding_width={padding_width}, pad_values={pad_values!r}."
        )
    several = isinstance(ngram_width, (list, tuple))
    widths = [static_int(n, op, "ngram_width") for n in (ngram_width if several else [ngram_width])]
    if any(width < 1 for width in widths):
        raise ValueError(f"{op}: `ngram_width` must be at least 1, and is {ngram_width}.")
    between = scalar_text(separator, op, "separator")
    left, right = [b"" if pad is None else scalar_text(pad, op, "pad_values") for pad in pads]
    padding = 0 if pad_values is None else padding_width

    def runs(texts: Any) -> list[bytes]:
        found: list[bytes] = []
        for width in widths:
            pad = width - 1 if padding is None else min(padding, width - 1)
            padded = [left] * pad + texts + [right] * pad
            if width == 1:
                found += padded
            else:
                found += [
                    between.join(padded[i : i + width]) for i in range(len(padded) - width + 1)
                ]
        if preserve_short_sequences and not found and texts:
            pad = padding or 0
            found.append(between.join([left] * pad + texts + [right] * pad))
        return found

    if is_ragged(data):
        return _ngrams_of_ragged(data, runs, op)
    array = as_text(data, op, "data")
    if not array.ndim:
        raise ShapeError(f"{op}: `data` must have an axis to run along, and is one text.")
    rows = [runs(row.tolist()) for row in array.reshape(-1, array.shape[-1])]
    if not rows:
        rows = [runs([b""] * array.shape[-1])]
        return Tensor(text_array([], (*array.shape[:-1], len(rows[0]))))
    result = text_tensor(chain(*rows), (sum(map(len, rows)),))
    return reshape(result, [*array.shape[:-1], len(rows[0])])


def _ngrams_of_ragged(data: Any, runs: Callable[[Any], list[bytes]], op: str) -> Any:
    from ..ragged.ragged_tensor import RaggedTensor

    if data.ragged_rank > 1:
        return data.with_values(_ngrams_of_ragged(data.values, runs, op))
    values = as_text(data.values, op, "data")
    if values.ndim > 1:
        raise DTypeError(f"{op}: `data` has an inner axis of one size, of rank {values.ndim}.")
    splits = np.asarray(data.row_splits)
    rows = [runs(values[start:end].tolist()) for start, end in pairwise(splits)]
    return RaggedTensor.from_row_lengths(
        text_tensor(chain(*rows), (sum(map(len, rows)),)),
        np.array([len(row) for row in rows], splits.dtype),
        validate=False,
    )
