"""Images: PNG, JPEG, GIF, BMP and WebP as tensors of shape (height, width, channels), and back."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import as_dtype, bool_, float32, int32, uint8, uint16
from ...core.errors import (
    DTypeError,
    InvalidArgumentError,
    ShapeError,
    UnimplementedError,
)
from ...core.tensor import Tensor
from ...ops.declare.static import static_ints
from ...ops.image.color import convert_image_dtype
from ...ops.random.sequence import uniform
from ...ops.random.stateless import stateless_uniform
from ...train.summary.record import png
from ..strings.text import scalar_text, text_tensor, values_of

_SIGNATURES = {
    b"\x89PNG": "PNG", b"\xff\xd8\xff": "JPEG", b"GIF8": "GIF", b"BM": "BMP", b"RIFF": "WEBP",
}  # fmt: skip
_ANIMATED = ("GIF", "WEBP")


def _pillow(op: str) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ModuleNotFoundError(
            f"{op}: images are decoded by Pillow, which is not installed: pip install pillow"
        ) from None
    return Image


def _format(data: bytes, op: str) -> str:
    for start, name in _SIGNATURES.items():
        if data.startswith(start):
            return name
    raise InvalidArgumentError(
        f"{op}: `contents` is no image that is known: one of {', '.join(_SIGNATURES.values())} is "
        "needed."
    )


# Decoding


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """An image of any format that is known, in `dtype`: integers up to their largest, or 0 to 1.

    `channels` is 1 for grey, 3 for RGB, 4 for RGBA, 0 for what the file has. A GIF or WebP gives
    all frames along a first axis, unless `expand_animations` is False: then the first alone.
    """
    op = "decode_image"
    wanted = as_dtype(dtype)
    if wanted not in (uint8, uint16, float32):
        raise DTypeError(f"{op}: `dtype` must be uint8, uint16 or float32, not {wanted.name}.")
    data = scalar_text(contents, op, "contents")
    pixels = _decoded(data, channels or 0, wanted is not uint8, op)
    if not expand_animations and pixels.ndim == 4:
        pixels = pixels[0]
    if wanted is float32:
        return Tensor(pixels * np.float32(1 / np.iinfo(pixels.dtype).max))
    if wanted is uint16 and pixels.dtype == np.uint8:
        return Tensor(pixels.astype(np.uint16) * np.uint16(256))
    return Tensor(pixels)


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None
) -> Tensor:
    """A PNG (or an image of another format) as uint8, or as uint16; see `decode_image`."""
    op = "decode_png"
    wanted = as_dtype(dtype)
    if wanted not in (uint8, uint16):
        raise DTypeError(f"{op}: `dtype` must be uint8 or uint16, not {wanted.name}.")
    data = scalar_text(contents, op, "contents")
    return Tensor(_single(_decoded(data, channels, wanted is uint16, op), op))


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """A JPEG (or an image of another format) as uint8; `ratio` makes it 2, 4 or 8 times smaller.

    It is decoded accurately, as by dct_method="INTEGER_ACCURATE"; TensorFlow's default is quicker
    and off by a few units. The options that tune the decoder do nothing.
    """
    op = "decode_jpeg"
    if try_recover_truncated and acceptable_fraction < 1:
        raise UnimplementedError(f"{op}: a part of a file is not decoded; give the whole of it.")
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"{op}: `ratio` must be 1, 2, 4 or 8, not {ratio}.")
    data = scalar_text(contents, op, "contents")
    return Tensor(_single(_decoded(data, channels, False, op, ratio), op))


def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """A part of a JPEG: `crop_window` is its y, x, height and width."""
    op = "decode_and_crop_jpeg"
    y, x, height, width = static_ints(crop_window, op, "crop_window")
    options = (fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    pixels = decode_jpeg(contents, channels, ratio, *options).numpy()
    bottom, right = y + height, x + width
    if not (0 <= y < bottom <= len(pixels) and 0 <= x < right <= pixels.shape[1]):
        raise InvalidArgumentError(
            f"{op}: `crop_window`={[y, x, height, width]} is not inside of an image of "
            f"{pixels.shape[:2]}."
        )
    return Tensor(pixels[y:bottom, x:right])


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """A BMP as uint8."""
    return Tensor(_only("BMP", contents, channels, "decode_bmp"))


def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """A GIF as uint8, of shape (frames, height, width, 3)."""
    return Tensor(_only("GIF", contents, 0, "decode_gif"))


def decode_webp(
    contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None
) -> Tensor:
    """A WebP as uint8, of shape (frames, height, width, 3 or 4)."""
    if as_dtype(dtype) is not uint8:
        raise DTypeError(f"decode_webp: `dtype` must be uint8, not {as_dtype(dtype).name}.")
    return Tensor(_only("WEBP", contents, channels, "decode_webp"))


def _only(wanted: str, contents: Any, channels: int, op: str) -> Any:
    data = scalar_text(contents, op, "contents")
    if _format(data, op) != wanted:
        raise InvalidArgumentError(
            f"{op}: `contents` is {_format(data, op)}, not {wanted}. decode_image takes them all."
        )
    return _decoded(data, channels, False, op)


def _single(pixels: Any, op: str) -> Any:
    """The image; of an animation that has one frame, this frame."""
    if pixels.ndim == 4:
        if len(pixels) > 1:
            raise InvalidArgumentError(
                f"{op}: the file has {len(pixels)} frames. decode_gif gives them all."
            )
        return pixels[0]
    return pixels


def _decoded(data: bytes, channels: int, deep: bool, op: str, ratio: int = 1) -> Any:
    """The pixels of a file: uint16 of a PNG where `deep` ones are wanted, else uint8."""
    kind = _format(data, op)
    allowed = {"JPEG": (0, 1, 3), "BMP": (0, 3, 4), "GIF": (0, 3), "WEBP": (0, 3, 4)}
    if channels not in allowed.get(kind, (0, 1, 3, 4)):
        raise InvalidArgumentError(
            f"{op}: `channels` must be one of {allowed.get(kind, (0, 1, 3, 4))} for {kind}, not "
            f"{channels}."
        )
    if kind == "PNG" and data[24:26] in (b"\x10\x02", b"\x10\x04", b"\x10\x06"):
        pixels = _deep_png(data, op)  # Pillow would cut colours of 16 bits to 8
    elif kind == "BMP" and data[28:30] == b"\x20\x00":
        pixels = _bmp_with_alpha(data, op)  # which Pillow may take for filling
    else:
        pixels = _by_pillow(data, kind, channels, op, ratio)
    if pixels.dtype == np.uint16 and not deep:
        pixels = (pixels >> 8).astype(np.uint8)
    elif kind == "PNG" and deep and pixels.dtype == np.uint8:
        pixels = pixels.astype(np.uint16) * np.uint16(257)
    return _with_channels(pixels, channels) if channels else pixels


def _by_pillow(data: bytes, kind: str, channels: int, op: str, ratio: int) -> Any:
    image_module = _pillow(op)
    try:
        with image_module.open(io.BytesIO(data)) as image:
            if kind in _ANIMATED:
                mode = "RGB" if kind == "GIF" or "A" not in image.mode else "RGBA"
                frames = []
                for number in range(getattr(image, "n_frames", 1)):
                    image.seek(number)
                    frames.append(np.asarray(image.convert(mode)))
                return np.stack(frames)
            if kind == "JPEG" and (ratio > 1 or channels == 1):
                size = [-(-n // ratio) for n in image.size]
                image.draft("L" if channels == 1 else image.mode, size)
            return _pixels(image)
    except (OSError, SyntaxError, EOFError, ValueError, struct.error) as error:
        raise InvalidArgumentError(f"{op}: the {kind} cannot be decoded: {error}") from None


def _pixels(image: Any) -> Any:
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode in ("1", "CMYK", "YCbCr"):
        image = image.convert("L" if image.mode == "1" else "RGB")
    array = np.asarray(image)
    if array.dtype not in (np.uint8, np.uint16):  # mode I, of 16 bits
        array = array.astype(np.uint16)
    return array[..., None] if array.ndim == 2 else array


def _with_channels(pixels: Any, channels: int) -> Any:
    """Grey, RGB or RGBA of any of them."""
    present = pixels.shape[-1]
    if present == channels:
        return pixels
    opaque = np.iinfo(pixels.dtype).max
    alpha = pixels[..., -1:] if present in (2, 4) else np.full_like(pixels[..., :1], opaque)
    colors = pixels[..., :-1] if present in (2, 4) else pixels
    if channels == 1:
        if colors.shape[-1] == 1:
            return colors
        weights = np.array([9797, 19234, 3737], np.uint32)  # libpng's, of 32768
        return ((colors.astype(np.uint32) @ weights) >> 15).astype(pixels.dtype)[..., None]
    if colors.shape[-1] == 1:
        colors = np.repeat(colors, 3, -1)
    return np.concatenate([colors, alpha], -1) if channels == 4 else colors


def _bmp_with_alpha(data: bytes, op: str) -> Any:
    """A BMP of 32 bits a pixel: blue, green, red and alpha."""
    (start,), (width, height) = struct.unpack("<I", data[10:14]), struct.unpack("<ii", data[18:26])
    size = 4 * width * abs(height)
    if width <= 0 or len(data) < start + size:
        raise InvalidArgumentError(f"{op}: the BMP ends before its pixels.")
    rows = np.frombuffer(data, np.uint8, size, start).reshape(abs(height), width, 4)
    return (rows[::-1] if height > 0 else rows)[..., [2, 1, 0, 3]]


# PNG of 16 bits


def _deep_png(data: bytes, op: str) -> Any:
    """A PNG of 16 bits with colours or alpha: the chunks, and the filters undone."""
    width, height, _, color, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    if interlaced:
        raise UnimplementedError(f"{op}: an interlaced PNG of 16 bits is not read.")
    at, parts = 8, []
    while at + 8 <= len(data):
        size = struct.unpack(">I", data[at : at + 4])[0]
        if data[at + 4 : at + 8] == b"IDAT":
            parts.append(data[at + 8 : at + 8 + size])
        at += 12 + size
    channels = {2: 3, 4: 2, 6: 4}[color]
    step = 2 * channels
    try:
        rows: Any = np.frombuffer(zlib.decompress(b"".join(parts)), np.uint8)
        rows = rows.reshape(height, 1 + width * step)
    except (zlib.error, ValueError) as error:
        raise InvalidArgumentError(f"{op}: the PNG cannot be decoded: {error}") from None
    result = np.zeros((height, width, step), np.uint8)
    above = np.zeros((width, step), np.uint8)
    for row, line in zip(rows, result, strict=True):
        line[:] = above = _unfiltered(int(row[0]), row[1:].reshape(width, step), above)
    return result.reshape(height, width * step).view(">u2").reshape(
        height, width, channels).astype(np.uint16)  # fmt: skip


def _unfiltered(kind: int, line: Any, above: Any) -> Any:
    """A row of pixels of which a filter of PNG had taken what its neighbours tell."""
    if kind == 0:
        return line
    if kind == 1:
        return np.cumsum(line, 0, dtype=np.uint8)
    if kind == 2:
        return line + above
    result = np.empty_like(line)
    left, corner = np.zeros(line.shape[1], np.int16), np.zeros(line.shape[1], np.int16)
    for i, (values, over) in enumerate(zip(line, above.astype(np.int16), strict=True)):
        if kind == 3:
            guess = (left + over) // 2
        else:
            p = left + over - corner
            a, b, c = abs(p - left), abs(p - over), abs(p - corner)
            guess = np.where((a <= b) & (a <= c), left, np.where(b <= c, over, corner))
        result[i] = values + guess.astype(np.uint8)
        left, corner = result[i].astype(np.int16), over
    return result


# Encoding


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """Images of uint8 or uint16, of shape (..., height, width, channels), as PNG files."""
    op = "encode_png"
    pixels = values_of(image, op, "image")
    if pixels.dtype not in (np.uint8, np.uint16):
        raise DTypeError(f"{op}: `image` must be uint8 or uint16, and is {pixels.dtype.name}.")
    _check_channels(pixels, (1, 2, 3, 4), op)
    if not -1 <= compression <= 9:
        raise InvalidArgumentError(f"{op}: `compression` must be from -1 to 9, not {compression}.")
    outer = pixels.shape[:-3]
    several = pixels.reshape(-1, *pixels.shape[-3:])
    return text_tensor([png(each, compression) for each in several], outer)


def _check_channels(pixels: Any, allowed: tuple[int, ...], op: str) -> None:
    if pixels.ndim < 3 or pixels.shape[-1] not in allowed:
        raise ShapeError(
            f"{op}: `image` must have shape (height, width, channels), with {allowed} channels, "
            f"and has shape {pixels.shape}."
        )


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """An image of uint8, of shape (height, width, 1 or 3), as a JPEG file."""
    op = "encode_jpeg"
    pixels = values_of(as_tensor(image, uint8, op), op, "image")
    if format not in ("", "grayscale", "rgb"):
        raise InvalidArgumentError(
            f"{op}: `format` must be '', 'grayscale' or 'rgb', not {format!r}."
        )
    _check_channels(pixels, {"": (1, 3), "grayscale": (1,), "rgb": (3,)}[format], op)
    if not 0 <= quality <= 100:
        raise InvalidArgumentError(f"{op}: `quality` must be from 0 to 100, not {quality}.")
    file = io.BytesIO()
    per_inch = {"in": 1.0, "cm": 2.54}
    if density_unit not in per_inch:
        raise InvalidArgumentError(
            f"{op}: `density_unit` must be 'in' or 'cm', not {density_unit!r}."
        )
    density = [round(n * per_inch[density_unit]) for n in (x_density, y_density)]
    options: dict[str, Any] = {"xmp": xmp_metadata.encode()} if xmp_metadata else {}
    _pillow(op).fromarray(pixels if pixels.shape[-1] == 3 else pixels[..., 0]).save(
        file,
        "JPEG",
        quality=quality,
        progressive=progressive,
        optimize=optimize_size,
        subsampling=2 if chroma_downsampling else 0,
        dpi=tuple(density),
        **options,
    )
    return text_tensor([file.getvalue()], ())


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether a text is a JPEG file."""
    data = scalar_text(contents, "is_jpeg", "contents")
    return Tensor(np.asarray(data.startswith(b"\xff\xd8\xff"), bool_.numpy_dtype))


