"""Diagonals and bands of matrices: taking and setting them, and systems that have nothing else."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...core.convert import as_tensor
from ...core.errors import InvalidArgumentError, ShapeError, UnimplementedError
from ...core.pattern import ELEMENTWISE, MOVES, aligned
from ...core.spec import Spec, broadcast_shapes, same_dtype
from ...core.tensor import Tensor
from ..array.joining import stack
from ..array.pad import pad
from ..array.shape import _reshape, expand_dims, matrix_transpose, squeeze
from ..declare.elementwise import sum_back
from ..declare.op import op
from ..declare.static import is_unknown, static_int, static_ints, to_tensor
from ..math.conjugate import conj
from ..math.logic import where
from ..math.reduction import reduce_sum
from .matrices import LAPACK, lined_up, matrix_spec

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


class _Places(NamedTuple):
    """Where the diagonals `low` to `high` of a matrix lie: for each place of their compact form."""

    rows: Any
    columns: Any
    valid: Any  # False for the padding of the shorter diagonals


@lru_cache(maxsize=128)
def _places(rows: int, columns: int, low: int, high: int, align: str) -> _Places:
    above, below = align.split("_")
    longest = _longest(rows, columns, low, high)
    offsets = np.arange(high, low - 1, -1)[:, None]
    lengths = np.minimum(rows + np.minimum(offsets, 0), columns - np.maximum(offsets, 0))
    left = ((offsets >= 0) & (above == "LEFT")) | ((offsets <= 0) & (below == "LEFT"))
    steps = np.arange(longest) - np.where(left, 0, longest - lengths)
    valid = (steps >= 0) & (steps < lengths)
    steps = np.where(valid, steps, 0)
    found = _Places(steps + np.maximum(-offsets, 0), steps + np.maximum(offsets, 0), valid)
    return found if high > low else _Places(*[part[0] for part in found])


def _longest(rows: int, columns: int, low: int, high: int) -> int:
    return min(rows + min(high, 0), columns - max(low, 0))


def _diagonals_samples(r):
    x = r.normal(size=(2, 3, 4))
    return [
        ([x], {"low": 0, "high": 0, "align": "RIGHT_LEFT"}),
        ([x[0]], {"low": 2, "high": 2, "align": "RIGHT_LEFT"}),
        ([x], {"low": -1, "high": 2, "align": "RIGHT_LEFT"}),
        ([x[0]], {"low": -2, "high": 1, "align": "LEFT_RIGHT"}),
        ([x[:, :2]], {"low": -1, "high": 0, "align": "RIGHT_RIGHT"}),
        ([x[:, :0]], {"low": 0, "high": 0, "align": "RIGHT_LEFT"}),
    ]


@op(batch_axes=(), pattern=MOVES, linear="x", samples=_diagonals_samples)
def _diagonals(xp, x, *, low, high, align):
    """The diagonals `high` to `low`, one below the other, the shorter ones padded with zeros."""
    if low == high:
        return xp.diagonal(x, high, -2, -1)
    rows, columns, valid = _places(*x.shape[-2:], low, high, align)
    taken = xp.getitem(x, (Ellipsis, rows, columns))
    return xp.where(xp.asarray(valid), taken, xp.zeros((), x.dtype))


@_diagonals.vjp("x")
def _diagonals_vjp(g, x: Spec, *, low, high, align):
    return _from_diagonals(g, low=low, high=high, align=align, shape=tuple(x.shape[-2:]))


@_diagonals.spec
def _diagonals_spec(x, *, low, high, align):
    matrix_spec("diag_part", input=x)
    count = (high - low + 1,) if high > low else ()
    return Spec((*x.shape[:-2], *count, _longest(*x.shape[-2:], low, high)), x.dtype)


def _from_diagonals_samples(r):
    return [
        ([r.normal(size=(2, 3))], {"low": 0, "high": 0, "align": "RIGHT_LEFT", "shape": (3, 3)}),
        ([r.normal(size=2)], {"low": -1, "high": -1, "align": "RIGHT_LEFT", "shape": (3, 4)}),
        (
            [r.normal(size=(2, 4, 3))],
            {"low": -1, "high": 2, "align": "RIGHT_LEFT", "shape": (3, 4)},
        ),
        ([r.normal(size=(2, 3))], {"low": 0, "high": 1, "align": "LEFT_RIGHT", "shape": (3, 3)}),
        ([r.normal(size=(0,))], {"low": 0, "high": 0, "align": "RIGHT_LEFT", "shape": (0, 0)}),
    ]


@op(batch_axes=(), pattern=MOVES, linear="diagonal", samples=_from_diagonals_samples)
def _from_diagonals(xp, diagonal, *, low, high, align, shape):
    """Zeros with the diagonals set: the adjoint of `diagonals`."""
    rows, columns, valid = _places(*shape, low, high, align)
    batch = diagonal.shape[: diagonal.ndim - rows.ndim]
    if high > low and not valid.all():
        (chosen,) = np.nonzero(valid.reshape(-1))
        diagonal = xp.getitem(diagonal.reshape((*batch, rows.size)), (Ellipsis, chosen))
        rows, columns = rows.reshape(-1)[chosen], columns.reshape(-1)[chosen]
    return xp.index_add((*batch, *shape), (Ellipsis, rows, columns), diagonal, True)


@_from_diagonals.vjp("diagonal")
def _from_diagonals_vjp(g, *, low, high, align, shape):
    return _diagonals(g, low=low, high=high, align=align)


def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with `diagonal` on diagonal `k` and `padding_value` elsewhere.

    `k` counts from the main diagonal (0) upwards; a pair `(low, high)` names a band, whose
    diagonals lie in `diagonal` one below the other from `high` to `low`, padded to one length at
    the side that `align` (of those above, of those below the main one) leaves free. Without
    `num_rows` and `num_cols` the matrices are square and as small as can be.

    >>> diag([1, 2], k=1)
    <tf.Tensor: shape=(3, 3), dtype=int32, numpy=
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]], dtype=int32)>
    """
    x = to_tensor(diagonal, "diag")
    low, high = _band("diag", k)
    _check_align("diag", align)
    if x.ndim < (1 if low == high else 2):
        raise ShapeError(
            f"diag: `diagonal` must have rank {1 if low == high else 2} or more for `k`={k!r}, and "
            f"has shape {tuple(x.shape)}."
        )
    if low != high and x._array.shape[-2] != high - low + 1:
        raise ShapeError(
            f"diag: `k`={k!r} names {high - low + 1} diagonals, and `diagonal` of shape "
            f"{tuple(x.shape)} holds {x._array.shape[-2]}."
        )
    shape = _room(x._array.shape[-1], low, high, num_rows, num_cols)
    out = _from_diagonals(x, low=low, high=high, align=align, shape=shape)
    if type(padding_value) is int and padding_value == 0:
        return out
    padding = _padding("diag", padding_value, x)
    return where(Tensor(_mask(shape, low, high)), out, padding)


