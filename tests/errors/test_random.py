"""The messages of random draws and of the losses that sample, by their text."""

import pytest

pytestmark = pytest.mark.gradtape_only

CALLS = {
    "random.normal: `dtype` must be floating, and is int32.": (
        lambda tf: tf.random.normal([2], dtype=tf.int32)
    ),
    "random.uniform: an integer dtype needs `maxval`.": (
        lambda tf: tf.random.uniform([2], dtype=tf.int32)
    ),
    "random.uniform: need minval < maxval, both in the range of int32, and have 3 and 3.": (
        lambda tf: tf.random.uniform([2], 3, 3, tf.int32)
    ),
    "random.uniform: need minval < maxval, both in the range of int8, and have 0 and 300.": (
        lambda tf: tf.random.uniform([2], 0, 300, tf.int8)
    ),
    "random.uniform: with an integer dtype `maxval` must be one integer, not array(2.5, "
    "dtype=float32).": lambda tf: tf.random.uniform([2], 0, 2.5, tf.int32),
    "random.uniform: `dtype` must be an integer or floating dtype, not bool.": (
        lambda tf: tf.random.uniform([2], dtype=tf.bool)
    ),
    "random.gamma: `alpha` must be >= 0. Received: array([-1.]).": (
        lambda tf: tf.random.gamma([1], -1.0)
    ),
    "random.gamma: shapes do not broadcast together: alpha.shape=(2,), beta.shape=(3,). Sizes must "
    "be equal or 1, counted from the last axis; reshape or expand_dims one argument.": (
        lambda tf: tf.random.gamma([1], [1.0, 1.0], [1.0, 1.0, 1.0])
    ),
    "random.poisson: `lam` must be >= 0. Received: array(-1.).": (
        lambda tf: tf.random.poisson([2], -1.0)
    ),
    "random.categorical: `logits` must be a matrix [batch, classes] and `num_samples` >= 0. "
    "Received: logits.shape=(2,), num_samples=3.": (
        lambda tf: tf.random.categorical([0.0, 1.0], 3)
    ),
    "random.categorical: each row of `logits` needs a class, its largest logit finite. NaN, or "
    "-Inf alone, are no distribution.": lambda tf: tf.random.categorical([[float("nan"), 1.0]], 3),
    "random.categorical: `logits` must be floating, and are int32.": (
        lambda tf: tf.random.categorical([[0, 1]], 3)
    ),
    "set_seed: `seed` must be an integer, not 'a'.": lambda tf: tf.random.set_seed("a"),
    "random.normal: `seed` must be an integer, not 'a'.": lambda tf: tf.random.normal(
        [2], seed="a"
    ),
    "stateless_normal: `seed` must be a pair of integers, such as [1, 2]. Received: array(1, "
    "dtype=int32).": lambda tf: tf.random.stateless_normal([2], 1),
    'stateless_normal: `alg` must be "philox", "threefry", "auto_select" or a tf.random.Algorithm, '
    "not 'mt19937'.": lambda tf: tf.random.stateless_normal([2], [1, 2], alg="mt19937"),
    "stateless_uniform: an integer dtype needs `maxval`, or minval=None for its whole range.": (
        lambda tf: tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32)
    ),
    "stateless_gamma: `alpha` of shape (2,) cannot be broadcast to shape=(3,).": (
        lambda tf: tf.random.stateless_gamma([3], [1, 2], [1.0, 2.0])
    ),
    "stateless_binomial: `probs` must be in [0, 1]. Received: array(2.).": (
        lambda tf: tf.random.stateless_binomial([3], [1, 2], 5.0, 2.0)
    ),
    "stateless_parameterized_truncated_normal: need minvals < maxvals everywhere.": (
        lambda tf: tf.random.stateless_parameterized_truncated_normal(
            [3], [1, 2], minvals=1.0, maxvals=0.0
        )
    ),
    "fold_in: `data` must be one integer, not array([1, 2], dtype=int32).": (
        lambda tf: tf.random.fold_in([1, 2], [1, 2])
    ),
    "index_shuffle: `seed` must have shape [2] or [n, 2], and has [3].": (
        lambda tf: tf.random.experimental.index_shuffle(1, [1, 2, 3], 5)
    ),
    "index_shuffle: `index` must not exceed `max_index`.": (
        lambda tf: tf.random.experimental.index_shuffle(7, [1, 2], 5)
    ),
    "Generator.reset: `state` must be a vector of 3 integers, not array([1, 2], dtype=int32).": (
        lambda tf: tf.random.Generator.from_seed(1).reset([1, 2])
    ),
    "Generator: `state` and `alg` are both needed. Generator.from_seed(seed) makes one.": (
        lambda tf: tf.random.Generator()
    ),
    "Generator.uniform: an integer dtype needs `maxval`; see uniform_full_int.": (
        lambda tf: tf.random.Generator.from_seed(1).uniform([2], dtype=tf.int32)
    ),
    "create_rng_state: `seed` fills 4 words of 64 bits; a state has 3.": (
        lambda tf: tf.random.create_rng_state([1, 2, 3, 4], "philox")
    ),
    "set_global_generator: a Generator is needed, not a int.": (
        lambda tf: tf.random.set_global_generator(5)
    ),
    "uniform_candidate_sampler: 5 different classes were asked for, and only 4 can be drawn.": (
        lambda tf: tf.random.uniform_candidate_sampler([[1]], 1, 5, True, 4)
    ),
    "log_uniform_candidate_sampler: `true_classes` must have shape [batch, num_true=2], and has "
    "(1, 1).": lambda tf: tf.random.log_uniform_candidate_sampler([[1]], 2, 2, True, 4),
    "fixed_unigram_candidate_sampler: give either `vocab_file` or `unigrams`.": (
        lambda tf: tf.random.fixed_unigram_candidate_sampler([[1]], 1, 2, True, 4)
    ),
    "nce_loss: `inputs` must have shape [batch, dim] and `labels` [batch, num_true=1]. Received: "
    "(2, 3) and (2,).": (
        lambda tf: tf.nn.nce_loss(tf.zeros([5, 3]), tf.zeros([5]), [1, 2], tf.zeros([2, 3]), 2, 5)
    ),
    "isotonic_regression: `inputs` is a scalar; it needs at least one axis.": (
        lambda tf: tf.nn.isotonic_regression(1.0)
    ),
    "ctc_loss: `logits` must have rank 3, and has shape (2, 3).": (
        lambda tf: tf.nn.ctc_loss([[1]], tf.zeros([2, 3]), [1], [2])
    ),
    "ctc_loss: `blank_index`=7 is no class of 3.": (
        lambda tf: tf.nn.ctc_loss([[1]], tf.zeros([2, 1, 3]), [1], [2], blank_index=7)
    ),
    "ctc_loss: `labels` must have shape [batch, labels], `label_length` and `logit_length` "
    "[batch]. "
    "Received: logits (4, 1, 3), labels (2, 1), (1,) and (1,).": (
        lambda tf: tf.nn.ctc_loss([[1], [2]], tf.zeros([4, 1, 3]), [1], [4])
    ),
}


@pytest.mark.parametrize("message", CALLS)
def test_message(tf, message):
    with pytest.raises((ValueError, TypeError)) as error:
        CALLS[message](tf)
    assert str(error.value) == message
