"""docs/semantics.md, section V: what the gradient is at kinks, ties, zeros and infinities.

V9, V33 and V34 are tested with segments, pooling and decompositions.
"""

import numpy as np
import pytest

from .helpers import grad, on_gradtape, same

inf, nan = np.inf, np.nan


def check(tf, f, x, *expected):
    """Compare the gradients of f at the float64 tensor x (a tuple for several arguments)."""
    xs = x if isinstance(x, tuple) else (x,)
    grads = grad(tf, f, *[tf.constant(x, tf.float64) for x in xs])
    for g, e in zip(grads if len(xs) > 1 else [grads], expected, strict=True):
        same(g, e, tol=1e-10)


def test_V1_abs(tf):
    check(tf, tf.abs, [-2.0, 0.0, 3.0], [-1, 0, 1])


def test_V2_relu(tf):
    check(tf, tf.nn.relu, [-1.0, 0.0, 1.0], [0, 0, 1])


def test_V2_relu6(tf):
    check(tf, tf.nn.relu6, [-1.0, 0.0, 3.0, 6.0, 7.0], [0, 0, 1, 0, 0])


def test_V2_leaky_relu(tf):
    check(tf, lambda x: tf.nn.leaky_relu(x, alpha=0.25), [-1.0, 0.0, 1.0], [0.25, 0.25, 1])


def test_V2_elu_and_selu(tf):
    check(tf, tf.nn.elu, [0.0, 1.0], [1, 1])
    scale = 1.0507009873554804934  # Klambauer et al. 2017
    check(tf, tf.nn.selu, [0.0, 1.0], [scale, scale])


def test_V3_sqrt(tf):
    check(tf, tf.sqrt, [0.0, -1.0, 4.0], [inf, nan, 0.25])


def test_V3_rsqrt(tf):
    check(tf, tf.math.rsqrt, [0.0, 4.0], [-inf, -0.0625])


def test_V4_log(tf):
    check(tf, tf.math.log, [0.0, -1.0, 2.0], [inf, -1, 0.5])


def test_V4_log1p(tf):
    check(tf, tf.math.log1p, [-1.0, 1.0], [inf, 0.5])


def test_V5_reciprocal(tf):
    check(tf, lambda x: 1.0 / x, [0.0, 2.0], [-inf, -0.25])
    check(tf, tf.math.reciprocal, [0.0, 2.0], [-inf, -0.25])


def test_V5_division_by_zero(tf):
    check(tf, tf.divide, (1.0, 0.0), inf, -inf)


def test_V5_zero_by_zero(tf):
    check(tf, tf.divide, (0.0, 0.0), inf, nan)


def test_V6_ends_of_the_domain(tf):
    check(tf, tf.asin, [-1.0, 1.0], [inf, inf])
    check(tf, tf.acos, 1.0, -inf)
    check(tf, tf.atanh, 1.0, inf)
    check(tf, tf.acosh, 1.0, inf)


def test_V7_reduce_max_divides_ties(tf):
    check(tf, tf.reduce_max, [1.0, 3.0, 3.0], [0, 0.5, 0.5])


def test_V7_reduce_min_divides_ties(tf):
    check(tf, tf.reduce_min, [1.0, 1.0, 1.0, 2.0], [1 / 3, 1 / 3, 1 / 3, 0])


def test_V7_ties_are_shared_within_each_group(tf):
    check(tf, lambda x: tf.reduce_max(x, axis=1), [[2.0, 2.0], [1.0, 5.0]], [[0.5, 0.5], [0, 1]])


def test_V7_nan_gives_nan(tf):
    check(tf, tf.reduce_max, [1.0, nan, 2.0], [nan, nan, nan])


def test_V8_equal_arguments_the_first_takes_all(tf):
    check(tf, tf.maximum, (2.0, 2.0), 1, 0)
    check(tf, tf.minimum, (2.0, 2.0), 1, 0)


def test_V8_the_same_tensor_on_both_sides(tf):
    check(tf, lambda x: tf.maximum(x, x), 2.0, 1)


def test_V9_segments_share_ties(tf):
    x, ids = [3.0, 3.0, 1.0, 2.0], [0, 0, 0, 1]
    check(tf, lambda x: tf.math.segment_max(x, ids), x, [0.5, 0.5, 0, 1])
    check(tf, lambda x: tf.math.unsorted_segment_max(x, ids, 2), x, [0.5, 0.5, 0, 1])


def test_V9_max_pooling_gives_all_to_the_first(tf):
    def pooled(x):
        return tf.nn.max_pool2d(tf.reshape(x, [1, 2, 2, 1]), 2, 2, "VALID")

    check(tf, pooled, [[1.0, 2.0], [2.0, 2.0]], [[0, 1], [0, 0]])


def test_V10_clip_by_value(tf):
    check(
        tf, lambda x: tf.clip_by_value(x, -1.0, 1.0), [-2.0, -1.0, 0.5, 1.0, 2.0], [0, 1, 1, 1, 0]
    )