def _band(op_name: str, k: Any) -> tuple[int, int]:
    bounds = static_ints(k, op_name, "k")
    if len(bounds) not in (1, 2) or bounds[0] > bounds[-1]:
        raise InvalidArgumentError(
            f"{op_name}: `k` must be a number or a pair (low, high) with low <= high, not {k!r}."
        )
    return bounds[0], bounds[-1]


def _check_align(op_name: str, align: str) -> None:
    if align not in _ALIGNMENTS:
        raise InvalidArgumentError(
            f"{op_name}: `align`={align!r} is unknown; there are {', '.join(_ALIGNMENTS)}."
        )


def _room(length: int, low: int, high: int, num_rows: Any, num_cols: Any) -> tuple[int, int]:
    """The shape of matrices on which the longest of the diagonals has `length` elements."""
    rows = static_int(num_rows, "diag", "num_rows")
    columns = static_int(num_cols, "diag", "num_cols")
    least = (length - min(high, 0), length + max(low, 0))
    if rows == -1 and columns == -1:
        return (max(least),) * 2
    rows = least[0] if rows == -1 else rows
    columns = least[1] if columns == -1 else columns
    if rows < least[0] or columns < least[1] or _longest(rows, columns, low, high) != length:
        raise ShapeError(
            f"diag: on matrices of {rows} rows and {columns} columns the diagonals {low} to {high} "
            f"do not have the {length} elements of `diagonal`. The least that holds them: "
            f"num_rows={least[0]}, num_cols={least[1]}; one of the two may be larger."
        )
    return rows, columns


