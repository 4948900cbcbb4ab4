"""Tensors passed on: in another dtype (`cast`), as they are (`identity`), cut from every tape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.cotangent import IndexedSlices
from ...core.dtypes import as_dtype
from ...core.errors import DTypeError, NotATensorError
from ...core.pattern import ELEMENTWISE
from ...core.placement import placement
from ...core.spec import Spec
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..declare.op import op
from ..declare.static import to_tensor


@op(
    batch_axes=(),
    pattern=ELEMENTWISE,
    linear="x",
    samples=lambda r: [([r.normal(size=(2, 3))], {"dtype": np.dtype("float64")})],
)
def _cast(xp, x, *, dtype):
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = xp.real(x)
    return x.astype(dtype)


@_cast.vjp("x")
def _cast_vjp(g, x: Spec):
    return _cast(g, dtype=x.dtype)


@op(
    batch_axes=(),
    nondiff="all",
    samples=lambda r: [
        ([r.normal(size=(2, 3))], {"dtype": np.dtype("int32")}),
        ([np.array([300.0, -5.0, 3e10, np.nan])], {"dtype": np.dtype("uint8")}),
        ([np.array([3e10, -5.0, np.inf, 7.9])], {"dtype": np.dtype("uint32")}),
        ([np.array([0.1, -5.0, 448.0, 465.0])], {"dtype": dt.float8_e4m3fn.numpy_dtype}),
    ],
)
def _cast_discrete(xp, x, *, dtype):
    """A cast that no gradient passes: to integers, bool or a float of 8 bits."""
    if x.dtype.kind == "c":
        x = xp.real(x)
    return xp.to_integers(x, dtype) if dtype.kind in "iu" else x.astype(dtype)


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`x` in another dtype. To an integer it truncates towards zero, and cuts the gradient.

    The floats of 8 bits (`tf.dtypes.experimental`) are for storage: they cut the gradient too.
    A complex tensor loses its imaginary part in a real dtype. IndexedSlices are cast by their rows.
    """
    wanted = as_dtype(dtype)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, wanted), x.indices, x.dense_shape)
    try:
        x = to_tensor(x, "cast")
    except NotATensorError as error:
        return take_over(error, cast, x, wanted)
    numpy_dtype = wanted.numpy_dtype
    if x._array.dtype == numpy_dtype:
        return x
    if x.dtype is dt.string or wanted is dt.string:
        raise DTypeError(
            f"cast: no conversion from {x.dtype.name} to {wanted.name}. Read numbers from text, "
            "and write them as text, in Python: float(text), tf.strings.as_string(x)."
        )
    return (_cast if numpy_dtype in dt.INEXACT else _cast_discrete)(x, dtype=numpy_dtype)


@op(
    batch_axes=(),
    pattern=ELEMENTWISE,
    linear="x",
    passes_slices=True,
    samples=lambda r: [([r.normal(size=(2, 3))], {})],
)
def _identity(xp, x):
    return x


@_identity.vjp("x")
def _identity_vjp(g):
    return g


def identity(input: Any, name: str | None = None) -> Tensor:
    """A new tensor with the value of `input`; its gradient passes unchanged."""
    if type(input) is not Tensor and isinstance(input, IndexedSlices):
        return IndexedSlices(identity(input.values), input.indices, input.dense_shape)
    result = _identity(input)
    if placement.blocks and type(result) is Tensor:
        array = placement.placed(result._array)
        return result if array is result._array else Tensor(array, result._key)
    return result


def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """The tensors of the list `input`, each a new one with the same value."""
    return [identity(x) for x in input]


@op(
    batch_axes=(),
    pattern=ELEMENTWISE,
    nondiff="all",
    samples=lambda r: [([r.normal(size=(2, 3))], {})],
)
def _stop_gradient(xp, x):
    return x


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The value of `input`, a constant to every tape."""
    return _stop_gradient(input)
