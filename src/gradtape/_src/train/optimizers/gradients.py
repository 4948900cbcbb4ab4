"""Gradients as rules take them: arrays, or rows of one, of the shape and dtype of the variable."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.convert import as_tensor
from ...core.cotangent import IndexedSlices, dense
from ...core.dtypes import INEXACT
from ...core.engine import common_engine
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...core.tracing import current_graph, tracing
from ...tape.variable import Variable, variable_of


class GradientRows(NamedTuple):
    """A gradient that is zero outside of some rows, each of which is named once."""

    indices: Any
    values: Any


def unzipped(pairs: list[Any], title: str) -> tuple[list[Any], list[Variable]]:
    """The gradients and the variables, of which these should be pairs."""
    expected = "Expected pairs (gradient, variable), such as zip(gradients, variables)"
    if not pairs:
        raise ValueError(
            f"{title}.apply_gradients: `grads_and_vars` is empty. {expected}; an iterator can be "
            "used once only."
        )
    try:
        return [g for g, _ in pairs], [v for _, v in pairs]
    except (TypeError, ValueError):
        wrong = next(p for p in pairs if not isinstance(p, (tuple, list)) or len(p) != 2)
        raise TypeError(
            f"{title}.apply_gradients: `grads_and_vars` holds a {type(wrong).__name__} in the "
            f"place of a pair: {wrong!r:.100}. {expected}."
        ) from None


def require_variables(variables: list[Any], title: str) -> None:
    """An error unless each of what `title` is to update is a variable, or stands for one."""
    for i, variable in enumerate(map(variable_of, variables)):
        if not isinstance(variable, Variable):
            raise TypeError(
                f"{title}: only variables can be updated, and number {i} is a "
                f"{type(variable).__name__}: {variable!r:.100}. Make it a tf.Variable. In a pair "
                "the gradient comes first: (gradient, variable)."
            )


def gradient_for(variable: Variable, g: Any, by_rows: bool, title: str) -> Any:
    """The gradient `g` as an array of the shape and dtype of `variable`.

    An IndexedSlices becomes `GradientRows` if `by_rows`, else an array: the numbers are the same.
    `title` is the name that errors begin with.
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
    array, like = g._array, variable._cell.array()
    if array.shape != like.shape:
        raise ShapeError(
            f"{title}: the variable {variable.name!r} has shape {variable.shape}, and its gradient "
            f"{g.shape}. Are gradients and variables in the same order?"
        )
    if like.dtype not in INEXACT:
        raise DTypeError(
            f"{title}: the variable {variable.name!r} is {variable.dtype.name}, and only floating "
            "variables can be updated by a gradient. Leave it out."
        )
    if (type(array) is not np.ndarray or type(like) is not np.ndarray) and current_graph() is None:
        array = variable._cell.at_home(array)
    return array if array.dtype == like.dtype else array.astype(like.dtype)


def _rows(slices: IndexedSlices, variable: Variable, title: str) -> GradientRows:
    """The rows of a gradient, those with one index summed."""
    like = variable._cell.array()
    values, indices = slices.values._array, slices.indices._array
    if current_graph() is None:
        values = variable._cell.at_home(values)
    if values.shape != (*indices.shape, *like.shape[1:]) or indices.ndim != 1:
        raise ShapeError(
            f"{title}: the variable {variable.name!r} has shape {variable.shape}, and the rows of "
            f"its gradient {values.shape}, with indices {indices.shape}. There must be one index "
            "for each row."
        )
    xp = common_engine([values, indices])
    indices = xp.valid_indices(indices, like.shape[0], f"{title}: a gradient")
    # A program must know how many rows there are: padding rows get an index past the end.
    fixed = {"size": len(indices), "fill_value": like.shape[0]} if xp.is_compiled else {}
    unique, place = xp.unique(indices, return_inverse=True, **fixed)
    return GradientRows(unique, xp.rows_add(len(unique), place, values.astype(like.dtype)))


def sum_of_squares(g: Any) -> Any:
    """In float32 at least, and without an array of squares."""
    xp = common_engine([g])
    if g.dtype.itemsize == 2:
        g = g.astype(np.float32)
    if not xp.is_compiled:
        flat = g.reshape(-1)
        return flat.dot(flat)
    return xp.sum(xp.square(g))


def clip_scale(norm: Any, largest: float) -> Any:
    """What a gradient of this norm is multiplied by, so that its norm is `largest` at most."""
    return largest / common_engine([norm]).maximum(norm, largest)


def assign_any(variable: Variable, value: Any, whole: Any, rows: Any) -> None:
    """Give `value`, in the dtype of the variable, to `whole`; to `rows`, if it is rows."""
    dtype = variable.dtype
    if isinstance(value, IndexedSlices):
        values = Tensor(value.values._array.astype(dtype.numpy_dtype))
        rows(IndexedSlices(values, value.indices, value.dense_shape))
    else:
        whole(Tensor(as_tensor(value)._array.astype(dtype.numpy_dtype)))


def reasons_of(variables: list[Any]) -> str:
    """Why the gradients by these are None, as far as someone has asked for it."""
    reasons = [each.reason_for(v._key) for v in variables for each in tracing.witnesses]
    found = dict.fromkeys([str(reason) for reason in reasons if reason is not None])
    if not found:
        return "`gradtape run --explain`, or tf.debugging.explain_gradients(), says why and where."
    return "\n".join(["", *found])