def extract_jpeg_shape(contents: Any, output_type: Any = int32, name: str | None = None) -> Tensor:
    """Height, width and channels of a JPEG file, which is not decoded."""
    op = "extract_jpeg_shape"
    data = scalar_text(contents, op, "contents")
    if _format(data, op) != "JPEG":
        raise InvalidArgumentError(f"{op}: `contents` is no JPEG.")
    with _pillow(op).open(io.BytesIO(data)) as image:
        width, height = image.size
        shape = [height, width, len(image.getbands())]
    return Tensor(np.array(shape, as_dtype(output_type).numpy_dtype))


# JPEG's losses, for augmentation


def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Tensor:
    """The image as it is after it was a JPEG of this quality; in its own dtype."""
    original = as_tensor(image, op="adjust_jpeg_quality")
    quality = int(values_of(jpeg_quality, "adjust_jpeg_quality", "jpeg_quality"))
    pixels = convert_image_dtype(original, uint8, saturate=True)
    channels = int(pixels.shape[-1])
    decoded = decode_jpeg(encode_jpeg(pixels, quality=quality), channels, dct_method=dct_method)
    return convert_image_dtype(decoded, original.dtype, saturate=True)


def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any = None
) -> Tensor:
    """The image after it was a JPEG of a quality drawn from [min, max)."""
    _check_qualities(min_jpeg_quality, max_jpeg_quality, "random_jpeg_quality")
    quality = uniform([], min_jpeg_quality, max_jpeg_quality, int32, seed)
    return adjust_jpeg_quality(image, quality)


def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any
) -> Tensor:
    """The image after it was a JPEG of a quality that `seed` chooses from [min, max)."""
    _check_qualities(min_jpeg_quality, max_jpeg_quality, "stateless_random_jpeg_quality")
    quality = stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, int32)
    return adjust_jpeg_quality(image, quality)


def _check_qualities(low: int, high: int, op: str) -> None:
    if not 0 <= low < high <= 100:
        raise ValueError(
            f"{op}: 0 <= `min_jpeg_quality` < `max_jpeg_quality` <= 100 must hold. Received "
            f"{low} and {high}."
        )
