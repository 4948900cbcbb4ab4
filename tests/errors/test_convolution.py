"""The messages of convolutions, pools and windows, by their text."""

import pytest

pytestmark = pytest.mark.gradtape_only

IMAGE = (1, 4, 4, 2)
ONES = [1, 1, 1, 1]


def shapes(tf, *each):
    return [tf.ones(shape) for shape in each]


CALLS = {
    "conv2d: `input` must have rank 4: batch, 2 axes of space, channels. Received: "
    "input.shape=(4, 2).": lambda tf: tf.nn.conv2d(*shapes(tf, (4, 2), (2, 2, 2, 1)), 1, "SAME"),
    "conv2d: `filters` must have rank 4: 2 axes of the kernel, input channels, output channels. "
    "Received: filters.shape=(2, 2, 1).": lambda tf: tf.nn.conv2d(
        *shapes(tf, IMAGE, (2, 2, 1)), 1, "SAME"
    ),
    "conv2d: the 2 channels of `input` must be those that `filters` takes, 3, or a multiple "
    "(groups) that divides the 1 output channels. Received: input.shape=(1, 4, 4, 2), "
    "filters.shape=(2, 2, 3, 1), data_format='NHWC'.": lambda tf: tf.nn.conv2d(
        *shapes(tf, IMAGE, (2, 2, 3, 1)), 1, "SAME"
    ),
    "conv2d: `padding` must be 'SAME', 'VALID' or a list of pairs [before, after] for all axes. "
    "Received: 'same'.": lambda tf: tf.nn.conv2d(*shapes(tf, IMAGE, (2, 2, 2, 1)), 1, "same"),
    "conv2d: a list as `padding` must have 4 pairs, for batch and channels too. Received: "
    "((1, 1), (1, 1)).": lambda tf: tf.nn.conv2d(
        *shapes(tf, IMAGE, (2, 2, 2, 1)), 1, [[1, 1], [1, 1]]
    ),
    "conv2d: batch and channels are not padded. Received: "
    "padding=((0, 0), (0, 0), (0, 0), (1, 0)).": (
        lambda tf: tf.nn.conv2d(
            *shapes(tf, IMAGE, (2, 2, 2, 1)), 1, [[0, 0], [0, 0], [0, 0], [1, 0]]
        )
    ),
    "conv2d: `padding` must not be negative. Received: ((0, 0), (-1, 0), (0, 0), (0, 0)).": (
        lambda tf: tf.nn.conv2d(
            *shapes(tf, IMAGE, (2, 2, 2, 1)), 1, [[0, 0], [-1, 0], [0, 0], [0, 0]]
        )
    ),
    "conv2d: `strides` must have 1, 2 or 4 numbers. Received: [1, 2, 3].": lambda tf: tf.nn.conv2d(
        *shapes(tf, IMAGE, (2, 2, 2, 1)), [1, 2, 3], "SAME"
    ),
    "conv2d: `strides` must be positive numbers. Received: [0, 0].": lambda tf: tf.nn.conv2d(
        *shapes(tf, IMAGE, (2, 2, 2, 1)), 0, "SAME"
    ),
    "conv2d: `strides` must be 1 for the batch and the channels. Received: [2, 1, 1, 1].": (
        lambda tf: tf.nn.conv2d(*shapes(tf, IMAGE, (2, 2, 2, 1)), [2, 1, 1, 1], "SAME")
    ),
    "conv2d: `dilations` must be an integer, not 1.5.": lambda tf: tf.nn.conv2d(
        *shapes(tf, IMAGE, (2, 2, 2, 1)), 1, "SAME", dilations=1.5
    ),
    "conv2d: `data_format` must be 'NHWC' or 'NCHW', not 'NWHC'.": lambda tf: tf.nn.conv2d(
        *shapes(tf, IMAGE, (2, 2, 2, 1)), 1, "SAME", "NWHC"
    ),
    "conv2d: along axis 0 of its space the window covers 6 elements, and there are only 4. Use "
    "padding='SAME' or a smaller window.": lambda tf: tf.nn.conv2d(
        *shapes(tf, IMAGE, (6, 6, 2, 1)), 1, "VALID"
    ),
    "convolution: `input` is float32 and `filters` is float64; tensors of different dtypes do not "
    "mix. Cast one of them, e.g. tf.cast(filters, tf.float32).": lambda tf: tf.nn.conv2d(
        tf.ones(IMAGE), tf.ones((2, 2, 2, 1), tf.float64), 1, "SAME"
    ),
    "convolution: `filters` must have 1, 2 or 3 axes of space and two others. Received: "
    "(2, 2).": lambda tf: tf.nn.convolution(*shapes(tf, IMAGE, (2, 2))),
    "convolution: `strides` and `dilations` cannot both be larger than 1. Received: "
    "strides=[2, 2], dilations=[2, 2].": lambda tf: tf.nn.convolution(
        *shapes(tf, IMAGE, (2, 2, 2, 1)), strides=2, dilations=2
    ),
    "conv2d_transpose: `output_shape` must be 4 numbers, none negative. Received: [1, 4, 4].": (
        lambda tf: tf.nn.conv2d_transpose(*shapes(tf, IMAGE, (2, 2, 1, 2)), [1, 4, 4], 2)
    ),
    "conv2d_transpose: to give output_shape=[1, 6, 8, 1] the `input` must have the shape "
    "(1, 3, 4, 2), with these strides, padding and filters of shape (2, 2, 1, 2) (kernel, output "
    "channels, input channels). Received: input.shape=(1, 4, 4, 2).": lambda tf: (
        tf.nn.conv2d_transpose(*shapes(tf, IMAGE, (2, 2, 1, 2)), [1, 6, 8, 1], 2)
    ),
    "depthwise_conv2d: `input` must have rank 4 and as many channels as the filter. Received: "
    "input.shape=(1, 4, 4, 2), filter.shape=(2, 2, 3, 1), data_format=None.": lambda tf: (
        tf.nn.depthwise_conv2d(*shapes(tf, IMAGE, (2, 2, 3, 1)), ONES, "SAME")
    ),
    "depthwise_conv2d: `filter` must be [height, width, channels, multiplier]. Received: "
    "filter.shape=(2, 2).": lambda tf: tf.nn.depthwise_conv2d(
        *shapes(tf, IMAGE, (2, 2)), ONES, "SAME"
    ),
    "separable_conv2d: the depthwise filters give 4 channels, and `pointwise_filter` takes 2.": (
        lambda tf: tf.nn.separable_conv2d(
            *shapes(tf, IMAGE, (2, 2, 2, 2), (1, 1, 2, 1)), ONES, "SAME"
        )
    ),
    "max_pool2d: `input` must have rank 4: batch, 2 axes of space, channels. Received: "
    "input.shape=(4, 4).": lambda tf: tf.nn.max_pool2d(tf.ones((4, 4)), 2, 2, "SAME"),
    "max_pool: `input` must have rank 3, 4 or 5: batch, 1 to 3 axes of space, channels. Received: "
    "input.shape=(4, 4).": lambda tf: tf.nn.max_pool(tf.ones((4, 4)), 2, 2, "SAME"),
    "max_pool2d: the batch is not pooled. Received: ksize=[2, 2, 2, 1], strides=[1, 1, 1, 1].": (
        lambda tf: tf.nn.max_pool2d(tf.ones(IMAGE), [2, 2, 2, 1], 1, "SAME")
    ),
    "max_pool2d: `padding` must be 'SAME', 'VALID' or a list of pairs [before, after] for all "
    "axes. Received: 'FULL'.": lambda tf: tf.nn.max_pool2d(tf.ones(IMAGE), 2, 2, "FULL"),
    "max_pool2d: padding must be smaller than the window, or a window would be empty. Received: "
    "padding=[(2, 0), (0, 0)], ksize=[1, 2, 2, 1].": lambda tf: tf.nn.max_pool2d(
        tf.ones(IMAGE), 2, 2, [[0, 0], [2, 0], [0, 0], [0, 0]]
    ),
    "avg_pool2d: `padding` must be 'SAME' or 'VALID'; means over explicit padding are not defined. "
    "Received: [[0, 0], [1, 1], [0, 0], [0, 0]]. Use tf.pad first, if its zeros shall count.": (
        lambda tf: tf.nn.avg_pool2d(tf.ones(IMAGE), 2, 2, [[0, 0], [1, 1], [0, 0], [0, 0]])
    ),
    "avg_pool2d: `input` is int32, and the op takes floating numbers. Convert it with tf.cast.": (
        lambda tf: tf.nn.avg_pool2d(tf.ones(IMAGE, tf.int32), 2, 2, "SAME")
    ),
    "max_pool2d: `input` is complex64, and the op takes real numbers. Convert it with tf.cast.": (
        lambda tf: tf.nn.max_pool2d(tf.ones(IMAGE, tf.complex64), 2, 2, "SAME")
    ),
    "pool: `pooling_type` must be 'MAX' or 'AVG', not 'MIN'.": lambda tf: tf.nn.pool(
        tf.ones(IMAGE), [2, 2], "MIN"
    ),
    "pool: with `dilations` larger than 1 `padding` must be 'VALID' and `strides` 1. Received: "
    "padding='SAME', strides=[1, 1], dilations=[2, 2].": lambda tf: tf.nn.pool(
        tf.ones(IMAGE), [2, 2], "MAX", padding="SAME", dilations=[2, 2]
    ),
    "fractional_max_pool: `pooling_ratio` must be a number or [1, rows, columns, 1], each between "
    "1 and the size of its axis, [4, 4]. Received: 0.5.": lambda tf: tf.nn.fractional_max_pool(
        tf.ones(IMAGE), 0.5
    ),
    "space_to_depth: height and width must be multiples of `block_size`=3. Received: "
    "input.shape=(1, 4, 4, 2).": lambda tf: tf.nn.space_to_depth(tf.ones(IMAGE), 3),
    "depth_to_space: the channels must be a multiple of 4, `block_size` squared. Received: "
    "input.shape=(1, 4, 4, 2).": lambda tf: tf.nn.depth_to_space(tf.ones(IMAGE), 2),
    "space_to_depth: `block_size` must be 2 or more, and is 1.": lambda tf: tf.nn.space_to_depth(
        tf.ones(IMAGE), 1
    ),
    "space_to_batch: the padded sizes [4, 4] must be multiples of `block_shape`=[3, 2]; "
    "`required_space_to_batch_paddings` computes such paddings.": lambda tf: tf.space_to_batch(
        tf.ones(IMAGE), [3, 2], [[0, 0], [0, 0]]
    ),
    "batch_to_space: the batch must be a multiple of 4, the product of `block_shape`, and `crops` "
    "no larger than the sizes [8, 8]. Received: input.shape=(1, 4, 4, 2), "
    "crops=[[0, 0], [0, 0]].": (
        lambda tf: tf.batch_to_space(tf.ones(IMAGE), [2, 2], [[0, 0], [0, 0]])
    ),
    "extract_volume_patches: `input` must be [batch, depth, height, width, channels]. Received: "
    "input.shape=(1, 4, 4, 2).": lambda tf: tf.extract_volume_patches(
        tf.ones(IMAGE), [1] * 5, [1] * 5, "SAME"
    ),
    "extract_volume_patches: `padding` must be 'SAME' or 'VALID', not 'FULL'.": lambda tf: (
        tf.extract_volume_patches(tf.ones((1, 2, 2, 2, 1)), [1] * 5, [1] * 5, "FULL")
    ),
    "dilation2d: `filters` must be [height, width, channels] with the channels of the input. "
    "Received: input.shape=(1, 4, 4, 2), filters.shape=(2, 2, 1).": lambda tf: tf.nn.dilation2d(
        *shapes(tf, IMAGE, (2, 2, 1)), ONES, "SAME", "NHWC", ONES
    ),
    "dilation2d: `data_format` must be 'NHWC', not 'NCHW'.": lambda tf: tf.nn.dilation2d(
        *shapes(tf, IMAGE, (2, 2, 2)), ONES, "SAME", "NCHW", ONES
    ),
    "local_response_normalization: `input` must be [batch, height, width, channels]. Received: "
    "input.shape=(2, 2).": lambda tf: tf.nn.lrn(tf.ones((2, 2))),
}


@pytest.mark.parametrize("message", CALLS)
def test_message(tf, message):
    with pytest.raises(tf.errors.OpError) as caught:
        CALLS[message](tf)
    assert str(caught.value) == message
