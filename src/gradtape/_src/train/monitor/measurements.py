"""What GradientMonitor knows of one variable: its measurements, and what is wrong with them.

Each step measures the norm of the gradient, by one dot product; every tenth looks at it in detail,
and at the weights. Their change is measured on a sample: to keep all of the old ones would take
their memory again, and stand in the way of updates in place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...core.cotangent import IndexedSlices
from ...ops.math.segment import unsorted_segment_sum

_NEW = 0.05
"""The weight of a new norm in the mean that tells what is usual: that of the last twenty or so."""

_ADVICE = {
    "not finite": (
        "the gradient of {name} holds {nan} NaN and {inf} infinite values at step {step}. Look for "
        "log, sqrt or division at 0 in the loss, lower the learning rate, or clip with "
        "tf.clip_by_global_norm before it comes so far."
    ),
    "weights not finite": (
        "{name} itself holds NaN or infinity at step {step}. Go back to a checkpoint, and lower "
        "the learning rate."
    ),
    "no gradient": (
        "the gradient of {name} was None for {dead_for} steps: the loss does not depend on it. Use "
        "the variable inside the tape, by tensor ops only, or leave it out."
    ),
    "dead": (
        "the gradient of {name} was 0 everywhere for {dead_for} steps. Behind a relu, the units "
        "may be off for all inputs: try a lower learning rate, leaky_relu, or another "
        "initialization."
    ),
    "vanishing": (
        "the gradient of {name} vanishes: its root mean square was below {vanishing:g} for "
        "{small_for} steps, and is {root_mean_square:.2g}. Unless the training has converged, try "
        "relu instead of activations that saturate, normalization, skip connections or, in "
        "float16, a scaled loss."
    ),
    "exploding": (
        "the gradient of {name} explodes: its norm is {gradient_norm:.3g} at step {step}, "
        "{jump:.3g} times what it usually was. Clip it with tf.clip_by_global_norm, or lower the "
        "learning rate."
    ),
}


class Measurement(NamedTuple):
    """What one step says of one variable; NaN where there is nothing to measure."""

    step: Any
    gradient_norm: Any
    weight_norm: Any
    update_ratio: Any
    """The norm of the change of the weights since the step before, over their norm."""
    zeros: Any
    """The share of the gradient's elements that were 0 at the latest measurement in detail; in an
    IndexedSlices, of those that it has."""
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
    detail_every: int
    history: int
    sample: int


class Track:
    """One variable of a GradientMonitor: `latest` and `history`, `histogram`, `problems`."""

    def __init__(self, name: str, variable: Any, settings: Settings) -> None:
        self.name = name
        self.variable = variable
        self.shape: tuple[int, ...] = ()
        self.size = self.gradient_size = 0
        self.steps = 0
        self.latest = Measurement(*[math.nan] * 7)
        self.has_gradient = False  # or it was None at the latest step
        self.problems: list[str] = []
        self.weight_sample = self.gradient_sample = np.zeros(0, np.float32)
        self._settings = settings
        self._history = _Thinned(settings.history, len(self.latest))
        self._dead_for = self._small_for = 0
        self._usual_norm = 0.0
        self._jump = 1.0  # this norm over what was usual before

    @property
    def history(self) -> Measurement:
        """The measurements that are kept, as an array for each field."""
        return Measurement(*self._history.rows.T.copy())

    @property
    def histogram(self) -> Histogram:
        """The magnitudes in the latest sample of the gradient; zeros, NaN and Inf left out."""
        return _magnitudes(self.gradient_sample)

    @property
    def vanishing(self) -> float:
        """The root mean square below which a gradient is small."""
        return self._settings.vanishing

    @property
    def root_mean_square(self) -> float:
        """Of the latest gradient; of an IndexedSlices, that of its rows."""
        return float(self.latest.gradient_norm) / math.sqrt(self.gradient_size or 1)

    # Measuring

    def measure(self, gradient: Any, step: int | None) -> None:
        """Take in a gradient: an array, an IndexedSlices or None."""
        every = self._settings.detail_every
        flat = _elements(gradient)
        norm, nan, inf = (math.nan, 0, 0) if flat is None else _norm_and_faults(flat)
        _, _, weight_norm, ratio, zeros, _, _ = self.latest
        if self.steps < every or self.steps % every == 0:
            zeros = self._look_at_gradient(flat)
            weight_norm, ratio = self._look_at_weights(type(gradient))
        elif (self.steps + 1) % every == 0:
            self._sample()
        step = self.steps if step is None else step
        self.latest = Measurement(step, norm, weight_norm, ratio, zeros, nan, inf)
        self.has_gradient = flat is not None
        self._history.append(self.latest)
        self._count(norm)
        self.steps += 1

    def _look_at_gradient(self, flat: Any) -> float:
        """Take a sample; the share of zeros."""
        if flat is None:
            self.gradient_sample = np.zeros(0, np.float32)
            return math.nan
        self.gradient_size = flat.size
        self.gradient_sample = flat.take(_sample_places(flat.size, self._settings.sample))
        return float(np.count_nonzero(flat == 0) / (flat.size or 1))

    def _look_at_weights(self, gradient_type: type) -> tuple[float, float]:
        """The norm, and that of the change since the step before over it.

        Of a variable of which rows are looked up, the norm of the sample has to do: to read it all
        may take longer than the step.
        """
        old, old_shape = self.weight_sample, self.shape
        weights = self._sample()
        sample = self.weight_sample
        scale = math.sqrt(max(1.0, self.size / self._settings.sample))
        norm = scale * _norm(sample) if gradient_type is IndexedSlices else _norm(_flat(weights))
        known = norm and self.steps and old_shape == self.shape
        return norm, scale * _norm(sample - old) / norm if known else math.nan

    def _sample(self) -> Any:
        """Keep a sample of the weights, always at the same places. Returns all of them."""
        weights = np.asarray(self.variable)
        self.shape, self.size = weights.shape, weights.size
        places = _sample_places(self.size, self._settings.sample)
        self.weight_sample = _flat(weights.take(places))
        return weights

    def _count(self, norm: float) -> None:
        """For how long the gradient has been dead or small, and how it compares with the usual."""
        small = self.root_mean_square < self._settings.vanishing
        self._dead_for = self._dead_for + 1 if not norm or not self.has_gradient else 0
        self._small_for = self._small_for + 1 if small else 0
        if 0 < norm < math.inf:
            usual = self._usual_norm or norm
            self._jump = norm / usual
            self._usual_norm = usual + _NEW * (norm - usual)

    # Judging

    def conditions(self) -> list[str]:
        """What is wrong now, by keyword; `explain` makes a sentence of it."""
        now, settings, found = self.latest, self._settings, []
        if now.nan or now.inf:
            found.append("not finite")
        elif now.gradient_norm > settings.exploding or self._jumps():
            found.append("exploding")
        if not math.isfinite(now.weight_norm):
            found.append("weights not finite")
        if self._dead_for >= settings.patience:
            found.append("dead" if self.has_gradient else "no gradient")
        elif self._small_for >= settings.patience:
            found.append("vanishing")
        return found

    def _jumps(self) -> bool:
        """Whether the norm is far above what it was long enough; below 1, it may only recover."""
        settings = self._settings
        far = self._jump > settings.jump and self.latest.gradient_norm > 1
        return far and self.steps > settings.patience

    def explain(self, condition: str) -> str:
        """What was found, and what to do about it."""
        return _ADVICE[condition].format(
            name=repr(self.name),
            dead_for=self._dead_for,
            small_for=self._small_for,
            vanishing=self._settings.vanishing,
            root_mean_square=self.root_mean_square,
            jump=self._jump,
            **self.latest._asdict(),
        )


class _Thinned:
    """Rows, at most `limit` of them: when there are more, every second one goes."""

    def __init__(self, limit: int, width: int) -> None:
        self._rows = np.empty((limit, width))
        self._size = self._seen = 0
        self._stride = 1

    @property
    def rows(self) -> Any:
        return self._rows[: self._size]

    def append(self, row: Any) -> None:
        due = self._seen % self._stride == 0
        if due and self._size == len(self._rows):
            half = self._rows[::2].copy()
            self._size = len(half)
            self._rows[: self._size] = half
            self._stride *= 2
            due = self._seen % self._stride == 0
        if due:
            self._rows[self._size] = row
            self._size += 1
        self._seen += 1


@lru_cache(maxsize=64)
def _sample_places(size: int, sample: int) -> Any:
    """At most `sample` places among `size`: one at random in each of as many equal parts."""
    if size <= sample:
        return np.arange(size)
    places = (np.arange(sample) + np.random.default_rng(0).random(sample)) * (size / sample)
    return np.minimum(places, size - 1).astype(np.intp)


def _elements(gradient: Any) -> Any:
    """The elements of a gradient in a row; None for None."""
    if gradient is None:
        return None
    return _flat(_summed_rows(gradient) if isinstance(gradient, IndexedSlices) else gradient)


def _summed_rows(slices: IndexedSlices) -> Any:
    """The rows of the gradient that are not zero, those with the same index added up."""
    indices, values = np.asarray(slices.indices), np.asarray(slices.values)
    rows, places = np.unique(indices, return_inverse=True)
    if rows.size == indices.size:
        return values
    return np.asarray(unsorted_segment_sum(values, places.reshape(indices.shape), rows.size))


def _flat(array: Any) -> Any:
    """The elements in a row of float32 or float64, which BLAS takes; complex ones as pairs."""
    flat = array.ravel(order="K")
    if flat.dtype.char in "fd":
        return flat
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat.astype(np.float32)


def _norm_and_faults(flat: Any) -> tuple[float, int, int]:
    """The norm, and the number of NaN and of infinities, which need be counted if it is neither."""
    norm = _norm(flat)
    if math.isfinite(norm):
        return norm, 0, 0
    return norm, int(np.count_nonzero(np.isnan(flat))), int(np.count_nonzero(np.isinf(flat)))


def _norm(flat: Any) -> float:
    """The Euclidean norm; scaled only where the squares leave the range of the dtype."""
    square = float(flat.dot(flat))
    if 1e-24 < square < math.inf:
        return math.sqrt(square)
    peak = float(np.max(np.abs(flat), initial=0))
    if not 0 < peak < math.inf:
        return peak
    flat = flat / flat.dtype.type(peak)
    return peak * math.sqrt(flat.dot(flat))


def _magnitudes(values: Any) -> Histogram:
    """By their exponents: no logarithms."""
    magnitudes = np.abs(values)
    there = (magnitudes > 0) & (magnitudes < np.ldexp(1.0, 1023))  # the next edge is infinite
    exponents = np.frexp(magnitudes[there])[1] - 1
    first = exponents.min(initial=1023)
    counts = np.bincount(exponents - first)
    return Histogram(np.ldexp(1.0, np.arange(first, first + counts.size + 1)), counts)
