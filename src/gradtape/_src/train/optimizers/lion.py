"""Lion: steps of the sign of the momentum."""

from __future__ import annotations

from typing import Any, Unpack

from .base import Optimizer
from .options import Options


class Lion(Optimizer):
    """Steps of one size: the sign of a mix of momentum and gradient (Chen et al., 2023)."""

    settings = ("beta_1", "beta_2")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        if not 0 < beta_1 <= 1:
            raise ValueError(f"Lion: `beta_1` must be in (0, 1]. Received: {beta_1!r}.")
        self.beta_1 = beta_1
        self.beta_2 = beta_2

    def slot_groups(self) -> list[dict[str, float]]:
        return [{"momentum": 0.0}]

    def scalars(self, learning_rate: Any, step: Any) -> dict[str, Any]:
        return {
            "rate": learning_rate,
            "keep_1": self.beta_1,
            "take_1": 1 - self.beta_1,
            "keep_2": self.beta_2,
            "take_2": 1 - self.beta_2,
        }

    @staticmethod
    def rule(
        xp: Any, w: Any, g: Any, momentum: Any, *,
        rate: Any, keep_1: Any, take_1: Any, keep_2: Any, take_2: Any,
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        w = w - xp.sign(momentum * keep_1 + g * take_1) * rate
        return w, {"momentum": momentum * keep_2 + g * take_2}
