"""Programs in which no Inf or NaN begins, though some have infinities in them: no word of these."""

import numpy as np

import gradtape as tf

from .faulty import gradient

FINITE = {}


def finite(program):
    FINITE[program.__name__] = program
    return program


@finite
def a_masked_softmax(x):
    return tf.nn.softmax(tf.where(x > 0.0, x, -1e9))


@finite
def a_softmax_masked_with_infinity(x):
    return gradient(lambda x: tf.nn.softmax(tf.where(x > 0.0, x, -np.inf))[1], x)


@finite
def a_log_softmax_masked_with_infinity(x):
    return tf.nn.log_softmax(tf.where(x > 0.0, x, -np.inf))


@finite
def a_least_loss_that_begins_at_infinity(x):
    best = tf.constant(np.inf)
    for i in range(2):
        best = tf.minimum(best, x[i])
    return best


@finite
def a_variable_that_begins_at_infinity(x):
    best = tf.Variable(np.inf)
    best.assign(tf.minimum(best, tf.reduce_sum(x)))
    return best.value()


@finite
def a_tensor_filled_with_infinity(x):
    return tf.fill([2], np.inf) + x


@finite
def two_wheres(x):
    def f(x):
        safe = tf.where(x > 0.0, x, 1.0)
        return tf.where(x > 0.0, tf.sqrt(safe), 0.0)

    return gradient(f, x)


@finite
def a_guarded_division(x):
    return gradient(lambda x: tf.math.divide_no_nan(1.0, x), x)


@finite
def x_log_x(x):
    return tf.math.xlogy(x, x)


@finite
def a_norm_with_an_epsilon(x):
    return gradient(lambda x: tf.sqrt(tf.reduce_sum(tf.square(x * 0.0)) + 1e-12), x)


@finite
def a_normal_direction(x):
    return gradient(lambda x: tf.math.l2_normalize(x * 0.0), x)


@finite
def a_whole_power_of_zero(x):
    return gradient(lambda x: gradient(lambda x: x**3, x), x)


@finite
def a_loss_of_large_logits(x):
    loss = tf.nn.sigmoid_cross_entropy_with_logits
    return gradient(lambda x: loss(labels=x, logits=x * 1e4), x)


@finite
def logsumexp_of_large_numbers(x):
    return tf.reduce_logsumexp(x * 1e4)


@finite
def the_squares_overflow_and_the_numbers_do_not(x):
    return x * 1e30 + 1.0


@finite
def bounds_at_infinity(x):
    return tf.clip_by_value(x, 0.0, np.inf)


@finite
def a_test_for_nan(x):
    return tf.math.is_nan(tf.constant([np.nan, 1.0]) + x)


@finite
def nan_that_was_given(x):
    return tf.reduce_sum(tf.constant(np.nan) * x)


@finite
def no_elements(x):
    return tf.reduce_sum(x[:0] / x[:0])


@finite
def bits(x):
    return tf.bitcast(tf.constant([0x7F800000]), tf.float32)


@finite
def texts(x):
    return tf.strings.to_number(["inf"])