def _mask(shape: tuple[int, int], low: int, high: int) -> Any:
    """True on the diagonals `low` to `high`."""
    above = np.arange(shape[1]) - np.arange(shape[0])[:, None]
    return (above >= low) & (above <= high)


def _padding(op_name: str, value: Any, x: Tensor) -> Tensor:
    """The padding in the dtype of `x`, cut from tapes: it has no gradient."""
    padding = as_tensor(value, x.dtype, op_name)
    if padding.ndim:
        raise ShapeError(
            f"{op_name}: `padding_value` must be a scalar, and has shape {tuple(padding.shape)}."
        )
    return Tensor(padding._array)


def diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Diagonal `k` of the matrices `input`; for a pair `(low, high)`, a band in the form of `diag`.

    >>> diag_part([[1, 2], [3, 4]], k=(-1, 0))
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 4],
           [3, 0]], dtype=int32)>
    """
    x = to_tensor(input, "diag_part")
    low, high = _checked_band("diag_part", x, k, align)
    out = _diagonals(x, low=low, high=high, align=align)
    if low == high or (type(padding_value) is int and padding_value == 0):
        return out
    valid = _places(*x._array.shape[-2:], low, high, align).valid
    return where(Tensor(valid), out, _padding("diag_part", padding_value, x))


def _checked_band(op_name: str, x: Tensor, k: Any, align: str) -> tuple[int, int]:
    low, high = _band(op_name, k)
    _check_align(op_name, align)
    rows, columns = matrix_spec(op_name, input=Spec(x._array.shape, x._array.dtype)).shape[-2:]
    for bound in (low, high):
        if bound and not -rows < bound < columns:
            raise InvalidArgumentError(
                f"{op_name}: `k`={k!r} lies outside of matrices of shape {(rows, columns)}, whose "
                f"diagonals are {1 - rows} to {columns - 1}."
            )
    return low, high


def set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """`input` with its diagonals `k` replaced by `diagonal`, in the form that `diag_part` gives."""
    x = to_tensor(input, "set_diag")
    new = as_tensor(diagonal, x.dtype, "set_diag")
    low, high = _checked_band("set_diag", x, k, align)
    wanted = _diagonals_spec(
        Spec(x._array.shape, x._array.dtype), low=low, high=high, align=align
    ).shape
    if tuple(new._array.shape) != tuple(wanted):
        raise ShapeError(
            f"set_diag: for `input` of shape {tuple(x.shape)} and `k`={k!r}, `diagonal` must have "
            f"shape {tuple(wanted)}, and has {tuple(new.shape)}."
        )
    shape = tuple(x._array.shape[-2:])
    placed = _from_diagonals(new, low=low, high=high, align=align, shape=shape)
    return where(Tensor(_mask(shape, low, high)), placed, x)


def tensor_diag(diagonal: Any, name: str | None = None) -> Tensor:
    """Zeros of shape `diagonal.shape * 2`, with `diagonal[i, ...]` at `[i, ..., i, ...]`."""
    x = to_tensor(diagonal, "tensor_diag")
    shape = tuple(x._array.shape)
    if not shape:
        raise ShapeError("tensor_diag: `diagonal` must have rank 1 or more, and is a scalar.")
    size = math.prod(shape)
    flat = _reshape(x, shape=(size,))
    out = _from_diagonals(flat, low=0, high=0, align="RIGHT_LEFT", shape=(size, size))
    return _reshape(out, shape=shape * 2)


def tensor_diag_part(input: Any, name: str | None = None) -> Tensor:
    """The elements `input[i, ..., i, ...]` of a tensor whose shape is another shape twice."""
    x = to_tensor(input, "tensor_diag_part")
    shape = tuple(x._array.shape)
    half = shape[: len(shape) // 2]
    if not shape or shape != half * 2:
        raise ShapeError(
            f"tensor_diag_part: the shape of `input` must be another shape twice, as (2, 3, 2, 3) "
            f"is; it is {shape}."
        )
    size = math.prod(half)
    square = _reshape(x, shape=(size, size))
    return _reshape(_diagonals(square, low=0, high=0, align="RIGHT_LEFT"), shape=half)


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sums of the main diagonals of the matrices `x`."""
    x = to_tensor(x, "trace")
    matrix_spec("trace", x=Spec(x._array.shape, x._array.dtype))
    return reduce_sum(_diagonals(x, low=0, high=0, align="RIGHT_LEFT"), -1)


