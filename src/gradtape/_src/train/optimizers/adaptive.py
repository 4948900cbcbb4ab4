"""Optimizers with a step size of its own for each element: RMSprop, Adagrad, Adadelta, Ftrl."""

from __future__ import annotations

from typing import Any, Unpack

from .base import Optimizer
from .options import Options


class RMSprop(Optimizer):
    """Steps of the gradient over the root of a running mean of its square (Hinton).

    `centered` takes the variance in place of the mean square; `momentum` adds up the steps.
    """

    settings = ("rho", "momentum", "epsilon", "centered")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.rho = rho
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = centered

    def slot_groups(self) -> list[dict[str, float]]:
        groups = [{"velocity": 0.0}]
        if self.momentum > 0:
            groups.append({"momentum": 0.0})
        if self.centered:
            groups.append({"average_gradient": 0.0})
        return groups

    def scalars(self, learning_rate: Any, step: Any) -> dict[str, Any]:
        return {
            "rate": learning_rate,
            "keep": self.rho,
            "take": 1 - self.rho,
            "keep_momentum": self.momentum,
            "epsilon": self.epsilon,
        }

    @staticmethod
    def rule(
        xp: Any, w: Any, g: Any, velocity: Any, momentum: Any = None,
        average_gradient: Any = None, *,
        rate: Any, keep: Any, take: Any, keep_momentum: Any, epsilon: Any,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        velocity = velocity * keep + g * g * take
        variance = velocity
        if average_gradient is not None:
            average_gradient = average_gradient * keep + g * take
            variance = velocity - average_gradient * average_gradient
        step = g * rate / xp.sqrt(variance + epsilon)
        if momentum is not None:
            step = momentum = momentum * keep_momentum + step
        slots = {"velocity": velocity, "momentum": momentum, "average_gradient": average_gradient}
        return w - step, slots


class Adagrad(Optimizer):
    """Steps of the gradient over the root of the sum of all its squares (Duchi et al., 2011).

    An IndexedSlices changes its rows only.
    """

    settings = ("initial_accumulator_value", "epsilon")
    rows_without_gradient_stay = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon

    def slot_groups(self) -> list[dict[str, float]]:
        return [{"accumulator": self.initial_accumulator_value}]

    def scalars(self, learning_rate: Any, step: Any) -> dict[str, Any]:
        return {"rate": learning_rate, "epsilon": self.epsilon}

    @staticmethod
    def rule(
        xp: Any, w: Any, g: Any, accumulator: Any, *, rate: Any, epsilon: Any
    ) -> tuple[Any, dict[str, Any]]:
        accumulator = accumulator + g * g
        w = w - g * rate / xp.sqrt(accumulator + epsilon)
        return w, {"accumulator": accumulator}


class Adadelta(Optimizer):
    """Steps whose running mean square is that of past steps over that of gradients (Zeiler)."""

    settings = ("rho", "epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.rho = rho
        self.epsilon = epsilon

    def slot_groups(self) -> list[dict[str, float]]:
        return [{"accumulated_grad": 0.0, "accumulated_delta_var": 0.0}]

    def scalars(self, learning_rate: Any, step: Any) -> dict[str, Any]:
        return {
            "rate": learning_rate,
            "keep": self.rho,
            "take": 1 - self.rho,
            "epsilon": self.epsilon,
        }

    @staticmethod
    def rule(
        xp: Any, w: Any, g: Any, accumulated_grad: Any, accumulated_delta_var: Any, *,
        rate: Any, keep: Any, take: Any, epsilon: Any,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        grads = accumulated_grad * keep + g * g * take
        step = xp.sqrt(accumulated_delta_var + epsilon) * g / xp.sqrt(grads + epsilon)
        steps = accumulated_delta_var * keep + step * step * take
        slots = {"accumulated_grad": grads, "accumulated_delta_var": steps}
        return w - step * rate, slots


class Ftrl(Optimizer):
    """Follow the regularized leader (McMahan et al., 2013), with L1, L2 and shrinking L2."""

    settings = (
        "learning_rate_power", "initial_accumulator_value", "l1_regularization_strength",
        "l2_regularization_strength", "l2_shrinkage_regularization_strength", "beta",
    )  # fmt: skip

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        if learning_rate_power > 0:
            raise ValueError(
                "Ftrl: `learning_rate_power` must be negative or zero. Received: "
                f"{learning_rate_power!r}."
            )
        self.learning_rate_power = learning_rate_power
        self.initial_accumulator_value = initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self.beta = beta
        for name in self.settings[1:5]:
            if getattr(self, name) < 0:
                raise ValueError(
                    f"Ftrl: `{name}` must be positive or zero. Received: {getattr(self, name)!r}."
                )

    def slot_groups(self) -> list[dict[str, float]]:
        return [{"accumulator": self.initial_accumulator_value, "linear": 0.0}]

    def scalars(self, learning_rate: Any, step: Any) -> dict[str, Any]:
        l2 = self.l2_regularization_strength + self.beta / (2 * learning_rate)
        return {
            "rate": learning_rate,
            "power": -self.learning_rate_power,
            "low": -self.l1_regularization_strength,
            "high": self.l1_regularization_strength,
            "l2": 2 * l2,
            "shrinkage": 2 * self.l2_shrinkage_regularization_strength,
        }

    @staticmethod
    def rule(
        xp: Any, w: Any, g: Any, accumulator: Any, linear: Any, *,
        rate: Any, power: Any, low: Any, high: Any, l2: Any, shrinkage: Any,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        sum_of_squares = accumulator + g * g
        root = sum_of_squares**power
        linear = linear + (g + w * shrinkage - (root - accumulator**power) / rate * w)
        within = xp.minimum(xp.maximum(linear, low), high)
        w = (within - linear) / (root / rate + l2)
        return w, {"accumulator": sum_of_squares, "linear": linear}
