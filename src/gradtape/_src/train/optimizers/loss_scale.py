"""LossScaleOptimizer: a loss scaled so that gradients of half precision do not vanish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any, Self

import numpy as np

from ...core.convert import as_tensor
from ...core.cotangent import IndexedSlices
from ...core.dtypes import float32, int64
from ...core.engine import common_engine
from ...core.tensor import Tensor
from ...core.trackable import restore_deferred
from ...ops.array.cast import cast
from ...ops.math.logic import where
from ...tape.control import cond
from ...tape.variable import Variable
from .base import Optimizer
from .config import from_plain, to_plain
from .registry import OPTIMIZERS
from .rule import Changes, assign_all, at_once


class LossScaleOptimizer(Optimizer):
    """Divides gradients of a scaled loss by the scale, and finds the scale by itself.

    >>> w = tf.Variable([1.0, 2.0], dtype=tf.float16)
    >>> optimizer = tf.optimizers.LossScaleOptimizer(tf.optimizers.SGD(0.5))
    >>> with tf.GradientTape() as tape:
    ...     loss = optimizer.scale_loss(tf.reduce_sum(w * 1e-7))
    >>> steps = optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]))

    If a gradient is not finite, the step is left out and the scale halved; after
    `dynamic_growth_steps` good steps in a row it is doubled. What concerns the updates is given to
    the `inner_optimizer`.
    """

    def __init__(
        self,
        inner_optimizer: Optimizer,
        initial_scale: float = 2.0**15,
        dynamic_growth_steps: int = 2000,
        name: str | None = None,
    ) -> None:
        if not isinstance(inner_optimizer, Optimizer):
            raise TypeError(
                "LossScaleOptimizer: `inner_optimizer` must be an optimizer, not a "
                f"{type(inner_optimizer).__name__}. Make it first, e.g. tf.optimizers.Adam()."
            )
        super().__init__(learning_rate=0.0, name=name)
        self.inner_optimizer = inner_optimizer
        self.initial_scale = initial_scale
        self.dynamic_growth_steps = dynamic_growth_steps
        inner_optimizer.loss_scale_factor = None  # or gradients would be divided twice

    def build(self, variables: Sequence[Variable]) -> None:
        if self.built:
            return
        self.step_counter = self.add_variable((), dtype=int64, name="step_counter")
        self.dynamic_scale = self.add_variable((), self.initial_scale, name="dynamic_scale")
        self.inner_optimizer.build(variables)
        self._trainable_variables = list(variables)
        self.built = True
        restore_deferred(self)

    @property
    def variables(self) -> list[Variable]:
        return self._variables + self.inner_optimizer.variables

    @property
    def iterations(self) -> Variable | Any:
        return self.inner_optimizer.iterations

    @property
    def learning_rate(self) -> Variable | Any:
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        self.inner_optimizer.learning_rate = learning_rate

    def scale_loss(self, loss: Any) -> Tensor | Any:
        """`loss` times the present scale; in single precision at least."""
        return _wide(loss) * (self.dynamic_scale if self.built else self.initial_scale)

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        grads = list(grads)
        if trainable_variables is not None:
            trainable_variables = list(trainable_variables)
            self.build(trainable_variables)
        self._check_built()
        cond(
            self.check_finite(grads),
            lambda: self._apply_unscaled(grads, trainable_variables),
            self._skip,
        )

    def _apply_unscaled(self, grads: list[Any], variables: Any) -> None:
        unscaled = [None if g is None else self._unscaled(g) for g in grads]
        steps = as_tensor(self.step_counter) + 1
        grows = steps >= self.dynamic_growth_steps
        changes = self._changes(where(grows, 0, steps), where(grows, 2.0, 1.0))
        self.inner_optimizer.apply_beside(changes, unscaled, variables)

    def _changes(self, steps: Tensor, factor: Tensor) -> Changes:
        scale = factor * self.dynamic_scale
        return [(self.step_counter, steps._array), (self.dynamic_scale, scale._array)]

    def _unscaled(self, g: Any) -> Any:
        if isinstance(g, IndexedSlices):
            return IndexedSlices(self._unscaled(g.values), g.indices, g.dense_shape)
        g = _wide(g)
        return g / cast(self.dynamic_scale, g.dtype)

    def _skip(self) -> None:
        changes = self._changes(as_tensor(0, int64), as_tensor(0.5))
        at_once(lambda step: assign_all(step, changes))

    def check_finite(self, grads: Any) -> Tensor:
        """Whether all elements of all gradients are finite."""
        return Tensor(reduce(and_, [_finite(g) for g in grads if g is not None], np.True_))

    def finalize_variable_values(self, var_list: Any) -> None:
        self.inner_optimizer.finalize_variable_values(var_list)

    def _tracked_items(self) -> Iterator[tuple[str, Any]]:
        yield "inner_optimizer", self.inner_optimizer
        if self.built:
            yield "step_counter", self.step_counter
            yield "dynamic_scale", self.dynamic_scale

    def get_config(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "inner_optimizer": to_plain(self.inner_optimizer, "keras.optimizers", OPTIMIZERS),
            "initial_scale": self.initial_scale,
            "dynamic_growth_steps": self.dynamic_growth_steps,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Self:
        plain = config["inner_optimizer"]
        inner = from_plain(plain, OPTIMIZERS, custom_objects, "an optimizer to scale the loss for")
        return cls(**{**config, "inner_optimizer": inner})


def _wide(x: Any) -> Tensor:
    """`x` as a tensor; half precision, in which a scale could overflow, as float32."""
    x = as_tensor(x)
    return cast(x, float32) if x.dtype.size == 2 else x


def _finite(g: Any) -> Any:
    array = as_tensor(g.values if isinstance(g, IndexedSlices) else g)._array
    xp = common_engine([array])
    if not xp.is_compiled and np.isfinite(xp.sum(array)):
        return np.True_  # what is finite as a sum is so throughout; no array of bool is made
    return xp.all(xp.isfinite(array))
