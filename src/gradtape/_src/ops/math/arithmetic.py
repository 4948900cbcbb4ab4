"""Sums, products and quotients, absolute value and sign, maximum, clipping, rounding."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import operand
from ...core.cotangent import IndexedSlices
from ...core.errors import DTypeError, InvalidArgumentError, NotATensorError, ShapeError
from ...core.pattern import ELEMENTWISE
from ...core.shape import TensorShape
from ...core.spec import Spec, broadcast_shapes
from ...core.take_over import lends_itself, take_over
from ...core.tensor import Tensor
from ..array.cast import _cast
from ..array.shape import broadcast_to
from ..declare.elementwise import elementwise
from ..declare.op import op
from ..declare.static import to_tensor
from .complex import real_dtype, to_complex
from .conjugate import conj
from .logic import (
    greater,
    greater_equal,
    less_equal,
    logical_and,
    logical_not,
    select,
    zero_like_scalar,
)

_POSITIVE = (0.5, 2.0)
_FLOAT32 = np.dtype(np.float32)


# Sums, differences, products


def _joined(x: Tensor, y: Tensor) -> Tensor:
    """Strings one after the other, elementwise. (Arrays of rank 0 would add up to plain bytes.)"""
    shape = broadcast_shapes("add", x=x._array.shape, y=y._array.shape)
    result = np.empty(shape, object)
    try:
        result[...] = x._array + y._array
    except TypeError:
        raise DTypeError(
            "add: a tensor of strings meets a number. Make a string of it: str(number)."
        ) from None
    return Tensor(result)


@elementwise(x=1, y=1, dtypes=dt.NUMERIC, of_strings=_joined, builtin=operator.add)
def add(xp, x, y):
    """`x + y`, elementwise; strings are joined."""
    return x + y


@elementwise(x=1, y=-1, dtypes=dt.NUMERIC, builtin=operator.sub)
def subtract(xp, x, y):
    """`x - y`, elementwise."""
    return x - y


@elementwise(
    # (To ask here spares a call of `conj`, 7 % of what these rules take.)
    x=lambda g, y: multiply(g, y if y._array.dtype is _FLOAT32 else conj(y)),
    y=lambda g, x: multiply(g, x if x._array.dtype is _FLOAT32 else conj(x)),
    dtypes=dt.NUMERIC | dt.BOOL,
    builtin=operator.mul,
)
def multiply(xp, x, y):
    """`x * y`, elementwise."""
    return x * y


@elementwise(x=-1, dtypes=dt.NUMERIC, builtin=operator.neg)
def negative(xp, x):
    """`-x`, elementwise."""
    return -x


@elementwise(x=lambda x: x + x, dtypes=dt.NUMERIC)
def square(xp, x):
    """`x * x`, elementwise."""
    return x * x


@elementwise(
    # The value is (x - y) times its own conjugate, so both factors contribute.
    x=lambda g, x, y: (g + conj(g)) * (x - y),
    y=lambda g, x, y: (g + conj(g)) * (y - x),
    dtypes=dt.NUMERIC,
)
def squared_difference(xp, x, y):
    """`(x - y)**2`, elementwise; for complex numbers `abs(x - y)**2`, the squared distance."""
    d = x - y
    return d * (xp.conj(d) if d.dtype.kind == "c" else d)


@op(
    additive=True,
    pattern=ELEMENTWISE,
    dtypes=dt.NUMERIC,
    samples=lambda r: [
        ([r.normal(size=(2, 3)) for _ in range(3)], {}),
        ([r.normal(size=()), r.normal(size=())], {}),
        ([r.normal(size=(0, 2))], {}),
    ],
)
def _add_n(xp, *inputs):
    return reduce(operator.add, inputs)


@_add_n.vjp("inputs")
def _add_n_vjp(g, index):
    return g


@_add_n.batch
def _add_n_batch(batched, *inputs):
    shape = next(x for i, x in enumerate(inputs) if f"inputs[{i}]" in batched).shape
    return _add_n(*(x if x.shape == shape else broadcast_to(x, shape) for x in inputs))


@_add_n.spec
def _add_n_spec(*inputs):
    return Spec(_one_shape("add_n", [x.shape for x in inputs]), inputs[0].dtype)


def _one_shape(op_name: str, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ShapeError(
                f"{op_name}: all `inputs` must have one shape: inputs[0].shape={tuple(shapes[0])}, "
                f"inputs[{i}].shape={tuple(shape)}. To broadcast, use x + y."
            )
    return shapes[0]


@lends_itself
def add_n(inputs: Iterable[Any], name: str | None = None) -> Tensor:
    """The sum of all `inputs`, tensors of one shape and dtype. IndexedSlices are made dense."""
    if not isinstance(inputs, Iterable):
        raise InvalidArgumentError(
            f"add_n: `inputs` must be a list of tensors, not {inputs!r:.200}."
        )
    tensors = [to_tensor(x, "add_n") for x in inputs]
    if not tensors:
        raise InvalidArgumentError("add_n: `inputs` is empty, and must hold at least one tensor.")
    if len(tensors) == 1:
        return tensors[0]
    _one_shape("add_n", [x._array.shape for x in tensors])
    return _add_n(*tensors)


def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The sum of the list `inputs`, of tensors of one shape and dtype, which may be stated."""
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise InvalidArgumentError("accumulate_n: `inputs` must be a list of at least one tensor.")
    first = to_tensor(inputs[0], "accumulate_n")
    if shape is not None and not TensorShape(shape).is_compatible_with(first.shape):
        raise ShapeError(
            f"accumulate_n: shape={shape!r} was stated, but inputs[0].shape={tuple(first.shape)}."
        )
    if tensor_dtype is not None and first.dtype != tensor_dtype:
        raise DTypeError(
            f"accumulate_n: tensor_dtype={tensor_dtype!r} was stated, but inputs[0] is "
            f"{first.dtype.name}. Cast the inputs with tf.cast."
        )
    return add_n([first, *inputs[1:]])


