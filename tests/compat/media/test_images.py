"""Images decoded and encoded."""

import io
import sys

import numpy as np
import pytest
from PIL import Image

GENERATOR = np.random.default_rng(0)
RGB = GENERATOR.integers(0, 256, (5, 4, 3)).astype(np.uint8)
RGBA = GENERATOR.integers(0, 256, (5, 4, 4)).astype(np.uint8)
GRAY = GENERATOR.integers(0, 256, (5, 4)).astype(np.uint8)
DEEP = GENERATOR.integers(0, 65536, (5, 4)).astype(np.uint16)
DEEP_RGB = GENERATOR.integers(0, 65536, (5, 4, 3)).astype(np.uint16)
LUMA = (RGB.astype(int) @ [9797, 19234, 3737]) >> 15
_Y, _X = np.mgrid[0:24, 0:32]
SMOOTH = np.stack([_X * 8, _Y * 10, 255 - _X * 8], -1).astype(np.uint8)


def encoded(array, form, **options):
    file = io.BytesIO()
    image = array if isinstance(array, Image.Image) else Image.fromarray(array)
    image.save(file, form, **options)
    return file.getvalue()


FLIPPED = GRAY[::-1].copy()
PALETTE = Image.fromarray(RGB).quantize(8)
PNG = {
    "rgb": encoded(RGB, "PNG"), "rgba": encoded(RGBA, "PNG"), "gray": encoded(GRAY, "PNG"),
    "deep": encoded(DEEP, "PNG"), "palette": encoded(PALETTE, "PNG"),
    "bits": encoded(GRAY > 128, "PNG"),
    "with alpha": encoded(Image.merge("LA", [Image.fromarray(a) for a in (GRAY, FLIPPED)]), "PNG"),
}  # fmt: skip
COLORS = np.asarray(PALETTE.convert("RGB"))
ALPHA = np.stack([GRAY, GRAY[::-1]], -1)


def opaque(array):
    return np.concatenate([array, np.full_like(array[..., :1], 255)], -1)


@pytest.mark.parametrize(
    "name, channels, expected",
    [
        ("rgb", 0, RGB), ("rgb", 1, LUMA[..., None]), ("rgb", 3, RGB), ("rgb", 4, opaque(RGB)),
        ("rgba", 0, RGBA), ("rgba", 3, RGBA[..., :3]), ("rgba", 4, RGBA),
        ("gray", 0, GRAY[..., None]), ("gray", 3, np.stack([GRAY] * 3, -1)),
        ("gray", 4, opaque(np.stack([GRAY] * 3, -1))),
        ("deep", 0, (DEEP >> 8)[..., None]), ("palette", 0, COLORS), ("palette", 3, COLORS),
        ("bits", 0, (GRAY > 128)[..., None] * 255), ("with alpha", 0, ALPHA),
        ("with alpha", 1, ALPHA[..., :1]), ("with alpha", 3, np.stack([GRAY] * 3, -1)),
    ],
)  # fmt: skip
def test_png(tf, name, channels, expected):
    pixels = tf.io.decode_png(PNG[name], channels=channels)
    assert pixels.dtype == tf.uint8
    assert np.array_equal(pixels.numpy(), expected)
    assert np.array_equal(tf.image.decode_image(PNG[name], channels=channels).numpy(), expected)


def test_deep_png(tf):
    decode = tf.io.decode_png
    assert np.array_equal(decode(PNG["deep"], dtype=tf.uint16).numpy()[..., 0], DEEP)
    wide = decode(PNG["gray"], dtype=tf.uint16)
    assert wide.dtype == tf.uint16 and np.array_equal(wide.numpy()[..., 0], GRAY * np.uint16(257))