@op(
    batch_axes=(),
    pattern=ELEMENTWISE,
    linear="x",
    samples=lambda r: [
        ([r.normal(size=(2, 3, 4))], {"lower": 1, "upper": 0}),
        ([r.normal(size=(3, 3))], {"lower": -1, "upper": 1}),
        ([r.normal(size=(3, 2))], {"lower": 0, "upper": -1}),
        ([r.normal(size=(2, 0))], {"lower": 0, "upper": 0}),
    ],
)
def _band_part(xp, x, *, lower, upper):
    rows, columns = x.shape[-2:]
    mask = _mask((rows, columns), -(rows if lower < 0 else lower), columns if upper < 0 else upper)
    return xp.where(xp.asarray(mask), x, xp.zeros((), x.dtype))


@_band_part.vjp("x")
def _band_part_vjp(g, *, lower, upper):
    return _band_part(g, lower=lower, upper=upper)


@op(nondiff="all", samples=lambda r: [([np.array(1), np.array(-1)], {"shape": (3, 4)})])
def _in_band(xp, lower, upper, *, shape):
    """Where a matrix of `shape` has the band of `band_part`."""
    below = xp.arange(shape[0])[:, None] - xp.arange(shape[1])
    inside = True
    for bound, size, distance in (lower, shape[0], below), (upper, shape[1], -below):
        xp.valid_indices(xp.maximum(bound, 0), size + 1, "band_part")
        inside = inside & ((bound < 0) | (distance <= bound))
    return inside


@_in_band.batch
def _in_band_batch(batched, lower, upper, *, shape):
    return NotImplemented


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """The matrices `input` with zeros outside of a band: `num_lower` diagonals below the main one,
    `num_upper` above it; a negative number means all of them.

    >>> band_part([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 1, 0)
    <tf.Tensor: shape=(3, 3), dtype=int32, numpy=
    array([[1, 0, 0],
           [4, 5, 0],
           [0, 8, 9]], dtype=int32)>
    """
    x = to_tensor(input, "band_part")
    shape = matrix_spec("band_part", input=Spec(x._array.shape, x._array.dtype)).shape
    if is_unknown((num_lower, num_upper)):
        bounds = [to_tensor(number, "band_part") for number in (num_lower, num_upper)]
        zero = Tensor(np.zeros((), x._array.dtype))
        return where(_in_band(*bounds, shape=tuple(shape[-2:])), x, zero)
    lower = static_int(num_lower, "band_part", "num_lower")
    upper = static_int(num_upper, "band_part", "num_upper")
    for name_, count, size in (("num_lower", lower, shape[-2]), ("num_upper", upper, shape[-1])):
        if count > size:
            raise InvalidArgumentError(
                f"band_part: `{name_}`={count} is more than matrices of shape {shape[-2:]} have; "
                f"it must be negative (all) or at most {size}."
            )
    return _band_part(x, lower=max(lower, -1), upper=max(upper, -1))


# Tridiagonal matrices


def _tridiagonal_samples(r):
    def dominant(*shape):
        diagonals = r.normal(size=shape)
        diagonals[..., 1, :] += 4
        return diagonals

    def both(draw):
        return draw() + 1j * draw()

    return [
        ([dominant(3, 4), r.normal(size=(4, 2))], {}),
        ([dominant(2, 3, 3), r.normal(size=(2, 3, 1))], {}),
        ([dominant(3, 3), r.normal(size=(2, 3, 1))], {}),
        ([both(lambda: dominant(3, 3)), both(lambda: r.normal(size=(3, 2)))], {}),
        ([dominant(3, 1), r.normal(size=(1, 2))], {}),
    ]


