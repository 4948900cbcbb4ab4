"""The arguments that all optimizers share."""

from __future__ import annotations

from difflib import get_close_matches
from inspect import signature
from typing import TypedDict


class OptionsWithoutDecay(TypedDict, total=False):
    """The arguments that every optimizer takes besides its own, `weight_decay` apart."""

    clipnorm: float | None
    clipvalue: float | None
    global_clipnorm: float | None
    use_ema: bool
    ema_momentum: float
    ema_overwrite_frequency: int | None
    loss_scale_factor: float | None
    gradient_accumulation_steps: int | None
    name: str | None


class Options(OptionsWithoutDecay, total=False):
    """The arguments that every optimizer takes besides its own."""

    weight_decay: float | None


_ELSEWHERE = {
    "lr": "learning_rate",
    "betas": "beta_1` and `beta_2",
    "eps": "epsilon",
    "decay": "learning_rate`, a schedule, or `weight_decay",
}
"""What arguments of PyTorch's optimizers, and of older ones of Keras, are called."""


def unknown_argument(optimizer: type, name: str) -> str:
    """What to say of an argument that an optimizer does not take."""
    own = [n for n in signature(optimizer).parameters if n not in ("args", "options", "kwargs")]
    names = list(dict.fromkeys([*own, *Options.__annotations__]))
    close = _ELSEWHERE.get(name) or next(iter(get_close_matches(name, names)), None)
    meant = f"Did you mean `{close}`? " if close else ""
    return f"there is no argument `{name}`. {meant}There are: {', '.join(names)}."
