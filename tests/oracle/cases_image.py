"""tf.image: sizes, places, colours, likeness of images.

Nearly all of it computes in float32, whatever the dtype of the images, so most cases run in
float32 only, and some convert a float64 image on the way.
"""

import numpy as np

from .inputs import call, case, distinct, given, integers, normal, probabilities, uniform

SINGLE = ("float32",)
LACKING = "TensorFlow has no gradient"
NO_SECOND = "TensorFlow's second order is None"
METHODS = [
    "bilinear",
    "nearest",
    "bicubic",
    "area",
    "lanczos3",
    "lanczos5",
    "gaussian",
    "mitchellcubic",
]


def widened(name, *args, **kwargs):
    """The function on float64 images made of the float32 input."""
    function = call(name, *args, **kwargs)
    return lambda tf, x, *others: function(tf, tf.cast(x, tf.float64), *others)


def sizes():
    shapes = {"up": (3, 4, 7, 9), "down": (7, 9, 3, 4), "mixed": (4, 6, 6, 1), "same": (3, 3, 3, 3)}
    for method in METHODS:
        order = {}
        if method == "bilinear":
            order = {"agrees": 1, "differs": NO_SECOND}
        if method == "area":
            order = {"agrees": 0, "differs": LACKING}
        for kind, (h, w, height, width) in shapes.items():
            for antialias in (False, True):
                options = order
                if method == "bilinear" and antialias:
                    options = {}
                yield case(
                    f"image.resize {method} {kind} {antialias}",
                    call("image.resize", [height, width], method, antialias=antialias),
                    normal(2, h, w, 2),
                    dtypes=SINGLE,
                    **options,
                )
    yield case(
        "image.resize one image",
        call("image.resize", [2, 5], "bicubic"),
        normal(3, 4, 1),
        dtypes=SINGLE,
    )
    yield case(
        "image.resize aspect",
        call("image.resize", [5, 9], "lanczos3", preserve_aspect_ratio=True),
        normal(3, 4, 1),
        dtypes=SINGLE,
    )
    for method in ("bilinear", "bicubic", "lanczos3", "nearest"):
        yield case(
            f"image.resize float64 {method}",
            widened("image.resize", [4, 5], method),
            normal(3, 3, 1),
            dtypes=SINGLE,
            order=0
            if method == "lanczos3"
            else 1,  # TensorFlow's gradient kernel takes float32 only
        )
    for dtype in ("uint8", "int32"):
        for method in METHODS:
            yield case(
                f"image.resize {dtype} {method}",
                call("image.resize", [4, 3], method),
                given(np.arange(50).reshape(5, 5, 2) * 3, dtype),
                order=0,
                dtypes=SINGLE,
            )
    for height, width in [(7, 5), (3, 9), (2, 2)]:
        yield case(
            f"image.resize_with_pad {height} {width}",
            call("image.resize_with_pad", height, width, method="lanczos3", antialias=True),
            normal(4, 5, 2),
            dtypes=SINGLE,
        )
        yield case(
            f"image.resize_with_crop_or_pad {height} {width}",
            call("image.resize_with_crop_or_pad", height, width),
            normal(1, 4, 5, 2),
        )
    yield case(
        "image.resize_with_pad batch",
        call("image.resize_with_pad", 5, 5, "nearest"),
        normal(2, 3, 4, 1),
    )


def random_sizes(seed):
    rng = np.random.default_rng(seed)
    for number in range(8):
        h, w, height, width = (int(n) for n in rng.integers(1, 12, size=4))
        method = METHODS[number % len(METHODS)]
        agrees = {"bilinear": 1, "area": 0}.get(method, 2)
        yield case(
            f"image.resize random {number}",
            call("image.resize", [height, width], method),
            normal(h, w, 2),
            dtypes=SINGLE,
            agrees=agrees,
            differs={0: LACKING, 1: NO_SECOND}.get(agrees, ""),
        )


