"""Programs in which Inf or NaN begins: what people run into, in a few lines each.

Beside a program stand the op that must be named, that whose gradient it is (None if it is a value),
and words of the suggestion. `# <-` marks the line that must be named: of a gradient, that of the op
forward.
"""

import numpy as np

import gradtape as tf

PROGRAMS = {}


def faulty(op, of, advice):
    def add(program):
        PROGRAMS[program.__name__] = (program, op, of, advice)
        return program

    return add


def gradient(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


ZERO = np.array([0.0, 1.0], np.float32)


# Values


@faulty("log", None, "tf.math.log(x + 1e-6)")
def log_of_zero(x):
    return tf.math.log(x)  # <-


@faulty("log", None, "log of a negative number")
def log_of_a_negative_number(x):
    return tf.math.log(x - 1.0)  # <-


@faulty("log", None, "tf.nn.log_softmax(logits)")
def log_of_softmax(x):
    p = tf.nn.softmax(x * 1000.0)
    return -tf.math.log(p)  # <-


@faulty("log", None, "tf.math.log_sigmoid(logits)")
def log_of_sigmoid(x):
    p = tf.sigmoid(-200.0 * x)
    return tf.math.log(p)  # <-


@faulty("multiply", None, "0 * Inf")
def zero_times_infinity(x):
    return x * tf.constant(np.inf)  # <-


@faulty("subtract", None, "Inf minus Inf")
def infinity_minus_infinity(x):
    best = tf.constant(np.inf) + x
    return best - tf.constant(np.inf)  # <-


@faulty("divide", None, "tf.math.divide_no_nan(x, y)")
def division_by_zero(x):
    return 1.0 / x  # <-


@faulty("divide", None, "tf.math.divide_no_nan(x, y)")
def zero_by_zero(x):
    return x / tf.reduce_sum(x * 0.0)  # <-


@faulty("divide", None, "tf.math.divide_no_nan(x, y)")
def a_mean_over_an_empty_mask(x):
    mask = tf.cast(x > 5.0, x.dtype)
    return tf.reduce_sum(x * mask) / tf.reduce_sum(mask)  # <-


@faulty("reciprocal", None, "tf.math.reciprocal_no_nan(x)")
def a_reciprocal(x):
    return tf.math.reciprocal(x)  # <-


@faulty("rsqrt", None, "tf.math.rsqrt(x + 1e-6)")
def a_root_in_the_divisor(x):
    return tf.math.rsqrt(x)  # <-


@faulty("sqrt", None, "tf.sqrt(tf.maximum(x, 0.0))")
def a_root_of_a_negative_variance(x):
    return tf.sqrt(tf.reduce_mean(x) - 0.5 - 1e-6)  # <-


@faulty("exp", None, "tf.reduce_logsumexp")
def exp_of_a_large_number(x):
    return tf.exp(x * 100.0)  # <-


@faulty("pow", None, "a power that is not whole")
def a_power_of_a_negative_number(x):
    return (x - 1.0) ** 0.5  # <-


@faulty("pow", None, "0 to a negative power")
def a_negative_power_of_zero(x):
    return x**-2.0  # <-


@faulty("acos", None, "tf.clip_by_value(x, -1.0 + 1e-6")
def acos_outside(x):
    return tf.acos(x * 1.0001)  # <-


@faulty("asin", None, "outside of [-1, 1]")
def asin_outside(x):
    return tf.asin(x + 0.5)  # <-


@faulty("atanh", None, "the end of its interval")
def atanh_at_the_end(x):
    return tf.atanh(x)  # <-


@faulty("softmax", None, "-1e9")
def softmax_of_what_is_all_masked(x):
    masked = tf.where(x > 5.0, x, -np.inf)
    return tf.nn.softmax(masked)  # <-


@faulty("log_softmax", None, "-1e9")
def log_softmax_of_what_is_all_masked(x):
    masked = tf.where(x > 5.0, x, -np.inf)
    return tf.nn.log_softmax(masked)  # <-


@faulty("cast", None, "float16 ends at 65504")
def a_cast_to_half_precision(x):
    return tf.cast(x * 1e6, tf.float16)  # <-


@faulty("square", None, "float16 ends at 65504")
def half_precision(x):
    h = tf.cast(x * 300.0, tf.float16)
    return tf.square(h)  # <-


@faulty("multiply", None, "tf.clip_by_global_norm")
def bfloat16(x):
    h = tf.cast(x * 1e30, tf.bfloat16)
    return h * h  # <-


@faulty("reduce_mean", None, "the mean of nothing")
def a_mean_of_nothing(x):
    return tf.reduce_mean(x[:0])  # <-


@faulty("reduce_max", None, "the largest of no elements")
def the_largest_of_nothing(x):
    return tf.reduce_max(x[:0])  # <-


@faulty("lgamma", None, "a pole")
def a_pole(x):
    return tf.math.lgamma(x)  # <-


@faulty("log", None, "log of 0")
def a_branch_that_where_drops(x):
    return tf.where(x > 0.0, tf.math.log(x), -np.inf)  # <-


# Gradients


@faulty("reciprocal", "sqrt", "tf.sqrt(x + 1e-12)")
def the_slope_of_a_root(x):
    def f(x):
        return tf.sqrt(x)  # <-

    return gradient(f, x)


@faulty("reciprocal", "sqrt", "a norm has no slope at 0")
def the_slope_of_a_norm(x):
    def f(x):
        return tf.norm(x * 0.0)  # <-

    return gradient(f, x)


@faulty("reciprocal", "sqrt", "tf.math.reduce_variance(x, axis) + 1e-12")
def the_slope_of_a_deviation(x):
    def f(x):
        return tf.math.reduce_std(x * 0.0)  # <-

    return gradient(f, x)


@faulty("divide", "reduce_euclidean_norm", "a norm has no slope at 0")
def the_slope_of_a_euclidean_norm(x):
    def f(x):
        return tf.math.reduce_euclidean_norm(x * 0.0)  # <-

    return gradient(f, x)


@faulty("reciprocal", "sqrt", "tf.where(ok, x, 1.0)")
def the_slope_of_what_where_drops(x):
    def f(x):
        root = tf.sqrt(x)  # <-
        return tf.where(x > 0.0, root, 0.0)

    return gradient(f, x)


@faulty("pow", "pow", "(x + 1e-12) ** p")
def the_slope_of_a_power(x):
    def f(x):
        return x**0.5  # <-

    return gradient(f, x)


@faulty("rsqrt", "acos", "the slope is infinite at the end")
def the_slope_of_acos(x):
    def f(x):
        return tf.acos(x)  # <-

    return gradient(f, x)


@faulty("divide", "atan2", "there is no angle")
def the_slope_of_an_angle(x):
    def f(x):
        return tf.atan2(x * 0.0, x)  # <-

    return gradient(f, x)


@faulty("divide", "divide", "Keep the divisor")
def a_slope_that_overflows(x):
    def f(x):
        return 1.0 / x  # <-

    return gradient(lambda x: f((x + 1.0) * 1e-25), x)


@faulty("reciprocal", "sqrt", "tf.sqrt(x + 1e-12)")
def inside_of_a_second_order(x):
    def f(x):
        return tf.sqrt(x)  # <-

    return gradient(lambda x: gradient(f, x), x)
