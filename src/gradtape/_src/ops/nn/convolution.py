"""Convolution over 1, 2 or 3 axes, its two adjoints, and TensorFlow's many names for them.

One primitive does all of it: strides, dilations, explicit amounts of padding, groups of channels.
Arrays are (batch, *space, channels) and filters (*kernel, channels of a group, output channels). It
is bilinear, so its two adjoints and itself are each other's gradient rules, to any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from ...core import dtypes as dt
from ...core.dispatch import _operands
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.op import parameters_of
from ...core.spec import Spec
from ...core.tensor import Tensor
from ..array.shape import _reshape, _transpose
from ..declare.op import op
from ..declare.reduction import in_float32
from ..declare.static import static_ints, to_tensor
from .geometry import (
    Ints,
    amounts,
    channels_back,
    channels_first,
    channels_last,
    hashable,
    per_axis,
)

# The primitives


def _geometry(strides, dilations, padding, groups=1):
    return {"strides": strides, "dilations": dilations, "padding": padding, "groups": groups}


def _samples(r, which):
    """The arguments of the primitive (`which` is "out") or of the adjoint by "input", "filters"."""
    n = r.normal
    cases = [
        ((2, 3), 1, (3,), 2, _geometry((1,), (1,), ((1, 1),))),
        ((1, 4, 3), 2, (2, 2), 1, _geometry((2, 1), (1, 2), ((1, 1), (0, 1)))),
        ((1, 3, 2), 4, (2, 1), 2, _geometry((2, 3), (1, 1), ((0, 0), (1, 1)), 2)),
        ((1, 3), 4, (2,), 4, _geometry((1,), (2,), ((1, 1),), 2)),
        ((1, 2), 2, (2,), 4, _geometry((1,), (1,), ((1, 0),), 2)),
        ((1, 2, 1, 3), 1, (2, 1, 2), 2, _geometry((1, 1, 2), (1, 1, 1), ((1, 0), (0, 0), (0, 1)))),
        ((1, 2), 1, (2,), 5, _geometry((1,), (1,), ((2, 3),))),
        ((2, 2), 2, (1,), 1, _geometry((1,), (1,), ((0, 0),))),
        ((1, 2), 1, (3,), 1, _geometry((1,), (1,), ((0, 0),))),
    ]
    result = []
    for (batch, *size), channels, kernel, outputs, given in cases:
        x = n(size=(batch, *size, channels))
        filters = n(size=(*kernel, channels // given["groups"], outputs))
        axes = zip(
            size, kernel, given["strides"], given["dilations"], given["padding"], strict=True
        )
        space = [(m + sum(p) - (k - 1) * d - 1 + s) // s for m, k, s, d, p in axes]
        y = n(size=(batch, *space, outputs))
        result.append({
            "out": ([x, filters], given),
            "input": ([y, filters], given | {"size": tuple(size)}),
            "filters": ([x, y], given | {"kernel": tuple(kernel)}),
        }[which])  # fmt: skip
    return result


def _in_float32_if_need_be(kernel: Callable[..., Any]) -> Callable[..., Any]:
    widened = in_float32(kernel)

    def run(xp: Any, *arrays: Any, **params: Any) -> Any:
        return (kernel if xp.convolves_halves else widened)(xp, *arrays, **params)

    run.__name__, run.__doc__ = kernel.__name__, kernel.__doc__
    run.parameters = parameters_of(kernel)
    return run


def _multiplications(y: Tensor, filters: Tensor) -> float:
    """Each element of `y`, the side of the output, is a sum over the kernel and its channels."""
    return float(y._array.size) * filters._array.size / max(filters._array.shape[-1], 1)


@op(
    linear="all",
    dtypes=dt.REAL,
    samples=lambda r: _samples(r, "out"),
    work=lambda input, filters, out, **_: _multiplications(out, filters),
)
@_in_float32_if_need_be
def _convolution(xp, input, filters, *, strides, dilations, padding, groups):
    """The sum of products of `filters` with each window of `input` (without turning it around)."""
    return xp.convolution(input, filters, **_geometry(strides, dilations, padding, groups))


@_convolution.vjp("input")
def _convolution_vjp_input(g, input: Spec, filters, *, strides, dilations, padding, groups):
    given = _geometry(strides, dilations, padding, groups)
    return _convolution_input_gradient(g, filters, size=tuple(input.shape[1:-1]), **given)


@_convolution.vjp("filters")
def _convolution_vjp_filters(g, input, filters: Spec, *, strides, dilations, padding, groups):
    given = _geometry(strides, dilations, padding, groups)
    return _convolution_filter_gradient(input, g, kernel=tuple(filters.shape[:-2]), **given)


@_convolution.batch
def _convolution_batch(batched, input, filters, *, strides, dilations, padding, groups):
    """A batched input has more images; batched filters more output channels; both, more groups."""

    def run(x: Tensor, w: Tensor, groups: int) -> Tensor:
        return _convolution(x, w, **_geometry(strides, dilations, padding, groups))

    if batched == {"input"}:
        return _unmerged(run(_merged(input), filters, groups), input)
    count = filters._array.shape[0]
    if batched == {"filters"}:
        return _out_of_last(run(input, _into_last(filters, groups), groups), count, groups)
    out = run(_into_last(input, 1), _into_last(filters, 1), groups * count)
    return _out_of_last(out, count, 1)


@op(
    linear="all",
    dtypes=dt.REAL,
    samples=lambda r: _samples(r, "input"),
    work=lambda y, filters, out, **_: _multiplications(y, filters),
)
@_in_float32_if_need_be
def _convolution_input_gradient(xp, y, filters, *, size, strides, dilations, padding, groups):
    """The adjoint of `convolution` in its input, whose space has the sizes `size`."""
    given = _geometry(strides, dilations, padding, groups)
    return xp.convolution_input_gradient(y, filters, size=size, **given)


@_convolution_input_gradient.vjp("y")
def _convolution_input_gradient_vjp_y(g, filters, *, strides, dilations, padding, groups):
    return _convolution(g, filters, **_geometry(strides, dilations, padding, groups))


@_convolution_input_gradient.vjp("filters")
def _convolution_input_gradient_vjp_filters(
    g, y, filters: Spec, *, strides, dilations, padding, groups
):
    given = _geometry(strides, dilations, padding, groups)
    return _convolution_filter_gradient(g, y, kernel=tuple(filters.shape[:-2]), **given)


@_convolution_input_gradient.batch
def _convolution_input_gradient_batch(
    batched, y, filters, *, size, strides, dilations, padding, groups
):
    def run(y: Tensor, w: Tensor, groups: int) -> Tensor:
        given = _geometry(strides, dilations, padding, groups)
        return _convolution_input_gradient(y, w, size=size, **given)

    if batched == {"y"}:
        return _unmerged(run(_merged(y), filters, groups), y)
    count = filters._array.shape[0]
    if batched == {"filters"}:  # more channels of the input, inside of each group
        return _out_of_last(run(y, _into_depth(filters), groups), count, groups)
    out = run(_into_last(y, 1), _into_last(filters, 1), groups * count)
    return _out_of_last(out, count, 1)


@op(
    linear="all",
    dtypes=dt.REAL,
    samples=lambda r: _samples(r, "filters"),
    work=lambda input, y, out, **_: _multiplications(y, out),
)
@_in_float32_if_need_be
def _convolution_filter_gradient(xp, input, y, *, kernel, strides, dilations, padding, groups):
    """The adjoint of `convolution` in its filters, whose kernel has the sizes `kernel`."""
    given = _geometry(strides, dilations, padding, groups)
    return xp.convolution_filter_gradient(input, y, kernel=kernel, **given)


@_convolution_filter_gradient.vjp("input")
def _convolution_filter_gradient_vjp_input(
    g, input: Spec, y, *, strides, dilations, padding, groups
):
    given = _geometry(strides, dilations, padding, groups)
    return _convolution_input_gradient(y, g, size=tuple(input.shape[1:-1]), **given)


@_convolution_filter_gradient.vjp("y")
def _convolution_filter_gradient_vjp_y(g, input, *, strides, dilations, padding, groups):
    return _convolution(input, g, **_geometry(strides, dilations, padding, groups))


@_convolution_filter_gradient.batch
def _convolution_filter_gradient_batch(
    batched, input, y, *, kernel, strides, dilations, padding, groups
):
    def run(x: Tensor, y: Tensor, groups: int) -> Tensor:
        given = _geometry(strides, dilations, padding, groups)
        return _convolution_filter_gradient(x, y, kernel=kernel, **given)

    if batched == {"y"}:
        out = run(input, _into_last(y, groups), groups)
        return _out_of_last(out, y._array.shape[0], groups)
    if batched == {"input"}:
        out = run(_into_last(input, groups), y, groups)
        return _out_of_depth(out, input._array.shape[0])
    count = y._array.shape[0]
    out = run(_into_last(input, 1), _into_last(y, 1), groups * count)
    return _out_of_last(out, count, 1)


# Where the batching rules put their axis


def _merged(x: Tensor) -> Tensor:
    """The batch axis, axis 0, merged with the next one."""
    first, second, *rest = x._array.shape
    return _reshape(x, shape=(first * second, *rest))


def _unmerged(x: Tensor, like: Tensor) -> Tensor:
    return _reshape(x, shape=(*like._array.shape[:2], *x._array.shape[1:]))


def _into_last(x: Tensor, groups: int) -> Tensor:
    """Axis 0 merged into the last axis, inside of each of its `groups`."""
    count, *middle, last = x._array.shape
    x = _reshape(x, shape=(count, *middle, groups, last // groups))
    rank = len(middle)
    x = _transpose(x, perm=(*range(1, rank + 1), rank + 1, 0, rank + 2))
    return _reshape(x, shape=(*middle, count * last))


def _out_of_last(x: Tensor, count: int, groups: int) -> Tensor:
    """The inverse of `_into_last`."""
    *middle, last = x._array.shape
    x = _reshape(x, shape=(*middle, groups, count, last // (groups * count)))
    rank = len(middle)
    x = _transpose(x, perm=(rank + 1, *range(rank), rank, rank + 2))
    return _reshape(x, shape=(count, *middle, last // count))


def _into_depth(filters: Tensor) -> Tensor:
    """Axis 0 merged into the last but one."""
    count, *kernel, depth, outputs = filters._array.shape
    rank = len(kernel)
    x = _transpose(filters, perm=(*range(1, rank + 1), 0, rank + 1, rank + 2))
    return _reshape(x, shape=(*kernel, count * depth, outputs))


def _out_of_depth(filters: Tensor, count: int) -> Tensor:
    """The inverse of `_into_depth`."""
    *kernel, depth, outputs = filters._array.shape
    rank = len(kernel)
    x = _reshape(filters, shape=(*kernel, count, depth // count, outputs))
    return _transpose(x, perm=(rank, *range(rank), rank + 1, rank + 2))


# From TensorFlow's arguments to those of the primitives


class _Plan(NamedTuple):
    """What a call comes down to; `first`: the channels come before the space."""

    first: bool
    geometry: dict[str, Any]
    space: Ints  # of the result of the convolution
    size: Ints  # of its input


@lru_cache(maxsize=1024)
def _plan(
    name: str,
    shape: Ints,
    filters: Ints,
    rank: int,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
    exclusive: bool = False,
) -> _Plan:
    """The geometry of a convolution of an input of `shape`; checks all of it, shapes included."""
    if len(filters) != rank + 2:
        raise ShapeError(
            f"{name}: `filters` must have rank {rank + 2}: {rank} axes of the kernel, input "
            f"channels, output channels. Received: filters.shape={filters}."
        )
    if len(shape) != rank + 2:
        raise ShapeError(
            f"{name}: `input` must have rank {rank + 2}: batch, {rank} axes of space, channels. "
            f"Received: input.shape={shape}."
        )
    first = channels_first(data_format, rank, name)
    size, channels = (shape[2:], shape[1]) if first else (shape[1:-1], shape[-1])
    *kernel, depth, outputs = filters
    if not depth or channels % depth or outputs % max(1, channels // depth):
        raise ShapeError(
            f"{name}: the {channels} channels of `input` must be those that `filters` takes, "
            f"{depth}, or a multiple (groups) that divides the {outputs} output channels. "
            f"Received: input.shape={shape}, filters.shape={filters}, data_format={data_format!r}."
        )
    if 0 in kernel:
        raise ShapeError(
            f"{name}: the kernel must not be empty. Received: filters.shape={filters}."
        )
    steps = per_axis(strides, rank, first, name, "strides")
    rates = per_axis(dilations, rank, first, name, "dilations")
    if exclusive and max(steps) > 1 and max(rates) > 1:
        raise InvalidArgumentError(
            f"{name}: `strides` and `dilations` cannot both be larger than 1. Received: strides="
            f"{list(steps)}, dilations={list(rates)}."
        )
    pairs, space = amounts(padding, size, tuple(kernel), steps, rates, name, first)
    groups = max(1, channels // depth)
    return _Plan(first, _geometry(steps, rates, pairs, groups), space, size)


def _convolve(
    name: str,
    input: Any,
    filters: Any,
    rank: int,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
    exclusive: bool = False,
) -> Tensor:
    x, w = _operands(_convolution.op, input, filters)
    shape = x._array.shape
    outer = len(shape) - rank - 1
    if outer > 1:  # any number of batch axes
        x = _reshape(x, shape=(math.prod(shape[:outer]), *shape[outer:]))
    given = hashable(strides), hashable(padding), data_format, hashable(dilations)
    plan = _plan(name, x._array.shape, w._array.shape, rank, *given, exclusive)
    if plan.first:
        out = channels_back(_convolution(channels_last(x), w, **plan.geometry))
    else:
        out = _convolution(x, w, **plan.geometry)
    return _reshape(out, shape=(*shape[:outer], *out._array.shape[1:])) if outer > 1 else out


def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The convolution of `input` [..., width, channels] with `filters` [width, in, out].

    (As everywhere in machine learning the filters are not turned around.) `padding`: "SAME",
    "VALID" or a list of pairs for all axes. Channels of `input` that are a multiple of those of
    `filters` make groups.

    >>> conv1d([[[1.0], [2.0], [4.0]]], [[[1.0]], [[-1.0]]], 1, "VALID")[0, :, 0]
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([-1., -2.], dtype=float32)>
    """
    return _convolve("conv1d", input, filters, 1, stride, padding, data_format, dilations)


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The convolution of `input` [..., height, width, channels] with `filters` [h, w, in, out].

    `strides`, `dilations`: a number, one for each axis of space, or one for all axes; `padding`:
    "SAME", "VALID" or a list of pairs for all axes. Channels of `input` that are a multiple of
    those of `filters` make groups.
    """
    return _convolve("conv2d", input, filters, 2, strides, padding, data_format, dilations)


def conv3d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The convolution of `input` [..., depth, height, width, channels]: see `conv2d`."""
    return _convolve("conv3d", input, filters, 3, strides, padding, data_format, dilations)


