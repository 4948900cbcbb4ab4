"""Losses over sampled classes, CTC, isotonic regression, dropout with a randomness of its own."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes as dt
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.tensor import Tensor
from ._declare import op
from ._static import static_axis, static_int, to_tensor
from .contraction import matmul
from .creation import cast
from .exponential import log
from .indexing import gather
from .joining import concat, stack
from .logic import equal, logical_and, not_equal, select
from .loss import (
    log_softmax,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
)
from .nn import drop_elements, embedding_lookup
from .ordering import _swapped
from .ordering import unique as unique_elements
from .reduction import reduce_any, reduce_logsumexp, reduce_sum
from .sampling import log_uniform_candidate_sampler
from .segment import _segment_size, _segment_spread, _segment_sum
from .shape import _reshape, expand_dims, transpose
from .slicing import pad, sequence_mask
from .stateless import algorithm_of, stateless_uniform

# Noise-contrastive estimation and sampled softmax


def _sampled_logits(
    op_name: str,
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: Any,
    num_classes: Any,
    num_true: Any,
    sampled_values: Any,
    remove_accidental_hits: bool,
    seed: Any = None,
) -> tuple[Tensor, Tensor]:
    """The logits of the true classes and, after them, of sampled ones; and the targets for both."""
    x = to_tensor(inputs, op_name)
    true = to_tensor(labels, op_name)
    per_example = static_int(num_true, op_name, "num_true")
    if true._array.dtype not in dt.INTEGER:
        raise DTypeError(f"{op_name}: `labels` must be integers, and are {true.dtype.name}.")
    if x.ndim != 2 or tuple(true.shape) != (x.shape[0], per_example):
        raise ShapeError(
            f"{op_name}: `inputs` must have shape [batch, dim] and `labels` [batch, num_true="
            f"{per_example}]. Received: {tuple(x.shape)} and {tuple(true.shape)}."
        )
    true = cast(true, dt.int64)
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            true, per_example, num_sampled, True, num_classes, seed
        )
    sampled, true_expected, sampled_expected = (to_tensor(v, op_name) for v in sampled_values)
    sampled = cast(sampled, dt.int64)
    batch, dim = x._array.shape
    every = concat([_reshape(true, shape=(batch * per_example,)), sampled], 0)
    rows = cast(embedding_lookup(weights, every), x.dtype)
    bias = cast(embedding_lookup(biases, every), x.dtype)
    count = batch * per_example
    true_rows = _reshape(rows[:count], shape=(batch, per_example, dim))
    true_logits = reduce_sum(expand_dims(x, 1) * true_rows, 2)
    true_logits = true_logits + _reshape(bias[:count], shape=(batch, per_example))
    sampled_logits = matmul(x, rows[count:], transpose_b=True) + bias[count:]
    if remove_accidental_hits:
        hit = reduce_any(equal(expand_dims(true, 2), sampled), 1)
        lowest = Tensor(np.asarray(np.finfo(np.float32).min, x._array.dtype))
        nothing = Tensor(np.zeros((), x._array.dtype))
        sampled_logits = sampled_logits + select(hit, lowest, nothing)
    true_logits = true_logits - log(cast(true_expected, x.dtype))
    sampled_logits = sampled_logits - log(cast(sampled_expected, x.dtype))
    targets = np.zeros((batch, per_example + sampled._array.shape[0]), x._array.dtype)
    targets[:, :per_example] = 1 / per_example
    return concat([true_logits, sampled_logits], 1), Tensor(targets)


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: Any,
    num_classes: Any,
    num_true: Any = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Tensor:
    """The noise-contrastive loss of each example: its `labels` against `num_sampled` other classes.

    Without `sampled_values` the classes come from `log_uniform_candidate_sampler`.
    """
    logits, targets = _sampled_logits(
        "nce_loss", weights, biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, remove_accidental_hits,
    )  # fmt: skip
    return reduce_sum(sigmoid_cross_entropy_with_logits(targets, logits), 1)


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: Any,
    num_classes: Any,
    num_true: Any = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: Any = None,
    name: str = "sampled_softmax_loss",
) -> Tensor:
    """The cross entropy of each example over its `labels` and `num_sampled` other classes only.

    Without `sampled_values` the classes come from `log_uniform_candidate_sampler`.
    """
    logits, targets = _sampled_logits(
        "sampled_softmax_loss", weights, biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, remove_accidental_hits, seed,
    )  # fmt: skip
    return softmax_cross_entropy_with_logits(targets, logits)


# Dropout


def general_dropout(
    x: Any, rate: Any, uniform_sampler: Any, noise_shape: Any = None, name: str | None = None
) -> Tensor:
    """`dropout` with the numbers from [0, 1) that `uniform_sampler(shape, dtype)` gives."""
    return drop_elements(x, rate, noise_shape, uniform_sampler)


def stateless_dropout(
    x: Any,
    rate: Any,
    seed: Any,
    rng_alg: Any = None,
    noise_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """`dropout` as a pure function: `seed`, a pair of integers, determines what is dropped."""
    if rng_alg is not None:
        algorithm_of(rng_alg, "stateless_dropout")
    return drop_elements(
        x, rate, noise_shape, lambda shape, dtype: stateless_uniform(shape, seed, dtype=dtype)
    )


# Isotonic regression


class IsotonicRegression(NamedTuple):
    output: Tensor
    segments: Tensor


@op(
    dtypes=dt.FLOATING,
    samples=lambda r: [([r.normal(size=(2, 5))], {}), ([r.normal(size=3)], {})],
)
def _isotonic(xp, x):
    """Along the last axis the nearest values that do not increase, and their blocks."""
    wide = x if x.dtype == np.float64 or xp.name != "numpy" else x.astype(np.float64)
    wide = wide.astype(np.float32) if wide.dtype.itemsize == 2 else wide
    rows = wide.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    fitted = xp.isotonic(rows)
    # A block ends where the sum of what was taken away and added so far is nothing.
    drift = xp.cumsum(rows - fitted, axis=1)
    size = xp.abs(rows).max(axis=1, keepdims=True) if x.shape[-1] else 0
    tolerance = 4 * x.shape[-1] * np.finfo(wide.dtype).eps * size
    ends = (xp.abs(drift) <= tolerance).astype(np.int32)
    segments = xp.cumsum(ends, axis=1) - ends
    return fitted.reshape(x.shape).astype(x.dtype), segments.reshape(x.shape).astype(np.int32)


@_isotonic.vjp("x")
def _isotonic_vjp(g, out):
    """The mean over each block."""
    g, segments = g[0], out[1]
    shape = segments._array.shape
    length = shape[-1]
    rows = math.prod(shape[:-1])
    first = Tensor((np.arange(rows, dtype=np.int32) * length)[:, None])
    ids = _reshape(segments, shape=(rows, length)) + first
    count = rows * length
    sizes = _segment_size(ids, count=count, dtype=g._array.dtype)
    sums = _segment_sum(_reshape(g, shape=(rows, length)), ids, count=count)
    means = _segment_spread(sums, ids) / _segment_spread(sizes, ids)
    return _reshape(means, shape=shape)


@_isotonic.batch
def _isotonic_batch(batched, x):
    return _isotonic(x)


def isotonic_regression(inputs: Any, decreasing: bool = True, axis: Any = -1) -> IsotonicRegression:
    """Along `axis` the nearest values (in the sum of squares) that only decrease, or increase.

    The values are constant on blocks, which `segments` numbers; each is the mean of the inputs of
    its block, and so is its gradient. Integers of 8 and 16 bits become float32, others float64.
    """
    x = to_tensor(inputs, "isotonic_regression")
    if x._array.dtype in dt.INTEGER:
        x = cast(x, dt.float32 if x._array.dtype.itemsize <= 2 else dt.float64)
    if not x.ndim:
        raise ShapeError("isotonic_regression: `inputs` is a scalar; it needs at least one axis.")
    along = static_axis(axis, x.ndim, "isotonic_regression")
    output, segments = _isotonic(_swapped(x if decreasing else -x, along))
    output, segments = _swapped(output, along), _swapped(segments, along)
    return IsotonicRegression(output if decreasing else -output, segments)


# Connectionist temporal classification

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
            "`logit_length` "
            f"[batch]. Received: logits {tuple(to_tensor(logits, op_name).shape)}, labels "
            f"{tuple(spelt.shape)}, {tuple(lengths[0].shape)} and {tuple(lengths[1].shape)}."
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
            "row. "
            f"Received: {tuple(x.shape)} and {tuple(lengths.shape)}."
        )
    rows = x._values("collapse_repeated")
    kept = sequence_mask(lengths, rows.shape[1])._values("collapse_repeated").copy()
    kept[:, 1:] &= rows[:, 1:] != rows[:, :-1]
    counts = kept.sum(1)
    result = np.zeros((len(rows), counts.max(initial=0)), rows.dtype)
    result[np.arange(result.shape[1]) < counts[:, None]] = rows[kept]
    return Tensor(result), Tensor(counts.astype(lengths._array.dtype))
