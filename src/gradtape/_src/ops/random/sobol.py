"""Quasi-random points."""

from __future__ import annotations

from typing import Any

from ...core import dtypes as dt
from ...core.errors import DTypeError, InvalidArgumentError
from ...core.tensor import Tensor
from ..declare.static import static_int


def sobol_sample(
    dim: Any, num_results: Any, skip: Any = 0, dtype: Any = dt.float32, name: str | None = None
) -> Tensor:
    """Points of the Sobol sequence in the unit cube: `num_results` rows of `dim` numbers."""
    from scipy.stats import qmc

    axes, count, first = (
        static_int(value, "sobol_sample", argument)
        for value, argument in ((dim, "dim"), (num_results, "num_results"), (skip, "skip"))
    )
    wanted = dt.as_dtype(dtype)
    if not wanted.is_floating:
        raise DTypeError(f"sobol_sample: `dtype` must be floating, and is {wanted.name}.")
    if axes < 1 or count < 1 or first < 0:
        raise InvalidArgumentError(
            "sobol_sample: `dim` and `num_results` must be at least 1 and `skip` at least 0. "
            f"Received: {axes}, {count} and {first}."
        )
    sequence = qmc.Sobol(axes, scramble=False, bits=32)
    sequence.fast_forward(first + 1)  # the origin, with which the sequence begins, is left out
    return Tensor(sequence.random(count).astype(wanted.numpy_dtype))
