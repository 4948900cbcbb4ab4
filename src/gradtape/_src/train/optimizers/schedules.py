"""Learning rates as functions of the count of steps, with the names and arguments of Keras."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

from ...core.convert import as_tensor
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ...ops.array.cast import cast
from ...ops.math.arithmetic import ceil, floor, minimum
from ...ops.math.exponential import log
from ...ops.math.logic import where
from ...ops.math.power import pow as power
from ...ops.math.trigonometric import cos
from .config import from_plain, to_plain


class LearningRateSchedule:
    """Base of the schedules: called with the count of steps so far they give the learning rate.

    An optimizer takes one as its `learning_rate`. For a schedule of your own override `__call__`;
    and `get_config`, the arguments of the constructor, if it is to be saved.

    >>> class Slowing(tf.optimizers.schedules.LearningRateSchedule):
    ...     def __call__(self, step):
    ...         return 0.1 / (tf.cast(step, tf.float32) + 1.0)
    >>> tf.optimizers.SGD(Slowing()).learning_rate
    <tf.Tensor: shape=(), dtype=float32, numpy=0.1>
    """

    settings: tuple[str, ...] = ()
    """The attributes that `get_config` gives: the constructor's arguments, some after a "_"."""

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__}: override `__call__(self, step)`, which gives the learning "
            "rate."
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments that make a schedule like this."""
        if not self.settings:
            raise NotImplementedError(
                f"{type(self).__name__}: override `get_config()`, the arguments of the constructor "
                "as a dict, so that the schedule can be saved."
            )
        return {name.lstrip("_"): getattr(self, name) for name in self.settings}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The schedule of such a configuration."""
        return cls(**config)


def _positive(schedule: LearningRateSchedule, name: str, value: Any) -> Any:
    if not value > 0:
        raise ValueError(f"{type(schedule).__name__}: `{name}` must be above 0. Received: {value}.")
    return value


class _DecayByRate(LearningRateSchedule):
    """A decay by a fraction of `decay_steps`, which grows in whole numbers with `staircase`."""

    settings = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = _positive(self, "decay_steps", decay_steps)
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name or type(self).__name__

    def _fraction(self, step: Any, dtype: DType) -> Tensor:
        fraction: Tensor = cast(step, dtype) / self.decay_steps
        return floor(fraction) if self.staircase else fraction


class ExponentialDecay(_DecayByRate):
    """`initial_learning_rate * decay_rate ** (step / decay_steps)`; in steps, with `staircase`."""

    def __call__(self, step: Any) -> Tensor:
        initial = as_tensor(self.initial_learning_rate)
        rate = cast(self.decay_rate, initial.dtype)
        return initial * power(rate, self._fraction(step, initial.dtype))


class InverseTimeDecay(_DecayByRate):
    """`initial_learning_rate / (1 + decay_rate * step / decay_steps)`; `staircase`: in steps."""

    def __call__(self, step: Any) -> Tensor:
        initial = as_tensor(self.initial_learning_rate)
        return initial / (1.0 + self.decay_rate * self._fraction(step, initial.dtype))


class PiecewiseConstantDecay(LearningRateSchedule):
    """`values[0]` up to and with step `boundaries[0]`, then `values[1]`, and so on."""

    settings = ("boundaries", "values", "name")

    def __init__(
        self, boundaries: Sequence[Any], values: Sequence[Any], name: str = "PiecewiseConstant"
    ) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "PiecewiseConstantDecay: there must be one more of `values` than of `boundaries`. "
                f"Received: {len(values)} values and {len(boundaries)} boundaries."
            )
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step: Any) -> Tensor:
        step = as_tensor(step)
        rate = as_tensor(self.values[-1])
        for boundary, value in zip(self.boundaries[::-1], self.values[-2::-1], strict=True):
            rate = where(step <= cast(boundary, step.dtype), as_tensor(value), rate)
        return rate