def test_V11_norms_at_zero(tf):
    check(tf, tf.norm, [0.0, 0.0], [nan, nan])
    check(tf, tf.math.reduce_euclidean_norm, [0.0, 0.0], [nan, nan])
    check(tf, lambda x: tf.norm(x, ord=1), [0.0, 2.0], [0, 1])


def test_V11_std_of_equal_values(tf):
    check(tf, tf.math.reduce_std, [2.0, 2.0], [nan, nan])


def test_V11_norm_inf_shares_ties(tf):
    check(tf, lambda x: tf.norm(x, ord=np.inf), [2.0, -2.0, 1.0], [0.5, -0.5, 0])


def test_V12_l2_normalize_at_zero(tf):
    check(tf, lambda x: tf.math.l2_normalize(x, epsilon=1e-12), [0.0, 0.0], [1e6, 1e6])


def test_V12_clip_by_norm_at_zero(tf):
    check(tf, lambda x: tf.clip_by_norm(x, 1.0), [0.0, 0.0], [1, 1])


@pytest.mark.parametrize("y, expected", [(0.0, nan), (1.0, 1), (2.0, 0), (0.5, inf), (-1.0, -inf)])
def test_V13_power_of_zero_by_its_base(tf, y, expected):
    check(tf, lambda x: tf.pow(x, tf.constant(y, tf.float64)), 0.0, expected)


@pytest.mark.parametrize(
    "x, y, expected",
    [
        (0.0, 0.0, 0),
        (0.0, 2.0, 0),
        (-2.0, 3.0, 0),
        (-2.0, 2.0, 0),
        (2.0, 3.0, 8 * np.log(2)),
    ],
)
def test_V14_power_by_its_exponent(tf, x, y, expected):
    check(tf, lambda y: tf.pow(tf.constant(x, tf.float64), y), y, expected)


def test_V15_divide_no_nan(tf):
    check(tf, tf.math.divide_no_nan, ([1.0, 1.0], [0.0, 2.0]), [0, 0.5], [0, -0.25])


def test_V16_multiply_no_nan(tf):
    check(tf, tf.math.multiply_no_nan, ([5.0, 5.0], [0.0, 2.0]), [0, 2], [5, 5])


def test_V17_xlogy_and_xdivy_at_zero(tf):
    check(tf, tf.math.xlogy, ([0.0, 0.0], [0.0, 3.0]), [0, 0], [0, 0])
    check(tf, tf.math.xdivy, ([0.0, 0.0], [0.0, 3.0]), [0, 0], [0, 0])


def test_V18_atan2_of_zeros(tf):
    check(tf, tf.atan2, (0.0, 0.0), nan, nan)


def test_V19_reduce_prod_with_zeros(tf):
    check(tf, tf.reduce_prod, [2.0, 0.0, 3.0], [0, 6, 0])
    check(tf, tf.reduce_prod, [2.0, 0.0, 0.0], [0, 0, 0])


def test_V20_cumprod_with_a_zero(tf):
    expected = [1, 8, 0] if on_gradtape(tf) else [1, 0, 0]
    check(tf, tf.math.cumprod, [2.0, 0.0, 3.0], expected)


def test_V21_reduce_logsumexp(tf):
    check(tf, tf.reduce_logsumexp, [-inf, 0.0, 0.0], [0, 0.5, 0.5])
    check(tf, tf.reduce_logsumexp, [1000.0, 1000.0], [0.5, 0.5])
    check(tf, tf.reduce_logsumexp, [-inf, -inf], [nan, nan])


@pytest.mark.parametrize(
    "name, expected",
    {
        "softplus": [0, 1],
        "sigmoid": [0, 0],
        "tanh": [0, 0],
        "log_sigmoid": [1, 0],
        "sigmoid_cross_entropy": [-1, 0],
    }.items(),
)
def test_V22_finite_at_100(tf, name, expected):
    f = {
        "softplus": tf.math.softplus,
        "sigmoid": tf.sigmoid,
        "tanh": tf.tanh,
        "log_sigmoid": tf.math.log_sigmoid,
        "sigmoid_cross_entropy": lambda x: tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.ones_like(x), logits=x
        ),
    }[name]
    check(tf, f, [-100.0, 100.0], expected)


def test_V22_softmax_of_infinite_logits(tf):
    logits = tf.constant([[inf, 1.0], [-inf, 1.0], [-inf, -inf], [inf, inf], [inf, -inf]])
    same(tf.nn.softmax(logits), [[nan, 0], [0, 1], [nan, nan], [nan, nan], [nan, 0]])
    same(tf.nn.log_softmax(logits)[:3], [[nan, nan], [-inf, 0], [nan, nan]])


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_V22_softmax_of_infinite_logits_in_other_dtypes(tf, dtype):
    share = 0 if on_gradtape(tf) else nan
    logits = tf.constant([[inf, 1.0], [nan, 1.0]], dtype)
    same(tf.nn.softmax(logits), [[nan, share], [nan, nan]])


