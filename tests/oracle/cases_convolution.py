"""Convolutions in all their names, pooling, blocks and patches, morphology, lrn, batch norm."""

import numpy as np

from .inputs import HALVES, call, case, distinct, given, integers, normal, positive

SINGLE = ("float32",)  # all that TensorFlow has there
EDGES = [[0, 0], [1, 2], [0, 1], [0, 0]]
TIES = np.array([[0, 1, 1, 0], [1, 0, 0, 1], [2, 2, 2, 2], [2, 2, 2, 2]], float).reshape(1, 4, 4, 1)


def paired(path, first, *args, **kwargs):
    """`call` with the first argument fixed and the tensors after it."""
    return lambda tf, *xs: getattr(tf.nn, path)(first, *xs, *args, **kwargs)


# fmt: off
CONVOLUTIONS = [
    case("conv1d SAME", call("nn.conv1d", 1, "SAME"), normal(2, 5, 2), normal(3, 2, 3)),
    case("conv1d VALID strided", call("nn.conv1d", 2, "VALID"), normal(1, 6, 1), normal(2, 1, 2)),
    case("conv1d of rank 4", call("nn.conv1d", 1, "VALID"), normal(2, 1, 4, 1), normal(2, 1, 2)),
    case("conv2d SAME", call("nn.conv2d", 1, "SAME"), normal(2, 4, 5, 2), normal(3, 3, 2, 3)),
    case("conv2d VALID", call("nn.conv2d", 1, "VALID"), normal(1, 4, 5, 2), normal(2, 3, 2, 2)),
    case("conv2d SAME of an even kernel", call("nn.conv2d", 1, "SAME"), normal(1, 3, 4, 1),
         normal(2, 4, 1, 2)),
    case("conv2d SAME strided", call("nn.conv2d", 2, "SAME"), normal(1, 5, 6, 2),
         normal(3, 3, 2, 2)),
    case("conv2d VALID strided, leftover", call("nn.conv2d", [1, 3, 2, 1], "VALID"),
         normal(1, 6, 6, 1), normal(2, 2, 1, 2)),
    case("conv2d stride above the kernel", call("nn.conv2d", [3, 3], "SAME"), normal(1, 7, 5, 2),
         normal(2, 1, 2, 2)),
    case("conv2d explicit padding", call("nn.conv2d", 1, EDGES), normal(1, 3, 3, 2),
         normal(2, 2, 2, 1)),
    case("conv2d explicit padding, strided", call("nn.conv2d", 2, EDGES), normal(1, 4, 3, 1),
         normal(3, 2, 1, 2)),
    case("conv2d 1x1", call("nn.conv2d", 1, "SAME"), normal(2, 2, 3, 3), normal(1, 1, 3, 2)),
    case("conv2d 1x1 strided", call("nn.conv2d", 2, "VALID"), normal(1, 4, 5, 2),
         normal(1, 1, 2, 2)),
    case("conv2d of one pixel", call("nn.conv2d", 1, "SAME"), normal(1, 1, 1, 1),
         normal(3, 3, 1, 1)),
    case("conv2d of an empty batch", call("nn.conv2d", 1, "SAME"), normal(0, 3, 3, 1),
         normal(2, 2, 1, 1), order=1),
    # In float32 TensorFlow gives memory that nothing was written to, on some processors.
    case("conv2d of a kernel just too large", call("nn.conv2d", 1, "VALID"), normal(1, 2, 2, 1),
         normal(3, 3, 1, 1), order=0, dtypes=("float64",)),
    case("conv2d of rank 5", call("nn.conv2d", 1, "SAME"), normal(2, 1, 3, 3, 1),
         normal(2, 2, 1, 2)),
    case("conv2d dilated", call("nn.conv2d", 1, "SAME", dilations=2), normal(1, 5, 4, 1),
         normal(2, 3, 1, 2), order=0),
    case("conv2d of groups", call("nn.conv2d", 1, "VALID"), normal(1, 3, 3, 4),
         normal(2, 2, 2, 4), order=0),
    case("conv2d of integers", call("nn.conv2d", 1, "SAME"), integers(-4, 5, 1, 3, 3, 2),
         integers(-4, 5, 2, 2, 2, 1), order=0),
    case("conv2d in half precision", call("nn.conv2d", 1, "SAME"), normal(1, 3, 3, 2),
         normal(2, 2, 2, 2), dtypes=("float16",), order=1),
    case("conv3d SAME", call("nn.conv3d", [1] * 5, "SAME"), normal(1, 3, 3, 2, 2),
         normal(2, 2, 2, 2, 2)),
    case("conv3d VALID strided", call("nn.conv3d", [1, 2, 1, 2, 1], "VALID"), normal(1, 4, 2, 4, 1),
         normal(2, 1, 3, 1, 2)),
    case("convolution over one axis", call("nn.convolution", padding="SAME"), normal(1, 4, 2),
         normal(2, 2, 1)),
    case("convolution dilated SAME", call("nn.convolution", padding="SAME", dilations=2),
         normal(1, 5, 4, 1), normal(3, 2, 1, 2)),
    case("convolution dilated VALID", call("nn.convolution", dilations=[2, 1]), normal(1, 5, 4, 2),
         normal(2, 2, 2, 1)),
    case("convolution dilated over three axes", call("nn.convolution", padding="SAME", dilations=2),
         normal(1, 3, 2, 3, 1), normal(2, 2, 2, 1, 1)),
    case("atrous_conv2d", call("nn.atrous_conv2d", 2, "SAME"), normal(1, 4, 5, 1),
         normal(3, 2, 1, 2)),
    case("atrous_conv2d VALID", call("nn.atrous_conv2d", 3, "VALID"), normal(1, 5, 5, 1),
         normal(2, 2, 1, 1)),
    case("conv1d_transpose", call("nn.conv1d_transpose", [1, 7, 2], 2, "SAME"), normal(1, 4, 3),
         normal(3, 2, 3)),
    case("conv2d_transpose SAME", call("nn.conv2d_transpose", [1, 6, 5, 2], 2), normal(1, 3, 3, 3),
         normal(3, 3, 2, 3)),
    case("conv2d_transpose VALID", call("nn.conv2d_transpose", [2, 4, 5, 1], 1, "VALID"),
         normal(2, 3, 3, 2), normal(2, 3, 1, 2)),
    case("conv2d_transpose VALID, leftover", call("nn.conv2d_transpose", [1, 6, 6, 1], 3, "VALID"),
         normal(1, 2, 2, 1), normal(2, 2, 1, 1)),
    case("conv2d_transpose explicit padding", call("nn.conv2d_transpose", [1, 4, 3, 1], 2, EDGES),
         normal(1, 3, 2, 2), normal(3, 2, 1, 2)),
    case("conv2d_transpose to an output shape that is a tensor",
         lambda tf, x, w: tf.nn.conv2d_transpose(x, w, tf.constant([1, 2, 2, 1]), 1),
         normal(1, 2, 2, 1), normal(2, 2, 1, 1)),
    case("conv3d_transpose", call("nn.conv3d_transpose", [1, 3, 4, 2, 1], 2), normal(1, 2, 2, 1, 2),
         normal(2, 2, 2, 1, 2)),
    case("conv_transpose", call("nn.conv_transpose", [1, 4, 1], 2), normal(1, 2, 2),
         normal(3, 1, 2)),
    case("atrous_conv2d_transpose", call("nn.atrous_conv2d_transpose", [1, 4, 5, 1], 2, "SAME"),
         normal(1, 4, 5, 2), normal(3, 2, 1, 2)),
    case("atrous_conv2d_transpose VALID",
         call("nn.atrous_conv2d_transpose", [1, 5, 5, 1], 2, "VALID"),
         normal(1, 3, 3, 2), normal(2, 2, 1, 2)),
    case("depthwise_conv2d", call("nn.depthwise_conv2d", [1, 1, 1, 1], "SAME"), normal(1, 3, 4, 2),
         normal(2, 3, 2, 2)),
    case("depthwise_conv2d strided", call("nn.depthwise_conv2d", [1, 2, 2, 1], "VALID"),
         normal(1, 5, 5, 3), normal(3, 2, 3, 1)),
    case("depthwise_conv2d dilated",
         call("nn.depthwise_conv2d", [1, 1, 1, 1], "SAME", dilations=[2, 2]),
         normal(1, 4, 5, 2), normal(2, 2, 2, 1)),
    case("depthwise_conv2d of one channel", call("nn.depthwise_conv2d", [1, 1, 1, 1], "SAME"),
         normal(1, 3, 3, 1), normal(2, 2, 1, 3)),
    case("depthwise_conv2d explicit padding", call("nn.depthwise_conv2d", [1, 1, 1, 1], EDGES),
         normal(1, 3, 3, 2), normal(2, 2, 2, 1)),
    case("depthwise_conv2d_backprop_input",
         paired("depthwise_conv2d_backprop_input", [1, 4, 4, 2], [1, 2, 2, 1], "SAME"),
         normal(3, 3, 2, 1), normal(1, 2, 2, 2)),
    case("depthwise_conv2d_backprop_filter",
         lambda tf, x, y: tf.nn.depthwise_conv2d_backprop_filter(
             x, [2, 2, 2, 2], y, [1, 1, 1, 1], "VALID"),
         normal(1, 3, 3, 2), normal(1, 2, 2, 4)),
    case("separable_conv2d", call("nn.separable_conv2d", [1, 1, 1, 1], "SAME"), normal(1, 3, 3, 2),
         normal(2, 2, 2, 2), normal(1, 1, 4, 3)),
    case("separable_conv2d dilated",
         call("nn.separable_conv2d", [1, 1, 1, 1], "SAME", dilations=[2, 1]),
         normal(1, 4, 3, 2), normal(2, 2, 2, 1), normal(1, 1, 2, 2)),
]

