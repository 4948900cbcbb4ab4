"""Adam and its relatives: AdamW, Adamax, Nadam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ...core.convert import as_tensor
from ...core.dtypes import float32, float64
from ...tape.variable import Variable
from .base import Optimizer
from .options import Options, OptionsWithoutDecay


class _Moments(Optimizer):
    """What all have in common: `beta_1` and `beta_2`, how much of the running means stays."""

    settings: tuple[str, ...] = ("beta_1", "beta_2", "epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon


class Adam(_Moments):
    """Steps of the mean gradient over the root of the mean square (Kingma and Ba, 2014).

    Both means are exponential, with `beta_1` and `beta_2`, and corrected for their start at zero.
    With `amsgrad` the mean square is the largest so far.
    """

    settings = ("beta_1", "beta_2", "epsilon", "amsgrad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, **options)
        self.amsgrad = amsgrad

    def slot_groups(self) -> list[dict[str, float]]:
        means = {"momentum": 0.0, "velocity": 0.0}
        return [means, {"velocity_hat": 0.0}] if self.amsgrad else [means]

    def scalars(self, learning_rate: Any, step: Any) -> dict[str, Any]:
        return {
            "rate": learning_rate * (1 - self.beta_2**step) ** 0.5 / (1 - self.beta_1**step),
            "take_1": 1 - self.beta_1,
            "take_2": 1 - self.beta_2,
            "epsilon": self.epsilon,
        }

    @staticmethod
    def rule(
        xp: Any, w: Any, g: Any, momentum: Any, velocity: Any, velocity_hat: Any = None, *,
        rate: Any, take_1: Any, take_2: Any, epsilon: Any,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        momentum = momentum + (g - momentum) * take_1
        velocity = velocity + (g * g - velocity) * take_2
        if velocity_hat is None:
            largest = velocity
        else:
            largest = velocity_hat = xp.maximum(velocity_hat, velocity)
        w = w - momentum / (xp.sqrt(largest) + epsilon) * rate
        return w, {"momentum": momentum, "velocity": velocity, "velocity_hat": velocity_hat}


class AdamW(Adam):
    """Adam with weight decay that the gradient's scale has no part in (Loshchilov and Hutter)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Unpack[OptionsWithoutDecay],
    ) -> None:
        if weight_decay is None:
            raise ValueError("AdamW: `weight_decay` must be a number. Without it, use Adam.")
        super().__init__(
            learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay=weight_decay, **options
        )


class Adamax(_Moments):
    """Adam with the largest recent size of a gradient in place of the root of the mean square."""

    def slot_groups(self) -> list[dict[str, float]]:
        return [{"momentum": 0.0, "norm": 0.0}]

    def scalars(self, learning_rate: Any, step: Any) -> dict[str, Any]:
        return {
            "rate": learning_rate / (1 - self.beta_1**step),
            "take_1": 1 - self.beta_1,
            "keep_2": self.beta_2,
            "epsilon": self.epsilon,
        }

    @staticmethod
    def rule(
        xp: Any, w: Any, g: Any, momentum: Any, norm: Any, *,
        rate: Any, take_1: Any, keep_2: Any, epsilon: Any,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        momentum = momentum + (g - momentum) * take_1
        norm = xp.maximum(norm * keep_2, xp.abs(g))
        return w - momentum * rate / (norm + epsilon), {"momentum": momentum, "norm": norm}


class Nadam(_Moments):
    """Adam with Nesterov's momentum (Dozat, 2015), which grows from `beta_1` / 2 to `beta_1`."""

    def slot_groups(self) -> list[dict[str, float]]:
        return [{"momentum": 0.0, "velocity": 0.0}]

    def build(self, variables: Sequence[Variable]) -> None:
        if self.built:
            return
        super().build(variables)
        wide = variables and variables[0].dtype.size > 4
        dtype = float64 if wide else float32
        self._product = self.add_variable((), "ones", dtype, name="momentum_product")

    def _momentum_at(self, step: Any) -> Any:
        return self.beta_1 * (1 - 0.5 * 0.96**step)

    def _next_product(self) -> Any:
        product = as_tensor(self._product)._array
        step = (as_tensor(self.iterations)._array + 1).astype(product.dtype)
        return product * self._momentum_at(step)

    def _other_changes(self) -> list[tuple[Variable, Any]]:
        return [*super()._other_changes(), (self._product, self._next_product())]

    def scalars(self, learning_rate: Any, step: Any) -> dict[str, Any]:
        product = self._next_product().astype(step.dtype)[()]
        now, after = self._momentum_at(step), self._momentum_at(step + 1)
        rounded = step.dtype.type  # as Keras does before it subtracts; for 0.999 this is seen
        return {
            "rate": learning_rate,
            "take_1": 1 - rounded(self.beta_1),
            "take_2": 1 - rounded(self.beta_2),
            "of_momentum": after / (1 - product * after),
            "of_gradient": (1 - now) / (1 - product),
            "of_velocity": 1 / (1 - self.beta_2**step),
            "epsilon": self.epsilon,
        }

    @staticmethod
    def rule(
        xp: Any, w: Any, g: Any, momentum: Any, velocity: Any, *,
        rate: Any, take_1: Any, take_2: Any, of_momentum: Any, of_gradient: Any, of_velocity: Any,
        epsilon: Any,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        momentum = momentum + (g - momentum) * take_1
        velocity = velocity + (g * g - velocity) * take_2
        ahead = momentum * of_momentum + g * of_gradient
        w = w - ahead * rate / (xp.sqrt(velocity * of_velocity) + epsilon)
        return w, {"momentum": momentum, "velocity": velocity}
