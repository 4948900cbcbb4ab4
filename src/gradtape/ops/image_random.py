"""Random changes of images: with the global sequence of draws, or from a seed of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import InvalidArgumentError
from ..core.tensor import Tensor, is_symbolic
from ._static import static_ints, to_tensor
from .image import flip_left_right, flip_up_down
from .image_color import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .image_resize import image_batch
from .indexing import gather
from .logic import where
from .random import generator_for
from .slicing import slice as slice_
from .stateless import _random


def _between(random: Any, low: float, high: float) -> Any:
    drawn = random.uniform(low, high)
    return Tensor(drawn.astype(np.float32)) if is_symbolic(drawn) else float(np.float32(drawn))


def _spread(max_delta: Any, most: float, op_name: str) -> float:
    spread = float(max_delta)
    if not 0 <= spread <= most:
        limit = "must be >= 0" if most == np.inf else f"must lie in [0, {most}]"
        raise InvalidArgumentError(f"{op_name}: `max_delta` {limit}, and is {spread}.")
    return spread


def _range(lower: Any, upper: Any, op_name: str) -> tuple[float, float]:
    low, high = float(lower), float(upper)
    if not 0 <= low < high:
        raise InvalidArgumentError(
            f"{op_name}: need 0 <= lower < upper. Received: lower={low}, upper={high}."
        )
    return low, high


def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_brightness` by a number drawn from [-max_delta, max_delta)."""
    spread = _spread(max_delta, np.inf, "random_brightness")
    return adjust_brightness(
        image, _between(generator_for(seed, "random_brightness"), -spread, spread)
    )


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """`random_brightness`, the draw depending on `seed` (two integers) alone."""
    spread = _spread(max_delta, np.inf, "stateless_random_brightness")
    random = _random(seed, "stateless_random_brightness")
    return adjust_brightness(image, _between(random, -spread, spread))


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_contrast` by a factor drawn from [lower, upper)."""
    low, high = _range(lower, upper, "random_contrast")
    return adjust_contrast(image, _between(generator_for(seed, "random_contrast"), low, high))


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Tensor:
    """`random_contrast`, the draw depending on `seed` (two integers) alone."""
    low, high = _range(lower, upper, "stateless_random_contrast")
    return adjust_contrast(image, _between(_random(seed, "stateless_random_contrast"), low, high))


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_saturation` by a factor drawn from [lower, upper)."""
    low, high = _range(lower, upper, "random_saturation")
    return adjust_saturation(image, _between(generator_for(seed, "random_saturation"), low, high))


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`random_saturation`, the draw depending on `seed` (two integers) alone."""
    low, high = _range(lower, upper, "stateless_random_saturation")
    random = _random(seed, "stateless_random_saturation")
    return adjust_saturation(image, _between(random, low, high))


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_hue` by a turn drawn from [-max_delta, max_delta), at most 0.5."""
    spread = _spread(max_delta, 0.5, "random_hue")
    return adjust_hue(image, _between(generator_for(seed, "random_hue"), -spread, spread))


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """`random_hue`, the draw depending on `seed` (two integers) alone."""
    spread = _spread(max_delta, 0.5, "stateless_random_hue")
    return adjust_hue(image, _between(_random(seed, "stateless_random_hue"), -spread, spread))


def _flipped(image: Any, flip: Callable[[Any], Tensor], random: Any, op_name: str) -> Tensor:
    """`image` or its mirror image, with even chances, for each image of a batch by itself."""
    x = to_tensor(image, op_name)
    image_batch(x, op_name)
    chosen = random.random(() if x.ndim == 3 else (x._array.shape[0], 1, 1, 1)) < 0.5
    if x.ndim == 3 and not is_symbolic(chosen):
        return flip(x) if chosen else x
    return where(Tensor(chosen), flip(x), x)


def random_flip_left_right(image: Any, seed: Any = None) -> Tensor:
    """`flip_left_right` with probability 1/2, drawn for each image of a batch."""
    return _flipped(
        image,
        flip_left_right,
        generator_for(seed, "random_flip_left_right"),
        "random_flip_left_right",
    )


def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """`random_flip_left_right`, the draws depending on `seed` (two integers) alone."""
    op_name = "stateless_random_flip_left_right"
    return _flipped(image, flip_left_right, _random(seed, op_name), op_name)


def random_flip_up_down(image: Any, seed: Any = None) -> Tensor:
    """`flip_up_down` with probability 1/2, drawn for each image of a batch."""
    return _flipped(
        image, flip_up_down, generator_for(seed, "random_flip_up_down"), "random_flip_up_down"
    )


def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """`random_flip_up_down`, the draws depending on `seed` (two integers) alone."""
    op_name = "stateless_random_flip_up_down"
    return _flipped(image, flip_up_down, _random(seed, op_name), op_name)


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """A part of shape `size` of `value`, at a random place."""
    return _cropped(value, size, generator_for(seed, "random_crop"), "random_crop")


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """`random_crop`, the place depending on `seed` (two integers) alone."""
    return _cropped(value, size, _random(seed, "stateless_random_crop"), "stateless_random_crop")


def _cropped(value: Any, size: Any, random: Any, op_name: str) -> Tensor:
    x = to_tensor(value, op_name)
    sizes, shape = static_ints(size, op_name, "size"), tuple(x._array.shape)
    if len(sizes) != len(shape) or any(not 0 <= s <= n for s, n in zip(sizes, shape, strict=False)):
        raise InvalidArgumentError(
            f"{op_name}: `size` must have an entry for each axis of `value`, none larger than it. "
            f"Received: size={list(sizes)}, value.shape={shape}."
        )
    starts = [random.integers(n - s + 1) for s, n in zip(sizes, shape, strict=True)]
    if not any(map(is_symbolic, starts)):
        return slice_(x, [int(start) for start in starts], sizes)
    for axis, (start, count) in enumerate(zip(starts, sizes, strict=True)):
        x = gather(x, Tensor(start + np.arange(count)), axis=axis)
    return x