def crops():
    boxes = given([[0.1, 0.2, 0.85, 0.9], [0.7, 0.9, 0.13, 0.07], [-0.3, -0.21, 1.2, 1.33]])
    image = normal(2, 4, 5, 2)
    for method in ("bilinear", "nearest"):
        for size in [(3, 4), (1, 2)]:
            yield case(
                f"image.crop_and_resize {method} {size}",
                lambda tf, x, b, method=method, size=size: tf.image.crop_and_resize(
                    x, b, [1, 0, 1], size, method, extrapolation_value=0.25
                ),
                image,
                boxes,
                dtypes=SINGLE,
            )
    yield case(
        "image.crop_and_resize on pixels",
        lambda tf, x, b: tf.image.crop_and_resize(x, b, [0, 1], [3, 3]),
        normal(2, 3, 3, 1),
        given([[0.0, 0.0, 1.0, 1.0], [0.5, 0.0, 0.5, 1.0]]),
        dtypes=SINGLE,
    )
    yield case(
        "image.crop_and_resize uint8",
        lambda tf, x: tf.image.crop_and_resize(x, [[0.1, 0.1, 0.8, 0.9]], [0], [2, 3]),
        given(np.arange(12).reshape(1, 3, 4, 1), "uint8"),
        order=0,
        dtypes=SINGLE,
    )


def glimpses():
    for centered in (False, True):
        for normalized in (False, True):
            options = {"centered": centered, "normalized": normalized, "noise": "zero"}
            yield case(
                f"image.extract_glimpse {centered} {normalized}",
                call("image.extract_glimpse", [3, 2], [[0.2, -0.6], [1.2, 0.4]], **options),
                normal(2, 5, 4, 2),
                dtypes=SINGLE,
                agrees=0,
                differs=LACKING,
            )


def places():
    for shape in [(3, 4, 2), (2, 3, 4, 2)]:
        image = normal(*shape)
        for name in ("flip_left_right", "flip_up_down", "transpose"):
            yield case(f"image.{name} {shape}", call(f"image.{name}"), image)
        for k in (-1, 0, 1, 2):
            yield case(f"image.rot90 {shape} {k}", call("image.rot90", k), image)
        yield case(f"image.central_crop {shape}", call("image.central_crop", 0.5), image)
        yield case(
            f"image.crop_to_bounding_box {shape}",
            call("image.crop_to_bounding_box", 1, 2, 2, 1),
            image,
        )
        yield case(
            f"image.pad_to_bounding_box {shape}",
            call("image.pad_to_bounding_box", 1, 0, 5, 6),
            image,
        )
        yield case(
            f"image.total_variation {shape}", call("image.total_variation"), distinct(*shape)
        )
    yield case("image.central_crop all", call("image.central_crop", 1.0), normal(3, 4, 2))
    yield case("image.central_crop third", call("image.central_crop", 0.34), normal(7, 5, 1))
    yield case("image.random_crop whole", call("image.random_crop", [2, 3, 1]), normal(2, 3, 1))
    yield case("image.image_gradients", call("image.image_gradients"), normal(2, 3, 4, 2))
    yield case("image.sobel_edges", call("image.sobel_edges"), normal(2, 3, 4, 2))
    yield case("image.sobel_edges smallest", call("image.sobel_edges"), normal(1, 2, 2, 1))


def separated(*shape):
    """Colours whose channels differ by 0.1 or more, inside (0, 1)."""
    base = probabilities(*shape)

    def draw(rng):
        base.draw(rng)
        steps = rng.permuted(np.broadcast_to([0.15, 0.45, 0.8], shape), axis=-1)
        return np.round((steps + rng.uniform(-0.1, 0.1, size=shape)) * 1024) / 1024

    return type(base)(draw)


GRAY = [[[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.25, 0.5, 0.5]]]
TIES = [
    [[0.5, 0.5, 0.25], [0.5, 0.25, 0.5], [0.25, 0.25, 0.5], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]
]


