"""Tensors with a border: constant, or the mirror image of what it surrounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError, ShapeError
from ...core.pattern import MOVES
from ...core.tensor import Tensor
from ..declare.op import op
from ..declare.static import known, to_tensor
from .slicing import ALL, _getitem


@op(
    pattern=MOVES,
    nondiff="value",
    samples=lambda r: [
        ([r.normal(size=(2, 3)), np.array(0.5)], {"paddings": ((1, 0), (0, 2))}),
        ([r.normal(size=(2, 0)), np.array(0.0)], {"paddings": ((0, 0), (1, 1))}),
        ([r.normal(size=()), np.array(0.0)], {"paddings": ()}),
    ],
)
def _pad(xp, x, value, *, paddings):
    return xp.pad_constant(x, paddings, value.astype(x.dtype))


@_pad.vjp("x")
def _pad_vjp(g, *, paddings):
    shape = g._array.shape
    ends = zip(paddings, shape, strict=True)
    key = tuple([slice(low, size - high) for (low, high), size in ends])
    return _getitem(g, key=key)


@_pad.batch
def _pad_batch(batched, x, value, *, paddings):
    return _pad(x, value, paddings=((0, 0), *paddings)) if batched == {"x"} else NotImplemented


@op(
    pattern=MOVES,
    samples=lambda r: [
        ([r.normal(size=(3, 4))], {"paddings": ((1, 2), (3, 0)), "edge": 0}),
        ([r.normal(size=(3, 4))], {"paddings": ((1, 2), (3, 0)), "edge": 1}),
        ([r.normal(size=(2, 1))], {"paddings": ((2, 2), (0, 1)), "edge": 1}),
    ],
)
def _mirror_pad(xp, x, *, paddings, edge):
    """`x` continued by its mirror image, with (`edge` 1) or without (0) the border itself."""
    return xp.pad(x, paddings, "symmetric" if edge else "reflect")


@_mirror_pad.vjp("x")
def _mirror_pad_vjp(g, *, paddings, edge):
    return _mirror_pad_adjoint(g, paddings=paddings, edge=edge)


@_mirror_pad.batch
def _mirror_pad_batch(batched, x, *, paddings, edge):
    return _mirror_pad(x, paddings=((0, 0), *paddings), edge=edge)


@op(
    pattern=MOVES,
    samples=lambda r: [
        ([r.normal(size=(6, 7))], {"paddings": ((1, 2), (3, 0)), "edge": 0}),
        ([r.normal(size=(6, 2))], {"paddings": ((2, 2), (0, 1)), "edge": 1}),
    ],
)
def _mirror_pad_adjoint(xp, x, *, paddings, edge):
    """The mirror images folded back onto what they are images of: the adjoint of `mirror_pad`."""
    for axis, (low, high) in enumerate(paddings):
        size = x.shape[axis] - low - high
        before = (ALL,) * axis
        folded = x[(*before, slice(low, low + size))]
        for count, image, start in (
            (low, slice(0, low), 1 - edge),
            (high, slice(low + size, None), size - high - 1 + edge),
        ):
            if count:
                widths = [(0, 0)] * x.ndim
                widths[axis] = (start, size - start - count)
                folded = folded + xp.pad_constant(xp.flip(x[(*before, image)], axis), widths, 0)
        x = folded
    return x


@_mirror_pad_adjoint.vjp("x")
def _mirror_pad_adjoint_vjp(g, *, paddings, edge):
    return _mirror_pad(g, paddings=paddings, edge=edge)


@_mirror_pad_adjoint.batch
def _mirror_pad_adjoint_batch(batched, x, *, paddings, edge):
    return _mirror_pad_adjoint(x, paddings=((0, 0), *paddings), edge=edge)


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Tensor:
    """`tensor` with `paddings[i] = (before, after)` elements added along axis i.

    `mode` "CONSTANT" adds `constant_values` (which get no gradient), "REFLECT" the mirror image
    without the border, "SYMMETRIC" with it.
    """
    x = to_tensor(tensor, "pad")
    shape = x._array.shape
    widths = known(paddings, "pad", "paddings")
    if widths.size == 0:
        widths = widths.reshape(0, 2).astype(int)
    if widths.shape != (len(shape), 2) or widths.dtype.kind not in "iu" or (widths < 0).any():
        raise ShapeError(
            f"pad: `paddings` must be a pair of integers >= 0 for each of the {len(shape)} axes of "
            f"`tensor`. Received: {widths.tolist()}."
        )
    pairs = tuple(map(tuple, widths.tolist()))
    mode = mode.upper()
    if mode == "CONSTANT":
        plain = type(constant_values) in (int, float)
        if plain and x._array.dtype == object and not constant_values:
            constant_values, plain = b"", False  # the zero of text
        value = Tensor(np.asarray(constant_values)) if plain else to_tensor(constant_values, "pad")
        return _pad(x, value, paddings=pairs)
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise InvalidArgumentError(
            f'pad: `mode` must be "CONSTANT", "REFLECT" or "SYMMETRIC", not {mode!r}.'
        )
    edge = int(mode == "SYMMETRIC")
    for axis, (pair, size) in enumerate(zip(pairs, shape, strict=True)):
        if max(pair) > size - 1 + edge:
            raise InvalidArgumentError(
                f"pad: in mode {mode} no padding may exceed {size - 1 + edge} along axis {axis}, "
                f"which has size {size}. Received: {list(pair)}."
            )
    return _mirror_pad(x, paddings=pairs, edge=edge)
