"""Sampled losses (with given candidates), isotonic regression, CTC."""

import numpy as np

from .inputs import case, distinct, given, integers, normal

CANDIDATES = [4, 0, 2]
TRUE_EXPECTED = [[0.5, 0.25], [0.75, 0.5]]
EXPECTED = [0.5, 0.25, 0.75]
LABELS = np.array([[1, 3], [0, 2]], np.int64)
SPELT = np.array([[1, 2, 0], [2, 2, 3]], np.int32)
# A sum of squares of gradients needs what TensorFlow's cross entropy lacks in second order.


def sampled(name, **options):
    def loss(tf, weights, biases, inputs):
        drawn = (
            tf.constant(CANDIDATES, tf.int64),
            tf.constant(TRUE_EXPECTED, inputs.dtype),
            tf.constant(EXPECTED, inputs.dtype),
        )
        f = getattr(tf.nn, name)
        return f(weights, biases, LABELS, inputs, 3, 5, 2, sampled_values=drawn, **options)

    return loss


def isotonic(**options):
    return lambda tf, x: tf.nn.isotonic_regression(x, **options)


def ctc(lengths, frames, **options):
    def loss(tf, logits):
        return tf.nn.ctc_loss(SPELT, logits, lengths, frames, **options)

    return loss


def collapse(tf, x):
    return tf.nn.collapse_repeated(x, [6, 4, 1]), tf.nn.ctc_unique_labels(x)


def hits(tf):
    return tf.nn.compute_accidental_hits(LABELS, tf.constant(CANDIDATES, tf.int64), 2)


CASES = [
    *[
        case(
            f"{name}, remove_accidental_hits={remove}",
            sampled(name, remove_accidental_hits=remove),
            normal(5, 3),
            normal(5),
            normal(2, 3),
            **({"linear": True} if remove else {}),
        )
        for name in ["nce_loss", "sampled_softmax_loss"]
        for remove in [False, True]
    ],
    case("isotonic_regression", isotonic(), distinct(2, 6)),
    case("isotonic_regression, increasing", isotonic(decreasing=False), normal(2, 6)),
    case("isotonic_regression, axis", isotonic(axis=0), distinct(4, 2)),
    case(
        "isotonic_regression at ties",
        isotonic(),
        given([[1.0, 3.0, 2.0, 2.0], [2.0, 2.0, 1.0, 5.0]]),
        linear=True,
        order=1,
    ),
    case("isotonic_regression of integers", isotonic(), integers(-9, 9, 7)),
    case("ctc_loss", ctc([2, 3], [6, 5]), normal(6, 2, 5), dtypes=("float32",), order=1),
    case(
        "ctc_loss, blank last, batch first",
        ctc([2, 1], [6, 4], blank_index=-1, logits_time_major=False),
        normal(2, 6, 5),
        dtypes=("float32",),
        order=1,
    ),
    case("collapse_repeated", collapse, integers(0, 3, 3, 6)),
    case("compute_accidental_hits", hits),
]