def colours():
    for name in ("rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb"):
        yield case(f"image.{name}", call(f"image.{name}"), normal(2, 2, 3))
    yield case(
        "image.rgb_to_grayscale", call("image.rgb_to_grayscale"), normal(2, 2, 3), dtypes=SINGLE
    )
    yield case(
        "image.rgb_to_grayscale uint8",
        call("image.rgb_to_grayscale"),
        given(np.arange(12).reshape(2, 2, 3) * 20, "uint8"),
        order=0,
    )
    yield case("image.grayscale_to_rgb", call("image.grayscale_to_rgb"), normal(2, 2, 1))
    yield case("image.rgb_to_hsv", call("image.rgb_to_hsv"), separated(2, 3, 3))
    yield case("image.rgb_to_hsv gray", call("image.rgb_to_hsv"), given(GRAY), order=1)
    yield case("image.rgb_to_hsv ties", call("image.rgb_to_hsv"), given(TIES), order=1)
    yield case(
        "image.hsv_to_rgb", call("image.hsv_to_rgb"), separated(2, 3, 3), agrees=0, differs=LACKING
    )
    image = separated(3, 2, 3)
    yield case(
        "image.adjust_brightness", call("image.adjust_brightness"), image, normal(), dtypes=SINGLE
    )
    yield case("image.adjust_gamma", call("image.adjust_gamma", 1.5, 2.0), image, dtypes=SINGLE)
    for name, factor in {
        "adjust_contrast": 1.7, "adjust_hue": 0.3, "adjust_saturation": 0.6
    }.items():  # fmt: skip
        yield case(
            f"image.{name}",
            call(f"image.{name}", factor),
            image,
            dtypes=SINGLE,
            agrees=0,
            differs=LACKING,
        )
        yield case(
            f"image.{name} gray", call(f"image.{name}", factor), given(GRAY), dtypes=SINGLE, order=0
        )
        yield case(
            f"image.{name} uint8",
            call(f"image.{name}", factor),
            given(np.array([[[9, 200, 31], [240, 10, 70]], [[66, 5, 120], [0, 0, 255]]]), "uint8"),
            order=0,
            dtypes=SINGLE,
        )
        yield case(
            f"image.{name} float64", widened(f"image.{name}", factor), image, dtypes=SINGLE, order=0
        )
    yield case(
        "image.adjust_hue back", call("image.adjust_hue", -0.9), image, dtypes=SINGLE, order=0
    )
    yield case(
        "image.adjust_saturation full",
        call("image.adjust_saturation", 9.0),
        image,
        dtypes=SINGLE,
        order=0,
    )
    yield case(
        "image.adjust_brightness uint8",
        call("image.adjust_brightness", 0.4),
        given(np.arange(12).reshape(2, 2, 3) * 20, "uint8"),
        order=0,
    )
    yield case(
        "image.per_image_standardization",
        call("image.per_image_standardization"),
        normal(2, 2, 3, 2),
        dtypes=SINGLE,
    )
    yield case(
        "image.per_image_standardization flat",
        call("image.per_image_standardization"),
        given(np.full((2, 2, 1), 0.75)),
        dtypes=SINGLE,
        order=0,
    )
    for source in ("uint8", "int16", "int32", "float32"):
        values = np.array([0, 1, 100, 120])
        array = values / 128 if source == "float32" else values
        for target in ("uint8", "int8", "int32", "float32", "float64", "float16"):
            for saturate in (False, True):
                if source == "float32" and target == "int32":
                    continue  # 2**31 is no int32: what comes of it depends on the machine
                yield case(
                    f"image.convert_image_dtype {source} {target} {saturate}",
                    call("image.convert_image_dtype", target, saturate),
                    given(array, source),
                    order=0,
                    dtypes=SINGLE,
                )
    yield case(
        "image.convert_image_dtype gradient",
        call("image.convert_image_dtype", "float32"),
        normal(2, 2, 1),
        dtypes=SINGLE,
    )