def test_V22_softmax_cross_entropy_at_100(tf):
    labels = tf.constant([[1.0, 0.0]], tf.float64)
    check(
        tf,
        lambda x: tf.nn.softmax_cross_entropy_with_logits(labels, x),
        [[-100.0, 100.0]],
        [[-1, 1]],
    )
    check(
        tf,
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0], x),
        [[-100.0, 100.0]],
        [[-1, 1]],
    )


MASKED = {
    "log": (lambda tf, x: tf.math.log(x), 0.0),
    "1/x": (lambda tf, x: 1.0 / x, 0.0),
    "x**0.5": (lambda tf, x: x**0.5, 0.0),
    "asin": (lambda tf, x: tf.asin(x), 1.0),
    "exp": (lambda tf, x: tf.exp(x), 1e4),
}


@pytest.mark.parametrize("name", MASKED)
def test_V23_where_does_not_protect(tf, name):
    f, bad = MASKED[name]
    check(tf, lambda x: tf.where(x == bad, 0.0, f(tf, x)), [bad], [nan])


@pytest.mark.parametrize("name", MASKED)
def test_V23_an_inner_where_does(tf, name):
    f, bad = MASKED[name]

    def safe(x):
        inner = tf.where(x == bad, 0.5, x)
        return tf.where(x == bad, 0.0, f(tf, inner))

    check(tf, safe, [bad], [0])


@pytest.mark.parametrize("name", ["sqrt", "rsqrt", "reciprocal"])
def test_V24_zero_upstream_wins_over_an_infinite_derivative(tf, name):
    f = tf.sqrt if name == "sqrt" else getattr(tf.math, name)
    check(tf, lambda x: tf.where(x > 0.0, f(x), 0.0), [0.0], [0])


@pytest.mark.parametrize(
    "direction, expected",
    {
        "ASCENDING": [3, 1, 2],
        "DESCENDING": [1, 3, 2],
    }.items(),
)
def test_V25_sort(tf, direction, expected):
    w = tf.constant([1.0, 2.0, 3.0], tf.float64)
    check(tf, lambda x: tf.sort(x, direction=direction) * w, [7.0, -1.0, 3.0], expected)


def test_V25_top_k_prefers_the_lower_index(tf):
    check(tf, lambda x: tf.math.top_k(x, k=2).values, [1.0, 5.0, 5.0, 5.0], [0, 1, 1, 0])


def test_V26_modulo(tf):
    check(tf, lambda x, y: x % y, ([7.0, -7.0], [2.0, 3.0]), [1, 1], [-3, 3])


def test_V26_floor_division_has_none(tf):
    assert grad(tf, lambda x, y: x // y, tf.constant(7.0), tf.constant(2.0)) == [None, None]


def test_V27_mean_of_nothing(tf):
    g = grad(tf, tf.reduce_mean, tf.zeros([0, 3]))
    assert g.shape == (0, 3)


def test_V28_summed_softmax(tf):
    check(tf, tf.nn.softmax, [1.0, 2.0, 3.0], [0, 0, 0])


def test_V29_one_hot_values(tf):
    on, off = tf.constant(2.0), tf.constant(-1.0)
    assert grad(tf, lambda a, b: tf.one_hot([0, 1], 3, a, b), on, off) == [None, None]


def test_V30_linspace_and_fill(tf):
    check(tf, lambda a, b: tf.linspace(a, b, 5), (0.0, 1.0), 2.5, 2.5)
    check(tf, lambda x: tf.fill([2, 3], x), 4.0, 6)


def test_V31_labels_of_softmax_cross_entropy(tf):
    logits = np.array([[0.5, -1.0, 2.0]])
    labels = np.array([[0.2, 0.3, 0.5]])
    p = np.exp(logits) / np.exp(logits).sum()
    check(tf, tf.nn.softmax_cross_entropy_with_logits, (labels, logits), -np.log(p), p - labels)


def test_V31_labels_of_sigmoid_cross_entropy(tf):
    check(
        tf,
        lambda z: tf.nn.sigmoid_cross_entropy_with_logits(
            labels=z, logits=tf.constant([0.5, -1.0], tf.float64)
        ),
        [0.2, 0.7],
        [-0.5, 1.0],
    )


def test_V32_labels_that_do_not_sum_to_one(tf):
    logits = np.array([[0.5, -1.0, 2.0]])
    labels = np.array([[2.0, 3.0, 0.0]])
    p = np.exp(logits) / np.exp(logits).sum()
    check(
        tf,
        lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.constant(labels), x),
        logits,
        p - labels,
    )


def test_V33_the_gradient_of_cholesky_is_symmetric(tf):
    x = tf.constant([[4.0, 1.0], [1.0, 3.0]], tf.float64)
    g = grad(tf, tf.linalg.cholesky, x).numpy()
    assert g[0, 1] == g[1, 0] != 0.0


def test_V34_eigenvalues_depend_on_the_lower_triangle(tf):
    # The larger eigenvalue of [[2, 1], [1, 2]] has the vector (1, 1) / sqrt(2).
    check(tf, lambda x: tf.linalg.eigvalsh(x)[1], [[2.0, 1.0], [1.0, 2.0]], [[0.5, 0], [1, 0.5]])