class PolynomialDecay(LearningRateSchedule):
    """From the initial rate to the end, by a power of what remains of `decay_steps`.

    With `cycle` the decay is stretched to the next multiple of `decay_steps` whenever it ends.
    """

    settings = (
        "initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name",
    )  # fmt: skip

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: str = "PolynomialDecay",
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = _positive(self, "decay_steps", decay_steps)
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def __call__(self, step: Any) -> Tensor:
        initial = as_tensor(self.initial_learning_rate)
        step = cast(step, initial.dtype)
        steps = cast(self.decay_steps, initial.dtype)
        if self.cycle:
            steps = steps * where(step == 0, 1.0, ceil(step / steps))
        else:
            step = minimum(step, steps)
        span = initial - self.end_learning_rate
        return span * power(1.0 - step / steps, self.power) + self.end_learning_rate


class CosineDecay(LearningRateSchedule):
    """From the initial rate to `alpha` times it, by half a period of the cosine.

    With a `warmup_target` it rises in a line from the initial rate to the target in `warmup_steps`,
    and falls from there.
    """

    settings = (
        "initial_learning_rate", "decay_steps", "alpha", "name", "warmup_target", "warmup_steps",
    )  # fmt: skip

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        alpha: float = 0.0,
        name: str = "CosineDecay",
        warmup_target: float | None = None,
        warmup_steps: int = 0,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = _positive(self, "decay_steps", decay_steps)
        self.alpha = alpha
        self.name = name
        self.warmup_target = warmup_target
        self.warmup_steps = warmup_steps

    def __call__(self, step: Any) -> Tensor:
        initial = as_tensor(self.initial_learning_rate)
        step = cast(step, initial.dtype)
        if self.warmup_target is None:
            return initial * self._decayed(step)
        rise = (self.warmup_target - initial) * (step / max(self.warmup_steps, 1)) + initial
        fall = self.warmup_target * self._decayed(step - self.warmup_steps)
        return where(step < self.warmup_steps, rise, fall)

    def _decayed(self, step: Tensor) -> Tensor:
        fraction = minimum(step, self.decay_steps) / self.decay_steps
        cosine: Tensor = 0.5 * (1.0 + cos(math.pi * fraction))
        return (1 - self.alpha) * cosine + self.alpha


class CosineDecayRestarts(LearningRateSchedule):
    """Cosine decay that starts again, each time `t_mul` times as long, from `m_mul` times as high.

    (Loshchilov and Hutter, 2016.)
    """

    settings = (
        "initial_learning_rate", "first_decay_steps", "_t_mul", "_m_mul", "alpha", "name",
    )  # fmt: skip

    def __init__(
        self,
        initial_learning_rate: float,
        first_decay_steps: int,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: str = "SGDRDecay",
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = _positive(self, "first_decay_steps", first_decay_steps)
        self._t_mul = t_mul
        self._m_mul = m_mul
        self.alpha = alpha
        self.name = name

    def __call__(self, step: Any) -> Tensor:
        initial = as_tensor(self.initial_learning_rate)
        done = cast(step, initial.dtype) / self.first_decay_steps
        if self._t_mul == 1.0:
            restarts = floor(done)
            fraction = done - restarts
        else:
            # The periods are a geometric series; of so many of them `begun` is the sum.
            t_mul = cast(self._t_mul, initial.dtype)
            restarts = floor(log(1.0 - done * (1.0 - t_mul)) / log(t_mul))
            begun = (1.0 - power(t_mul, restarts)) / (1.0 - t_mul)
            fraction = (done - begun) / power(t_mul, restarts)
        height = power(cast(self._m_mul, initial.dtype), restarts)
        decayed: Tensor = 0.5 * height * (1.0 + cos(math.pi * fraction))
        return initial * ((1 - self.alpha) * decayed + self.alpha)


_KNOWN: dict[str, type[LearningRateSchedule]] = {
    kind.__name__: kind
    for kind in (
        ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay, CosineDecay,
        CosineDecayRestarts,
    )
}  # fmt: skip


def serialize(learning_rate_schedule: LearningRateSchedule) -> dict[str, Any]:
    """The schedule as a dict of plain values, in the form that Keras uses."""
    return to_plain(learning_rate_schedule, "keras.optimizers.schedules", _KNOWN)


def deserialize(
    config: Mapping[str, Any], custom_objects: Any = None
) -> LearningRateSchedule | Any:
    """The schedule of what `serialize` gave; classes of your own go in `custom_objects`."""
    return from_plain(config, _KNOWN, custom_objects, "a learning rate schedule")
