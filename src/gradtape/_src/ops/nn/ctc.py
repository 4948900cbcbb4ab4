"""CTC: connectionist temporal classification, the loss of labels whose places are not known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.indexing import gather
from ..array.joining import concat, stack
from ..array.masks import sequence_mask
from ..array.pad import pad
from ..array.shape import _reshape, expand_dims, transpose
from ..declare.static import static_int, to_tensor
from ..math.logic import logical_and, not_equal, select
from ..math.ordering import unique as unique_elements
from ..math.reduction import reduce_logsumexp
from .loss import log_softmax

_LOG_ZERO = math.log(np.finfo(np.float64).tiny)  # finite, so that sums of it are never NaN


def ctc_loss(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: Any = None,
    name: str | None = None,
) -> Tensor:
    """The CTC loss of each sequence: -log of the probability of all paths that spell its labels.

    `labels` is a matrix [batch, labels], of which `label_length` count; `logits` are
    [frames, batch, classes], or [batch, frames, classes] without `logits_time_major`. The blank is
    class 0 unless `blank_index` says otherwise (negative: from the end). Where the frames do not
    suffice for the labels, the loss is about 700, for log(0). (`unique` has no use here.)
    """
    op_name = "ctc_loss"
    x = to_tensor(logits, op_name)
    if x.ndim != 3:
        raise ShapeError(f"{op_name}: `logits` must have rank 3, and has shape {tuple(x.shape)}.")
    if logits_time_major:
        x = transpose(x, (1, 0, 2))
    batch, frames, classes = x._array.shape
    blank = 0 if blank_index is None else static_int(blank_index, op_name, "blank_index")
    blank = blank + classes if blank < 0 else blank
    spelt = cast(to_tensor(labels, op_name), dt.int64)
    lengths = [cast(to_tensor(v, op_name), dt.int64) for v in (label_length, logit_length)]
    if not 0 <= blank < classes:
        raise InvalidArgumentError(
            f"{op_name}: `blank_index`={blank_index} is no class of {classes}."
        )
    if spelt.ndim != 2 or any(v._array.shape != (batch,) for v in (spelt[:, 0], *lengths)):
        raise ShapeError(
            f"{op_name}: `labels` must have shape [batch, labels], `label_length` and "
            f"`logit_length` [batch]. Received: logits {tuple(to_tensor(logits, op_name).shape)}, "
            f"labels {tuple(spelt.shape)}, {tuple(lengths[0].shape)} and {tuple(lengths[1].shape)}."
        )
    states = 2 * spelt._array.shape[1] + 1
    # The labels with a blank before, between and after them: the states that a path goes through.
    blanks = Tensor(np.full((*spelt._array.shape, 1), blank))
    path = _reshape(concat([blanks, expand_dims(spelt, 2)], 2), shape=(batch, states - 1))
    path = concat([path, Tensor(np.full((batch, 1), blank))], 1)
    emitted = gather(log_softmax(x), path, axis=2, batch_dims=1)
    zero = Tensor(np.asarray(_LOG_ZERO, x._array.dtype))
    number = np.arange(states)
    other = not_equal(path[:, 2:], path[:, :-2])
    may_skip = logical_and(Tensor((number % 2 == 1)[2:]), other)
    reached = select(Tensor(number < 2), emitted[:, 0], zero)

    def before(states_before: Tensor, step: int) -> Tensor:
        return pad(states_before[:, :-step], [[0, 0], [step, 0]], constant_values=_LOG_ZERO)

    for frame in range(1, frames):
        jumped = select(may_skip, reached[:, :-2], zero)
        jumped = pad(jumped, [[0, 0], [2, 0]], constant_values=_LOG_ZERO)
        ways = reduce_logsumexp(stack([reached, before(reached, 1), jumped]), 0)
        within = expand_dims(lengths[1] > frame, 1)
        reached = select(within, ways + emitted[:, frame], reached)
    last = expand_dims(lengths[0] * 2, 1)
    final = logical_and(Tensor(number) <= last, Tensor(number) >= last - 1)
    return -reduce_logsumexp(select(final, reached, zero), 1)


def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Tensor]:
    """For each row of `labels` the different ones, filled up with 0, and the place of each."""
    rows = to_tensor(labels, "ctc_unique_labels")._values("ctc_unique_labels")
    if rows.ndim != 2:
        raise ShapeError(
            f"ctc_unique_labels: `labels` must be a matrix, and has shape {rows.shape}."
        )
    different, places = np.zeros(rows.shape, np.int64), np.zeros(rows.shape, np.int32)
    for i, row in enumerate(rows):
        found = unique_elements(row)
        different[i, : len(found.y)] = found.y._array
        places[i] = found.idx._array
    return [Tensor(different), Tensor(places)]


def collapse_repeated(
    labels: Any, seq_length: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """`labels` with runs of the same label made one, filled up with 0, and the new lengths."""
    x, lengths = to_tensor(labels, "collapse_repeated"), to_tensor(seq_length, "collapse_repeated")
    if x.ndim != 2 or tuple(lengths.shape) != (x.shape[0],):
        raise ShapeError(
            "collapse_repeated: `labels` must be a matrix and `seq_length` have an entry for each "
            f"row. Received: {tuple(x.shape)} and {tuple(lengths.shape)}."
        )
    rows = x._values("collapse_repeated")
    first_of_run = sequence_mask(lengths, rows.shape[1])._values("collapse_repeated").copy()
    first_of_run[:, 1:] &= rows[:, 1:] != rows[:, :-1]
    counts = first_of_run.sum(1)
    result = np.zeros((len(rows), counts.max(initial=0)), rows.dtype)
    result[np.arange(result.shape[1]) < counts[:, None]] = rows[first_of_run]
    return Tensor(result), Tensor(counts.astype(lengths._array.dtype))