POOLS = [
    *[case(f"{kind}_pool2d {padding}", call(f"nn.{kind}_pool2d", 2, 2, padding),
           distinct(1, 4, 5, 2)) for kind in ("max", "avg") for padding in ("SAME", "VALID")],
    *[case(f"{kind}_pool2d overlapping", call(f"nn.{kind}_pool2d", [3, 2], [2, 1], "SAME"),
           distinct(2, 5, 4, 1)) for kind in ("max", "avg")],
    *[case(f"{kind}_pool2d stride above the window", call(f"nn.{kind}_pool2d", 1, 2, "VALID"),
           distinct(1, 4, 4, 1)) for kind in ("max", "avg")],
    *[case(f"{kind}_pool2d in half precision", call(f"nn.{kind}_pool2d", 2, 2, "SAME"),
           distinct(1, 3, 4, 1), dtypes=HALVES, order=1) for kind in ("max", "avg")],
    *[case(f"{kind}_pool1d", call(f"nn.{kind}_pool1d", 3, 2, "SAME"), distinct(2, 6, 2))
      for kind in ("max", "avg")],
    *[case(f"{kind}_pool3d", call(f"nn.{kind}_pool3d", 2, [1, 2, 1, 2, 1], "SAME"),
           distinct(1, 3, 2, 4, 1), dtypes=SINGLE) for kind in ("max", "avg")],
    *[case(f"{kind}_pool of rank {rank + 2}", call(f"nn.{kind}_pool", 2, 2, "VALID"),
           distinct(1, *(4,) * rank, 1)) for kind in ("max", "avg") for rank in (1, 2)],
    *[case(f"{kind}_pool of rank 5", call(f"nn.{kind}_pool", 2, 2, "VALID", data_format="NDHWC"),
           distinct(1, 2, 4, 2, 1), dtypes=SINGLE) for kind in ("max", "avg")],
    case("max_pool2d at ties", call("nn.max_pool2d", 2, 2, "VALID"), given(TIES)),
    case("max_pool2d at ties, overlapping", call("nn.max_pool2d", 2, 1, "SAME"), given(TIES)),
    case("max_pool2d explicit padding",
         call("nn.max_pool2d", 2, 2, [[0, 0], [1, 1], [1, 0], [0, 0]]),
         distinct(1, 3, 4, 2), order=1),
    case("max_pool2d of negative numbers, padded", lambda tf, x: tf.nn.max_pool2d(-x, 3, 1, "SAME"),
         positive(1, 2, 2, 1)),
    case("max_pool2d over channels", call("nn.max_pool2d", [1, 1, 1, 2], [1, 1, 1, 2], "VALID"),
         distinct(1, 2, 2, 4), order=0),
    case("max_pool2d of integers", call("nn.max_pool2d", 2, 2, "SAME"), integers(-9, 9, 1, 3, 3, 1),
         order=0),
    case("max_pool2d of an empty batch", call("nn.max_pool2d", 2, 2, "SAME"), normal(0, 3, 3, 1),
         order=0),
    *[case(f"pool {kind} {padding}", call("nn.pool", [2, 3], kind, [1, 2], padding),
           distinct(1, 4, 5, 1)) for kind in ("MAX", "AVG") for padding in ("SAME", "VALID")],
    *[case(f"pool {kind} dilated", call("nn.pool", [2], kind, dilations=[2]), distinct(2, 5, 1))
      for kind in ("MAX", "AVG")],
    case("max_pool_with_argmax", lambda tf, x: tuple(tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")),
         distinct(2, 3, 4, 2)),
    case("max_pool_with_argmax, batch in the index",
         lambda tf, x: tuple(tf.nn.max_pool_with_argmax(
             x, [1, 2, 2, 1], [1, 1, 1, 1], "VALID", include_batch_in_index=True)),
         distinct(2, 3, 3, 1)),
    case("max_pool_with_argmax at ties, int32",
         lambda tf, x: tuple(tf.nn.max_pool_with_argmax(x, 2, 2, "VALID", output_dtype=tf.int32)),
         given(TIES), order=0),
    case("max_pool_with_argmax at ties", call("nn.max_pool_with_argmax", 2, 2, "VALID"),
         given(TIES)),
    *[case(f"fractional_{kind}_pool", lambda tf, x, kind=kind: getattr(
          tf.nn, f"fractional_{kind}_pool")(x, [1.0, 2.0, 2.0, 1.0], seed=1)[0],
           distinct(1, 4, 6, 2), order=1) for kind in ("max", "avg")],
    *[case(f"fractional_{kind}_pool overlapping", lambda tf, x, kind=kind: getattr(
          tf.nn, f"fractional_{kind}_pool")(x, [1.0, 2.0, 3.0, 1.0], overlapping=True, seed=1),
           distinct(1, 4, 6, 1), order=1) for kind in ("max", "avg")],
]

WINDOWS = [
    case("space_to_depth", call("nn.space_to_depth", 2), normal(1, 4, 2, 3)),
    case("depth_to_space", call("nn.depth_to_space", 2), normal(1, 2, 1, 8)),
    case("space_to_depth of integers", call("nn.space_to_depth", 3), integers(-9, 9, 1, 3, 3, 2)),
    case("space_to_batch", call("space_to_batch", [2, 2], [[1, 0], [0, 1]]), normal(1, 3, 3, 2)),
    case("space_to_batch_nd over one axis", call("space_to_batch_nd", [3], [[1, 1]]),
         normal(2, 4, 2)),
    case("space_to_batch_nd of size 1", call("nn.space_to_batch", [1, 2], [[0, 1], [0, 0]]),
         normal(1, 2, 2)),
    case("batch_to_space", call("batch_to_space", [2, 2], [[0, 1], [1, 0]]), normal(4, 2, 2, 1)),
    case("batch_to_space with one block size", call("batch_to_space", 2, [[0, 0], [0, 0]]),
         normal(4, 1, 2, 2)),
    case("required_space_to_batch_paddings",
         lambda tf, x: (tf.required_space_to_batch_paddings([5, 4], [2, 3]),
                        tf.required_space_to_batch_paddings([5, 4], [2, 3], [[1, 0], [2, 2]])),
         integers(0, 2, 1), order=0),
    case("with_space_to_batch", lambda tf, x: tf.nn.with_space_to_batch(
        x, [2, 1], "SAME", lambda y, n, p: tf.nn.avg_pool2d(y, 2, 1, p), filter_shape=[2, 2]),
        normal(1, 4, 3, 1)),
    case("extract_patches", call("image.extract_patches", [1, 2, 3, 1], [1, 1, 2, 1], [1, 1, 1, 1],
                                 "VALID"), normal(1, 3, 5, 2)),
    case("extract_patches SAME, dilated",
         call("image.extract_patches", [1, 2, 2, 1], [1, 2, 1, 1], [1, 2, 2, 1], "SAME"),
         normal(1, 4, 3, 1)),
    case("extract_volume_patches", call("extract_volume_patches", [1, 2, 1, 2, 1], [1, 1, 1, 2, 1],
                                        "VALID"), normal(1, 2, 2, 4, 2)),
    case("extract_volume_patches SAME", call("extract_volume_patches", [1, 2, 2, 2, 1],
                                             [1, 1, 2, 1, 1], "SAME"), normal(1, 2, 3, 2, 1)),
    *[case(f"{name} {padding}", call(f"nn.{name}", [1, 1, 1, 1], padding, "NHWC", [1, 1, 1, 1]),
           distinct(1, 3, 4, 2), normal(2, 2, 2))
      for name in ("dilation2d", "erosion2d") for padding in ("SAME", "VALID")],
    case("dilation2d strided, dilated",
         call("nn.dilation2d", [1, 2, 1, 1], "SAME", "NHWC", [1, 2, 2, 1]),
         distinct(1, 5, 4, 1), normal(2, 2, 1)),
    case("dilation2d at ties", call("nn.dilation2d", [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]),
         given(TIES), given(np.zeros((2, 2, 1)))),
    case("local_response_normalization", call("nn.local_response_normalization"),
         normal(1, 2, 2, 3), dtypes=SINGLE, order=1),
    case("lrn of a narrow window", call("nn.lrn", depth_radius=1, bias=2.0, alpha=0.5, beta=0.75),
         normal(1, 1, 2, 5), dtypes=SINGLE, order=1),
    *[case(f"batch_norm_with_global_normalization, {scaled}",
           call("nn.batch_norm_with_global_normalization", 1e-2, scaled),
           normal(2, 2, 2, 3), normal(3), positive(3), normal(3), normal(3))
      for scaled in (True, False)],
]
# fmt: on


def drawn(seed):
    """Convolutions and pools of random shapes."""
    rng = np.random.default_rng([seed, 7])
    cases = []
    for number in range(6):
        height, width = rng.integers(3, 8, 2)
        kernel = rng.integers(1, 4, 2)
        steps = rng.integers(1, 4, 2).tolist()
        inputs, outputs = rng.integers(1, 4, 2)
        padding = str(rng.choice(["SAME", "VALID"]))
        image = (int(rng.integers(1, 3)), int(height), int(width), int(inputs))
        cases.append(
            case(
                f"conv2d drawn, number {number}",
                call("nn.conv2d", steps, padding),
                normal(*image),
                normal(*kernel.tolist(), int(inputs), int(outputs)),
            )
        )
        kind = str(rng.choice(["max", "avg"]))
        cases.append(
            case(
                f"pool drawn, number {number}",
                call(f"nn.{kind}_pool2d", kernel.tolist(), steps, padding),
                distinct(*image),
            )
        )
    return cases


def table(seed=0):
    return [*CONVOLUTIONS, *POOLS, *WINDOWS, *drawn(seed)]
