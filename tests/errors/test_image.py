"""What tf.image says about arguments that it cannot take."""

import numpy as np
import pytest

IMAGE = np.zeros((1, 3, 4, 3), np.float32)
ROW = IMAGE[0, 0]
PAIR = IMAGE[..., :2]

REFUSED = [
    ("size", lambda i: i.resize(IMAGE, [0, 2]), "`size` must be two positive integers"),
    (
        "size length",
        lambda i: i.resize(IMAGE, [2]),
        "two positive integers .height, width., not \\[2\\]",
    ),
    ("float size", lambda i: i.resize(IMAGE, [2.0, 3.0]), "`size` must be an integer, not 2.0"),
    (
        "method",
        lambda i: i.resize(IMAGE, [2, 2], "cubic"),
        "one of bilinear, nearest, .*, not 'cubic'",
    ),
    (
        "rank",
        lambda i: i.resize(ROW, [2, 2]),
        "`images` must be an image .height.*shape \\(4, 3\\)",
    ),
    (
        "empty",
        lambda i: i.resize(IMAGE[:, :0], [2, 2]),
        "not empty. Received: shape \\(1, 0, 4, 3\\)",
    ),
    ("bool", lambda i: i.resize(IMAGE > 0, [2, 2]), "must be real numbers, and are bool"),
    (
        "aspect",
        lambda i: i.resize(IMAGE[:, :1], [1, 1], preserve_aspect_ratio=True),
        "no pixel left",
    ),
    ("pad", lambda i: i.resize_with_pad(IMAGE, 0, 1), "must be positive. Received: 0 and 1"),
    (
        "crop or pad",
        lambda i: i.resize_with_crop_or_pad(IMAGE, 1, 0),
        "`target_width` must be positive",
    ),
    ("flip", lambda i: i.flip_left_right(ROW), "flip_left_right: `image` must be an image"),
    ("rot90", lambda i: i.rot90(IMAGE, 1.5), "rot90: `k` must be an integer, not 1.5"),
    ("central", lambda i: i.central_crop(IMAGE, 1.5), "must lie in \\(0, 1\\], and is 1.5"),
    (
        "crop",
        lambda i: i.crop_to_bounding_box(IMAGE, 0, 0, 9, 1),
        "height of the image, 3. Received: 0 \\+ 9",
    ),
    (
        "offset",
        lambda i: i.crop_to_bounding_box(IMAGE, 0, -1, 1, 1),
        "`offset_width` must be >= 0, and is -1",
    ),
    ("border", lambda i: i.pad_to_bounding_box(IMAGE, 0, 0, 1, 9), "target 1, offset 0, height 3"),
    (
        "boxes",
        lambda i: i.crop_and_resize(IMAGE, [[0.0, 1.0]], [0], [2, 2]),
        "`boxes` .count, 4.*\\(1, 2\\)",
    ),
    (
        "box count",
        lambda i: i.crop_and_resize(IMAGE, np.zeros((2, 4)), [0], [2, 2]),
        "one entry of `box_ind",
    ),
    (
        "crop size",
        lambda i: i.crop_and_resize(IMAGE, np.zeros((1, 4)), [0], [2]),
        "`crop_size` must be two",
    ),
    (
        "crop by",
        lambda i: i.crop_and_resize(IMAGE, np.zeros((1, 4)), [0], [2, 2], "area"),
        "not 'area'",
    ),
    ("hsv", lambda i: i.rgb_to_hsv(PAIR), "last axis of `images` must have size 3"),
    ("hsv dtype", lambda i: i.hsv_to_rgb(IMAGE.astype(int)), "convert_image_dtype"),
    ("yuv", lambda i: i.rgb_to_yuv(IMAGE.astype(int)), "rgb_to_yuv: `images` must be floating"),
    ("gray", lambda i: i.rgb_to_grayscale(PAIR), "Received: shape \\(1, 3, 4, 2\\)"),
    ("from gray", lambda i: i.grayscale_to_rgb(IMAGE), "last axis of `images` must have size 1"),
    ("hue", lambda i: i.adjust_hue(IMAGE, 2.0), "`delta` must lie in \\[-1, 1\\], and is 2.0"),
    ("gamma", lambda i: i.adjust_gamma(IMAGE, -1), "`gamma` must be >= 0, and is -1"),
    ("contrast", lambda i: i.adjust_contrast(ROW, 2.0), "`images` must have rank 3 or more"),
    (
        "saturation",
        lambda i: i.adjust_saturation(PAIR, 2.0),
        "last axis of `image` must have size 3",
    ),
    (
        "convert",
        lambda i: i.convert_image_dtype(IMAGE, bool),
        "`dtype` must be floating or integer",
    ),
    ("standard", lambda i: i.per_image_standardization(ROW), "`image` must have rank 3 or more"),
    (
        "psnr",
        lambda i: i.psnr(IMAGE, IMAGE[:, :2], 1.0),
        "`a` and `b` must be images .* of one size",
    ),
    ("ssim", lambda i: i.ssim(IMAGE, IMAGE, 1.0), "the filter, 11 wide, .* smaller `filter_size`"),
    ("sigma", lambda i: i.ssim(IMAGE, IMAGE, 1.0, 2, 0.0), "`filter_sigma` must be positive"),
    (
        "scales",
        lambda i: i.ssim_multiscale(IMAGE, IMAGE, 1.0, filter_size=2),
        "shape is \\(1, 1, 1, 3\\)",
    ),
    (
        "gradients",
        lambda i: i.image_gradients(IMAGE[0]),
        "image_gradients: `image` must be a batch",
    ),
    ("sobel", lambda i: i.sobel_edges(IMAGE[:, :1]), "must be at least 2 x 2"),
    ("variation", lambda i: i.total_variation(ROW), "must have rank 3 or 4"),
    ("random crop", lambda i: i.random_crop(IMAGE, [1, 2, 2, 9]), "none larger than it"),
    ("random hue", lambda i: i.random_hue(IMAGE, 0.9), "must lie in \\[0, 0.5\\], and is 0.9"),
    ("random contrast", lambda i: i.random_contrast(IMAGE, 1.0, 0.5), "lower=1.0, upper=0.5"),
    (
        "seed",
        lambda i: i.stateless_random_brightness(IMAGE, 0.1, [1]),
        "`seed` must be a pair of integers",
    ),
    (
        "draw",
        lambda i: i.draw_bounding_boxes(IMAGE, np.zeros((2, 1, 4)), None),
        "boxes.shape=\\(2, 1, 4\\)",
    ),
    (
        "suppress",
        lambda i: i.non_max_suppression(np.zeros((2, 4)), [0.5], 1),
        "each of the 2 boxes",
    ),
    (
        "threshold",
        lambda i: i.non_max_suppression(np.zeros((1, 4)), [0.5], 1, 2.0),
        "Received: 1, 0.0 and 2",
    ),
]


@pytest.mark.gradtape_only
@pytest.mark.parametrize(
    ("run", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refused(tf, run, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(tf.image)


@pytest.mark.gradtape_only
def test_box_of_no_image(tf):
    with pytest.raises(tf.errors.OutOfRangeError, match=r"must lie in \[0, 1\).*go from 1 to 1"):
        tf.image.crop_and_resize(IMAGE, np.zeros((1, 4)), [1], [2, 2])
