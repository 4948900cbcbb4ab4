"""Random changes of images: with the global sequence of draws, or from a seed of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor, is_symbolic
from ..array.slicing import slice as slice_
from ..declare.static import static_ints, to_tensor
from ..math.logic import where
from ..random.sequence import generator_for
from ..random.stateless import _random as stateless_generator
from .color import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .layout import flip_left_right, flip_up_down
from .resize import image_batch


def _random_for(seed: Any, op_name: str) -> Any:
    """The generator of an op: from its seed alone if it is stateless, else of the sequence."""
    draws = stateless_generator if op_name.startswith("stateless") else generator_for
    return draws(seed, op_name)


def _between(random: Any, low: float, high: float) -> Any:
    drawn = random.uniform(low, high)
    return Tensor(drawn.astype(np.float32)) if is_symbolic(drawn) else float(np.float32(drawn))


Adjustment = Callable[[Any, Any], Tensor]


def _by_delta(
    adjust: Adjustment, image: Any, max_delta: Any, most: float, seed: Any, op_name: str
) -> Tensor:
    spread = float(max_delta)
    if not 0 <= spread <= most:
        limit = "must be >= 0" if most == np.inf else f"must lie in [0, {most}]"
        raise InvalidArgumentError(f"{op_name}: `max_delta` {limit}, and is {spread}.")
    return adjust(image, _between(_random_for(seed, op_name), -spread, spread))


def _by_factor(
    adjust: Adjustment, image: Any, lower: Any, upper: Any, seed: Any, op_name: str
) -> Tensor:
    low, high = float(lower), float(upper)
    if not 0 <= low < high:
        raise InvalidArgumentError(
            f"{op_name}: need 0 <= lower < upper. Received: lower={low}, upper={high}."
        )
    return adjust(image, _between(_random_for(seed, op_name), low, high))


def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_brightness` by a number drawn from [-max_delta, max_delta)."""
    return _by_delta(adjust_brightness, image, max_delta, np.inf, seed, "random_brightness")


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """`random_brightness`, the draw depending on `seed` (two integers) alone."""
    return _by_delta(
        adjust_brightness, image, max_delta, np.inf, seed, "stateless_random_brightness"
    )


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_contrast` by a factor drawn from [lower, upper)."""
    return _by_factor(adjust_contrast, image, lower, upper, seed, "random_contrast")


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Tensor:
    """`random_contrast`, the draw depending on `seed` (two integers) alone."""
    return _by_factor(adjust_contrast, image, lower, upper, seed, "stateless_random_contrast")


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_saturation` by a factor drawn from [lower, upper)."""
    return _by_factor(adjust_saturation, image, lower, upper, seed, "random_saturation")


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`random_saturation`, the draw depending on `seed` (two integers) alone."""
    return _by_factor(adjust_saturation, image, lower, upper, seed, "stateless_random_saturation")


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_hue` by a turn drawn from [-max_delta, max_delta), at most 0.5."""
    return _by_delta(adjust_hue, image, max_delta, 0.5, seed, "random_hue")


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """`random_hue`, the draw depending on `seed` (two integers) alone."""
    return _by_delta(adjust_hue, image, max_delta, 0.5, seed, "stateless_random_hue")


def _flipped(image: Any, flip: Callable[[Any], Tensor], seed: Any, op_name: str) -> Tensor:
    """`image` or its mirror image, with even chances, for each image of a batch by itself."""
    x = to_tensor(image, op_name)
    image_batch(x, op_name)
    random = _random_for(seed, op_name)
    chosen = random.random(() if x.ndim == 3 else (x._array.shape[0], 1, 1, 1)) < 0.5
    if x.ndim == 3 and not is_symbolic(chosen):
        return flip(x) if chosen else x
    return where(Tensor(chosen), flip(x), x)


def random_flip_left_right(image: Any, seed: Any = None) -> Tensor:
    """`flip_left_right` with probability 1/2, drawn for each image of a batch."""
    return _flipped(image, flip_left_right, seed, "random_flip_left_right")


def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """`random_flip_left_right`, the draws depending on `seed` (two integers) alone."""
    return _flipped(image, flip_left_right, seed, "stateless_random_flip_left_right")


def random_flip_up_down(image: Any, seed: Any = None) -> Tensor:
    """`flip_up_down` with probability 1/2, drawn for each image of a batch."""
    return _flipped(image, flip_up_down, seed, "random_flip_up_down")


def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """`random_flip_up_down`, the draws depending on `seed` (two integers) alone."""
    return _flipped(image, flip_up_down, seed, "stateless_random_flip_up_down")


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """A part of shape `size` of `value`, at a random place."""
    return _cropped(value, size, seed, "random_crop")


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """`random_crop`, the place depending on `seed` (two integers) alone."""
    return _cropped(value, size, seed, "stateless_random_crop")


def _cropped(value: Any, size: Any, seed: Any, op_name: str) -> Tensor:
    x = to_tensor(value, op_name)
    sizes, shape = static_ints(size, op_name, "size"), tuple(x._array.shape)
    if len(sizes) != len(shape) or any(not 0 <= s <= n for s, n in zip(sizes, shape, strict=False)):
        raise InvalidArgumentError(
            f"{op_name}: `size` must have an entry for each axis of `value`, none larger than it. "
            f"Received: size={list(sizes)}, value.shape={shape}."
        )
    random = _random_for(seed, op_name)
    starts = [random.integers(n - s + 1) for s, n in zip(sizes, shape, strict=True)]
    return slice_(
        x, [Tensor(start) if is_symbolic(start) else int(start) for start in starts], sizes
    )
