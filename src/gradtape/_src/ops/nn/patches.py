"""The elements of windows side by side, and patches of images and volumes made of them."""

from __future__ import annotations

import math
from typing import Any

from ...core import dtypes as dt
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.pattern import MOVES
from ...core.spec import Spec
from ...core.tensor import Tensor
from ...engines.windows import Window
from ..array.shape import _reshape, _transpose
from ..declare.op import op
from ..declare.static import to_tensor
from .geometry import Ints, amounts, per_axis
from .pooling import _samples

# The elements of windows along one axis, and their sum where windows overlap


def _unfolded(r):
    result = []
    for (x,), params in _samples(r, "in"):
        axis = params["axis"]
        window = params["window"]
        y = r.normal(size=(*x.shape[:axis], window.count, window.size, *x.shape[axis + 1 :]))
        result.append(([y], params | {"length": x.shape[axis]}))
    return result


@op(batch_axes="axis", pattern=MOVES, linear="x", samples=lambda r: _samples(r, "in"))
def _unfold(xp, x, *, axis, window):
    """The elements of each window along `axis` in an axis of their own, the next one; 0 outside."""
    return xp.windows.unfold(x, axis, window)


@_unfold.vjp("x")
def _unfold_vjp(g, x: Spec, *, axis, window):
    return _fold(g, axis=axis, length=x.shape[axis], window=window)


@op(batch_axes="axis", pattern=MOVES, linear="y", dtypes=dt.NUMERIC, samples=_unfolded)
def _fold(xp, y, *, axis, length, window):
    """The elements of windows added up where they lie in an axis of `length`."""
    return xp.windows.fold(y, axis, length, window)


@_fold.vjp("y")
def _fold_vjp(g, *, axis, window):
    return _unfold(g, axis=axis, window=window)


def _patches(
    name: str, x: Tensor, sizes: Any, strides: Any, rates: Any, padding: Any, names: Ints | Any
) -> Tensor:
    """The windows of `x` [batch, *space, channels]: [batch, *places, *kernel, channels]."""
    rank = x.ndim - 2
    kernel, steps, dilations = (
        per_axis(v, rank, False, name, n)
        for v, n in zip((sizes, strides, rates), names, strict=True)
    )
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError(f"{name}: `padding` must be 'SAME' or 'VALID', not {padding!r}.")
    space = tuple(x._array.shape[1:-1])
    pairs, counts = amounts(padding, space, kernel, steps, dilations, name)
    for axis in range(rank):
        window = Window(kernel[axis], steps[axis], pairs[axis][0], counts[axis], dilations[axis])
        x = _unfold(x, axis=1 + 2 * axis, window=window)
    places = range(1, 2 * rank + 1, 2)
    return _transpose(x, perm=(0, *places, *(p + 1 for p in places), 2 * rank + 1))


def _in_channels(patches: Tensor, rank: int) -> Tensor:
    shape = patches._array.shape
    return _reshape(patches, shape=(*shape[: rank + 1], math.prod(shape[rank + 1 :])))


def _check_rank(x: Tensor, rank: int, name: str, argument: str) -> Tensor:
    if x.ndim != rank:
        what = {4: "[batch, height, width, channels]", 5: "[batch, depth, height, width, channels]"}
        raise ShapeError(
            f"{name}: `{argument}` must be {what[rank]}. Received: {argument}.shape="
            f"{tuple(x.shape)}."
        )
    return x


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """The windows of `images` [batch, height, width, channels], each flattened into the channels.

    `sizes`, `strides`, `rates` (how far apart the elements of a window are): [1, rows, columns, 1].
    """
    x = _check_rank(to_tensor(images, "extract_patches"), 4, "extract_patches", "images")
    names = ("sizes", "strides", "rates")
    return _in_channels(_patches("extract_patches", x, sizes, strides, rates, padding, names), 2)


def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Tensor:
    """The windows of `input` [batch, depth, height, width, channels], each in the channels."""
    op_name = "extract_volume_patches"
    x = _check_rank(to_tensor(input, op_name), 5, op_name, "input")
    names = ("ksizes", "strides", "rates")
    return _in_channels(_patches(op_name, x, ksizes, strides, 1, padding, names), 3)
