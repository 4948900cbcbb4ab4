"""How alike two images are: PSNR, SSIM and SSIM over several scales. All as float32."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.joining import stack
from ..array.pad import pad
from ..declare.static import static_int, to_tensor
from ..math.arithmetic import square, squared_difference
from ..math.exponential import log
from ..math.power import pow
from ..math.reduction import reduce_mean, reduce_prod
from ..nn.activation import relu
from .color import convert_image_dtype
from .resize import AxisMap, along_axes


def _pair(a: Any, b: Any, max_val: Any, names: tuple[str, str], op_name: str) -> tuple[Tensor, ...]:
    """Both images and the largest value that they can have, as float32."""
    x, y = to_tensor(a, op_name), to_tensor(b, op_name)
    shapes = [tuple(t._array.shape) for t in (x, y)]
    outer = [s[:-3] for s in shapes]
    fits = min(map(len, shapes)) >= 3 and shapes[0][-3:] == shapes[1][-3:]
    if fits:
        ends = zip(outer[0][::-1], outer[1][::-1], strict=False)
        fits = all(m == n or 1 in (m, n) for m, n in ends)
    if not fits:
        raise ShapeError(
            f"{op_name}: `{names[0]}` and `{names[1]}` must be images [..., height, width, "
            f"channels] of one size. Received: shapes {shapes[0]} and {shapes[1]}."
        )
    largest = convert_image_dtype(cast(max_val, x.dtype), dt.float32)
    return convert_image_dtype(x, dt.float32), convert_image_dtype(y, dt.float32), largest


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio of two images in decibels: Inf for equal ones."""
    x, y, largest = _pair(a, b, max_val, ("a", "b"), "psnr")
    error = reduce_mean(squared_difference(x, y), [-3, -2, -1])
    decibel = 10 / math.log(10)
    return 2 * decibel * log(largest) - decibel * log(error)


@lru_cache(maxsize=64)
def _gaussian(size: int, width: int, sigma: float) -> AxisMap:
    """The weighted mean of `width` neighbours, for all places at which they all exist."""
    places = np.arange(width) - (width - 1) / 2
    weights = np.exp(-0.5 * (places / sigma) ** 2)
    weights = (weights / weights.sum()).astype(np.float32)
    length = size - width + 1
    indices = np.arange(width)[:, None] + np.arange(length)
    return AxisMap(indices, np.broadcast_to(weights[:, None], indices.shape), size)


@lru_cache(maxsize=64)
def _halving(size: int) -> AxisMap:
    indices = np.arange(size).reshape(-1, 2).T
    return AxisMap(indices, np.full(indices.shape, 0.5, np.float32), size)


def _similarity(
    x: Tensor,
    y: Tensor,
    largest: Tensor,
    filter_size: int,
    filter_sigma: float,
    k1: float,
    k2: float,
) -> tuple[Tensor, Tensor]:
    """Luminance times contrast and structure, and the latter alone, at each place."""
    height, width = x._array.shape[-3:-1]

    def blurred(image: Tensor) -> Tensor:
        maps = (
            _gaussian(height, filter_size, filter_sigma),
            _gaussian(width, filter_size, filter_sigma),
        )
        return along_axes(image, maps, (image.ndim - 3, image.ndim - 2))

    c1, c2 = square(largest * k1), square(largest * k2)
    mean_x, mean_y = blurred(x), blurred(y)
    product = mean_x * mean_y * 2
    squares = square(mean_x) + square(mean_y)
    luminance = (product + c1) / (squares + c1)
    structure = (blurred(x * y) * 2 - product + c2) / (
        blurred(square(x) + square(y)) - squares + c2
    )
    return luminance * structure, structure


def _check_filter(
    x: Tensor, filter_size: Any, filter_sigma: Any, op_name: str
) -> tuple[int, float]:
    width = static_int(filter_size, op_name, "filter_size")
    sigma = float(filter_sigma)
    if sigma <= 0:
        raise InvalidArgumentError(f"{op_name}: `filter_sigma` must be positive, and is {sigma}.")
    if not 1 <= width <= min(x._array.shape[-3:-1]):
        raise InvalidArgumentError(
            f"{op_name}: the filter, {width} wide, must not be larger than the image, whose shape "
            f"is {tuple(x.shape)}; give a smaller `filter_size`."
        )
    return width, sigma


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: Any = 11,
    filter_sigma: Any = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """The structural similarity of two images, 1 for equal ones: as a whole, or at each place."""
    x, y, largest = _pair(img1, img2, max_val, ("img1", "img2"), "ssim")
    width, sigma = _check_filter(x, filter_size, filter_sigma, "ssim")
    values, _ = _similarity(x, y, largest, width, sigma, k1, k2)
    if not return_index_map:
        values = reduce_mean(values, [-3, -2])
    return reduce_mean(values, [-1])


_SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = _SCALE_WEIGHTS,
    filter_size: Any = 11,
    filter_sigma: Any = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The product of structural similarities of images halved again and again, each to a power."""
    x, y, largest = _pair(img1, img2, max_val, ("img1", "img2"), "ssim_multiscale")
    parts = []
    for scale in range(len(power_factors)):
        if scale:
            x, y = _halved(x), _halved(y)
        width, sigma = _check_filter(x, filter_size, filter_sigma, "ssim_multiscale")
        values, structure = _similarity(x, y, largest, width, sigma, k1, k2)
        last = scale == len(power_factors) - 1
        parts.append(relu(reduce_mean(values if last else structure, [-3, -2])))
    powers = Tensor(np.asarray(power_factors, np.float32))
    return reduce_mean(reduce_prod(pow(stack(parts, axis=-1), powers), [-1]), [-1])


def _halved(x: Tensor) -> Tensor:
    """The means of 2 x 2 pixels, the last row or column doubled where there is an odd one."""
    odd = [(0, n % 2) for n in x._array.shape[-3:-1]]
    if odd != [(0, 0), (0, 0)]:
        x = pad(x, [*[(0, 0)] * (x.ndim - 3), *odd, (0, 0)], "SYMMETRIC")
    height, width = x._array.shape[-3:-1]
    return along_axes(x, (_halving(height), _halving(width)), (x.ndim - 3, x.ndim - 2))
