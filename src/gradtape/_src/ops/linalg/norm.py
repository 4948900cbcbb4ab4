"""Norms of vectors, matrices and lists of tensors; normalising and clipping by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.cotangent import IndexedSlices
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.creation import ones_like
from ..array.shape import _transpose
from ..declare.op import op
from ..declare.reduction import HALVES, in_float32, restore_axes
from ..declare.static import static_axis, to_tensor
from ..math.arithmetic import abs as absolute, maximum, minimum, square
from ..math.conjugate import conj
from ..math.logic import where
from ..math.power import pow as power, rsqrt, sqrt
from ..math.reduction import reduce_max, reduce_sum
from .decomposition import svd


@op(
    dtypes=dt.FLOATING, samples=lambda r: [([r.normal(size=(2, 3))], {}), ([r.normal(size=())], {})]
)
@in_float32
def _l2_loss(xp, x):
    flat = xp.reshape(x, -1)
    return xp.dot(flat, flat) / 2


@_l2_loss.vjp("x")
def _l2_loss_vjp(g, x):
    return g * x


@_l2_loss.batch
def _l2_loss_batch(batched, x):
    return reduce_sum(square(x), tuple(range(1, x.ndim))) / 2


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of the squares of `t`."""
    return _l2_loss(to_tensor(t, "l2_loss"))


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The norm of order `ord` of the vectors along `axis` (an int; None: of all elements).

    Orders of vectors: 'euclidean', 1, 2, inf, any number above 0. With two axes, of matrices:
    'fro' or 'euclidean', 1 (largest column sum), inf (largest row sum), 2 (largest singular value).
    The gradient of order 2 is NaN at the zero vector; order 1 has 0 at zero elements; order inf
    shares ties. The norm of order 2 of complex numbers is complex, with imaginary part 0.
    """
    x = to_tensor(tensor, "norm")
    keep = bool(keepdims)
    if isinstance(axis, (list, tuple)):
        return _matrix_norm(x, ord, axis, keep)
    if ord != "euclidean" and (isinstance(ord, str) or not ord > 0):
        raise InvalidArgumentError(
            f"norm: `ord`={ord!r} is no norm of vectors; there are 'euclidean', inf and numbers "
            "above 0. 'fro' is a norm of matrices: give two axes, e.g. axis=[-2, -1]."
        )
    if ord in ("euclidean", 2):
        return _euclidean(x, axis, keep)
    size = absolute(x)
    if ord == 1:
        return reduce_sum(size, axis, keep)
    if ord == np.inf:
        return reduce_max(size, axis, keep)
    return power(reduce_sum(power(size, ord), axis, keep), 1 / ord)


def _euclidean(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    squares = x * conj(x) if x._array.dtype in dt.COMPLEX else square(x)
    return sqrt(reduce_sum(squares, axis, keepdims))


def _matrix_norm(x: Tensor, ord: Any, axis: Any, keepdims: bool) -> Tensor:
    if len(axis) != 2 or ord not in ("euclidean", "fro", 1, 2, np.inf):
        raise InvalidArgumentError(
            f"norm: `axis`={axis!r} and `ord`={ord!r} do not go together. One axis means vectors, "
            "two mean matrices, whose norms are 'euclidean', 'fro', 1, 2 and inf."
        )
    rows, columns = axes = [static_axis(a, x.ndim, "norm") for a in axis]
    if rows == columns:
        raise InvalidArgumentError(f"norm: `axis`={axis!r} names an axis twice.")
    if ord in ("euclidean", "fro"):
        return _euclidean(x, axes, keepdims)
    if ord == 2:
        return _spectral_norm(x, rows, columns, keepdims)
    summed, other = (rows, columns) if ord == 1 else (columns, rows)
    largest = reduce_max(reduce_sum(absolute(x), summed, True), other, True)
    return largest if keepdims else reduce_sum(largest, axes)


def _spectral_norm(x: Tensor, rows: int, columns: int, keepdims: bool) -> Tensor:
    rest = [i for i in range(x.ndim) if i not in (rows, columns)]
    values = svd(_transpose(x, perm=(*rest, rows, columns)), compute_uv=False)
    largest = reduce_max(values, axis=-1)
    return restore_axes(largest, tuple(sorted((rows, columns))), False) if keepdims else largest


def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The Euclidean norm of all elements of all tensors in `t_list`; None entries do not count."""
    return _global_norm(t_list, "global_norm")


def _global_norm(t_list: Any, op_name: str) -> Tensor:
    values = [v for v in _values(t_list, op_name) if v is not None]
    losses = [_l2_loss(to_tensor(v, op_name)) for v in values]
    if not losses:
        return to_tensor(0.0, op_name)
    total = losses[0]
    for loss in losses[1:]:
        total = total + loss
    return sqrt(total * 2)


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """The tensors of `t_list`, scaled to a global norm of at most `clip_norm`; and their norm.

    None entries stay None, IndexedSlices stay sparse. A norm that is not finite makes all entries
    NaN.
    """
    op_name = "clip_by_global_norm"
    norm = _global_norm(t_list, op_name) if use_norm is None else to_tensor(use_norm, op_name)
    if isinstance(clip_norm, int):
        clip_norm = float(clip_norm)
    scale = clip_norm * minimum(1.0 / norm, 1.0 / (norm * 0 + clip_norm))
    scale = scale + (norm - norm)  # NaN for a norm that is not finite
    clipped = [
        None if v is None else _like(t, to_tensor(v, op_name) * cast(scale, v.dtype))
        for t, v in zip(t_list, _values(t_list, op_name), strict=True)
    ]
    return clipped, norm


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Tensor | Any:
    """`t` scaled so that its Euclidean norm over `axes` (None: all) is at most `clip_norm`.

    At the zero vector the gradient is 1. IndexedSlices stay sparse.
    """
    values = to_tensor(t.values if isinstance(t, IndexedSlices) else t, "clip_by_norm")
    if isinstance(clip_norm, (int, float)):
        clip_norm = float(max(clip_norm, 0))
    else:
        clip_norm = cast(maximum(to_tensor(clip_norm, "clip_by_norm"), 0), values.dtype)
    squares = reduce_sum(square(values), axes, True)
    positive = squares > 0
    root = sqrt(where(positive, squares, ones_like(squares)))
    norm = where(positive, root, squares)
    return _like(t, values * clip_norm / maximum(norm, clip_norm))


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """`x` divided by its Euclidean norm over `axis` (None: all), or by a larger sqrt(epsilon)."""
    x = to_tensor(x, "l2_normalize")
    axis = dim if axis is None else axis
    if x._array.dtype in HALVES:  # whose squares overflow soon
        return cast(l2_normalize(cast(x, dt.float32), axis, epsilon), x.dtype)
    if x._array.dtype not in dt.COMPLEX:
        return x * rsqrt(maximum(reduce_sum(square(x), axis, True), epsilon))
    squares = square(absolute(x))
    return x * cast(rsqrt(maximum(reduce_sum(squares, axis, True), epsilon)), x.dtype)


def _values(t_list: Any, op_name: str) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(
            f"{op_name}: `t_list` must be a list of tensors, not a {type(t_list).__name__}."
        )
    return [t.values if isinstance(t, IndexedSlices) else t for t in t_list]


def _like(t: Any, values: Tensor) -> Any:
    return (
        IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values
    )