@lends_itself
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Tensor | Any:
    """`scalar * x` for a `scalar` of rank 0. Of IndexedSlices only the rows are multiplied."""
    values = x.values if isinstance(x, IndexedSlices) else to_tensor(x, "scalar_mul")
    if not isinstance(scalar, Tensor):
        scalar = operand(scalar, values._array.dtype, "scalar_mul")
    if scalar.ndim:
        raise ShapeError(
            f"scalar_mul: `scalar` must have rank 0, and has shape {tuple(scalar.shape)}."
        )
    product = multiply(scalar, values)
    return (
        IndexedSlices(product, x.indices, x.dense_shape)
        if isinstance(x, IndexedSlices)
        else product
    )


# Quotients


@elementwise(
    x=lambda g, y: g / conj(y),
    y=lambda g, x, y: g * conj(-x / y / y),
    domain={"y": _POSITIVE},
    builtin=operator.truediv,
)
def _divide(xp, x, y):
    return x / y


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y`, elementwise. Integers are divided as float64, those of 8 and 16 bits as float32.

    >>> divide([1, 2, 3], 2)
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([0.5, 1. , 1.5])>
    """
    try:
        return _divide(x, y)
    except DTypeError:
        # Asking first whether they are integers would cost every quotient 0.1 of its 1.0 µs; as it
        # is, integers pay for the exception: 17 µs on 16 numbers.
        floats = _as_floats(x, y, "divide")
        if floats is None:
            raise
    return _divide(*floats)


truediv = realdiv = divide


@elementwise(
    x=lambda g, y: _divide_no_nan(g, conj(y)),
    y=lambda g, x, y: g * conj(_divide_no_nan(_divide_no_nan(-x, y), y)),
    domain={"y": _POSITIVE},
)
def _divide_no_nan(xp, x, y):
    zero = y == 0
    return xp.where(zero, 0, x / xp.where(zero, 1, y))


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y`, and 0 where `y` is 0, where also both gradients are 0. Integers become floats."""
    try:
        floats = _as_floats(x, y, "divide_no_nan")
    except NotATensorError as error:
        return take_over(error, divide_no_nan, x, y)
    return _divide_no_nan(*(floats or (x, y)))


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """`1 / x`, and 0 where `x` is 0, where also the gradient is 0."""
    try:
        x = to_tensor(x, "reciprocal_no_nan")
    except NotATensorError as error:
        return take_over(error, reciprocal_no_nan, x)
    return _divide_no_nan(Tensor(np.ones((), x._array.dtype)), x)


def _as_floats(x: Any, y: Any, op_name: str) -> tuple[Tensor, Tensor] | None:
    """Both as tensors of the dtype in which integers are divided; None if they are no integers."""
    if isinstance(y, Tensor) and not isinstance(x, Tensor):
        x = operand(x, y._array.dtype, op_name)
    x = to_tensor(x, op_name)
    dtype = x._array.dtype
    if not isinstance(y, Tensor):
        y = operand(y, dtype, op_name)
    if dtype not in dt.INTEGER or y._array.dtype != dtype:
        return None
    quotient = np.dtype(np.float32 if dtype.itemsize <= 2 else np.float64)
    return _cast(x, dtype=quotient), _cast(y, dtype=quotient)


@elementwise(
    x=lambda g, y: multiply_no_nan(g, conj(y)),
    y=lambda g, x: multiply_no_nan(conj(x), g),
)
def multiply_no_nan(xp, x, y):
    """`x * y`, and 0 where `y` is 0, even if `x` is infinite or NaN.

    Where `y` is 0 the gradient of `x` is 0, that of `y` is `x`.
    """
    return xp.where(y == 0, 0, x) * y


@elementwise(
    x=lambda x, y: xdivy(nonzero(x), y),
    y=lambda x, y: xdivy(-x, y * y),
    domain={"y": _POSITIVE},
)
def xdivy(xp, x, y):
    """`x / y`, and 0 where `x` is 0, where also both gradients are 0."""
    zero = x == 0
    return xp.where(zero, 0, x / xp.where(zero, 1, y))


@elementwise()
def nonzero(xp, x):
    """1 where `x` is not 0 and 0 where it is, in the dtype of `x`."""
    return (x != 0).astype(x.dtype)


@elementwise(
    x=lambda g, out: multiply_no_nan(negative(conj(out * out)), g), domain={"x": _POSITIVE}
)
def reciprocal(xp, x):
    """`1 / x`, elementwise. At 0 the gradient is -Inf, but 0 if the cotangent is 0 there."""
    return 1 / x


def _floor_quotient(xp: Any, x: Any, y: Any) -> Any:
    return xp.floor_divide(x, y) if x.dtype.kind in "iu" else xp.floor(x / y)


@elementwise(dtypes=dt.REAL, domain={"y": _POSITIVE})
def floordiv(xp, x, y):
    """`x // y`: the quotient rounded down, elementwise. It has no gradient."""
    return _floor_quotient(xp, x, y)


@elementwise(x=1, y=lambda g, x, y: -g * floordiv(x, y), dtypes=dt.REAL, domain={"y": _POSITIVE})
def floormod(xp, x, y):
    """`x % y`: what division with the quotient rounded down leaves; it has the sign of `y`."""
    return xp.remainder(x, y)


mod = floormod


@elementwise(dtypes=dt.REAL, domain={"y": _POSITIVE})
def truncatediv(xp, x, y):
    """The quotient rounded towards zero, elementwise. It has no gradient."""
    if x.dtype.kind not in "iu":
        return xp.trunc(x / y)
    down = xp.floor_divide(x, y)
    rounded_away = (x != down * y) & ((x < 0) != (y < 0))
    return down + rounded_away.astype(x.dtype)


@elementwise(x=1, y=lambda g, x, y: -g * truncatediv(x, y), dtypes=dt.REAL, domain={"y": _POSITIVE})
def truncatemod(xp, x, y):
    """What division with the quotient rounded towards zero leaves; it has the sign of `x`."""
    return xp.fmod(x, y)


# Absolute value, sign, roots, powers


def _abs_vjp(g, x):
    if x._array.dtype in dt.COMPLEX:
        return to_complex(g) * sign(x)
    return g * _sign(x)


@elementwise(x=_abs_vjp, dtypes=dt.NUMERIC, result=real_dtype)
def abs(xp, x):
    """The absolute value of each element, real also for complex `x`. The gradient at 0 is 0."""
    return xp.abs(x)


@elementwise(x=0, dtypes=dt.REAL)
def _sign(xp, x):
    return xp.sign(x)


def sign(x: Any, name: str | None = None) -> Tensor:
    """-1, 0 or 1 by the sign of each element; of complex numbers `x / abs(x)`, and 0 at 0.

    The gradient of a real `x` is zero everywhere.
    """
    try:
        x = to_tensor(x, "sign")
    except NotATensorError as error:
        return take_over(error, sign, x)
    return _divide_no_nan(x, to_complex(abs(x))) if x._array.dtype in dt.COMPLEX else _sign(x)


# Maximum, minimum, clipping


@elementwise(
    x=lambda g, x, y: select(greater_equal(x, y), g, zero_like_scalar(g)),
    y=lambda g, x, y: select(greater_equal(x, y), zero_like_scalar(g), g),
    dtypes=dt.REAL,
)
def maximum(xp, x, y):
    """The greater of `x` and `y`, elementwise; NaN if one is. At a tie `x` gets the gradient."""
    return xp.maximum(x, y)


@elementwise(
    x=lambda g, x, y: select(less_equal(x, y), g, zero_like_scalar(g)),
    y=lambda g, x, y: select(less_equal(x, y), zero_like_scalar(g), g),
    dtypes=dt.REAL,
)
def minimum(xp, x, y):
    """The lesser of `x` and `y`, elementwise; NaN if one is. At a tie `x` gets the gradient."""
    return xp.minimum(x, y)


def _clip_vjp(g, t, low, high):
    inside = logical_and(less_equal(t, high), greater_equal(t, low))
    return select(inside, g, zero_like_scalar(g))


def _clip_vjp_low(g, t, low, high):
    below = logical_not(greater_equal(minimum(t, high), low))
    return select(below, g, zero_like_scalar(g))


def _clip_vjp_high(g, t, low, high):
    above = logical_and(greater(t, high), greater_equal(high, low))
    return select(above, g, zero_like_scalar(g))


@elementwise(
    t=_clip_vjp,
    low=_clip_vjp_low,
    high=_clip_vjp_high,
    dtypes=dt.REAL,
    domain={"low": (-1.5, -1.0), "high": (1.0, 1.5)},
)
def _clip_by_value(xp, t, low, high):
    return xp.maximum(xp.minimum(t, high), low)


def clip_by_value(
    t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None
) -> Tensor | Any:
    """`t` with what lies outside of [`clip_value_min`, `clip_value_max`] set to the nearer bound.

    The bounds may be tensors that broadcast to the shape of `t`. `t` gets the gradient inside and
    at the bounds, a bound that of the elements set to it. IndexedSlices are clipped by their rows.
    """
    if isinstance(t, IndexedSlices):
        return IndexedSlices(
            clip_by_value(t.values, clip_value_min, clip_value_max), t.indices, t.dense_shape
        )
    try:
        t = to_tensor(t, "clip_by_value")
    except NotATensorError as error:
        return take_over(error, clip_by_value, t, clip_value_min, clip_value_max)
    clipped = _clip_by_value(t, clip_value_min, clip_value_max)
    if clipped._array.shape != t._array.shape:
        raise ShapeError(
            f"clip_by_value: the bounds must broadcast to t.shape={t._array.shape}, and they would "
            f"make it {clipped._array.shape}."
        )
    return clipped


# Rounding


@elementwise(dtypes=dt.FLOATING)
def floor(xp, x):
    """The greatest integer not above each element. It has no gradient."""
    return xp.floor(x)


@elementwise(dtypes=dt.FLOATING)
def ceil(xp, x):
    """The least integer not below each element. It has no gradient."""
    return xp.ceil(x)


@elementwise(dtypes=dt.FLOATING)
def rint(xp, x):
    """The nearest integer, of two the even one. It has no gradient."""
    return xp.rint(x)


def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest integer to each element, of two the even one: 0.5 gives 0, 1.5 gives 2."""
    try:
        x = to_tensor(x, "round")
    except NotATensorError as error:
        return take_over(error, round, x)
    return x if x._array.dtype in dt.INTEGER else rint(x)