def likeness():
    pair = uniform(0.1, 0.9, 2, 6, 7, 2), uniform(0.1, 0.9, 2, 6, 7, 2)
    yield case("image.psnr", call("image.psnr", 1.0), *pair, dtypes=SINGLE)
    yield case(
        "image.psnr equal", lambda tf, x: tf.image.psnr(x, x, 1.0), pair[0], dtypes=SINGLE, order=0
    )
    yield case(
        "image.psnr uint8",
        call("image.psnr", 255),
        integers_of("uint8", 4, 5, 3),
        integers_of("uint8", 4, 5, 3),
        order=0,
        dtypes=SINGLE,
    )
    small = {"filter_size": 4, "filter_sigma": 1.2}
    yield case("image.ssim", call("image.ssim", 1.0, **small), *pair, dtypes=SINGLE)
    yield case(
        "image.ssim map", call("image.ssim", 1.0, 3, return_index_map=True), *pair, dtypes=SINGLE
    )
    yield case(
        "image.ssim default",
        call("image.ssim", 255),
        integers_of("uint8", 12, 13, 1),
        integers_of("uint8", 12, 13, 1),
        order=0,
        dtypes=SINGLE,
    )
    yield case(
        "image.ssim_multiscale",
        lambda tf, x, y: tf.image.ssim_multiscale(x, x + 0.5 * y, 1.0, (0.4, 0.6), filter_size=3),
        *pair,
        order=1,  # the second loses half the digits of a float
        dtypes=SINGLE,
    )
    yield case(
        "image.ssim_multiscale odd",
        lambda tf, x, y: tf.image.ssim_multiscale(x, x + 0.5 * y, 1.0, (0.3, 0.3, 0.4), 2, 1.0),
        uniform(0.1, 0.9, 7, 5, 1),
        uniform(0.1, 0.9, 7, 5, 1),
        order=1,  # the second loses half the digits of a float
        dtypes=SINGLE,
    )


BOXES = [
    [0.1, 0.1, 0.6, 0.6], [0.62, 0.55, 0.15, 0.1], [0.5, 0.5, 0.9, 0.95], [-0.2, 0.3, 0.4, 1.3],
    [0.3, 0.3, 0.3, 0.8], [0.12, 0.1, 0.55, 0.66], [0.8, 0.2, 0.4, 0.1],
]  # fmt: skip
SCORES = [0.9, 0.75, 0.6, 0.95, 0.3, 0.9, 0.1]


def boxes():
    for most, overlap, score in [(9, 0.5, -np.inf), (3, 0.5, 0.2), (9, 0.1, 0.5), (0, 0.5, 0.0)]:
        yield case(
            f"image.non_max_suppression {most} {overlap} {score}",
            call("image.non_max_suppression", most, overlap, score),
            given(BOXES),
            given(SCORES),
            dtypes=SINGLE,
            order=0,
        )
        for sigma in (0.0, 0.3):
            yield case(
                f"image.non_max_suppression_with_scores {most} {overlap} {score} {sigma}",
                call("image.non_max_suppression_with_scores", most, overlap, score, sigma),
                given(BOXES),
                given(SCORES),
                dtypes=SINGLE,
                order=0,
            )
    yield case(
        "image.non_max_suppression_overlaps",
        call("image.non_max_suppression_overlaps", 4, 0.4),
        given([[1, 0.5, 0.1], [0.5, 1, 0.3], [0.1, 0.3, 1]]),
        given([0.5, 0.8, 0.7]),
        dtypes=SINGLE,
        order=0,
    )
    for channels in (1, 3, 4):
        for colors in (None, [[0.25, 0.5, 0.75, 1.0], [1.0, 0.0, 0.5, 0.5]]):
            yield case(
                f"image.draw_bounding_boxes {channels} {colors is None}",
                call("image.draw_bounding_boxes", [[*BOXES[:5], [0.3, 0.4, 0.9, 0.7]]], colors),
                normal(1, 9, 11, channels),
                dtypes=SINGLE,
                agrees=0,
                differs=LACKING,
            )


def integers_of(dtype, *shape):
    drawn = integers(0, 255, *shape)
    return type(drawn)(lambda rng: drawn.draw(rng).astype(dtype))


def table(seed=0):
    parts = (
        sizes(),
        random_sizes(seed),
        crops(),
        glimpses(),
        places(),
        colours(),
        likeness(),
        boxes(),
    )
    return [case for part in parts for case in part]
