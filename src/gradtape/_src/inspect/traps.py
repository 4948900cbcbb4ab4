"""The usual ways to Inf and NaN, as data: the op, what its values were, what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

exempt = frozenset({"bitcast"})
"""Ops whose result is any pattern of bits. (What TensorFlow exempts besides, or takes for safe,
only hands on what it is given, and cannot be at fault here.)"""


safe = frozenset(
    """
    abs argmax argmin band_part broadcast_to ceil clip_by_value concat conj diagonals elu equal
    floor from_diagonals gather gather_nd getitem greater greater_equal identity imag is_finite
    leaky_relu less less_equal maximum minimum negative not_equal one_hot real relu relu6 relu_grad
    reshape reverse rint roll select sigmoid sign sort split stack stop_gradient tanh tile top_k
    transpose unstack where window
    """.split()  # noqa: SIM905
)
"""Ops that make no Inf and no NaN of numbers that are none: results of these are not looked at."""


class Place(NamedTuple):
    """An element of a result that is not finite."""

    inputs: list[Any]  # the elements that it was made of; None of an input of another shape
    value: Any
    g: Any  # the element there of the cotangent that a rule of differentiation was given


class Seen(NamedTuple):
    """What is known of a fault, and decides which trap it is."""

    op: str
    of: str | None  # the op whose derivative was computed
    made_by: frozenset[str]  # the ops that made the inputs of `op`; in a derivative, those of `of`
    inputs: list[Any]  # arrays
    y: Any
    places: list[Place]

    def element(self, number: int) -> Any:
        """What input `number` was at the first place; None if it has no such place."""
        found = self.places[0].inputs
        return found[number] if number < len(found) else None

    def is_zero(self, number: int) -> bool:
        return self.element(number) is not None and self.element(number) == 0

    def is_negative(self, number: int) -> bool:
        x = self.element(number)
        return x is not None and x.dtype.kind != "c" and bool(x < 0)


class Trap(NamedTuple):
    """What one runs into with one of these ops; in their derivative, if `gradient`."""

    ops: str
    advice: str
    when: Callable[[Seen], bool] = lambda seen: True
    gradient: bool = False


def suggestion(seen: Seen) -> str | None:
    """What to write instead, if this is one of the usual traps."""
    for trap in _TRAPS:
        if trap.gradient != (seen.of is not None):
            continue
        name = seen.op if seen.of is None else seen.of
        if (trap.ops == "*" or name in trap.ops.split()) and trap.when(seen):
            return trap.advice
    return None


# What is told apart


def _made_by(*ops: str) -> Callable[[Seen], bool]:
    return lambda seen: not seen.made_by.isdisjoint(ops)


def _zero(number: int) -> Callable[[Seen], bool]:
    return lambda seen: seen.is_zero(number)


def _negative(number: int) -> Callable[[Seen], bool]:
    return lambda seen: seen.is_negative(number)


def _both(*tests: Callable[[Seen], bool]) -> Callable[[Seen], bool]:
    return lambda seen: all([test(seen) for test in tests])


def _nothing_comes_in(seen: Seen) -> bool:
    return any([place.g is not None and place.g == 0 for place in seen.places])


def _is_empty(seen: Seen) -> bool:
    return any([not x.size for x in seen.inputs])


def _given_infinite(seen: Seen) -> bool:
    return any([x.dtype.kind in "fc" and bool(np.isinf(x).any()) for x in seen.inputs])


def _overflow_of(*dtypes: str) -> Callable[[Seen], bool]:
    return lambda seen: seen.y.dtype.name in dtypes and bool(np.isinf(seen.y).any())


def _overflow(seen: Seen) -> bool:
    return bool(np.isinf(seen.y).any())


# The traps: the first that fits is told

_FLOAT16 = (
    "float16 ends at 65504. Compute this in float32 (tf.cast(x, tf.float32)) or in tf.bfloat16, "
    "which has the range of float32; gradients stay in range with "
    "tf.keras.mixed_precision.LossScaleOptimizer."
)

_DOUBLE_WHERE = (
    "the gradient that comes in is 0 there, and 0 * Inf is NaN: tf.where (or a mask) drops a "
    "value, and is differentiated all the same. Give the op a safe value before: "
    "safe = tf.where(ok, x, 1.0); y = tf.where(ok, f(safe), 0.0)."
)

_TRAPS = [
    # Derivatives
    Trap(
        "sqrt",
        "the standard deviation has no slope where all values are equal. "
        "tf.sqrt(tf.math.reduce_variance(x, axis) + 1e-12) has one.",
        _made_by("reduce_variance"),
        gradient=True,
    ),
    Trap(
        "sqrt",
        "a norm has no slope at 0. tf.sqrt(tf.reduce_sum(tf.square(x), axis) + 1e-12) has one; "
        "without the root, tf.reduce_sum(tf.square(x), axis), there is nothing to divide by; "
        "tf.math.l2_normalize(x, axis) is safe.",
        _made_by("reduce_sum"),
        gradient=True,
    ),
    Trap(
        "reduce_euclidean_norm",
        "a norm has no slope at 0. tf.sqrt(tf.reduce_sum(tf.square(x), axis) + 1e-12) has one.",
        gradient=True,
    ),
    Trap("*", _DOUBLE_WHERE, _nothing_comes_in, gradient=True),
    Trap(
        "sqrt",
        "the slope of sqrt at 0 is infinite. tf.sqrt(x + 1e-12), or tf.sqrt(tf.maximum(x, 1e-12)) "
        "if no gradient is to come from there.",
        gradient=True,
    ),
    Trap(
        "rsqrt reciprocal divide xdivy",
        "the slope of a quotient grows with the square of the divisor's inverse. Keep the divisor "
        "away from 0: x / (y + 1e-6), or x / tf.maximum(y, 1e-6).",
        gradient=True,
    ),
    Trap(
        "pow",
        "the slope of x**p at 0 is infinite for p < 1. (x + 1e-12) ** p, or "
        "tf.maximum(x, 1e-12) ** p.",
        gradient=True,
    ),
    Trap(
        "acos asin acosh atanh",
        "the slope is infinite at the end of the interval. Keep off it: "
        "tf.clip_by_value(x, -1.0 + 1e-6, 1.0 - 1e-6); or the angle by tf.atan2(y, x).",
        gradient=True,
    ),
    Trap(
        "atan2",
        "there is no angle, and no slope, at (0, 0). Give it a safe value there: "
        "tf.atan2(y, tf.where(ok, x, 1.0)).",
        gradient=True,
    ),
    Trap(
        "log xlogy",
        "the slope of log is 1 / x, which is out of range here. tf.math.log(tf.maximum(x, 1e-6)); "
        "of a probability, take the loss from the logits.",
        gradient=True,
    ),
    Trap(
        "softmax log_softmax reduce_logsumexp softmax_cross_entropy",
        "a row of -inf alone has no softmax. Mask with a large finite number, "
        "tf.where(mask, logits, -1e9), or leave rows out of which all is masked.",
        _given_infinite,
        gradient=True,
    ),
    Trap(
        "eigh eig svd qr",
        "the derivative of vectors divides by differences of values, or by the pivots, that are 0 "
        "here. Add a small distinct diagonal, or derive from the values alone "
        "(tf.linalg.eigvalsh, svd(compute_uv=False)).",
        gradient=True,
    ),
    Trap("*", _FLOAT16, _overflow_of("float16"), gradient=True),
    # Values
    Trap(
        "log",
        "a softmax that has become 0. tf.nn.log_softmax(logits) does not; as a loss, "
        "tf.nn.softmax_cross_entropy_with_logits (from_logits=True in Keras).",
        _made_by("softmax"),
    ),
    Trap(
        "log",
        "a sigmoid that has become 0. tf.math.log_sigmoid(logits) does not; as a loss, "
        "tf.nn.sigmoid_cross_entropy_with_logits (from_logits=True in Keras).",
        _made_by("sigmoid"),
    ),
    Trap(
        "log",
        "log of 0. tf.math.log(x + 1e-6), or tf.math.log(tf.maximum(x, 1e-6)); p * log(p) is "
        "tf.math.xlogy(p, p); log(1 - sigmoid(x)) is tf.math.log_sigmoid(-x); log(1 + x) is "
        "tf.math.log1p(x). Where a tf.where picks another branch: log(tf.where(x > 0, x, 1.0)).",
        _zero(0),
    ),
    Trap(
        "log",
        "log of a negative number. Is it to be tf.math.log(tf.maximum(x, 1e-6)), or "
        "tf.math.softplus before it? Where a tf.where picks another branch: "
        "log(tf.where(x > 0, x, 1.0)).",
        _negative(0),
    ),
    Trap(
        "log1p",
        "log1p needs x > -1: tf.math.log1p(tf.maximum(x, -1.0 + 1e-6)).",
    ),
    Trap(
        "sqrt rsqrt",
        "the root of a negative number: a difference that rounding has taken below 0? "
        "tf.sqrt(tf.maximum(x, 0.0)).",
        _negative(0),
    ),
    Trap("rsqrt", "tf.math.rsqrt(x + 1e-6), or tf.math.rsqrt(tf.maximum(x, 1e-6)).", _zero(0)),
    Trap(
        "divide truediv floordiv floormod truncatediv truncatemod",
        "a division by 0. tf.math.divide_no_nan(x, y) is 0 there; or x / (y + 1e-6), "
        "x / tf.maximum(y, 1.0) for counts.",
        _zero(1),
    ),
    Trap(
        "xdivy",
        "a division by 0. tf.math.divide_no_nan(x, y) is 0 there.",
        _zero(1),
    ),
    Trap("reciprocal", "a division by 0. tf.math.reciprocal_no_nan(x) is 0 there.", _zero(0)),
    Trap(
        "reduce_mean reduce_variance moments",
        "the mean of nothing is 0 / 0. tf.math.divide_no_nan(tf.reduce_sum(x), tf.cast(tf.size(x), "
        "x.dtype)) is 0; is a mask or a batch empty?",
        _is_empty,
    ),
    Trap(
        "reduce_max reduce_min",
        "the largest of no elements is -inf, the smallest inf. Is a mask or a batch empty? Add a "
        "bound of your own: tf.concat([x, [0.0]], 0).",
        _is_empty,
    ),
    Trap(
        "softmax log_softmax reduce_logsumexp softmax_cross_entropy sparse_softmax_cross_entropy",
        "a row of -inf alone has no softmax (and a logit of inf has none). Mask with a large "
        "finite number, tf.where(mask, logits, -1e9), or leave rows out of which all is masked.",
        _given_infinite,
    ),
    Trap("*", _FLOAT16, _overflow_of("float16")),
    Trap(
        "exp expm1 cosh sinh",
        "exp overflows from 88.7 on in float32 and bfloat16 (709 in float64). Take off the largest "
        "first, as tf.nn.softmax and tf.reduce_logsumexp do; log(1 + exp(x)) is "
        "tf.math.softplus(x), 1 / (1 + exp(-x)) tf.sigmoid(x); or tf.exp(tf.minimum(x, 80.0)).",
        _overflow,
    ),
    Trap(
        "pow",
        "a negative number to a power that is not whole. tf.abs(x) ** p, or "
        "tf.maximum(x, 0.0) ** p.",
        _both(_negative(0), lambda seen: bool(np.isnan(seen.places[0].value))),
    ),
    Trap("pow", "0 to a negative power. (x + 1e-6) ** p.", _zero(0)),
    Trap(
        "acos asin",
        "the argument lies outside of [-1, 1], often by rounding: "
        "tf.clip_by_value(x, -1.0 + 1e-6, 1.0 - 1e-6); or the angle by tf.atan2(y, x).",
    ),
    Trap("acosh", "acosh needs x >= 1: tf.maximum(x, 1.0 + 1e-6)."),
    Trap(
        "atanh erfinv ndtri",
        "the argument lies at the end of its interval or outside. Keep off it: "
        "tf.clip_by_value(x, -1.0 + 1e-6, 1.0 - 1e-6) (from 0 to 1 for ndtri).",
    ),
    Trap("lgamma digamma polygamma zeta", "a pole: it needs x > 0, tf.maximum(x, 1e-6)."),
    Trap(
        "xlogy xlog1py",
        "the second argument is at or below 0: tf.maximum(y, 1e-6).",
    ),
    Trap(
        "subtract add add_n reduce_sum cumsum",
        "Inf minus Inf is NaN. It was given Inf: use a large finite number in its place, such as "
        "x.dtype.max / 4.",
        _given_infinite,
    ),
    Trap(
        "multiply matmul matmul_nt matmul_tn matmul_tt einsum dot square",
        "0 * Inf is NaN. A mask is better put on with tf.where(mask, x, 0.0) than multiplied; or "
        "tf.math.multiply_no_nan(x, mask).",
        _given_infinite,
    ),
    Trap(
        "slogdet cholesky inv solve sqrtm logm",
        "the matrix is singular, or not positive definite: add a small diagonal, "
        "a + 1e-6 * tf.eye(n).",
    ),
    Trap(
        "*",
        "the result is out of the range of its dtype (float32 and bfloat16 end at 3.4e38). Smaller "
        "steps, clipped gradients (tf.clip_by_global_norm), or tf.float64.",
        _overflow,
    ),
]