@op(pattern=aligned(2), dtypes=LAPACK, linear="rhs", samples=_tridiagonal_samples)
def _tridiagonal_solve(xp, diagonals, rhs):
    """Solutions with matrices given by their diagonals above, on and below the main one."""
    if diagonals.ndim < 2 or rhs.ndim < 2:
        raise ValueError("matrices have rank 2 or more")
    return xp.matrices.tridiagonal_solve(diagonals, rhs)


@_tridiagonal_solve.vjp("rhs")
def _tridiagonal_solve_vjp_rhs(g, diagonals, rhs: Spec):
    return sum_back(_tridiagonal_solve(_adjoint_diagonals(diagonals), g), rhs)


@_tridiagonal_solve.vjp("diagonals")
def _tridiagonal_solve_vjp_diagonals(g, diagonals, out):
    z, x = _tridiagonal_solve(_adjoint_diagonals(diagonals), g), conj(out)
    above = _padded(reduce_sum(z[..., :-1, :] * x[..., 1:, :], -1), 0, 1)
    below = _padded(reduce_sum(z[..., 1:, :] * x[..., :-1, :], -1), 1, 0)
    main = reduce_sum(z * x, -1)
    return sum_back(-stack([above, main, below], -2), diagonals)


@_tridiagonal_solve.batch
def _tridiagonal_solve_batch(batched, diagonals, rhs):
    return _tridiagonal_solve(*lined_up(batched, diagonals=diagonals, rhs=rhs))


@_tridiagonal_solve.spec
def _tridiagonal_solve_spec(diagonals, rhs):
    dtype = same_dtype("tridiagonal_solve", diagonals=diagonals, rhs=rhs)
    received = f"Received: diagonals.shape={diagonals.shape}, rhs.shape={rhs.shape}."
    if diagonals.ndim < 2 or diagonals.shape[-2] != 3:
        raise ShapeError(
            "tridiagonal_solve: `diagonals` in compact form must have shape [..., 3, M]: the "
            f"diagonals above, on and below the main one. {received}"
        )
    if rhs.ndim < 2 or rhs.shape[-2] != diagonals.shape[-1]:
        raise ShapeError(
            f"tridiagonal_solve: `rhs` must have as many rows as the matrices. {received}"
        )
    batch = broadcast_shapes(
        "tridiagonal_solve (batch axes)", diagonals=diagonals.shape[:-2], rhs=rhs.shape[:-2]
    )
    return Spec((*batch, *rhs.shape[-2:]), dtype)


def _padded(x: Tensor, before: int, after: int) -> Tensor:
    """`x` with zeros along its last axis."""
    return pad(x, [[0, 0]] * (x.ndim - 1) + [[before, after]])


def _adjoint_diagonals(diagonals: Tensor) -> Tensor:
    d = conj(diagonals)
    return stack([_padded(d[..., 2, 1:], 0, 1), d[..., 1, :], _padded(d[..., 0, :-1], 1, 0)], -2)


