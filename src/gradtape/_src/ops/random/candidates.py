"""Candidate samplers: a few classes drawn to stand for all, for losses over very many classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes as dt
from ...core.engine import common_engine, engine_of
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError, UnimplementedError
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ..declare.static import static_int, to_tensor
from .sequence import generator_for


class Candidates(NamedTuple):
    """Drawn classes, and how often each true class and each drawn class is expected among them."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def _true_classes(true_classes: Any, num_true: Any, op: str) -> Any:
    array = to_tensor(true_classes, op)._array
    wanted = static_int(num_true, op, "num_true")
    if array.dtype not in dt.INTEGER:
        raise DTypeError(f"{op}: `true_classes` must be integers, and are {array.dtype.name}.")
    if array.ndim != 2 or array.shape[1] != wanted:
        raise ShapeError(
            f"{op}: `true_classes` must have shape [batch, num_true={wanted}], and has "
            f"{array.shape}."
        )
    return array.astype(np.int64)


Wanted = tuple[Any, Any, Any, bool, Any]
"""`true_classes`, `num_true`, `num_sampled`, `unique` and `seed`, as all samplers take them."""


def _sampled(
    op: str,
    wanted: Wanted,
    draw: Callable[[Any, int], Any],
    probability: Callable[[Any], Any],
    classes: int,
) -> Candidates:
    """Classes from `draw(random, count)`, and what is expected by the probability of each class."""
    true_classes, num_true, num_sampled, unique, seed = wanted
    random = generator_for(seed, op)
    true = _true_classes(true_classes, num_true, op)
    count = static_int(num_sampled, op, "num_sampled")
    if count < 1:
        raise InvalidArgumentError(f"{op}: `num_sampled` must be at least 1, and is {count}.")
    if unique and count > classes:
        raise InvalidArgumentError(
            f"{op}: {count} different classes were asked for, and only {classes} can be drawn."
        )
    drawn, tries = _different(random, draw, count) if unique else (draw(random, count), count)

    def expected(ids: Any) -> Tensor:
        p = probability(ids)
        if tries is count:
            return Tensor((p * count).astype(np.float32))
        xp = common_engine([p, tries])
        below = xp.minimum(p, 1 - 2.0**-53)  # log(0) of a certain class would only warn
        chances = -xp.expm1(tries * xp.log1p(-below))
        return Tensor(xp.where(tries == count, p * count, chances).astype(np.float32))

    return Candidates(Tensor(drawn.astype(np.int64)), expected(true), expected(drawn))


def _different(random: Any, draw: Callable[[Any, int], Any], count: int) -> tuple[Any, Any]:
    """The first `count` different classes that are drawn, and how many draws it took."""
    if not isinstance(random, np.random.Generator):
        return random.different(draw, count)
    drawn = draw(random, count)
    while len(np.unique(drawn)) < count:
        drawn = np.concatenate([drawn, draw(random, len(drawn))])
    _, first = np.unique(drawn, return_index=True)
    first = np.sort(first)[:count]
    return drawn[first], first[-1] + 1


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
    return _sampled(
        op,
        (true_classes, num_true, num_sampled, unique, seed),
        lambda random, count: random.integers(0, classes, count),
        lambda ids: np.full(ids.shape, 1 / classes),
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
    scale = np.log1p(classes)

    def draw(random: Any, count: int) -> Any:
        u = random.random(count)
        drawn = engine_of(type(u)).exp(u * scale).astype(np.int64) - 1
        return drawn.clip(None, classes - 1)

    def probability(ids: Any) -> Any:
        return engine_of(type(ids)).log1p(1 / (ids.astype(np.float64) + 1)) / scale

    wanted = true_classes, num_true, num_sampled, unique, seed
    return _sampled(op, wanted, draw, probability, classes)


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
    if current_graph() is not None:
        raise UnimplementedError(
            f"{op}: what it learns from one call to the next is not part of a compiled function. "
            "Draw outside of @function, and pass the results to it as tensors."
        )
    classes = _classes(range_max, op)
    true = _true_classes(true_classes, num_true, op)
    if true.size and not 0 <= true.min() <= true.max() < classes:
        raise InvalidArgumentError(f"{op}: `true_classes` must lie in [0, range_max={classes}).")
    seen = _learned.setdefault((classes, None if seed is None else int(seed)), np.ones(classes))
    found = _weighted(op, (true_classes, num_true, num_sampled, unique, seed), seen)
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
            f"and there are {len(weights)}."
        )
    weights = np.where(np.arange(classes) % num_shards == shard, weights, 0)
    return _weighted(op, (true_classes, num_true, num_sampled, unique, seed), weights)


def _weighted(op: str, wanted: Wanted, weights: Any) -> Candidates:
    totals = np.cumsum(weights)
    if not totals[-1] > 0:
        raise InvalidArgumentError(f"{op}: no class has a weight above 0.")
    chances = weights / totals[-1]

    def draw(random: Any, count: int) -> Any:
        u = random.random(count) * totals[-1]
        return engine_of(type(u)).searchsorted(totals, u, side="right")

    def probability(ids: Any) -> Any:
        return engine_of(type(ids)).take(chances, ids)

    return _sampled(op, wanted, draw, probability, int((weights > 0).sum()))


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
    true = Tensor(_true_classes(true_classes, num_true, op))._values(op)
    sampled = to_tensor(sampled_candidates, op)._values(op)
    if sampled.ndim != 1:
        raise ShapeError(
            f"{op}: `sampled_candidates` must be a vector, and has shape {sampled.shape}."
        )
    row, _, column = np.nonzero(true[:, :, None] == sampled)
    weights = np.full(row.shape, np.finfo(np.float32).min, np.float32)
    return AccidentalHits(Tensor(row.astype(np.int32)), Tensor(column), Tensor(weights))
