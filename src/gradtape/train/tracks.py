"""What GradientMonitor knows of one variable: its measurements, and what is wrong with them.

A measurement is two dot products and a comparison with zero, whose cost is a small part of what it
took to compute the gradient. The change of the weights is measured on a sample: to keep all of the
old ones would take their memory again, and stand in the way of updates in place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..core.cotangent import IndexedSlices
from ..ops.segment import unsorted_segment_sum

_NEW = 0.05
"""The weight of a new norm in the mean that tells what is usual: that of the last twenty or so."""


class Measurement(NamedTuple):
    """What one step says of one variable; NaN where there is nothing to measure."""

    step: Any
    gradient_norm: Any
    weight_norm: Any
    update_ratio: Any
    """The norm of the change since the step before, over the norm of the weights then."""
    zeros: Any
    """The share of the gradient's elements that are 0; in an IndexedSlices, of those it has."""
    nan: Any
    inf: Any


class Histogram(NamedTuple):
    """How many magnitudes lie between neighbouring edges, which are powers of two."""

    edges: Any
    counts: Any


@dataclass(frozen=True)
class Settings:
    """The arguments of GradientMonitor that concern each variable for itself."""

    vanishing: float
    exploding: float
    jump: float
    patience: int
    histogram_every: int
    history: int
    sample: int