def _compact(diagonals: Any, diagonals_format: str, op_name: str) -> Tensor:
    """The three diagonals of a tridiagonal matrix as one tensor of shape [..., 3, M]."""
    if diagonals_format == "compact":
        return to_tensor(diagonals, op_name)
    if diagonals_format == "matrix":
        x = to_tensor(diagonals, op_name)
        if x.ndim < 2 or x._array.shape[-1] != x._array.shape[-2]:
            raise ShapeError(
                f"{op_name}: `diagonals` in the format 'matrix' must hold square matrices, and has "
                f"shape {tuple(x.shape)}."
            )
        if x._array.shape[-1] > 1:
            return diag_part(x, k=(-1, 1), align="LEFT_RIGHT")
        main = diag_part(x)
        return stack([main * 0, main, main * 0], -2)
    if diagonals_format != "sequence":
        raise InvalidArgumentError(
            f"{op_name}: `diagonals_format`={diagonals_format!r} is unknown; there are 'compact', "
            "'matrix' and 'sequence'."
        )
    if not isinstance(diagonals, (list, tuple)) or len(diagonals) != 3:
        raise InvalidArgumentError(
            f"{op_name}: `diagonals` in the format 'sequence' must be three tensors: the diagonals "
            "above, on and below the main one."
        )
    above, main, below = (to_tensor(d, op_name) for d in diagonals)
    size = main._array.shape[-1]
    for each in (above, below):
        if each._array.shape[-1] not in (size, size - 1):
            raise ShapeError(
                f"{op_name}: beside a main diagonal of {size} elements the others must have {size} "
                f"or {size - 1}, not {each._array.shape[-1]}."
            )
    above = _padded(above, 0, 1) if above._array.shape[-1] < size else above
    below = _padded(below, 1, 0) if below._array.shape[-1] < size else below
    return stack([above, main, below], -2)


