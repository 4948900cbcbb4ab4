"""Where the windows of convolutions and pools lie: strides, dilations, padding, data formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ..array.shape import _transpose
from ..declare.static import static_int, static_ints

Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def channels_first(data_format: Any, rank: int, op: str) -> bool:
    """Whether `data_format`, for a space of `rank` axes, has the channels before the space."""
    last, first = _FORMATS[rank]
    if data_format is None or data_format == last:
        return False
    if data_format == first:
        return True
    if rank == 1 and data_format in _FORMATS[2]:  # as tf.nn.conv1d takes them
        return bool(data_format == "NCHW")
    raise InvalidArgumentError(
        f"{op}: `data_format` must be {last!r} or {first!r}, not {data_format!r}."
    )


def per_axis(value: Any, rank: int, first: bool, op: str, name: str, whole: bool = False) -> Ints:
    """A number for each axis of space from one number, `rank` numbers, or `rank + 2`.

    Those for batch and channels must then be 1; with `whole` they come back too.
    """
    if value is None:
        numbers: Ints = (1,)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        numbers = tuple([static_int(v, op, name) for v in value])
    elif isinstance(value, Tensor) or hasattr(value, "__array__"):
        numbers = static_ints(value, op, name)
    else:
        numbers = (static_int(value, op, name),)
    if len(numbers) == 1:
        numbers *= rank
    if len(numbers) not in (rank, rank + 2):
        raise InvalidArgumentError(
            f"{op}: `{name}` must have 1, {rank} or {rank + 2} numbers. Received: {list(numbers)}."
        )
    if min(numbers) < 1:
        raise InvalidArgumentError(
            f"{op}: `{name}` must be positive numbers. Received: {list(numbers)}."
        )
    if len(numbers) == rank:
        numbers = (1, 1, *numbers) if first else (1, *numbers, 1)
    if whole:
        return numbers
    outer = numbers[:2] if first else (numbers[0], numbers[-1])
    if outer != (1, 1):
        raise InvalidArgumentError(
            f"{op}: `{name}` must be 1 for the batch and the channels. Received: {list(numbers)}."
        )
    return numbers[2:] if first else numbers[1:-1]


def amounts(
    padding: Any,
    size: Ints,
    kernel: Ints,
    strides: Ints,
    dilations: Ints,
    op: str,
    first: bool = False,
) -> tuple[Pairs, Ints]:
    """How much is padded before and after each axis, and how many windows there are along it.

    `padding`: "SAME", "VALID", or a pair for each axis, batch and channels included.
    """
    given: list[tuple[int, int]] | None = None
    if isinstance(padding, (list, tuple)):
        given = explicit(padding, len(size), first, op)
        kind = "EXPLICIT"
    else:
        kind = padding
        if kind not in ("SAME", "VALID"):
            raise InvalidArgumentError(
                f"{op}: `padding` must be 'SAME', 'VALID' or a list of pairs [before, after] for "
                f"all axes. Received: {padding!r}."
            )
    pairs, counts = [], []
    for axis, (n, k, s, d) in enumerate(zip(size, kernel, strides, dilations, strict=True)):
        extent = (k - 1) * d + 1
        if kind == "SAME":
            count = -(-n // s)
            needed = max(0, (count - 1) * s + extent - n)
            pair = (needed // 2, needed - needed // 2)
        else:
            pair = (0, 0) if given is None else given[axis]
            reach = n + sum(pair) - extent + s
            if reach < 0:
                raise ShapeError(
                    f"{op}: along axis {axis} of its space the window covers {extent} elements, "
                    f"and there are only {n + sum(pair)}. Use padding='SAME' or a smaller window."
                )
            count = reach // s
        pairs.append(pair)
        counts.append(count)
    return tuple(pairs), tuple(counts)


def explicit(padding: Any, rank: int, first: bool, op: str) -> list[tuple[int, int]]:
    """A list of pairs for all axes, as pairs for the axes of space."""
    pairs = []
    for pair in padding:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise InvalidArgumentError(
                f"{op}: a list as `padding` has a pair [before, after] for each axis. Received: "
                f"{padding!r}."
            )
        low, high = (static_int(amount, op, "padding") for amount in pair)
        if low < 0 or high < 0:
            raise InvalidArgumentError(
                f"{op}: `padding` must not be negative. Received: {padding!r}."
            )
        pairs.append((low, high))
    if len(pairs) != rank + 2:
        raise InvalidArgumentError(
            f"{op}: a list as `padding` must have {rank + 2} pairs, for batch and channels too. "
            f"Received: {padding!r}."
        )
    outer, inner = (pairs[:2], pairs[2:]) if first else ((pairs[0], pairs[-1]), pairs[1:-1])
    if any(map(any, outer)):
        raise InvalidArgumentError(
            f"{op}: batch and channels are not padded. Received: padding={padding!r}."
        )
    return inner


def hashable(value: Any) -> Any:
    """`value` with tuples for lists, to be the key of a cache."""
    if type(value) in (list, tuple):
        return tuple([hashable(v) for v in value])
    if isinstance(value, Tensor):
        return hashable(value._array.tolist())
    return hashable(value.tolist()) if hasattr(value, "tolist") else value


def channels_last(x: Tensor) -> Tensor:
    """(batch, channels, *space) as (batch, *space, channels)."""
    return _transpose(x, perm=(0, *range(2, x.ndim), 1))


def channels_back(x: Tensor) -> Tensor:
    """(batch, *space, channels) as (batch, channels, *space)."""
    last = x.ndim - 1
    return _transpose(x, perm=(0, last, *range(1, last)))
