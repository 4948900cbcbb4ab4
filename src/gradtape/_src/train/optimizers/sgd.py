"""SGD: gradient descent, with momentum."""

from __future__ import annotations

from typing import Any, Unpack

from .base import Optimizer
from .options import Options
from .rule import RuleFunction


class SGD(Optimizer):
    """Gradient descent: `w -= learning_rate * g`; with momentum, along a running sum of gradients.

    `nesterov` takes the gradient to be that at the point where the momentum alone leads. Without
    momentum, an IndexedSlices changes its rows only.
    """

    settings = ("momentum", "nesterov")

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        if not isinstance(momentum, (int, float)) or not 0 <= momentum <= 1:
            raise ValueError(f"SGD: `momentum` must be a number in [0, 1]. Received: {momentum!r}.")
        self.momentum = momentum
        self.nesterov = nesterov

    def slot_groups(self) -> list[dict[str, float]]:
        return [{"momentum": 0.0}] if self.momentum else []

    @property
    def rows_without_gradient_stay(self) -> bool:
        return not self.momentum

    def scalars(self, learning_rate: Any, step: Any) -> dict[str, Any]:
        return {"rate": learning_rate, "keep": self.momentum}

    @property
    def rule(self) -> RuleFunction:  # type: ignore[override]  # static elsewhere: here, chosen
        if not self.momentum:
            return _descent
        return _nesterov if self.nesterov else _momentum


def _descent(xp: Any, w: Any, g: Any, *, rate: Any) -> tuple[Any, dict[str, Any]]:
    return w - g * rate, {}


def _momentum(
    xp: Any, w: Any, g: Any, momentum: Any, *, rate: Any, keep: Any
) -> tuple[Any, dict[str, Any]]:
    momentum = momentum * keep - g * rate
    return w + momentum, {"momentum": momentum}


def _nesterov(
    xp: Any, w: Any, g: Any, momentum: Any, *, rate: Any, keep: Any
) -> tuple[Any, dict[str, Any]]:
    step = g * rate
    momentum = momentum * keep - step
    return w + momentum * keep - step, {"momentum": momentum}