def _same_batch(op_name: str, diagonals: Tensor, rhs: Tensor) -> None:
    shapes = diagonals._array.shape, rhs._array.shape
    if shapes[0][:-2] != shapes[1][:-2]:
        raise ShapeError(
            f"{op_name}: the axes before the last two must agree. Received: diagonals.shape="
            f"{tuple(shapes[0])} in compact form, rhs.shape={tuple(shapes[1])}."
        )


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Solutions x of `A x = rhs` for tridiagonal matrices A; NaN where A is singular.

    `diagonals` are those above, on and below the main one: of shape [..., 3, M] ('compact'), a list
    of three tensors ('sequence'), or the matrices themselves ('matrix'). The last element of the
    one above and the first of the one below are not read. `rhs` has shape [..., M] or [..., M, K].
    Rows are always pivoted, whatever `partial_pivoting` says.
    """
    if perturb_singular:
        raise UnimplementedError(
            "tridiagonal_solve: perturb_singular=True does not exist here; of a singular matrix "
            "the solution is NaN. linalg.lstsq(fast=False) solves such systems."
        )
    compact = _compact(diagonals, diagonals_format, "tridiagonal_solve")
    x = as_tensor(rhs, compact.dtype, "tridiagonal_solve")
    vector = x.ndim == compact.ndim - 1
    if conjugate_rhs:
        x = conj(x)
    if vector:
        x = expand_dims(x, -1)
    elif transpose_rhs:
        x = matrix_transpose(x)
    if x.ndim > 1 and compact.ndim > 1:
        _same_batch("tridiagonal_solve", compact, x)
    out = _tridiagonal_solve(compact, x)
    return squeeze(out, -1) if vector else out


def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """Tridiagonal matrices, given as in `tridiagonal_solve`, times `rhs` [..., M, K]."""
    compact = _compact(diagonals, diagonals_format, "tridiagonal_matmul")
    x = as_tensor(rhs, compact.dtype, "tridiagonal_matmul")
    if x.ndim != compact.ndim or compact.ndim < 2 or compact._array.shape[-2] != 3:
        raise ShapeError(
            "tridiagonal_matmul: `diagonals` in compact form must have shape [..., 3, M] and `rhs` "
            f"[..., M, K]. Received: diagonals.shape={tuple(compact.shape)}, "
            f"rhs.shape={tuple(x.shape)}."
        )
    _same_batch("tridiagonal_matmul", compact, x)
    if compact._array.shape[-1] != x._array.shape[-2]:
        raise ShapeError(
            "tridiagonal_matmul: `rhs` must have as many rows as the matrices. Received: diagonals."
            f"shape={tuple(compact.shape)} in compact form, rhs.shape={tuple(x.shape)}."
        )
    edges = [[0, 0]] * (x.ndim - 2)
    above = expand_dims(compact[..., 0, :-1], -1) * x[..., 1:, :]
    below = expand_dims(compact[..., 2, 1:], -1) * x[..., :-1, :]
    main = expand_dims(compact[..., 1, :], -1) * x
    return main + pad(above, [*edges, [0, 1], [0, 0]]) + pad(below, [*edges, [1, 0], [0, 0]])


# Banded triangular matrices


def _banded_samples(r):
    def bands(*shape, lower=True):
        drawn = r.normal(size=shape)
        drawn[..., 0 if lower else -1, :] = r.uniform(1, 2, size=(*shape[:-2], shape[-1]))
        return drawn

    def both(draw):
        return draw() + 1j * draw()

    return [
        ([bands(2, 3), r.normal(size=(3, 2))], {"lower": True, "adjoint": False}),
        ([bands(2, 3, 4), r.normal(size=(4, 1))], {"lower": True, "adjoint": True}),
        ([bands(2, 3, lower=False), r.normal(size=(2, 3, 1))], {"lower": False, "adjoint": False}),
        (
            [both(lambda: bands(2, 3, lower=False)), both(lambda: r.normal(size=(3, 1)))],
            {"lower": False, "adjoint": True},
        ),
        ([bands(3, 2), r.normal(size=(2, 1))], {"lower": True, "adjoint": False}),
    ]


@op(dtypes=LAPACK, linear="rhs", samples=_banded_samples)
def _banded_triangular_solve(xp, bands, rhs, *, lower, adjoint):
    return xp.matrices.banded_solve(bands, rhs, lower=lower, adjoint=adjoint)


@_banded_triangular_solve.vjp("rhs")
def _banded_triangular_solve_vjp_rhs(g, bands, rhs: Spec, *, lower, adjoint):
    return sum_back(_banded_triangular_solve(bands, g, lower=lower, adjoint=not adjoint), rhs)


@_banded_triangular_solve.vjp("bands")
def _banded_triangular_solve_vjp_bands(g, bands, out, *, lower, adjoint):
    """The bands of minus the product of two tall matrices, which is not formed."""
    z = _banded_triangular_solve(bands, g, lower=lower, adjoint=not adjoint)
    left, right = (out, z) if adjoint else (z, out)
    right = conj(right)
    count, size = bands._array.shape[-2:]
    rows = []
    for i in range(count):
        offset = min(i if lower else count - 1 - i, size)
        near, far = slice(0, size - offset), slice(offset, size)
        of_rows, of_columns = (far, near) if lower else (near, far)
        band = reduce_sum(left[..., of_rows, :] * right[..., of_columns, :], -1)
        rows.append(_padded(band, offset, 0) if lower else _padded(band, 0, offset))
    return sum_back(-stack(rows, -2), bands)


@_banded_triangular_solve.batch
def _banded_triangular_solve_batch(batched, bands, rhs, *, lower, adjoint):
    bands, rhs = lined_up(batched, bands=bands, rhs=rhs)
    return _banded_triangular_solve(bands, rhs, lower=lower, adjoint=adjoint)


def banded_triangular_solve(
    bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solutions of triangular systems of which the K bands [..., K, M] are given: O(K M) each.

    For `lower` the main diagonal is the first row and the diagonals below follow, their first
    elements not read; otherwise it is the last row, after those above, whose last elements are not
    read. `rhs` has shape [..., M, N]; the axes before broadcast.
    """
    x = to_tensor(bands, "banded_triangular_solve")
    b = as_tensor(rhs, x.dtype, "banded_triangular_solve")
    shapes = f"Received: bands.shape={tuple(x.shape)}, rhs.shape={tuple(b.shape)}."
    if x.ndim < 2 or b.ndim < 2 or not x._array.shape[-2]:
        raise ShapeError(
            "banded_triangular_solve: `bands` must have shape [..., K, M] with K > 0 and `rhs` "
            f"[..., M, N]. {shapes}"
        )
    if x._array.shape[-1] != b._array.shape[-2]:
        raise ShapeError(
            f"banded_triangular_solve: `rhs` must have as many rows as the matrices. {shapes}"
        )
    broadcast_shapes(
        "banded_triangular_solve (batch axes)",
        bands=tuple(x._array.shape[:-2]),
        rhs=tuple(b._array.shape[:-2]),
    )
    return _banded_triangular_solve(x, b, lower=bool(lower), adjoint=bool(adjoint))
