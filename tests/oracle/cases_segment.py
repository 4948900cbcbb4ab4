"""Segment reductions, partition and stitch, counting: fixed cases, and some of random shape."""

import numpy as np

from .cases_random import Draw
from .inputs import call, case, distinct, given, integers, normal, positive

SORTED = ["segment_sum", "segment_mean", "segment_prod", "segment_max", "segment_min"]
UNSORTED = [f"unsorted_{name}" for name in SORTED] + ["unsorted_segment_sqrt_n"]
IDS = [0, 0, 1, 3, 3]
MIXED = [2, 0, -1, 2, 0]
TIES = given([2.0, 2.0, 1.0, -1.0, -1.0, -1.0])
ZEROS = given([0.0, 2.0, 3.0, 0.0, 0.0, 4.0])
SHARED = "of two updates of one row TensorFlow gives both the gradient, though the last one stands"
TWO_ZEROS = "TensorFlow sets the gradient of a product with two zeros to the constant 0"


def by_ids(name, ids):
    return lambda tf, x: getattr(tf.math, name)(x, ids)


def among(name, ids, count):
    return lambda tf, x: getattr(tf.math, name)(x, ids, count)


def partition(parts, count):
    return lambda tf, x: tf.dynamic_partition(x, parts, count)


def stitch(*indices):
    return lambda tf, *data: tf.dynamic_stitch(list(indices), list(data))


def counted(**kwargs):
    return lambda tf, x: tf.math.bincount(x, **kwargs)


def weighted(tf, w):
    return tf.math.bincount([1, 1, 0, 3], weights=w)


def confusion(tf, w):
    return tf.math.confusion_matrix([0, 1, 1, 2], [0, 1, 2, 2], weights=w, dtype=w.dtype)


def histogram(tf, x):
    inside = [-1.0, 2.0]
    return (tf.histogram_fixed_width(x, inside, nbins=5),
            tf.histogram_fixed_width_bins(x, inside, nbins=4))  # fmt: skip


def integer_means(tf, x):
    return tf.math.segment_mean(x, IDS), tf.math.unsorted_segment_mean(x, MIXED, 4)


CASES = [
    *[case(f"{name}", by_ids(name, IDS), distinct(5, 2)) for name in SORTED],
    *[case(f"{name} of a vector", by_ids(name, [0, 0, 0]), distinct(3)) for name in SORTED],
    *[
        case(f"{name} of nothing", by_ids(name, np.zeros(0, np.int32)), normal(0, 2))
        for name in SORTED
    ],
    *[case(f"{name}", among(name, MIXED, 4), distinct(5, 2), linear=True) for name in UNSORTED],
    *[
        case(f"{name} over two axes", among(name, [[1, 0], [0, 1]], 2), distinct(2, 2, 3))
        for name in UNSORTED
    ],
    *[
        case(f"{name} with one id", among(name, 1, 2), distinct(3), linear=True)
        for name in UNSORTED
    ],
    *[
        case(f"{name} at ties", by_ids(name, [0, 0, 0, 1, 1, 1]), TIES, linear=True, order=1)
        for name in ["segment_max", "segment_min"]
    ],
    *[
        case(f"{name} at ties", among(name, [1, 1, 1, 0, 0, -1], 2), TIES, linear=True, order=1)
        for name in ["unsorted_segment_max", "unsorted_segment_min"]
    ],
    case(
        "segment_prod with zeros",
        by_ids("segment_prod", [0, 0, 0, 1, 1, 1]),
        ZEROS,
        order=2,
        differs=TWO_ZEROS,
        agrees=1,
    ),
    case(
        "unsorted_segment_prod with zeros",
        among("unsorted_segment_prod", [1, 0, 1, 2, 2, 0], 3),
        ZEROS,
        differs=TWO_ZEROS,
        agrees=1,
    ),
    case("segment means of integers", integer_means, integers(-9, 9, 5)),
    case("segment sums of integers", by_ids("segment_sum", IDS), integers(-9, 9, 5, 2)),
    case(
        "segment sum of complex numbers",
        lambda tf, x, y: tf.math.segment_sum(tf.complex(x, y), [0, 0, 1]),
        normal(3),
        normal(3),
    ),
    case("dynamic_partition", partition([1, 0, 1], 3), normal(3, 2)),
    case("dynamic_partition over two axes", partition([[1, 0], [0, 1]], 2), normal(2, 2, 2)),
    case("dynamic_partition of one", partition(1, 2), normal()),
    case("dynamic_stitch", stitch([0, 2], [1]), normal(2, 2), normal(1, 2)),
    case(
        "dynamic_stitch of scalars and rows",
        stitch(3, [[0, 1], [2, 4]]),
        normal(2),
        normal(2, 2, 2),
    ),
    case(
        "dynamic_stitch with repeats",
        stitch([0, 1], [1, 0]),
        normal(2),
        normal(2),
        differs=SHARED,
        agrees=0,
    ),
    case("bincount", counted(), integers(0, 6, 7)),
    case("bincount, minlength", counted(minlength=9), integers(0, 6, 7)),
    case("bincount, maxlength", counted(maxlength=3), integers(0, 6, 7)),
    case("bincount of a matrix", counted(), integers(0, 6, 2, 3)),
    case("bincount of rows", counted(axis=-1), integers(0, 6, 2, 3)),
    case("bincount of rows, binary", counted(axis=-1, binary_output=True), integers(0, 3, 2, 5)),
    case("bincount with weights", weighted, normal(4)),
    case("confusion_matrix", call("math.confusion_matrix"), integers(0, 3, 9), integers(0, 3, 9)),
    case("confusion_matrix with weights", confusion, positive(4)),
    case("histogram_fixed_width", histogram, normal(20), order=0, dtypes=("float32",)),
    case(
        "in_top_k",
        lambda tf, x: tf.math.in_top_k([1, 0, 3, 2], x, 2),
        distinct(4, 3),
        order=0,
        dtypes=("float32",),
    ),
    case(
        "in_top_k at ties",
        lambda tf, x: tf.math.in_top_k([1, 0], x, 1),
        given([[1.0, 2.0, 2.0], [np.inf, 2.0, 0.0]]),
        order=0,
        dtypes=("float32",),
    ),
    case(
        "approx_max_k",
        lambda tf, x: tf.math.approx_max_k(x, 2),
        distinct(2, 4),
        dtypes=("float32",),
    ),
    case(
        "increasing",
        lambda tf, x: (tf.math.is_non_decreasing(x), tf.math.is_strictly_increasing(x)),
        given([[1.0, 2.0], [2.0, 3.0]]),
        order=0,
    ),
]


def table(seed):
    return CASES + [drawn(Draw(f"{seed}/segment/{i}"), i) for i in range(24)]


def drawn(draw, i):
    """A segment reduction of random shape and ids."""
    rows, rest = draw.randint(1, 6), draw.solid(0, 2)
    name = draw.choice(SORTED + UNSORTED)
    if name in SORTED:
        ids = sorted(draw.randint(0, 4) for _ in range(rows))
        return case(
            f"random segments {i}", by_ids(name, ids), distinct(rows, *rest), dtypes=("float64",)
        )
    outer = [rows, *draw.solid(0, 1)]
    ids = np.array([draw.randint(-1, 3) for _ in range(int(np.prod(outer)))], np.int32)
    fn = among(name, ids.reshape(outer), draw.randint(4, 6))
    # Segments without rows hold the limits of the dtype, whose squares overflow.
    linear = name.endswith(("max", "min"))
    return case(
        f"random segments {i}", fn, distinct(*outer, *rest), dtypes=("float64",), linear=linear
    )