class Track:
    """One variable of a GradientMonitor: `latest` and `history`, `histogram`, `problems`."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.shape: tuple[int, ...] = ()
        self.steps = 0
        self.latest = Measurement(*[math.nan] * 7)
        self.problems: list[str] = []
        self.weight_sample = self.gradient_sample = np.zeros(0, np.float32)
        self._settings = settings
        self._history = _Thinned(settings.history, len(self.latest))
        self._places = np.zeros(0, np.intp)
        self._dead_for = self._small_for = 0
        self._usual_log_norm = math.nan
        self._jump = math.nan  # this norm over what was usual before

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def history(self) -> Measurement:
        """The measurements that are kept, as an array for each field."""
        return Measurement(*self._history.rows.T)

    @property
    def histogram(self) -> Histogram:
        """The magnitudes in the latest sample of the gradient; zeros, NaN and Inf left out."""
        return _magnitudes(self.gradient_sample)

    @property
    def root_mean_square(self) -> float:
        """Of the latest gradient."""
        return float(self.latest.gradient_norm) / math.sqrt(self.size or 1)

    # Measuring

    def measure(self, gradient: Any, weights: Any, step: int | None) -> None:
        """Take in a gradient (an array, an IndexedSlices or None) and the array of weights."""
        if not self.steps or weights.shape != self.shape:
            self._begin(weights)
        with np.errstate(all="ignore"):
            norm, zeros, nan, inf = self._of_gradient(gradient)
            weight_norm, ratio = self._of_weights(weights, isinstance(gradient, IndexedSlices))
        step = self.steps if step is None else step
        self.latest = Measurement(step, norm, weight_norm, ratio, zeros, nan, inf)
        self._history.append(self.latest)
        self._count(norm)
        self.steps += 1

    def _begin(self, weights: Any) -> None:
        self.shape = weights.shape
        self._places = _sample_places(weights.size, self._settings.sample)
        self.weight_sample = _real(weights.take(self._places))
        self.latest = self.latest._replace(weight_norm=math.nan)  # there is no step before

    def _of_gradient(self, gradient: Any) -> tuple[float, float, float, float]:
        """Norm, share of zeros, number of NaN and of infinities."""
        if gradient is None:
            return math.nan, math.nan, 0.0, 0.0
        sparse = isinstance(gradient, IndexedSlices)
        flat = _real(_summed_rows(gradient) if sparse else gradient)
        if self.steps % self._settings.histogram_every == 0:
            self.gradient_sample = flat.take(_sample_places(flat.size, self._settings.sample))
        norm = _norm(flat)
        zeros = np.count_nonzero(flat == 0) / (flat.size or 1)
        if math.isfinite(norm):
            return norm, zeros, 0.0, 0.0
        return norm, zeros, float(np.isnan(flat).sum()), float(np.isinf(flat).sum())

    def _of_weights(self, weights: Any, by_sample: bool) -> tuple[float, float]:
        """The norm, of the sample alone where the gradient is rows; and the ratio of the update."""
        sample = _real(weights.take(self._places))
        scale = math.sqrt(weights.size / (self._places.size or 1))
        change = scale * _norm(sample - self.weight_sample)
        before = self.latest.weight_norm
        self.weight_sample = sample
        norm = scale * _norm(sample) if by_sample else _norm(_real(weights))
        return norm, change / before if before else math.nan

    def _count(self, norm: float) -> None:
        """For how long the gradient has been dead or small, and how it compares with the usual."""
        small = self.root_mean_square < self._settings.vanishing
        self._dead_for = self._dead_for + 1 if not norm or math.isnan(norm) else 0
        self._small_for = self._small_for + 1 if small else 0
        if not 0 < norm < math.inf:
            return
        log_norm = math.log(norm)
        if math.isnan(self._usual_log_norm):
            self._usual_log_norm = log_norm
        self._jump = math.exp(log_norm - self._usual_log_norm)
        self._usual_log_norm += _NEW * (log_norm - self._usual_log_norm)

    # Judging

    def conditions(self) -> Iterator[tuple[str, str]]:
        """What is wrong now: the kind, and a text that says what to do."""
        now, settings = self.latest, self._settings
        its = f"the gradient of {self.name!r}"
        if now.nan or now.inf:
            yield (
                "not finite",
                f"{its} holds {now.nan:.0f} NaN and {now.inf:.0f} infinite values at step "
                f"{now.step}. Look for log, sqrt or division at 0 in the loss, lower the learning "
                "rate, or clip with tf.clip_by_global_norm before it comes so far.",
            )
        if not math.isfinite(now.weight_norm):
            yield (
                "weights not finite",
                f"{self.name!r} itself holds NaN or infinity at step {now.step}. Go back to a "
                "checkpoint, and lower the learning rate.",
            )
        if self._dead_for >= settings.patience:
            yield "dead", f"{its} {self._death()}"
        elif self._small_for >= settings.patience:
            yield (
                "vanishing",
                f"{its} vanishes: its root mean square was below {settings.vanishing:g} for "
                f"{self._small_for} steps, and is {self.root_mean_square:.2g}. Unless the training "
                "has converged, try relu instead of activations that saturate, normalization, skip "
                "connections or, in float16, a scaled loss.",
            )
        if now.gradient_norm > settings.exploding or (
            self._jump > settings.jump and self.steps > settings.patience
        ):
            yield (
                "exploding",
                f"{its} explodes: its norm is {now.gradient_norm:.3g} at step {now.step}, "
                f"{self._jump:.3g} times what it usually was. Clip it with "
                "tf.clip_by_global_norm, or lower the learning rate.",
            )

    def _death(self) -> str:
        if math.isnan(self.latest.gradient_norm):
            return (
                f"was None for {self._dead_for} steps: the loss does not depend on it. Use the "
                "variable inside the tape, by tensor ops only, or leave it out."
            )
        return (
            f"was 0 everywhere for {self._dead_for} steps. Behind a relu, the units may be off for "
            "all inputs: try a lower learning rate, leaky_relu, or another initialization."
        )


class _Thinned:
    """Rows, at most `limit` of them: when there are more, every second one goes."""

    def __init__(self, limit: int, width: int) -> None:
        self._rows = np.empty((limit, width))
        self._kept = self._seen = 0
        self._stride = 1

    @property
    def rows(self) -> Any:
        return self._rows[: self._kept]

    def append(self, row: Any) -> None:
        due = self._seen % self._stride == 0
        if due and self._kept == len(self._rows):
            half = self._rows[::2].copy()
            self._kept = len(half)
            self._rows[: self._kept] = half
            self._stride *= 2
            due = self._seen % self._stride == 0
        if due:
            self._rows[self._kept] = row
            self._kept += 1
        self._seen += 1


def _sample_places(size: int, sample: int) -> Any:
    """At most `sample` places among `size`: one at random in each of as many equal parts."""
    if size <= sample:
        return np.arange(size)
    places = _offsets(sample) * (size / sample)
    return np.minimum(places, size - 1).astype(np.intp)


@cache
def _offsets(sample: int) -> Any:
    return np.arange(sample) + np.random.default_rng(0).random(sample)


def _summed_rows(slices: IndexedSlices) -> Any:
    """The rows of the gradient that are not zero, those with the same index added up."""
    indices, values = np.asarray(slices.indices), np.asarray(slices.values)
    rows, places = np.unique(indices, return_inverse=True)
    if rows.size == indices.size:
        return values
    return np.asarray(unsorted_segment_sum(values, places.reshape(indices.shape), rows.size))


def _real(array: Any) -> Any:
    """The elements in a row of float32 or float64, which BLAS takes; complex ones as pairs."""
    flat = array.ravel(order="K")
    if flat.dtype.kind == "c":
        return flat.view(flat.real.dtype)
    return flat if flat.dtype in (np.float32, np.float64) else flat.astype(np.float32)


def _norm(flat: Any) -> float:
    """The Euclidean norm; scaled only where the squares leave the range of the dtype."""
    square = float(np.dot(flat, flat))
    if 1e-24 < square < math.inf:
        return math.sqrt(square)
    peak = float(np.max(np.abs(flat), initial=0))
    if not 0 < peak < math.inf:
        return peak
    flat = flat / flat.dtype.type(peak)
    return peak * math.sqrt(np.dot(flat, flat))


def _magnitudes(values: Any) -> Histogram:
    """By the exponent bits of float32: one shift and one count, no logarithms."""
    with np.errstate(all="ignore"):
        bits = values.astype(np.float32).view(np.uint32)
    exponents = bits >> np.uint32(23) & np.uint32(0xFF)
    counts = np.bincount(exponents, minlength=256)[1:255]  # 0: zeros, 255: NaN and Inf
    there = np.flatnonzero(counts)
    first, last = (there[0], there[-1] + 1) if there.size else (0, 0)
    return Histogram(np.ldexp(1.0, np.arange(first, last + 1) - 126), counts[first:last])
