"""`tf.quantization`: numbers rounded as if they were stored in a few bits, with a gradient.

The range [min, max] is moved a little so that zero is among the numbers kept. The gradient is that
of cutting off: one inside the range, zero outside, where `min` or `max` gets it instead.
"""

from __future__ import annotations

from typing import Any

from ..core.convert import as_tensor
from ..core.dtypes import float32
from ..core.errors import InvalidArgumentError, ShapeError
from ..core.tensor import Tensor
from ..ops.array.creation import zeros_like
from ..ops.math.arithmetic import clip_by_value, floor
from ..ops.math.logic import logical_and, logical_or, where
from ..ops.math.reduction import reduce_sum
from ..tape.custom import custom_gradient


def fake_quant_with_min_max_args(
    inputs: Any,
    min: Any = -6,
    max: Any = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """`inputs` rounded to the 2**num_bits numbers (one less if `narrow_range`) of [min, max].

    >>> fake_quant_with_min_max_args([-7.0, 0.1, 5.0], num_bits=2).numpy().tolist()
    [-8.0, 0.0, 4.0]
    """
    op = "fake_quant_with_min_max_args"
    low, high = as_tensor(float(min)), as_tensor(float(max))
    if float(min) >= float(max):
        raise InvalidArgumentError(f"{op}: `min`={min} must be less than `max`={max}.")
    return _fake_quant(op, as_tensor(inputs, float32, op), low, high, num_bits, narrow_range)


def fake_quant_with_min_max_vars(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The same with tensors or variables for the ends of the range, which get gradients too."""
    op = "fake_quant_with_min_max_vars"
    x, low, high = (as_tensor(v, float32, op) for v in (inputs, min, max))
    if low.ndim or high.ndim:
        raise ShapeError(
            f"{op}: `min` and `max` must be scalars. Received: min.shape={low.shape}, "
            f"max.shape={high.shape}. For one range in each channel: {op}_per_channel."
        )
    return _fake_quant(op, x, low, high, num_bits, narrow_range)


def fake_quant_with_min_max_vars_per_channel(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The same with one range for each channel, which is the last axis."""
    op = "fake_quant_with_min_max_vars_per_channel"
    x, low, high = (as_tensor(v, float32, op) for v in (inputs, min, max))
    _check_channels(op, x, low, high)
    return _fake_quant(op, x, low, high, num_bits, narrow_range)


def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: Any = -6,
    max: Any = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `fake_quant_with_min_max_args` by `inputs`."""
    op = "fake_quant_with_min_max_args_gradient"
    g, x = as_tensor(gradients, float32, op), as_tensor(inputs, float32, op)
    ends = as_tensor(float(min)), as_tensor(float(max))
    return _gradients(g, x, *_nudged(op, *ends, num_bits, narrow_range)[:2], None)[0]


def fake_quant_with_min_max_vars_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `fake_quant_with_min_max_vars` by `inputs`, `min` and `max`."""
    op = "fake_quant_with_min_max_vars_gradient"
    g, x, low, high = (as_tensor(v, float32, op) for v in (gradients, inputs, min, max))
    return _gradients_by_all(op, g, x, low, high, num_bits, narrow_range)


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `fake_quant_with_min_max_vars_per_channel` by its three tensors."""
    op = "fake_quant_with_min_max_vars_per_channel_gradient"
    g, x, low, high = (as_tensor(v, float32, op) for v in (gradients, inputs, min, max))
    _check_channels(op, x, low, high)
    return _gradients_by_all(op, g, x, low, high, num_bits, narrow_range)


def _check_channels(op: str, x: Tensor, low: Tensor, high: Tensor) -> None:
    channels = list(x._array.shape[-1:])
    if list(low._array.shape) != channels or list(high._array.shape) != channels:
        raise ShapeError(
            f"{op}: `min` and `max` must have an element for each channel, the last axis of "
            f"`inputs`. Received: inputs.shape={x.shape}, min.shape={low.shape}, "
            f"max.shape={high.shape}."
        )


def _fake_quant(
    op: str, inputs: Tensor, low: Tensor, high: Tensor, num_bits: int, narrow_range: bool
) -> Tensor:
    @custom_gradient
    def rounded(x: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Any]:
        least, most, (count, width), empty = _nudged(op, low, high, num_bits, narrow_range)
        steps = floor(clip_by_value(x, least, most) * count / width + 0.5)
        result = where(empty, zeros_like(x), steps * (width / count))

        def gradient(g: Tensor) -> Any:
            return _gradients_by_all(op, g, x, low, high, num_bits, narrow_range)

        return result, gradient

    return rounded(inputs, low, high)


def _nudged(
    op: str, low: Tensor, high: Tensor, num_bits: int, narrow_range: bool
) -> tuple[Tensor, Tensor, tuple[float, Tensor], Tensor]:
    """The ends of the range, moved to have zero in it; the number of steps, and how wide they are
    together; and whether there is no range."""
    if not 2 <= num_bits <= 16:
        raise InvalidArgumentError(f"{op}: `num_bits`={num_bits} must be from 2 to 16.")
    first, last = float(narrow_range), 2.0**num_bits - 1.0
    count = last - first
    empty = logical_and(low == 0.0, high == 0.0)
    width = where(empty, 1.0, high - low)
    # Not low / (width / count): XLA divides by a constant as it multiplies by its inverse, and at a
    # tie the last bit decides.
    zero = first - low * count / width
    zero = where(zero < first, first, where(zero > last, last, floor(zero + 0.5)))
    least, most = (first - zero) * (width / count), (last - zero) * (width / count)
    return least, most, (count, width), empty


def _gradients_by_all(
    op: str, g: Tensor, x: Tensor, low: Tensor, high: Tensor, num_bits: int, narrow_range: bool
) -> tuple[Tensor, Tensor, Tensor]:
    least, most, _, empty = _nudged(op, low, high, num_bits, narrow_range)
    return _gradients(g, x, least, most, empty)


def _gradients(
    g: Tensor, x: Tensor, least: Tensor, most: Tensor, empty: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    inside = logical_and(x >= least, x <= most)
    below, above = x < least, x > most
    if empty is not None:  # then all passes, and the ends get nothing
        inside = logical_or(inside, empty)
        below, above = (logical_and(side, empty == False) for side in (below, above))  # noqa: E712
    axes = list(range(x.ndim - least.ndim))
    parts = [where(side, g, zeros_like(g)) for side in (inside, below, above)]
    return parts[0], reduce_sum(parts[1], axes), reduce_sum(parts[2], axes)
