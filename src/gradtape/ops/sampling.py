"""Candidate samplers: a few classes drawn to stand for all, for losses over very many classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes as dt
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.tensor import Tensor
from ._static import static_int, to_tensor
from .random import generator_for


class Candidates(NamedTuple):
    """Drawn classes, and how often each true class and each drawn class is expected among them."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def _true_classes(true_classes: Any, num_true: Any, op: str) -> Any:
    array = np.asarray(to_tensor(true_classes, op)._array)
    wanted = static_int(num_true, op, "num_true")
    if array.dtype not in dt.INTEGER:
        raise DTypeError(f"{op}: `true_classes` must be integers, and are {array.dtype.name}.")
    if array.ndim != 2 or array.shape[1] != wanted:
        raise ShapeError(
            f"{op}: `true_classes` must have shape [batch, num_true={wanted}], and has "
            f"{array.shape}."
        )
    return array.astype(np.int64)


def _sampled(
    op: str,
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    draw: Callable[[int], Any],
    probability: Callable[[Any], Any],
    classes: int,
) -> Candidates:
    """Classes from `draw(count)`, and what is expected from the probability of each class."""
    true = _true_classes(true_classes, num_true, op)
    count = static_int(num_sampled, op, "num_sampled")
    if count < 1:
        raise InvalidArgumentError(f"{op}: `num_sampled` must be at least 1, and is {count}.")
    if unique and count > classes:
        raise InvalidArgumentError(
            f"{op}: {count} different classes were asked for, and only {classes} can be drawn."
        )
    drawn = draw(count)
    tries = count
    if unique:
        while True:
            _, first = np.unique(drawn, return_index=True)
            if len(first) >= count:
                break
            drawn = np.concatenate([drawn, draw(len(drawn))])
        first = np.sort(first)[:count]
        drawn, tries = drawn[first], int(first[-1]) + 1

    def expected(wanted: Any) -> Tensor:
        p = probability(wanted)
        number = p * count if tries == count else -np.expm1(tries * np.log1p(-p))
        return Tensor(np.asarray(number, np.float32))

    return Candidates(Tensor(drawn.astype(np.int64)), expected(true), expected(drawn))


def _classes(range_max: Any, op: str) -> int:
    count = static_int(range_max, op, "range_max")
    if count < 1:
        raise InvalidArgumentError(f"{op}: `range_max` must be at least 1, and is {count}.")
    return count


def uniform_candidate_sampler(
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    range_max: Any,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes from [0, range_max), all equally likely; with `unique` all different."""
    op = "uniform_candidate_sampler"
    classes = _classes(range_max, op)
    random = generator_for(seed, op)
    return _sampled(
        op,
        true_classes,
        num_true,
        num_sampled,
        unique,
        lambda count: random.integers(0, classes, count),
        lambda ids: np.full(np.shape(ids), 1 / classes),
        classes,
    )


def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    range_max: Any,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes from [0, range_max), likely in inverse proportion to their number (Zipf's law).

    The probability of class k is log((k + 2) / (k + 1)) / log(range_max + 1).
    """
    op = "log_uniform_candidate_sampler"
    classes = _classes(range_max, op)
    random = generator_for(seed, op)
    scale = np.log1p(classes)

    def draw(count: int) -> Any:
        return np.minimum(np.exp(random.random(count) * scale).astype(np.int64) - 1, classes - 1)

    return _sampled(
        op,
        true_classes,
        num_true,
        num_sampled,
        unique,
        draw,
        lambda ids: np.log1p(1 / (np.asarray(ids, float) + 1)) / scale,
        classes,
    )


_learned: dict[tuple[int, Any], Any] = {}


def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    range_max: Any,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes as often as they have been among `true_classes` before, in calls like this one."""
    op = "learned_unigram_candidate_sampler"
    classes = _classes(range_max, op)
    true = _true_classes(true_classes, num_true, op)
    if true.size and not 0 <= true.min() <= true.max() < classes:
        raise InvalidArgumentError(f"{op}: `true_classes` must lie in [0, range_max={classes}).")
    seen = _learned.setdefault((classes, None if seed is None else int(seed)), np.ones(classes))
    found = _weighted(op, true_classes, num_true, num_sampled, unique, seen, seed)
    np.add.at(seen, true.reshape(-1), 1)
    return found


def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    range_max: Any,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Any = (),
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes with the weights `unigrams`, raised to the power `distortion`.

    The weights may come from `vocab_file`, the last of the comma-separated fields of each line.
    The first `num_reserved_ids` classes are never drawn; they come before those of the list. Only
    every `num_shards`-th class, from `shard` on, is drawn.
    """
    op = "fixed_unigram_candidate_sampler"
    classes = _classes(range_max, op)
    if bool(vocab_file) == bool(len(unigrams)):
        raise InvalidArgumentError(f"{op}: give either `vocab_file` or `unigrams`.")
    if vocab_file:
        with open(vocab_file, encoding="utf-8") as file:
            unigrams = [float(line.rsplit(",", 1)[-1]) for line in file if line.strip()]
    weights = np.concatenate(
        [np.zeros(num_reserved_ids), np.asarray(unigrams, float) ** distortion]
    )
    if len(weights) != classes:
        raise InvalidArgumentError(
            f"{op}: `range_max`={classes} classes need as many weights, reserved ones included, "
            "and "
            f"there are {len(weights)}."
        )
    weights = np.where(np.arange(classes) % num_shards == shard, weights, 0)
    return _weighted(op, true_classes, num_true, num_sampled, unique, weights, seed)


def _weighted(
    op: str,
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    weights: Any,
    seed: Any,
) -> Candidates:
    random = generator_for(seed, op)
    totals = np.cumsum(weights)
    if not totals[-1] > 0:
        raise InvalidArgumentError(f"{op}: no class has a weight above 0.")
    chances = weights / totals[-1]

    def draw(count: int) -> Any:
        return np.searchsorted(totals, random.random(count) * totals[-1], side="right")

    return _sampled(
        op,
        true_classes,
        num_true,
        num_sampled,
        unique,
        draw,
        lambda ids: chances[ids],
        int((weights > 0).sum()),
    )


def all_candidate_sampler(
    true_classes: Any,
    num_true: Any,
    num_sampled: Any,
    unique: bool,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """All of the classes 0, ..., `num_sampled` - 1: for tests of what uses the other samplers."""
    true = _true_classes(true_classes, num_true, "all_candidate_sampler")
    count = static_int(num_sampled, "all_candidate_sampler", "num_sampled")
    once = [Tensor(np.ones(shape, np.float32)) for shape in (true.shape, (count,))]
    return Candidates(Tensor(np.arange(count)), *once)


class AccidentalHits(NamedTuple):
    indices: Tensor
    ids: Tensor
    weights: Tensor


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: Any,
    seed: Any = None,
    name: str | None = None,
) -> AccidentalHits:
    """Which sampled candidates are true classes: of which example, the how manyth candidate.

    The weights are the lowest float32, to be added to the logit of such a candidate.
    """
    op = "compute_accidental_hits"
    true = _true_classes(true_classes, num_true, op)
    sampled = np.asarray(to_tensor(sampled_candidates, op)._array)
    if sampled.ndim != 1:
        raise ShapeError(
            f"{op}: `sampled_candidates` must be a vector, and has shape {sampled.shape}."
        )
    row, _, column = np.nonzero(true[:, :, None] == sampled)
    weights = np.full(row.shape, np.finfo(np.float32).min, np.float32)
    return AccidentalHits(Tensor(row.astype(np.int32)), Tensor(column), Tensor(weights))
