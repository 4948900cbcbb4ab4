"""Colours: conversions between colour spaces and dtypes, adjustments of brightness, hue, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.dtypes import as_dtype
from ...core.errors import DTypeError, InvalidArgumentError, ShapeError
from ...core.take_over import lends_itself
from ...core.tensor import Tensor
from ..array.cast import cast, identity, stop_gradient
from ..array.conversion import saturate_cast
from ..array.joining import stack, tile, unstack
from ..array.reverse import _roll
from ..array.shape import expand_dims
from ..declare.op import op
from ..declare.reduction import in_float32
from ..declare.static import to_tensor
from ..linalg.einsum import tensordot
from ..math.arithmetic import (
    abs as absolute,
    clip_by_value,
    divide_no_nan,
    floordiv,
    floormod,
    maximum,
    minimum,
    reciprocal_no_nan,
)
from ..math.logic import where
from ..math.power import pow
from ..math.reduction import centered, reduce_mean, reduce_std, reduce_sum

_KNOWN = (np.ndarray, np.generic)  # arrays whose values can be looked at, unlike a tracer's


def _image(
    value: Any, op_name: str, name: str, channels: int | None = None, rank: int = 1
) -> Tensor:
    x = to_tensor(value, op_name)
    shape = tuple(x._array.shape)
    if len(shape) < rank:
        raise ShapeError(
            f"{op_name}: `{name}` must have rank {rank} or more, and has shape {shape}."
        )
    if channels is not None and shape[-1] != channels:
        raise ShapeError(
            f"{op_name}: the last axis of `{name}` must have size {channels}. Received: shape "
            f"{shape}."
        )
    return x


# Dtypes


@lends_itself
def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """`image` as `dtype`: floats are in [0, 1), integers from 0 to the largest of their dtype.

    `saturate` clips what does not fit. A conversion to integers passes no gradient.
    """
    x = to_tensor(image, "convert_image_dtype")
    wanted, given = as_dtype(dtype), x.dtype
    for what, each in (("dtype", wanted), ("image", given)):
        if not (each.is_floating or each.is_integer):
            raise DTypeError(
                f"convert_image_dtype: `{what}` must be floating or integer, and is {each.name}."
            )
    if wanted is given:
        return identity(x)
    if given.is_floating and wanted.is_floating:
        return cast(x, wanted)
    convert = saturate_cast if saturate else cast
    if given.is_integer and wanted.is_integer:
        if given.max > wanted.max:
            scale = (int(given.max) + 1) // (int(wanted.max) + 1)
            return convert(floordiv(x, scale), wanted)
        return convert(x, wanted) * ((int(wanted.max) + 1) // (int(given.max) + 1))
    if given.is_integer:
        return cast(x, wanted) * (1.0 / int(given.max))
    return convert(x * (int(wanted.max) + 0.5), wanted)


def _as_float(x: Tensor) -> Tensor:
    """Adjustments compute in float16 or float32, everything else being converted to float32."""
    return x if x.dtype in (dt.float16, dt.float32) else convert_image_dtype(x, dt.float32)


# Colour spaces


def _product(images: Any, kernel: list[list[float]], op_name: str) -> Tensor:
    x = _image(images, op_name, "images", 3)
    if not x.dtype.is_floating:
        raise DTypeError(f"{op_name}: `images` must be floating, and are {x.dtype.name}.")
    return tensordot(x, Tensor(np.asarray(kernel, x._array.dtype)), 1)


_RGB_TO_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_YIQ_TO_RGB = [
    [1.0, 1.0, 1.0],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_RGB_TO_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_YUV_TO_RGB = [
    [1.0, 1.0, 1.0],
    [0.0, -0.394642334, 2.03206185],
    [1.13988303, -0.58062185, 0.0],
]


def rgb_to_yiq(images: Any) -> Tensor:
    """Red, green and blue (the last axis) as luma and the two chroma components of NTSC."""
    return _product(images, _RGB_TO_YIQ, "rgb_to_yiq")


def yiq_to_rgb(images: Any) -> Tensor:
    """The inverse of `rgb_to_yiq`."""
    return _product(images, _YIQ_TO_RGB, "yiq_to_rgb")


def rgb_to_yuv(images: Any) -> Tensor:
    """Red, green and blue (the last axis) as luma and the two chroma components of PAL."""
    return _product(images, _RGB_TO_YUV, "rgb_to_yuv")


def yuv_to_rgb(images: Any) -> Tensor:
    """The inverse of `rgb_to_yuv`."""
    return _product(images, _YUV_TO_RGB, "yuv_to_rgb")


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The luma of each pixel, in one channel; of the dtype of `images`."""
    x = _image(images, "rgb_to_grayscale", "images", 3)
    weights = Tensor(np.array([0.2989, 0.587, 0.114], np.float32))
    gray = expand_dims(tensordot(convert_image_dtype(x, dt.float32), weights, 1), -1)
    return convert_image_dtype(gray, x.dtype)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The one channel of `images` three times."""
    x = _image(images, "grayscale_to_rgb", "images", 1, rank=2)
    return tile(x, [*(1,) * (x.ndim - 1), 3])


# Hue


def _hue_samples(r: np.random.Generator) -> list[Any]:
    return [([r.permuted(np.array([0.2, 0.5, 0.9]) + np.zeros((6, 1)), axis=1)], {})]


@op(batch_axes=(), dtypes=dt.FLOATING, samples=_hue_samples)
@in_float32
def _hue(xp, images):
    """The hue of each pixel in [0, 6): 0 red, 2 green, 4 blue, and 0 for gray."""
    red, green, blue = images[..., 0], images[..., 1], images[..., 2]
    # NumPy takes six times as long for the maximum over a last axis of three.
    high = xp.maximum(xp.maximum(red, green), blue)
    spread = high - xp.minimum(xp.minimum(red, green), blue)
    inverse = 1 / xp.where(spread > 0, spread, 1)
    hue = xp.where(
        red == high,
        (green - blue) * inverse,
        xp.where(green == high, (blue - red) * inverse + 2, (red - green) * inverse + 4),
    )
    hue = xp.where(spread > 0, hue, 0)
    return xp.where(hue < 0, hue + 6, hue).astype(images.dtype)


@_hue.vjp("images")
def _hue_vjp(g, images):
    largest, smallest = _extremes(images)
    last = images.ndim - 1
    # With the largest channel c the hue is (x[c + 1] - x[c + 2]) / spread + 2 c.
    after, before = (_roll(largest, shift=(n,), axis=(last,)) for n in (1, 2))
    difference = reduce_sum(images * (after - before), axis=-1, keepdims=True)
    inverse = reciprocal_no_nan(reduce_sum(images * (largest - smallest), axis=-1, keepdims=True))
    slope = (after - before) - difference * inverse * (largest - smallest)
    return expand_dims(g, -1) * inverse * slope


@op(batch_axes=(), nondiff="all", samples=_hue_samples)
def _extremes(xp, images):
    """One for the largest channel (of equals, red) and one for the smallest (of equals, blue)."""
    red, green, blue = images[..., 0], images[..., 1], images[..., 2]
    red_high = (red >= green) & (red >= blue)
    green_high = (green > red) & (green >= blue)
    blue_low = (blue <= red) & (blue <= green)
    green_low = (green <= red) & (green < blue)
    high = xp.stack([red_high, green_high, ~(red_high | green_high)], -1)
    low = xp.stack([~(blue_low | green_low), green_low, blue_low], -1)
    return high.astype(images.dtype), low.astype(images.dtype)


def _high_and_low(images: Tensor) -> tuple[Tensor, Tensor]:
    """The largest and the smallest channel, ties going to the same one as in `_extremes`."""
    red, green, blue = unstack(images, axis=-1)
    return maximum(maximum(red, green), blue), minimum(minimum(blue, green), red)


def _ramps(hue: Tensor) -> Tensor:
    """How much of red, green and blue, from 0 to 1, a pure colour of `hue` in [0, 6) has."""
    dtype = hue._array.dtype
    centers, offsets, signs = (
        Tensor(np.asarray(v, dtype)) for v in ([3, 2, 4], [-1, 2, 2], [1, -1, -1])
    )
    distance = absolute(expand_dims(hue, -1) - centers)
    return clip_by_value(offsets + signs * distance, 0, 1)


def _floating(images: Any, op_name: str) -> Tensor:
    x = _image(images, op_name, "images", 3)
    if not x.dtype.is_floating:
        raise DTypeError(
            f"{op_name}: `images` must be floating, and are {x.dtype.name}. Convert them with "
            "image.convert_image_dtype(images, tf.float32)."
        )
    return x


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Red, green and blue (the last axis) as hue, saturation and value, all in [0, 1].

    Among equal channels the gradient takes red for the largest and blue for the smallest; as in
    TensorFlow a channel that is 0 gets none from the saturation.
    """
    x = _floating(images, "rgb_to_hsv")
    high, low = _high_and_low(x)
    low = where(low > 0, low, stop_gradient(low))
    saturation = where(high > 0, divide_no_nan(high - low, high), high * 0)
    return stack([_hue(x) * (1 / 6), saturation, high], axis=-1)


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value (the last axis) as red, green and blue.

    Differentiable, which it is not in TensorFlow.
    """
    x = _floating(images, "hsv_to_rgb")
    hue, saturation, value = unstack(x, axis=-1)
    saturation, value = expand_dims(saturation, -1), expand_dims(value, -1)
    return (1 - saturation + saturation * _ramps(hue * 6)) * value


# Adjustments


def _number(value: Any, like: Tensor) -> Tensor:
    return cast(value, like.dtype)


@lends_itself
def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """`image + delta`, computed with floats in [0, 1]; integers saturate."""
    x = to_tensor(image, "adjust_brightness")
    floats = _as_float(x)
    return convert_image_dtype(floats + _number(delta, floats), x.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Each channel's distance from its mean over the image, times `contrast_factor`.

    Differentiable in both arguments (TensorFlow: LookupError).
    """
    x = _image(images, "adjust_contrast", "images", rank=3)
    floats = _as_float(x)
    mean = reduce_mean(floats, axis=(x.ndim - 3, x.ndim - 2), keepdims=True)
    adjusted = (floats - mean) * _number(contrast_factor, floats) + mean
    return convert_image_dtype(adjusted, x.dtype, saturate=True)


