"""Random draws: what a seed determines, and whether the numbers follow their distributions.

The seeds are fixed, so a test passes always or never. A p-value below 1e-3 would be a reason to
look at the distribution, and there are some fifty of them.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaincinv

N = 20_000
PAIR = [3, 5]
P = 1e-3


@pytest.fixture(autouse=True)
def global_seed(tf):
    tf.random.set_seed(7)


def follows(draws, distribution):
    x = np.asarray(draws, np.float64).reshape(-1)
    assert stats.kstest(x, distribution.cdf).pvalue > P
    mean, variance = distribution.stats("mv")
    assert abs(x.mean() - mean) < 4 * np.sqrt(variance / x.size)
    assert abs(x.var() / variance - 1) < 0.1


def counts_follow(draws, distribution):
    """For integers: how often each occurs, rare ones taken together."""
    x = np.asarray(draws).reshape(-1).astype(int)
    found = np.bincount(x)
    expected = distribution.pmf(np.arange(len(found))) * x.size
    often = expected > 20
    found = np.append(found[often], x.size - found[often].sum())
    expected = np.append(expected[often], x.size - expected[often].sum())
    keep = expected > 1e-9 * x.size
    assert found[~keep].sum() == 0
    assert stats.chisquare(found[keep], expected[keep]).pvalue > P


def generator(tf):
    return tf.random.Generator.from_seed(11)


# Distributions, each from all the ways of drawing

NORMAL = {
    "normal": lambda tf, **k: tf.random.normal([N], 1.0, 2.0, **k),
    "stateless": lambda tf, **k: tf.random.stateless_normal([N], PAIR, 1.0, 2.0, **k),
    "generator": lambda tf, **k: generator(tf).normal([N], 1.0, 2.0, **k),
}
TRUNCATED = {
    "truncated_normal": lambda tf, **k: tf.random.truncated_normal([N], 1.0, 2.0, **k),
    "stateless": lambda tf, **k: tf.random.stateless_truncated_normal([N], PAIR, 1.0, 2.0, **k),
    "generator": lambda tf, **k: generator(tf).truncated_normal([N], 1.0, 2.0, **k),
}
UNIFORM = {
    "uniform": lambda tf, **k: tf.random.uniform([N], -1.0, 3.0, **k),
    "stateless": lambda tf, **k: tf.random.stateless_uniform([N], PAIR, -1.0, 3.0, **k),
    "generator": lambda tf, **k: generator(tf).uniform([N], -1.0, 3.0, **k),
}
INTEGERS = {
    "uniform": lambda tf, **k: tf.random.uniform([N], 2, 9, **k),
    "stateless": lambda tf, **k: tf.random.stateless_uniform([N], PAIR, 2, 9, **k),
    "generator": lambda tf, **k: generator(tf).uniform([N], 2, 9, **k),
}
ways = pytest.mark.parametrize("way", ["own", "stateless", "generator"])
floats = pytest.mark.parametrize("dtype", ["float32", "float64"])


def drawn(tf, table, way, **kwargs):
    return next(iter(table.values()))(tf, **kwargs) if way == "own" else table[way](tf, **kwargs)


@ways
@floats
def test_normal(tf, way, dtype):
    x = drawn(tf, NORMAL, way, dtype=dtype)
    assert x.dtype == dtype
    follows(x, stats.norm(1, 2))


@ways
@floats
def test_truncated_normal(tf, way, dtype):
    x = drawn(tf, TRUNCATED, way, dtype=dtype)
    assert np.abs(x.numpy() - 1).max() <= 4
    follows(x, stats.truncnorm(-2, 2, 1, 2))


@ways
@floats
def test_uniform(tf, way, dtype):
    x = drawn(tf, UNIFORM, way, dtype=dtype)
    assert x.numpy().min() >= -1
    assert x.numpy().max() < 3
    follows(x, stats.uniform(-1, 4))


@ways
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_uniform_integers(tf, way, dtype):
    x = drawn(tf, INTEGERS, way, dtype=dtype)
    assert x.dtype == dtype
    counts_follow(x, stats.randint(2, 9))


@pytest.mark.gradtape_only
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_uniform_in_16_bits_stays_below_1(tf, dtype):
    x = tf.random.uniform([100_000], dtype=dtype).numpy().astype(float)
    assert x.max() < 1
    assert abs(x.mean() - 0.5) < 0.01


@pytest.mark.parametrize("dtype", ["uint32", "int64", "uint64"])
def test_integers_of_the_whole_range(tf, dtype):
    for x in (
        tf.random.stateless_uniform([N], PAIR, None, None, dtype),
        generator(tf).uniform_full_int([N], dtype),
    ):
        limits = np.iinfo(dtype)
        unit = (x.numpy().astype(float) - limits.min) / (float(limits.max) - limits.min)
        follows(unit, stats.uniform())
        for bit in (0, 5, 31):
            ones = ((x.numpy().astype(np.uint64) >> np.uint64(bit)) & np.uint64(1)).mean()
            assert abs(ones - 0.5) < 0.02


@pytest.mark.parametrize("alpha", [0.1, 0.7, 1.0, 5.0, 80.0])
def test_gamma(tf, alpha):
    for x in (
        tf.random.gamma([N], alpha, 2.0, tf.float64),
        tf.random.stateless_gamma([N], PAIR, alpha, 2.0, tf.float64),
    ):
        follows(x, stats.gamma(alpha, scale=0.5))


@pytest.mark.parametrize("rate", [0.3, 4.0, 60.0])
def test_poisson(tf, rate):
    counts_follow(tf.random.poisson([N], rate), stats.poisson(rate))
    counts_follow(tf.random.stateless_poisson([N], PAIR, rate), stats.poisson(rate))


@pytest.mark.parametrize("probability", [0.02, 0.5, 0.9])
def test_binomial(tf, probability):
    wanted = stats.binom(12, probability)
    counts_follow(tf.random.stateless_binomial([N], PAIR, 12.0, probability), wanted)
    counts_follow(generator(tf).binomial([N], 12.0, probability), wanted)


def test_categorical(tf):
    p = np.array([[0.1, 0.0, 0.6, 0.3], [0.25, 0.25, 0.25, 0.25]])
    with np.errstate(divide="ignore"):
        logits = tf.constant(np.log(p) + 3)
    for x in (tf.random.categorical(logits, N), tf.random.stateless_categorical(logits, N, PAIR)):
        assert x.shape == [2, N]
        assert x.dtype == tf.int64
        for row, chances in zip(x.numpy(), p, strict=True):
            found = np.bincount(row, minlength=4)
            assert found[chances == 0].sum() == 0
            kept = chances > 0
            assert stats.chisquare(found[kept], chances[kept] * N).pvalue > P


def test_categorical_over_many_rows(tf):
    logits = np.full((3000, 5), -50.0)
    logits[np.arange(3000), np.arange(3000) % 5] = 0
    found = tf.random.categorical(logits, 2).numpy()
    np.testing.assert_array_equal(found, np.stack([np.arange(3000) % 5] * 2, 1))


def test_parameterized_truncated_normal(tf):
    bounds = [(-1.0, 0.5), (1.0, 3.0), (4.0, 9.0), (-7.0, -5.0)]
    for low, high in bounds:
        x = tf.random.stateless_parameterized_truncated_normal(
            [N], PAIR, *(tf.constant(v, tf.float64) for v in (0.0, 1.0, low, high))
        )
        follows(x, stats.truncnorm(low, high))


def test_shuffles_are_permutations_and_all_are_likely(tf):
    orders = [tuple(tf.random.shuffle([0, 1, 2]).numpy()) for _ in range(1200)]
    assert stats.chisquare(np.unique(orders, axis=0, return_counts=True)[1]).pvalue > P
    shuffled = tf.random.experimental.stateless_shuffle(tf.range(100), PAIR).numpy()
    assert sorted(shuffled) == list(range(100))
    assert list(shuffled) != list(range(100))


@pytest.mark.parametrize("largest", [0, 1, 6, 999])
def test_index_shuffle_is_a_permutation(tf, largest):
    places = tf.range(largest + 1)
    found = tf.random.experimental.index_shuffle(places, [1, 2], largest).numpy()
    assert sorted(found) == list(range(largest + 1))
    if largest > 100:
        other = tf.random.experimental.index_shuffle(places, [1, 3], largest).numpy()
        assert (found == other).mean() < 0.05
        assert abs(np.corrcoef(found, np.arange(largest + 1))[0, 1]) < 0.15


# Seeds


def values(tf, n=3, **kwargs):
    return tf.random.normal([n], **kwargs).numpy().tolist()


def test_the_same_global_seed_gives_the_same_sequence(tf):
    first = [values(tf), values(tf), tf.random.uniform([2]).numpy().tolist()]
    tf.random.set_seed(7)
    assert [values(tf), values(tf), tf.random.uniform([2]).numpy().tolist()] == first
    assert first[0] != first[1]
    tf.random.set_seed(8)
    assert values(tf) != first[0]


def test_an_op_with_a_seed_has_a_sequence_of_its_own(tf):
    first, second = values(tf, seed=1), values(tf, seed=1)
    assert first != second
    tf.random.set_seed(7)
    values(tf)
    assert values(tf, seed=2) != first
    assert values(tf, seed=1) == first
    values(tf)
    assert values(tf, seed=1) == second


def test_an_op_with_a_seed_leaves_the_common_sequence_alone(tf):
    first = [values(tf), values(tf)]
    tf.random.set_seed(7)
    a = values(tf)
    values(tf, seed=3)
    assert [a, values(tf)] == first


def test_dropout_with_a_seed(tf):
    x = tf.ones([50])
    first, second = (tf.nn.dropout(x, 0.5, seed=1).numpy() for _ in range(2))
    assert (first != second).any()
    tf.random.set_seed(7)
    np.testing.assert_array_equal(tf.nn.dropout(x, 0.5, seed=1).numpy(), first)


@pytest.mark.gradtape_only
def test_negative_and_large_seeds(tf):
    for seed in (-1, 2**70, 0):
        tf.random.set_seed(seed)
        first = values(tf)
        tf.random.set_seed(seed)
        assert values(tf) == first


def test_stateless_draws_are_functions_of_the_seed(tf):
    def all_of(seed):
        r = tf.random
        return [
            r.stateless_normal([3], seed),
            r.stateless_uniform([3], seed),
            r.stateless_truncated_normal([3], seed),
            r.stateless_gamma([3], seed, 2.0),
            r.stateless_poisson([3], seed, 5.0),
            r.stateless_binomial([3], seed, 9.0, 0.5),
            r.stateless_categorical([[0.0, 0.0, 0.0]], 9, seed),
            r.stateless_parameterized_truncated_normal([3], seed),
            r.split(seed),
            r.fold_in(seed, 3),
            r.experimental.stateless_shuffle(tf.range(20), seed),
        ]

    again = [x.numpy().tolist() for x in all_of([1, 2])]
    tf.random.set_seed(100)
    assert [x.numpy().tolist() for x in all_of(tf.constant([1, 2]))] == again
    for seed in ([2, 1], [1, 3]):
        assert all(
            a != b.numpy().tolist() for a, b in zip(again[:4], all_of(seed)[:4], strict=True)
        )


def test_stateless_draws_of_neighbouring_seeds_are_unrelated(tf):
    rows = np.array([tf.random.stateless_normal([200], [i, 0]).numpy() for i in range(100)])
    correlations = np.corrcoef(rows)[np.triu_indices(100, 1)]
    assert abs(correlations.mean()) < 0.005
    assert np.abs(correlations).max() < 0.4
    assert stats.kstest(rows[:, 0], stats.norm.cdf).pvalue > P


def test_split_and_fold_in(tf):
    seeds = tf.random.split([1, 2], 5)
    assert seeds.shape == [5, 2]
    assert len({tuple(row) for row in seeds.numpy()}) == 5
    folded = [tf.random.fold_in([1, 2], i).numpy().tolist() for i in range(4)]
    assert len({tuple(row) for row in folded}) == 4
    assert (
        tf.random.experimental.stateless_split([1, 2], 5).numpy().tolist() == seeds.numpy().tolist()
    )


# Gradients


def gradients(tf, f, *arrays):
    xs = [tf.constant(np.asarray(a, np.float64)) for a in arrays]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return y.numpy(), [g.numpy() for g in tape.gradient(y, xs)]


def test_gradients_by_mean_stddev_and_bounds(tf):
    for draw in (
        lambda a, b: tf.random.normal([4, 2], a, b, tf.float64),
        lambda a, b: tf.random.stateless_normal([4, 2], PAIR, a, b, tf.float64),
        lambda a, b: generator(tf).truncated_normal([4, 2], a, b, tf.float64),
    ):
        y, (by_mean, by_stddev) = gradients(tf, draw, [1.0, -1.0], 2.0)
        np.testing.assert_allclose(by_mean, [4, 4])
        np.testing.assert_allclose(by_stddev, ((y - [1.0, -1.0]) / 2).sum())
    y, (by_low, by_high) = gradients(
        tf, lambda a, b: tf.random.uniform([9], a, b, tf.float64), 1.0, 3.0
    )
    np.testing.assert_allclose(by_high, ((y - 1) / 2).sum())
    np.testing.assert_allclose(by_low, 9 - by_high)


def test_gamma_moves_with_its_quantile(tf):
    alpha, beta = np.array([0.05, 0.4, 1.0, 6.0, 250.0]), 2.0

    def draw(a, b):
        return tf.random.gamma([7], a, b, tf.float64)

    y, (_, by_beta) = gradients(tf, draw, alpha, beta)
    np.testing.assert_allclose(by_beta, -(y / beta).sum())
    quantile = stats.gamma(alpha).cdf(y * beta)
    step = 1e-5 * alpha
    ends = [gammaincinv(alpha + s, quantile) / beta for s in (step, -step)]
    # Of a quantile near 1 double precision has lost what decides the slope.
    kept = quantile < 0.999
    slope = np.where(kept, (ends[0] - ends[1]) / (2 * step), 0)
    tf.random.set_seed(7)
    x = tf.constant(alpha)
    with tf.GradientTape() as tape:
        tape.watch(x)
        target = tf.reduce_sum(tf.where(kept, draw(x, beta), 0.0))
    np.testing.assert_allclose(tape.gradient(target, x), slope.sum(0), rtol=1e-6)


@pytest.mark.gradtape_only
def test_gamma_to_second_order(tf):
    x = tf.constant([0.6, 3.0], tf.float64)

    def slope(a):
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.random.stateless_gamma([5, 2], PAIR, a, dtype=tf.float64)
        return y, tape.gradient(y, a)

    with tf.GradientTape() as outer:
        outer.watch(x)
        y, first = slope(x)
    second = outer.gradient(first, x).numpy()
    quantile, step = stats.gamma(x.numpy()).cdf(y.numpy()), 1e-3
    low, here, high = (gammaincinv(x.numpy() + s, quantile) for s in (-step, 0, step))
    np.testing.assert_allclose(second, ((low - 2 * here + high) / step**2).sum(0), rtol=1e-3)


@pytest.mark.gradtape_only  # TensorFlow's gradient by the mean is 1, as if the bounds moved with it
def test_truncated_normal_moves_with_its_bounds(tf):
    arguments = [np.array([0.5, -0.5]), np.array(2.0), np.array(-1.0), np.array([1.0, 2.0])]

    def draw(*parameters):
        return tf.random.stateless_parameterized_truncated_normal([6, 2], PAIR, *parameters)

    y, found = gradients(tf, draw, *arguments)
    mean, stddev, low, high = arguments
    own = stats.truncnorm((low - mean) / stddev, (high - mean) / stddev, mean, stddev)
    quantile = own.cdf(y)
    for i, g in enumerate(found):
        expected = np.zeros(arguments[i].shape)
        for place in np.ndindex(arguments[i].shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [a.copy() for a in arguments]
                moved[i][place] += step
                m, s, lower, upper = moved
                ends.append(
                    stats.truncnorm((lower - m) / s, (upper - m) / s, m, s).ppf(quantile).sum()
                )
            expected[place] = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(g, expected, rtol=1e-5)


def test_draws_without_a_gradient(tf):
    logits = tf.constant([[1.0, 2.0]])
    rate = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([logits, rate])
        classes = tf.cast(tf.random.categorical(logits, 3), tf.float32)
        counts = tf.random.poisson([2], rate)
        rows = tf.random.shuffle(logits)
    assert tape.gradient(classes, logits) is None
    with pytest.raises(LookupError):
        tape.gradient(counts, rate)
    assert tape.gradient(rows, logits) is None


@pytest.mark.gradtape_only
def test_stateless_shuffle_has_a_gradient(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.random.experimental.stateless_shuffle(x, PAIR) * [1.0, 2.0, 3.0]
    gradient = tf.convert_to_tensor(tape.gradient(y, x)).numpy()
    assert float((gradient * x.numpy()).sum()) == float(tf.reduce_sum(y))


# Candidate samplers


@pytest.mark.parametrize("name", ["uniform", "log_uniform", "learned_unigram"])
def test_unique_candidates_and_their_expected_counts(tf, name):
    sampler = getattr(tf.random, f"{name}_candidate_sampler")
    seen = np.zeros(8)
    expected = []
    for _ in range(400):
        found = sampler([[0, 1, 2, 3, 4, 5, 6, 7]], 8, 3, True, 8)
        drawn_classes = found.sampled_candidates.numpy()
        assert len(set(drawn_classes)) == 3
        seen[drawn_classes] += 1
        expected.append(found.true_expected_count.numpy()[0])
    # What is expected is an estimate from the number of tries, too high for a class so likely as 0.
    np.testing.assert_allclose(seen[1:] / 400, np.mean(expected, 0)[1:], atol=0.09)


def test_candidates_with_repeats(tf):
    found = tf.random.log_uniform_candidate_sampler([[0]], 1, N, False, 10)
    p = np.log1p(1 / (np.arange(10) + 1.0)) / np.log(11)
    counts = np.bincount(found.sampled_candidates.numpy(), minlength=10)
    assert stats.chisquare(counts, p * N).pvalue > P
    np.testing.assert_allclose(found.true_expected_count, [[p[0] * N]], rtol=1e-6)
    fixed = tf.random.fixed_unigram_candidate_sampler(
        [[1]], 1, N, False, 3, distortion=0.5, num_reserved_ids=1, unigrams=[1.0, 4.0]
    )
    counts = np.bincount(fixed.sampled_candidates.numpy(), minlength=3)
    assert counts[0] == 0
    assert stats.chisquare(counts[1:], [N / 3, 2 * N / 3]).pvalue > P


def test_all_candidates(tf):
    found = tf.random.all_candidate_sampler([[1, 0]], 2, 4, True)
    assert found.sampled_candidates.numpy().tolist() == [0, 1, 2, 3]
    assert found.true_expected_count.numpy().tolist() == [[1.0, 1.0]]


def test_sampled_losses_draw_by_themselves(tf):
    weights, biases, inputs = tf.random.normal([50, 3]), tf.zeros([50]), tf.random.normal([2, 3])
    labels = tf.constant([[1], [2]], tf.int64)
    for loss in (tf.nn.nce_loss, tf.nn.sampled_softmax_loss):
        value = loss(weights, biases, labels, inputs, 5, 50)
        assert value.shape == [2]
        assert np.isfinite(value.numpy()).all()


def test_stateless_dropout(tf):
    x = tf.ones([N])
    y = tf.nn.experimental.stateless_dropout(x, 0.25, PAIR)
    assert abs((y.numpy() == 0).mean() - 0.25) < 0.02
    np.testing.assert_allclose(y.numpy()[y.numpy() != 0], 4 / 3, rtol=1e-6)
    again = tf.nn.experimental.stateless_dropout(x, 0.25, PAIR)
    np.testing.assert_array_equal(y.numpy(), again.numpy())
    half = tf.nn.experimental.general_dropout(
        tf.ones([3]), 0.5, lambda shape, dtype: tf.constant([0.1, 0.5, 0.9], dtype)
    )
    assert half.numpy().tolist() == [0.0, 2.0, 2.0]