def test_decode_image_in_other_dtypes(tf):
    decode = tf.io.decode_image
    for data in (PNG["rgb"], encoded(RGB, "BMP")):
        floats = decode(data, dtype=tf.float32).numpy()
        assert floats.dtype == np.float32 and np.allclose(floats, RGB / 255, atol=1e-6)
    assert np.array_equal(decode(PNG["rgb"], dtype=tf.uint16).numpy(), RGB * np.uint16(257))
    bmp = encoded(RGB, "BMP")
    assert np.array_equal(decode(bmp, dtype=tf.uint16).numpy(), RGB * np.uint16(256))


def test_jpeg(tf):
    data, gray = encoded(SMOOTH, "JPEG", quality=90), encoded(SMOOTH[..., 0], "JPEG")
    exact = np.asarray(Image.open(io.BytesIO(data)))
    decode = tf.io.decode_jpeg
    accurate = decode(data, dct_method="INTEGER_ACCURATE").numpy()
    assert np.abs(accurate.astype(int) - exact).max() <= 1
    assert np.abs(decode(data).numpy().astype(int) - exact).max() <= 8
    assert decode(data, channels=1).shape == [24, 32, 1]
    assert decode(gray).shape == [24, 32, 1] and decode(gray, channels=3).shape == [24, 32, 3]
    small = decode(data, ratio=2).numpy()
    assert small.shape == (12, 16, 3)
    means = SMOOTH.reshape(12, 2, 16, 2, 3).mean((1, 3))
    assert np.abs(small - means).mean() < 5
    part = tf.io.decode_and_crop_jpeg(data, [2, 3, 5, 6]).numpy()
    assert part.shape == (5, 6, 3)
    assert np.abs(part.astype(int) - exact[2:7, 3:9]).max() <= 8
    assert tf.io.extract_jpeg_shape(data).numpy().tolist() == [24, 32, 3]
    assert tf.io.extract_jpeg_shape(gray, tf.int64).numpy().tolist() == [24, 32, 1]
    assert bool(tf.io.is_jpeg(data)) and not bool(tf.io.is_jpeg(PNG["rgb"]))
    for wrong in (
        lambda: decode(data, channels=4),
        lambda: decode(data, ratio=3),
        lambda: decode(data[:-200]),
        lambda: tf.io.decode_and_crop_jpeg(data, [2, 3, 50, 6]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrong()


def test_bmp(tf):
    decode = tf.io.decode_bmp
    assert np.array_equal(decode(encoded(RGB, "BMP")).numpy(), RGB)
    assert np.array_equal(decode(encoded(GRAY, "BMP")).numpy()[..., 0], GRAY)
    assert np.array_equal(decode(encoded(RGBA, "BMP")).numpy(), RGBA)
    assert np.array_equal(decode(encoded(RGBA, "BMP"), channels=3).numpy(), RGBA[..., :3])
    for wrong in (lambda: decode(encoded(RGB, "BMP"), channels=1), lambda: decode(PNG["rgb"])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrong()


def test_gif(tf):
    frames = [Image.fromarray(a).quantize(16) for a in (RGB, RGB[::-1].copy())]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    expected = np.stack([np.asarray(f.convert("RGB")) for f in frames])
    assert np.array_equal(tf.io.decode_gif(data).numpy(), expected)
    assert np.array_equal(tf.io.decode_image(data).numpy(), expected)
    first = tf.io.decode_image(data, expand_animations=False)
    assert np.array_equal(first.numpy(), expected[0])
    one = encoded(frames[0], "GIF")
    assert tf.io.decode_gif(one).shape == [1, 5, 4, 3]
    assert tf.io.decode_png(one).shape == [5, 4, 3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_image(data, channels=1)


def test_webp(tf):
    data = encoded(RGB, "WEBP", lossless=True)
    assert np.array_equal(tf.io.decode_webp(data).numpy(), RGB[None])
    assert tf.io.decode_image(data).shape == [1, 5, 4, 3]


def test_formats_are_found_out(tf):
    jpeg = encoded(SMOOTH, "JPEG")
    assert tf.io.decode_png(jpeg).shape == [24, 32, 3]
    assert np.array_equal(tf.io.decode_jpeg(PNG["rgb"]).numpy(), RGB)
    for decode in (tf.io.decode_image, tf.io.decode_png, tf.io.decode_jpeg):
        with pytest.raises(tf.errors.InvalidArgumentError):
            decode(b"junk")
        with pytest.raises(tf.errors.InvalidArgumentError):
            decode([PNG["rgb"]])


@pytest.mark.parametrize(
    "array", [RGB, RGBA, GRAY[..., None], ALPHA, DEEP[..., None], DEEP_RGB, DEEP_RGB[..., :2]],
    ids=lambda array: f"{array.dtype}, {array.shape[-1]}",
)  # fmt: skip
def test_encode_png(tf, array):
    data = tf.io.encode_png(array)
    assert np.array_equal(tf.io.decode_png(data, dtype=array.dtype).numpy(), array)
    if array.dtype == np.uint8:
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(data.numpy()))), np.squeeze(array))


def test_encode_png_of_several(tf):
    data = tf.io.encode_png(np.stack([RGB, RGB[::-1]]))
    assert data.shape == [2]
    assert np.array_equal(tf.io.decode_png(data[1]).numpy(), RGB[::-1])
    plain = tf.io.encode_png(np.zeros((50, 50, 1), np.uint8), compression=0)
    assert (
        len(plain.numpy()) > 2500 > len(tf.io.encode_png(np.zeros((50, 50, 1), np.uint8)).numpy())
    )
    for wrong in (RGB.astype(np.float32), np.zeros((2, 2, 5), np.uint8), GRAY):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.encode_png(wrong)


def test_encode_jpeg(tf):
    data = tf.io.encode_jpeg(SMOOTH)
    assert bool(tf.io.is_jpeg(data))
    assert np.abs(tf.io.decode_jpeg(data).numpy().astype(int) - SMOOTH).mean() < 3
    assert tf.io.decode_jpeg(tf.io.encode_jpeg(SMOOTH[..., :1])).shape == [24, 32, 1]
    sizes = [len(tf.io.encode_jpeg(SMOOTH, quality=q).numpy()) for q in (10, 99)]
    assert sizes[0] < sizes[1]
    for wrong in (
        lambda: tf.io.encode_jpeg(RGBA),
        lambda: tf.io.encode_jpeg(SMOOTH, format="grayscale"),
        lambda: tf.io.encode_jpeg(SMOOTH, quality=101),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrong()


def test_losses_of_jpeg(tf):
    image = tf.image
    assert image.adjust_jpeg_quality(SMOOTH, 50).dtype == tf.uint8
    floats = SMOOTH / np.float32(255)
    lossy = image.adjust_jpeg_quality(floats, 75)
    assert lossy.dtype == tf.float32 and 0.0 < np.abs(lossy.numpy() - floats).mean() < 0.05
    assert image.random_jpeg_quality(SMOOTH, 75, 95, seed=1).shape == [24, 32, 3]
    again = [image.stateless_random_jpeg_quality(SMOOTH, 5, 95, seed=(1, 2)) for _ in range(2)]
    assert np.array_equal(again[0].numpy(), again[1].numpy())
    with pytest.raises(ValueError):
        image.random_jpeg_quality(SMOOTH, 95, 75)


def test_in_a_dataset(tf, tmp_path):
    for i in range(3):
        tf.io.write_file(str(tmp_path / f"{i}.png"), tf.io.encode_png(RGB + np.uint8(i)))
    files = tf.data.Dataset.list_files(str(tmp_path / "*.png"), shuffle=False)
    images = files.map(lambda path: tf.io.decode_png(tf.io.read_file(path), channels=3)).batch(3)
    (batch,) = images
    assert np.array_equal(batch.numpy()[2], RGB + np.uint8(2))


@pytest.mark.gradtape_only
def test_without_pillow(tf, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ModuleNotFoundError, match="is not installed: pip install pillow"):
        tf.io.decode_png(PNG["rgb"])
    assert tf.io.encode_png(RGB).dtype == tf.string  # which needs none
