"""Inputs for tests: those an op declares, or those its family implies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.op import Op

Sample = tuple[list[Any], dict[str, Any]]

_UNARY_SHAPES = [(), (3,), (2, 3), (2, 0)]
_BINARY_SHAPES = [((3,), (3,)), ((2, 3), (3,)), ((), (2, 2)), ((2, 1), (1, 3)), ((0, 2), (2,))]


def samples_of(op: Op, seed: int = 0) -> list[Sample]:
    """The declared samples of `op`; for an elementwise op, random inputs from its `domain`."""
    random = np.random.default_rng(seed)
    if op.samples is not None:
        return [(list(tensors), params) for tensors, params in op.samples(random)]
    count = len(op.arguments)
    if op.static:
        raise TypeError(f"{op.name}: an op with static parameters must declare its samples.")
    shapes = [(s,) for s in _UNARY_SHAPES] if count == 1 else [
        (*pair, *((pair[1],) * (count - 2))) for pair in _BINARY_SHAPES
    ]  # fmt: skip
    return [
        ([_draw(op, a, s, random) for a, s in zip(op.arguments, each, strict=True)], {})
        for each in shapes
    ]


def _draw(op: Op, argument: str, shape: tuple[int, ...], random: np.random.Generator) -> Any:
    low, high = op.domain.get(argument, (-2.0, 2.0))
    values = np.asarray(random.uniform(low, high, size=shape))
    if not op.dtypes & dt.FLOATING:
        return values > 0 if op.dtypes <= dt.BOOL else np.round(values * 3).astype(np.int32)
    # Keep away from zero, where abs, sign and their like have no derivative.
    return np.where(np.abs(values) < 0.05, values + 0.1, values) if low < 0 < high else values