@lends_itself
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """`gain * image ** gamma`, computed with floats in [0, 1]."""
    x = to_tensor(image, "adjust_gamma")
    floats = _as_float(x)
    exponent = to_tensor(gamma, "adjust_gamma")._array
    if isinstance(exponent, _KNOWN) and (exponent < 0).any():
        raise InvalidArgumentError(f"adjust_gamma: `gamma` must be >= 0, and is {gamma!r}.")
    return convert_image_dtype(gain * pow(floats, gamma), x.dtype, saturate=True)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """`image` with its hues turned by `delta`, in [-1, 1], of a full turn.

    Differentiable in both arguments (TensorFlow: LookupError).
    """
    x = _image(image, "adjust_hue", "image", 3, rank=3)
    turn = to_tensor(delta, "adjust_hue")
    if isinstance(turn._array, _KNOWN) and not -1 <= float(turn) <= 1:
        raise InvalidArgumentError(f"adjust_hue: `delta` must lie in [-1, 1], and is {delta!r}.")
    floats = _as_float(x)
    high, low = _high_and_low(floats)
    hue = floormod(_hue(floats) + _number(turn, floats) * 6, 6)
    adjusted = expand_dims(low, -1) + expand_dims(high - low, -1) * _ramps(hue)
    return convert_image_dtype(adjusted, x.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """`image` with its saturations times `saturation_factor`, at most 1.

    Differentiable in both arguments (TensorFlow: LookupError).
    """
    x = _image(image, "adjust_saturation", "image", 3, rank=3)
    floats = _as_float(x)
    high, low = _high_and_low(floats)
    saturation = where(high > 0, divide_no_nan(high - low, high), high * 0)
    adjusted = clip_by_value(saturation * _number(saturation_factor, floats), 0, 1)
    spread = expand_dims(adjusted * high, -1)
    high = expand_dims(high, -1)
    return convert_image_dtype(high - spread + spread * _ramps(_hue(floats)), x.dtype)


def per_image_standardization(image: Any) -> Tensor:
    """Each image less its mean, over its standard deviation, as float32.

    That is at least `1 / sqrt(n)` for `n` elements, so a flat image becomes zero.
    """
    x = cast(_image(image, "per_image_standardization", "image", rank=3), dt.float32)
    shape = x._array.shape[-3:]
    if 0 in shape:
        raise ShapeError(
            f"per_image_standardization: `image` must not be empty. Received: shape "
            f"{tuple(x.shape)}."
        )
    axes = (x.ndim - 3, x.ndim - 2, x.ndim - 1)
    least = Tensor(np.float32(1 / np.sqrt(np.prod(shape))))
    deviation = maximum(reduce_std(x, axes, keepdims=True), least)
    return centered(x, axis=axes) / deviation
