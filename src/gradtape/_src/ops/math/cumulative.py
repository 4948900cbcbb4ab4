"""Cumulative ops along an axis: running sums, products and log-sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import NotATensorError
from ...core.pattern import MOVES, across
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..array.shape import _broadcast_to
from ..declare.op import op
from ..declare.reduction import in_float32
from ..declare.static import static_axis, to_tensor
from .conjugate import conj
from .exponential import exp
from .logic import equal, is_inf, logical_and, where


def _along(scan: Callable[..., Any], xp: Any, x: Any, axis: int, reverse: bool) -> Any:
    """`scan(x)`, from the end of the axis if `reverse`."""
    return xp.flip(scan(xp.flip(x, axis)), axis) if reverse else scan(x)


def _scan_samples(r: np.random.Generator) -> list[Any]:
    return [
        ([r.normal(size=(3,))], {"axis": 0, "reverse": False}),
        ([r.normal(size=(2, 5))], {"axis": 1, "reverse": True}),
        ([r.normal(size=(2, 1, 2))], {"axis": 1, "reverse": False}),
        ([r.normal(size=(0, 2))], {"axis": 0, "reverse": False}),
    ]


@op(batch_axes="axis", pattern=across("axis"), dtypes=dt.NUMERIC, samples=_scan_samples)
@in_float32
def _cumsum(xp, x, *, axis, reverse):
    return _along(lambda v: xp.cumsum(v, axis=axis, dtype=v.dtype), xp, x, axis, reverse)


@_cumsum.vjp("x")
def _cumsum_vjp(g, *, axis, reverse):
    return _cumsum(g, axis=axis, reverse=not reverse)


@op(
    batch_axes="axis",
    pattern=across("axis"),
    dtypes=dt.NUMERIC,
    samples=lambda r: [
        *_scan_samples(r),
        ([np.array([[2.0, 0.0, 3.0, 0.5], [0.0, 2.0, 0.0, 4.0]])], {"axis": 1, "reverse": False}),
        ([r.normal(size=(5,)) + 1j * r.normal(size=(5,))], {"axis": 0, "reverse": True}),
    ],
)
@in_float32
def _cumprod(xp, x, *, axis, reverse):
    return _along(lambda v: xp.cumprod(v, axis=axis, dtype=v.dtype), xp, x, axis, reverse)


@_cumprod.vjp("x")
def _cumprod_vjp(g, out, x, *, axis, reverse):
    # x[j] is multiplied by what stands before it, and by what follows up to each g: the second
    # factor is s[j] = g[j] + x[j+1] s[j+1]. No division, so zeros need no care.
    step = -1 if reverse else 1
    before = _move_by_one(out, axis=axis, by=step, fill=1)
    following = _move_by_one(conj(x), axis=axis, by=-step, fill=0)
    return conj(before) * _linear_recurrence(following, g, axis=axis, reverse=not reverse)


@op(batch_axes="axis", pattern=across("axis"), dtypes=dt.FLOATING, samples=_scan_samples)
@in_float32
def _cumulative_logsumexp(xp, x, *, axis, reverse):
    return _along(lambda v: xp.cumlogsumexp(v, axis), xp, x, axis, reverse)


@_cumulative_logsumexp.vjp("x")
def _cumulative_logsumexp_vjp(g, out, x, *, axis, reverse):
    # out[k] depends on x[j] by exp(x[j] - out[k]) = exp(x[j] - out[j]) exp(out[j] - out[j+1]) ...
    # up to k: every factor is at most 1.
    later = _move_by_one(out, axis=axis, by=1 if reverse else -1, fill=np.inf)
    total = _linear_recurrence(_share(out, later), g, axis=axis, reverse=not reverse)
    undefined = Tensor(np.array(np.nan, x._array.dtype))
    return where(_same_infinity(x, out), undefined, _share(x, out) * total)


def _share(x: Tensor, total: Tensor) -> Tensor:
    """`exp(x - total)`; 1 where both are one infinity, whose NaN would spread to its neighbours."""
    same = _same_infinity(x, total)
    zero = Tensor(np.zeros((), x._array.dtype))
    return exp(where(same, zero, x) - where(same, zero, total))


def _same_infinity(x: Tensor, y: Tensor) -> Tensor:
    return logical_and(equal(x, y), is_inf(y))


def _cumulative(
    primitive: Any, first: float, x: Any, axis: Any, exclusive: bool, reverse: bool
) -> Tensor:
    name = primitive.op.name
    x = to_tensor(x, name)
    axis = static_axis(axis, x.ndim, name)
    total = primitive(x, axis=axis, reverse=bool(reverse))
    if not exclusive:
        return total
    return _move_by_one(total, axis=axis, by=-1 if reverse else 1, fill=first)


def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The running sum of `x` along `axis`; from the end if `reverse`.

    With `exclusive` an element is not counted in its own sum: the first sum is 0.

    >>> cumsum([1, 2, 3], exclusive=True)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 3], dtype=int32)>
    """
    try:
        return _cumulative(_cumsum, 0, x, axis, exclusive, reverse)
    except NotATensorError as error:
        return take_over(error, cumsum, x, axis, exclusive, reverse)


