"""The messages of segment reductions, partitions, counts and special functions, by their text."""

import numpy as np
import pytest

pytestmark = pytest.mark.gradtape_only

ONE_TWO = [1.0, 2.0]

CALLS = {
    "segment_sum: `segment_ids` must be sorted and not negative. Use unsorted_segment_sum for "
    "others. Received: array([1, 0], dtype=int32).": (
        lambda tf: tf.math.segment_sum(ONE_TWO, [1, 0])
    ),
    "segment_max: `segment_ids` must be sorted and not negative. Use unsorted_segment_max for "
    "others. Received: array([-1,  0], dtype=int32).": (
        lambda tf: tf.math.segment_max(ONE_TWO, [-1, 0])
    ),
    "segment_mean: `segment_ids` must be a vector with an id for each row of `data`. Received: "
    "segment_ids.shape=(1,), data.shape=(2,).": lambda tf: tf.math.segment_mean(ONE_TWO, [0]),
    "segment_prod: `segment_ids` must be a vector with an id for each row of `data`. Received: "
    "segment_ids.shape=(), data.shape=().": lambda tf: tf.math.segment_prod(1.0, 0),
    "segment_sum: `segment_ids` must be integers, and are float32.": (
        lambda tf: tf.math.segment_sum(ONE_TWO, [0.0, 1.0])
    ),
    "unsorted_segment_sum: `num_segments` must be >= 0, and is -3.": (
        lambda tf: tf.math.unsorted_segment_sum(ONE_TWO, [0, 1], -3)
    ),
    "unsorted_segment_min: data.shape must begin with segment_ids.shape. Received: "
    "data.shape=(2,), segment_ids.shape=(1, 2).": (
        lambda tf: tf.math.unsorted_segment_min(ONE_TWO, [[0, 1]], 2)
    ),
    "segment_sum: segment_ids[1] = 5 is not in [0, 3).": (
        lambda tf: tf.math.unsorted_segment_sum(ONE_TWO, [-1, 5], 3)
    ),
    "segment_max: segment_ids[0, 1] = 2 is not in [0, 2).": (
        lambda tf: tf.math.unsorted_segment_max([ONE_TWO], [[0, 2]], 2)
    ),
    "dynamic_partition: partitions[1] = 2 is not in [0, 2).": (
        lambda tf: tf.dynamic_partition(ONE_TWO, [0, 2], 2)
    ),
    "dynamic_partition: `num_partitions` must be at least 1, and is 0.": (
        lambda tf: tf.dynamic_partition(ONE_TWO, [0, 0], 0)
    ),
    "dynamic_partition: data.shape must begin with partitions.shape. Received: data.shape=(2,), "
    "partitions.shape=(1,).": lambda tf: tf.dynamic_partition(ONE_TWO, [0], 2),
    "dynamic_partition: `partitions` must be integers, and are float32.": (
        lambda tf: tf.dynamic_partition(ONE_TWO, [0.0, 1.0], 2)
    ),
    "dynamic_stitch: `indices` and `data` must be lists of the same length, 1 at least. Received: "
    "1 and 2.": lambda tf: tf.dynamic_stitch([[0]], [[1.0], [2.0]]),
    "dynamic_stitch: `indices` and `data` must be lists of tensors.": (
        lambda tf: tf.dynamic_stitch(tf.constant([0]), [[1.0]])
    ),
    "dynamic_stitch: data[0].shape must begin with indices[0].shape. Received: (1,) and (2,).": (
        lambda tf: tf.dynamic_stitch([[0, 1]], [[1.0]])
    ),
    "dynamic_stitch: the rows of all `data` must have one shape. Received: [(), (2,)].": (
        lambda tf: tf.dynamic_stitch([[0], [1]], [[1.0], [ONE_TWO]])
    ),
    "dynamic_stitch: indices must not be negative, and one is -1.": (
        lambda tf: tf.dynamic_stitch([[0, -1]], [ONE_TWO])
    ),
    "bincount: `arr` must not be negative, and has -1.": lambda tf: tf.math.bincount([-1, 2]),
    "bincount: `weights` must have the shape of `arr`. Received: weights.shape=(1,), "
    "arr.shape=(2,).": lambda tf: tf.math.bincount([1, 2], weights=[1.0]),
    "bincount: `axis` must be None, 0 or -1, and is 1.": (
        lambda tf: tf.math.bincount([1, 1], axis=1)
    ),
    "bincount: `maxlength` must be >= 0, and is -1.": (
        lambda tf: tf.math.bincount([1], maxlength=-1)
    ),
    "bincount: with axis=-1 `arr` must be a vector or a matrix. arr.shape=(1, 1, 1).": (
        lambda tf: tf.math.bincount([[[1]]], axis=-1)
    ),
    "histogram_fixed_width: `value_range` must be [low, high] with low < high, and is "
    "[5.0, 5.0].": lambda tf: tf.histogram_fixed_width([1.0], [5.0, 5.0]),
    "histogram_fixed_width: `values` contain NaN, which belongs to no bin.": (
        lambda tf: tf.histogram_fixed_width([np.nan], [0.0, 5.0])
    ),
    "histogram_fixed_width_bins: `nbins` must be at least 1, and is 0.": (
        lambda tf: tf.histogram_fixed_width_bins([1.0], [0.0, 5.0], nbins=0)
    ),
    "histogram_fixed_width: `value_range` must be a pair [low, high], and has shape (3,).": (
        lambda tf: tf.histogram_fixed_width([1.0], [0.0, 5.0, 6.0])
    ),
    "confusion_matrix: `labels`: indices[1] = 4 is not in [0, 3).": (
        lambda tf: tf.math.confusion_matrix([1, 4], [2, 2], num_classes=3)
    ),
    "confusion_matrix: `labels` and `predictions` must be vectors of the same length. Received: "
    "labels.shape=(2,), predictions.shape=(3,).": (
        lambda tf: tf.math.confusion_matrix([1, 2], [2, 1, 0])
    ),
    "confusion_matrix: `weights` must be a vector with one number for each label. Received: "
    "weights.shape=(1,), labels.shape=(2,).": (
        lambda tf: tf.math.confusion_matrix([1, 2], [2, 1], weights=[1.0])
    ),
    "in_top_k: `predictions` must be a matrix and `targets` have a class for each of its rows. "
    "Received: predictions.shape=(1, 2), targets.shape=(2,).": (
        lambda tf: tf.math.in_top_k([1, 0], [[0.1, 0.9]], 1)
    ),
    "in_top_k: `targets` must be integers, and are float32.": (
        lambda tf: tf.math.in_top_k([1.0], [[0.1, 0.9]], 1)
    ),
    "approx_max_k: `k`=3 needs at least as many elements along axis 0, which has size 2.": (
        lambda tf: tf.math.approx_max_k(ONE_TWO, 3)
    ),
    "approx_max_k: `reduction_dimension`=2 is out of range for a tensor of rank 1; it must lie in "
    "[-1, 1).": lambda tf: tf.math.approx_max_k(ONE_TWO, 1, reduction_dimension=2),
    "lbeta: `x` must have rank 1 at least, and is a scalar.": lambda tf: tf.math.lbeta(2.0),
    "polyval: `coeffs` must be a list of tensors, highest power first, not a Tensor. Use "
    "tf.unstack to make a list of a tensor.": lambda tf: tf.math.polyval(tf.zeros([2]), 1.0),
    "sobol_sample: `dim` and `num_results` must be at least 1 and `skip` at least 0. Received: 0, "
    "5 and 0.": lambda tf: tf.math.sobol_sample(0, 5),
    "sobol_sample: `dtype` must be floating, and is int32.": (
        lambda tf: tf.math.sobol_sample(2, 5, dtype=tf.int32)
    ),
    "bessel_i0: `x` is int32, and the op takes float16, float32, float64, bfloat16. Convert "
    "it: tf.cast(x, tf.float32).": lambda tf: tf.math.bessel_i0(3),
    "igamma: `a` is float32 and `x` is float64; tensors of different dtypes do not mix. Cast one "
    "of them, e.g. tf.cast(x, tf.float32).": (
        lambda tf: tf.math.igamma(tf.constant(1.0), tf.constant(1.0, tf.float64))
    ),
}


@pytest.mark.parametrize("message", CALLS)
def test_message(tf, message):
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        CALLS[message](tf)
    assert str(error.value) == message


def test_sorted_segments_of_computed_ids_cannot_be_compiled(tf):
    pytest.importorskip("jax")
    f = tf.function(lambda x: tf.math.segment_sum(ONE_TWO, tf.cast(x, tf.int32)), jit_compile=True)
    with pytest.raises(tf.errors.DynamicSizeError) as error:
        f(tf.constant([0.0, 1.0]))
    assert (
        "segment_sum: to compile it, XLA needs the values of `segment_ids`, which are "
        "not known while the function is traced."
    ) in str(error.value)
