"""Gradients as optimizers take them: arrays, or rows of one, that fit their variables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.convert import as_tensor
from ...core.cotangent import IndexedSlices, dense
from ...core.dtypes import INEXACT
from ...core.engine import common_engine
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...core.tracing import current_graph
from ...tape.variable import Variable


class Rows(NamedTuple):
    """A gradient that is zero outside of some rows, each of which is named once."""

    indices: Any
    values: Any


def fitting(g: Any, variable: Variable, by_rows: bool, title: str) -> Any:
    """The gradient `g` as an array of the shape and dtype of `variable`.

    An IndexedSlices becomes `Rows` if `by_rows`, else an array: the numbers are the same. `title`
    is who asks, for errors.
    """
    if type(g) is not Tensor:
        if by_rows and isinstance(g, IndexedSlices):
            return _rows(g, variable, title)
        g = dense(g) if isinstance(g, IndexedSlices) else as_tensor(g, op=f"{title}: a gradient")
        if g._intercept is not None:
            raise InvalidArgumentError(
                f"{title}: inside vectorized_map a gradient has a value for each element, and the "
                f"variable {variable.name!r} has one. Update it outside."
            )
    array, like = g._array, variable._array_outside()
    if array.shape != like.shape:
        raise ShapeError(
            f"{title}: the variable {variable.name!r} has shape {variable.shape}, and its gradient "
            f"{g.shape}."
        )
    if like.dtype not in INEXACT:
        raise DTypeError(
            f"{title}: the variable {variable.name!r} is {variable.dtype.name}, and only floating "
            "variables can be updated by a gradient."
        )
    if type(array) is not np.ndarray and current_graph() is None:
        array = np.asarray(array)
    return array if array.dtype == like.dtype else array.astype(like.dtype)


def _rows(slices: IndexedSlices, variable: Variable, title: str) -> Rows:
    """The rows of a gradient, those with one index summed."""
    like = variable._array_outside()
    values, indices = slices.values._array, slices.indices._array
    if values.shape != (*indices.shape, *like.shape[1:]) or indices.ndim != 1:
        raise ShapeError(
            f"{title}: the variable {variable.name!r} has shape {variable.shape}, and the rows of "
            f"its gradient {values.shape}, with indices {indices.shape}."
        )
    xp = common_engine([values, indices])
    indices = xp.checked(indices, like.shape[0], f"{title}: a gradient")
    # A program must know how many rows there are: the rest are some that do not exist.
    fixed = {} if xp.name == "numpy" else {"size": len(indices), "fill_value": like.shape[0]}
    unique, place = xp.unique(indices, return_inverse=True, **fixed)
    return Rows(unique, xp.rows_add(len(unique), place, values.astype(like.dtype)))


def sum_of_squares(g: Any) -> Any:
    """In float32 at least; on NumPy without an array of squares."""
    xp = common_engine([g])
    if g.dtype.itemsize == 2:
        g = g.astype(np.float32)
    if xp.name == "numpy":
        flat = g.reshape(-1)
        return flat.dot(flat)
    return xp.sum(xp.square(g))


def clip_scale(norm: Any, largest: float) -> Any:
    """What a gradient of this norm is multiplied by, so that its norm is `largest` at most."""
    return largest / common_engine([norm]).maximum(norm, largest)
