"""Initializers: functions from a shape to the first value of a variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.dtypes import DType, as_dtype
from ...core.errors import DTypeError
from ...core.tensor import Tensor
from ..array.creation import constant, ones, zeros
from . import sequence as random


class Initializer:
    """Base of the initializers: called with a shape and a dtype they give a tensor."""

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an initializer like this."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """The initializer with these arguments."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})


class zeros_initializer(Initializer):
    """Zeros.

    >>> zeros_initializer()(shape=(2,))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 0.], dtype=float32)>
    """

    def __call__(self, shape: Any, dtype: Any = dt.float32, **kwargs: Any) -> Tensor:
        return zeros(_whole_shape(shape, kwargs), _numeric(dtype, "zeros_initializer"))


class ones_initializer(Initializer):
    """Ones."""

    def __call__(self, shape: Any, dtype: Any = dt.float32, **kwargs: Any) -> Tensor:
        return ones(_whole_shape(shape, kwargs), _numeric(dtype, "ones_initializer"))


class constant_initializer(Initializer):
    """The given value everywhere, or as many values as the shape has elements, in order."""

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"constant_initializer: `value` must be a number, a list or an array, not a "
                f"{type(value).__name__}."
            )
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        return constant(self.value, dtype, _whole_shape(shape, kwargs))

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


class random_normal_initializer(Initializer):
    """Draws from the normal distribution; with a `seed`, the same ones at each call."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dt.float32, **kwargs: Any) -> Tensor:
        wanted = as_dtype(dtype)
        if not wanted.is_floating:
            raise DTypeError(
                f"random_normal_initializer: `dtype` must be floating, and is {wanted.name}."
            )
        return random.normal(_whole_shape(shape, kwargs), self.mean, self.stddev, wanted, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


class random_uniform_initializer(Initializer):
    """Draws from [minval, maxval); with a `seed`, the same ones at each call."""

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dt.float32, **kwargs: Any) -> Tensor:
        wanted = as_dtype(dtype)
        if not (wanted.is_floating or wanted.is_integer):
            raise DTypeError(
                "random_uniform_initializer: `dtype` must be floating or an integer, and is "
                f"{wanted.name}."
            )
        return random.uniform(
            _whole_shape(shape, kwargs), self.minval, self.maxval, wanted, self.seed
        )

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


def _numeric(dtype: Any, name: str) -> DType:
    wanted = as_dtype(dtype)
    if not (wanted.is_numeric or wanted.is_bool):
        raise DTypeError(f"{name}: `dtype` must be numeric or bool, and is {wanted.name}.")
    return wanted


def _whole_shape(shape: Any, options: dict[str, Any]) -> Any:
    """The shape to fill: that of a part of the variable, where a partition is asked for."""
    unknown = set(options) - {"partition_shape", "partition_offset"}
    if unknown:
        raise TypeError(f"An initializer has no argument {sorted(unknown)[0]!r}.")
    part = options.get("partition_shape")
    return shape if part is None else part