def cumprod(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The running product of `x` along `axis`; from the end if `reverse`.

    With `exclusive` an element is not counted in its own product: the first product is 1. The
    gradient is right where elements are zero (TensorFlow's is not: it divides by the element).
    """
    return _cumulative(_cumprod, 1, x, axis, exclusive, reverse)


def cumulative_logsumexp(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """`log(cumsum(exp(x)))` along `axis`, without overflow.

    With `exclusive` an element is not counted in its own result: the first is -inf.
    """
    return _cumulative(_cumulative_logsumexp, -np.inf, x, axis, exclusive, reverse)


@op(
    batch_axes="axis",
    pattern=MOVES,
    samples=lambda r: [
        ([r.normal(size=(4,))], {"axis": 0, "by": 1, "fill": 2.0}),
        ([r.normal(size=(2, 3))], {"axis": 1, "by": -1, "fill": 0.0}),
        ([r.normal(size=(2, 0))], {"axis": 1, "by": 1, "fill": 0.0}),
    ],
)
def _move_by_one(xp, x, *, axis, by, fill):
    """`x` moved by one place (`by` is 1 or -1) along `axis`: `fill` comes in, an end drops out."""
    if not x.shape[axis]:
        return x
    edge = xp.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), fill, x.dtype)
    rest = x[(slice(None),) * axis + (slice(None, -1) if by > 0 else slice(1, None),)]
    return xp.concatenate([edge, rest] if by > 0 else [rest, edge], axis=axis)


@_move_by_one.vjp("x")
def _move_by_one_vjp(g, *, axis, by):
    return _move_by_one(g, axis=axis, by=-by, fill=0)


@op(
    pattern=across("axis"),
    dtypes=dt.INEXACT,
    samples=lambda r: [
        ([r.normal(size=(5,)), r.normal(size=(5,))], {"axis": 0, "reverse": False}),
        ([r.normal(size=(2, 4)), r.normal(size=(2, 4))], {"axis": 1, "reverse": True}),
        ([r.normal(size=(2, 1)), r.normal(size=(2, 1))], {"axis": 1, "reverse": True}),
        ([r.normal(size=(2, 0)), r.normal(size=(2, 0))], {"axis": 1, "reverse": False}),
    ],
)
@in_float32
def _linear_recurrence(xp, a, b, *, axis, reverse):
    """The sequence s[j] = b[j] + a[j] s[j-1] along `axis`, from b[0]; from the end if `reverse`."""
    if reverse:
        a, b = xp.flip(a, axis), xp.flip(b, axis)
    s = xp.linear_recurrence(a, b, axis)
    return xp.flip(s, axis) if reverse else s


def _linear_recurrence_adjoint(g: Tensor, a: Tensor, axis: int, reverse: bool) -> Tensor:
    following = _move_by_one(conj(a), axis=axis, by=1 if reverse else -1, fill=0)
    return _linear_recurrence(following, g, axis=axis, reverse=not reverse)


@_linear_recurrence.vjp("a")
def _linear_recurrence_vjp_a(g, out, a, *, axis, reverse):
    previous = _move_by_one(out, axis=axis, by=-1 if reverse else 1, fill=0)
    return _linear_recurrence_adjoint(g, a, axis, reverse) * conj(previous)


@_linear_recurrence.vjp("b")
def _linear_recurrence_vjp_b(g, a, *, axis, reverse):
    return _linear_recurrence_adjoint(g, a, axis, reverse)


@_linear_recurrence.batch
def _linear_recurrence_batch(batched, a, b, *, axis, reverse):
    size = (a if "a" in batched else b)._array.shape[0]
    a, b = (
        v if name in batched else _broadcast_to(v, shape=(size, *v._array.shape))
        for name, v in (("a", a), ("b", b))
    )
    return _linear_recurrence(a, b, axis=axis + 1, reverse=reverse)