def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The convolution over as many axes (1 to 3) as `filters` has before its channels."""
    filters = filters if isinstance(filters, Tensor) else to_tensor(filters, "convolution")
    rank = _rank(filters.ndim, "filters", tuple(filters.shape), "convolution")
    return _convolve(
        "convolution", input, filters, rank, strides, padding, data_format, dilations, True
    )


def _rank(ndim: int, argument: str, value: Any, name: str) -> int:
    if ndim - 2 not in (1, 2, 3):
        raise ShapeError(
            f"{name}: `{argument}` must have 1, 2 or 3 axes of space and two others. Received: "
            f"{value}."
        )
    return ndim - 2


def atrous_conv2d(
    value: Any, filters: Any, rate: Any, padding: Any, name: str | None = None
) -> Tensor:
    """`conv2d` with the elements of the filters `rate` apart."""
    return _convolve("atrous_conv2d", value, filters, 2, 1, padding, "NHWC", rate)


# Transposed convolutions: the gradient by the input as an op in its own right


def _transposed(
    name: str,
    input: Any,
    filters: Any,
    rank: int,
    output_shape: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
) -> Tensor:
    y, w = _operands(_convolution_input_gradient.op, input, filters)
    wanted = static_ints(output_shape, name, "output_shape")
    shape, kernel = y._array.shape, w._array.shape
    first = channels_first(data_format, rank, name)
    if len(wanted) == rank and len(kernel) == rank + 2 and len(shape) == rank + 2:
        around = (shape[0], kernel[-2])
        wanted = (*around, *wanted) if first else (around[0], *wanted, around[1])
    if len(wanted) != rank + 2 or min(wanted) < 0:
        raise ShapeError(
            f"{name}: `output_shape` must be {rank + 2} numbers, none negative. Received: "
            f"{list(wanted)}."
        )
    given = hashable(strides), hashable(padding), data_format, hashable(dilations)
    plan = _plan(name, wanted, kernel, rank, *given)
    around = (wanted[0], kernel[-1])
    expected = (*around, *plan.space) if first else (around[0], *plan.space, around[1])
    if shape != expected:
        raise ShapeError(
            f"{name}: to give output_shape={list(wanted)} the `input` must have the shape "
            f"{expected}, with these strides, padding and filters of shape {kernel} (kernel, "
            f"output channels, input channels). Received: input.shape={shape}."
        )
    if not first:
        return _convolution_input_gradient(y, w, size=plan.size, **plan.geometry)
    y = channels_last(y)
    return channels_back(_convolution_input_gradient(y, w, size=plan.size, **plan.geometry))


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv1d`: see `conv2d_transpose`."""
    geometry = strides, padding, data_format, dilations
    return _transposed("conv1d_transpose", input, filters, 1, output_shape, *geometry)


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv2d`: from the shape of its result to that of its input, `output_shape`.

    `filters` are [height, width, output channels, input channels].
    """
    geometry = strides, padding, data_format, dilations
    return _transposed("conv2d_transpose", input, filters, 2, output_shape, *geometry)


def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv3d`: see `conv2d_transpose`."""
    geometry = strides, padding, data_format, dilations
    return _transposed("conv3d_transpose", input, filters, 3, output_shape, *geometry)


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `convolution`, over as many axes as `output_shape` has besides two."""
    wanted = static_ints(output_shape, "conv_transpose", "output_shape")
    rank = _rank(len(wanted), "output_shape", list(wanted), "conv_transpose")
    return _transposed(
        "conv_transpose", input, filters, rank, wanted, strides, padding, data_format, dilations
    )


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: Any, padding: Any, name: str | None = None
) -> Tensor:
    """The transpose of `atrous_conv2d`."""
    return _transposed(
        "atrous_conv2d_transpose", value, filters, 2, output_shape, 1, padding, "NHWC", rate
    )
