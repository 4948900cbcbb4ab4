"""Random draws inside `@function`: each call draws anew, a seed determines the sequence of calls.

The tests of distributions have fixed seeds, so each passes always or never.
"""

import numpy as np
import pytest
from scipy import stats

only_gradtape = pytest.mark.gradtape_only
N = 20_000
P = 1e-3


@pytest.fixture(autouse=True)
def global_seed(tf):
    tf.random.set_seed(7)


def generator(tf):
    return tf.random.Generator.from_seed(11)


def values(results):
    return [np.asarray(x) for x in (results if isinstance(results, (list, tuple)) else [results])]


def all_differ(arrays):
    return len({a.tobytes() for a in arrays}) == len(arrays)


# What differs and what repeats

DRAWS = {
    "normal": lambda tf, g: tf.random.normal([4]),
    "truncated_normal": lambda tf, g: tf.random.truncated_normal([4]),
    "uniform": lambda tf, g: tf.random.uniform([4]),
    "integers": lambda tf, g: tf.random.uniform([8], 0, 10**6, tf.int32),
    "gamma": lambda tf, g: tf.random.gamma([4], 2.0),
    "poisson": lambda tf, g: tf.random.poisson([16], 50.0),
    "categorical": lambda tf, g: tf.random.categorical(tf.zeros([1, 1000]), 8),
    "shuffle": lambda tf, g: tf.random.shuffle(tf.range(100)),
    "dropout": lambda tf, g: tf.nn.dropout(tf.ones([64]), 0.5),
    "with a seed": lambda tf, g: tf.random.normal([4], seed=3),
    "Generator.normal": lambda tf, g: g.normal([4]),
    "Generator.uniform": lambda tf, g: g.uniform([4]),
    "Generator.make_seeds": lambda tf, g: g.make_seeds(3),
    "Generator.binomial": lambda tf, g: g.binomial([16], 1000.0, 0.5),
    "random_brightness": lambda tf, g: tf.image.random_brightness(tf.zeros([2, 2, 3]), 0.5),
    "random_hue": lambda tf, g: tf.image.random_hue(tf.constant([[[0.1, 0.5, 0.9]]]), 0.5),
    "random_crop": lambda tf, g: tf.image.random_crop(tf.range(1000), [3]),
    "random_flip": lambda tf, g: tf.image.random_flip_left_right(
        tf.reshape(tf.range(128), [32, 2, 2, 1])
    ),
    "candidates": lambda tf, g: tf.random.log_uniform_candidate_sampler(
        tf.constant([[1]], tf.int64), 1, 16, True, 10**6
    )[0],
    "initializer": lambda tf, g: tf.random_normal_initializer()([4]),
}


@pytest.mark.parametrize("name", DRAWS)
def test_each_call_draws_anew_and_a_seed_repeats_the_calls(tf, name):
    g = generator(tf)
    f = tf.function(lambda: DRAWS[name](tf, g))
    f()  # as an attribute of the function, not of its draws: it is traced
    runs = []
    for _ in range(2):
        tf.random.set_seed(5)
        g.reset_from_seed(5)
        if tf.__name__ == "tensorflow":  # it keeps the state of an op in the function
            f = tf.function(lambda: DRAWS[name](tf, g))
        runs.append([values(f())[0] for _ in range(3)])
    assert all_differ(runs[0])
    np.testing.assert_array_equal(runs[0], runs[1])


@only_gradtape
def test_a_seed_set_after_tracing_counts(tf):
    f = tf.function(lambda: tf.random.normal([4], seed=3))
    results = []
    for seed in (1, 2, 1):
        tf.random.set_seed(seed)
        results.append(f().numpy())
    assert all_differ(results[:2])
    np.testing.assert_array_equal(results[0], results[2])


@only_gradtape  # with a seed set, TensorFlow's functions all begin with the same numbers
def test_without_a_seed_two_functions_draw_differently(tf):
    f, g = (tf.function(lambda: tf.random.normal([4])) for _ in range(2))
    assert all_differ(values([f(), g(), tf.random.normal([4])]))


@only_gradtape
def test_each_draw_in_a_function_differs(tf):
    g = generator(tf)

    @tf.function
    def f():
        return [tf.random.normal([4]), tf.random.normal([4]), tf.random.normal([4], seed=1),
                tf.random.normal([4], seed=1), g.normal([4]), g.normal([4])]  # fmt: skip

    assert all_differ([*values(f()), *values(f())])


def test_the_rounds_of_loops_differ(tf):
    @tf.function
    def looped(n):
        def body(i, found):
            return i + 1, tf.tensor_scatter_nd_update(found, [[i]], [tf.random.uniform([])])

        return tf.while_loop(lambda i, _: i < n, body, (0, tf.zeros([5])))[1]

    mapped = tf.function(lambda x: tf.map_fn(lambda each: each + tf.random.uniform([]), x))
    for f, argument in ((looped, tf.constant(5)), (mapped, tf.zeros([5]))):
        drawn = np.concatenate(values([f(argument), f(argument)]))
        assert len(set(drawn.tolist())) == 10


def test_both_branches_draw(tf):
    @tf.function
    def f(x):
        return tf.cond(x > 0, lambda: tf.random.normal([3]), lambda: tf.random.uniform([3]) + 10.0)

    drawn = values([f(tf.constant(x)) for x in (1.0, 1.0, -1.0, -1.0)])
    assert all_differ(drawn)
    assert (drawn[3] >= 10).all() and (drawn[0] < 10).all()


def test_variables_made_by_the_first_call_keep_what_was_drawn(tf):
    made = []

    @tf.function
    def f():
        if not made:
            made.append(tf.Variable(tf.random.normal([3])))
        return made[0] + 0.0

    first = f().numpy()
    np.testing.assert_array_equal(f(), first)
    np.testing.assert_array_equal(made[0], first)
    assert np.unique(first).size == 3


# Distributions


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


floats = pytest.mark.parametrize("dtype", ["float32", "float64"])
halves = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])


@floats
def test_normal(tf, dtype):
    f = tf.function(lambda mean, stddev: tf.random.normal([N], mean, stddev, dtype))
    x = f(tf.constant(1.0, dtype), tf.constant(2.0, dtype))
    assert x.dtype == dtype
    follows(x, stats.norm(1, 2))


@floats
def test_truncated_normal(tf, dtype):
    x = tf.function(lambda: tf.random.truncated_normal([N], 1.0, 2.0, dtype))()
    assert x.dtype == dtype and x.numpy().min() >= -3 and x.numpy().max() <= 5
    follows(x, stats.truncnorm(-2, 2, 1, 2))


@floats
def test_uniform(tf, dtype):
    f = tf.function(lambda low, high: tf.random.uniform([N], low, high, dtype))
    x = f(tf.constant(-1.0, dtype), tf.constant(3.0, dtype))
    assert x.dtype == dtype and x.numpy().min() >= -1 and x.numpy().max() < 3
    follows(x, stats.uniform(-1, 4))


@halves
@pytest.mark.parametrize("name", ["normal", "truncated_normal", "uniform"])
def test_half_precision(tf, name, dtype):
    x = tf.function(lambda: getattr(tf.random, name)([N], dtype=dtype))()
    assert x.dtype == dtype
    wide = np.asarray(x).astype(np.float64)
    spread = {"normal": 1.0, "truncated_normal": stats.truncnorm(-2, 2).std(), "uniform": 12**-0.5}
    assert abs(wide.mean() - (0.5 if name == "uniform" else 0)) < 0.03
    assert abs(wide.std() - spread[name]) < 0.02
    if name == "uniform":
        assert wide.min() >= 0 and wide.max() < 1
    if name == "truncated_normal":
        assert abs(wide).max() <= 2


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers(tf, dtype):
    f = tf.function(lambda low, high: tf.random.uniform([N], low, high, dtype))
    for low, high in [(2, 9), (-4, 4)]:
        symbolic = f(tf.constant(low, dtype), tf.constant(high, dtype))
        fixed = tf.function(lambda low=low, high=high: tf.random.uniform([N], low, high, dtype))()
        for x in (symbolic, fixed):
            assert x.dtype == dtype
            counts_follow(x - low, stats.randint(0, high - low))


@only_gradtape
def test_integers_of_other_dtypes(tf):
    wanted = ["int8", "uint8", "int16", "uint16", "uint32", "uint64"]
    lows = [np.iinfo(dtype).max - 7 for dtype in wanted]

    @tf.function
    def f():
        return [
            tf.random.uniform([N], low, low + 7, dtype)
            for dtype, low in zip(wanted, lows, strict=True)
        ]

    for x, dtype, low in zip(f(), wanted, lows, strict=True):
        assert x.dtype == dtype and low <= x.numpy().min()
        counts_follow(x.numpy().astype(np.uint64) - np.uint64(low), stats.randint(0, 7))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_full_range(tf, dtype):
    g = generator(tf)
    x = tf.function(lambda: g.uniform_full_int([N], dtype))()
    limits = np.iinfo(dtype)
    assert x.dtype == dtype
    follows((x.numpy() - float(limits.min)) / 2.0**limits.bits, stats.uniform())


@floats
def test_gamma(tf, dtype):
    alphas = np.array([0.1, 0.7, 1.0, 4.5, 1000.0])
    f = tf.function(lambda a, b: tf.random.gamma([N], a, b, dtype=dtype))
    x = f(tf.constant(alphas, dtype), tf.constant(0.5, dtype))
    assert x.dtype == dtype and x.numpy().min() > 0
    for column, alpha in zip(x.numpy().T.astype(float), alphas, strict=True):
        assert stats.kstest(column, stats.gamma(alpha, scale=2).cdf).pvalue > P


@only_gradtape
def test_gamma_of_no_distribution_is_nan_and_ends(tf):
    x = tf.function(lambda a: tf.random.gamma([2], a))(tf.constant([np.nan, -3.0, np.inf, 2.0]))
    assert np.isnan(x.numpy()[:, :3]).all() and (x.numpy()[:, 3] > 0).all()


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_poisson(tf, dtype):
    rates = [0.25, 4.0, 60.0]
    x = tf.function(lambda lam: tf.random.poisson([N], lam, dtype))(tf.constant(rates))
    assert x.dtype == dtype
    for column, rate in zip(x.numpy().T, rates, strict=True):
        counts_follow(column, stats.poisson(rate))


def test_binomial(tf):
    g = generator(tf)
    counts, chances = [10.0, 200.0], [0.25, 0.875]
    f = tf.function(lambda n, p: g.binomial([N, 2], n, p))
    x = f(tf.constant(counts), tf.constant(chances))
    assert x.dtype == "int32"
    for column, count, chance in zip(x.numpy().T, counts, chances, strict=True):
        counts_follow(column, stats.binom(count, chance))


def test_categorical(tf):
    weights = np.array([[1.0, 0.0, 5.0, 2.0, 0.0], [0.0, 1.0, 1.0, 0.0, 0.0]])
    with np.errstate(divide="ignore"):
        logits = tf.constant(np.log(weights), tf.float32)
    x = tf.function(lambda logits: tf.random.categorical(logits, N))(logits).numpy()
    assert x.dtype == np.int64
    for row, p in zip(x, weights / weights.sum(1, keepdims=True), strict=True):
        found = np.bincount(row, minlength=5)
        assert found[p == 0].sum() == 0
        assert stats.chisquare(found[p > 0], N * p[p > 0]).pvalue > P


def test_shuffle_is_uniform_over_permutations(tf):
    f = tf.function(lambda x: tf.map_fn(tf.random.shuffle, tf.repeat(x[None], 1200, 0)))
    rows = f(tf.range(3)).numpy()
    _, found = np.unique(rows, axis=0, return_counts=True)
    assert len(found) == 6 and stats.chisquare(found).pvalue > P


def test_dropout_keeps_the_mean_and_drops_the_rate(tf):
    f = tf.function(lambda x, rate: tf.nn.dropout(x, rate))
    x = f(tf.ones([N]), tf.constant(0.25)).numpy()
    assert set(np.unique(x).round(5)) == {0, np.float32(4 / 3).round(5)}
    assert abs((x == 0).mean() - 0.25) < 0.02


def test_dropout_by_row(tf):
    x = tf.function(lambda x: tf.nn.dropout(x, 0.5, noise_shape=[100, 1]))(tf.ones([100, 3]))
    assert (x.numpy() == x.numpy()[:, :1]).all()
    assert 20 < (x.numpy()[:, 0] == 0).sum() < 80


@only_gradtape
@pytest.mark.parametrize("name", ["log_uniform", "uniform", "fixed_unigram"])
@pytest.mark.parametrize("unique", [True, False])
def test_candidates_have_the_distribution_of_eager_ones(tf, name, unique):
    options = {"unigrams": [1.0, 2.0, 3.0, 4.0, 0.5]} if name == "fixed_unigram" else {}
    sampler = getattr(tf.random, f"{name}_candidate_sampler")

    def draw(true):
        return sampler(true, 1, 3, unique, 5, **options)

    compiled = tf.function(draw)
    true = tf.constant([[0], [4]], tf.int64)
    first, expected = [], []
    for f in (draw, compiled):
        drawn = [[np.asarray(part) for part in f(true)] for _ in range(600)]
        ids = np.array([d[0] for d in drawn])
        assert all(len(set(row)) == 3 for row in ids) or not unique
        first.append(np.bincount(ids[:, -1], minlength=5))
        expected.append(np.array([d[1].ravel() for d in drawn]))
    possible = sum(first) > 0
    assert stats.chi2_contingency([f[possible] for f in first]).pvalue > P
    spread = expected[0].std(0) / np.sqrt(600)
    assert (abs(expected[0].mean(0) - expected[1].mean(0)) <= 6 * spread + 1e-6).all()


def test_sampled_softmax_loss_draws_at_each_call(tf):
    f = tf.function(
        lambda labels, x: tf.nn.sampled_softmax_loss(
            tf.random.stateless_normal([50, 3], [1, 2]), tf.zeros([50]), labels, x, 5, 50
        )
    )
    drawn = values([f(tf.constant([[3], [7]], tf.int64), tf.ones([2, 3])) for _ in range(3)])
    assert all_differ(drawn)


# Gradients through parameters


def test_gradients_of_mean_stddev_and_bounds(tf):
    @tf.function
    def f(a, b):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([a, b])
            x = tf.random.normal([5], a, b)
            u = tf.random.uniform([5], a, b)
        return x, u, *tape.gradient(x, [a, b]), *tape.gradient(u, [a, b])

    x, u, xa, xb, ua, ub = values(f(tf.constant(1.0), tf.constant(3.0)))
    np.testing.assert_allclose(xa, 5, rtol=1e-5)
    np.testing.assert_allclose(xb, ((x - 1) / 3).sum(), rtol=1e-4)
    np.testing.assert_allclose(ub, ((u - 1) / 2).sum(), rtol=1e-4)
    np.testing.assert_allclose(ua + ub, 5, rtol=1e-5)


@pytest.mark.parametrize("outside", [False, True])
def test_gamma_is_differentiable_by_its_shape(tf, outside):
    def slopes(a):
        with tf.GradientTape() as tape:
            tape.watch(a)
            x = draw(a)
        return x, tape.gradient(x, a)

    draw = lambda a: tf.random.gamma([], a, dtype=tf.float64)  # noqa: E731
    if outside:
        draw, run = tf.function(draw), slopes
    else:
        run = tf.function(slopes)
    alpha = np.array([0.8, 1.5, 6.0])
    x, slope = values(run(tf.constant(alpha, tf.float64)))
    distribution, step = stats.gamma, 1e-6
    quantile = distribution(alpha).cdf(x)
    expected = distribution(alpha + step).ppf(quantile) - distribution(alpha - step).ppf(quantile)
    np.testing.assert_allclose(slope, expected / (2 * step), rtol=1e-4)


def test_dropout_backward_uses_the_same_draw(tf):
    f = tf.function(lambda x: tf.nn.dropout(x, 0.5))
    x = tf.constant(np.arange(1.0, 33.0), tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.gradient(y, x) * x, y)


# recompute_grad runs a second time, with the same draws


def dropped(tf):
    return tf.recompute_grad(lambda x: tf.nn.dropout(x, 0.5) * x)


def dropped_in_a_loop(tf):
    def body(i, x):
        return i + 1, tf.nn.dropout(x, 0.2)

    def loop(x):
        return tf.while_loop(lambda i, _: i < 3, body, (0, x), maximum_iterations=3)[1] * x

    return tf.recompute_grad(loop)


def dropped_twice(tf):
    inner = tf.recompute_grad(lambda x: tf.nn.dropout(x, 0.3))
    return tf.recompute_grad(lambda x: inner(tf.nn.dropout(x, 0.3)) * x)


def dropped_inside_a_loop(tf):
    inner = tf.recompute_grad(lambda x: tf.nn.dropout(x, 0.2))

    def loop(x):
        body = lambda i, y: (i + 1, inner(y))  # noqa: E731
        return tf.while_loop(lambda i, _: i < 3, body, (0, x), maximum_iterations=3)[1] * x

    return loop


@only_gradtape
@pytest.mark.parametrize("make", [dropped, dropped_in_a_loop, dropped_twice, dropped_inside_a_loop])
@pytest.mark.parametrize("outside", [False, True])
def test_recompute_grad_draws_the_same_again(tf, make, outside):
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    f = make(tf)
    if outside:
        f, run = tf.function(f), both
    else:
        run = tf.function(both)
    x = tf.ones([64])
    seen = []
    for _ in range(2):
        y, slope = values(run(x))
        np.testing.assert_allclose(slope, 2 * y, rtol=1e-6)
        assert (y == 0).any() and (y > 0).any()
        seen.append(y)
    assert all_differ(seen)


# Draws from a seed given to them


def test_a_known_seed_gives_the_eager_numbers(tf):
    def f():
        return [
            tf.random.stateless_normal([3], [1, 2]),
            tf.random.stateless_uniform([3], [1, 2], 0, 100, tf.int32),
            tf.random.split([1, 2], 3),
            tf.random.fold_in([1, 2], 5),
            tf.random.experimental.stateless_shuffle(tf.range(9), [3, 4]),
        ]

    for eager, compiled in zip(values(f()), values(tf.function(f)()), strict=True):
        np.testing.assert_array_equal(eager, compiled)


STATELESS = {
    "normal": lambda tf, s: tf.random.stateless_normal([4], s),
    "truncated": lambda tf, s: tf.random.stateless_truncated_normal([4], s),
    "uniform": lambda tf, s: tf.random.stateless_uniform([4], s),
    "integers": lambda tf, s: tf.random.stateless_uniform([4], s, 0, 10**6, tf.int32),
    "gamma": lambda tf, s: tf.random.stateless_gamma([4], s, 2.0),
    "poisson": lambda tf, s: tf.random.stateless_poisson([8], s, 50.0),
    "binomial": lambda tf, s: tf.random.stateless_binomial([8], s, 1000.0, 0.5),
    "categorical": lambda tf, s: tf.random.stateless_categorical(tf.zeros([1, 999]), 8, s),
    "shuffle": lambda tf, s: tf.random.experimental.stateless_shuffle(tf.range(99), s),
    "between": lambda tf, s: tf.random.stateless_parameterized_truncated_normal([4], s),
    "split": lambda tf, s: tf.random.split(s, 3),
    "fold_in": lambda tf, s: tf.random.stateless_normal([4], tf.random.fold_in(s, s[0])),
    "dropout": lambda tf, s: tf.nn.experimental.stateless_dropout(tf.ones([64]), 0.5, s),
    "crop": lambda tf, s: tf.image.stateless_random_crop(tf.range(10**6), [3], s),
}


@pytest.mark.parametrize("name", STATELESS)
def test_a_symbolic_seed_determines_the_draws(tf, name):
    f = tf.function(lambda seed: STATELESS[name](tf, seed))
    seeds = [[1, 2], [1, 3], [2, 2], [-1, 2], [2**40 + 1, 2], [1, 2**40 + 2]]
    once, again = ([f(tf.constant(s, tf.int64)).numpy() for s in seeds] for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert all_differ(once)


def test_a_symbolic_seed_counts_by_its_value(tf):
    f = tf.function(lambda seed: tf.random.stateless_normal([4], seed))
    for seed in ([1, 2], [-3, 4]):
        drawn = [f(tf.constant(seed, dtype)).numpy() for dtype in ("int32", "int64")]
        np.testing.assert_array_equal(*drawn)


def test_a_known_seed_with_symbolic_parameters(tf):
    @tf.function
    def f(rate, chance, logits, top):
        return [
            tf.random.stateless_poisson([N], [1, 2], rate),
            tf.random.stateless_binomial([N], [1, 2], 10.0, chance),
            tf.random.stateless_categorical(logits, N, [1, 2])[0],
            tf.random.stateless_uniform([N], [1, 2], 0, top, tf.int32),
        ]

    given = [tf.constant(v) for v in (4.0, 0.3, [[np.log(0.2), np.log(0.8)]], 7)]
    poisson, binomial, classes, numbers = values(f(*given))
    counts_follow(poisson, stats.poisson(4))
    counts_follow(binomial, stats.binom(10, np.float32(0.3)))
    counts_follow(classes, stats.bernoulli(0.8))
    counts_follow(numbers, stats.randint(0, 7))


# Generators


def test_a_generator_moves_on_at_each_call(tf):
    g = generator(tf)
    f = tf.function(lambda: g.normal([2]))
    states = []
    for _ in range(3):
        f()
        states.append(g.state.numpy())
    assert all_differ(states)
    assert all_differ(values([f(), g.normal([2])]))


MOVES = {
    "normal": lambda tf, g: g.normal([2, 3]),
    "uniform twice": lambda tf, g: g.uniform([2]) + g.uniform([2]),
    "skip": lambda tf, g: g.skip(5),
    "skip back": lambda tf, g: g.skip(-5),
    "skip a tensor": lambda tf, g: g.skip(tf.constant(7, tf.int64)),
    "make_seeds": lambda tf, g: g.make_seeds(3),
    "reset": lambda tf, g: g.reset([4, 5, 6]),
    "reset_from_seed": lambda tf, g: g.reset_from_seed(9),
    "reset_from_key_counter": lambda tf, g: g.reset_from_key_counter(3, [1, 2]),
}


@pytest.mark.parametrize("seed", [11, 2**64 - 256, 2**64 - 1])
@pytest.mark.parametrize("name", MOVES)
def test_a_generator_is_left_in_the_state_that_eager_code_leaves(tf, name, seed):
    g, h = (tf.random.Generator.from_seed(seed) for _ in range(2))
    move = tf.function(lambda: (MOVES[name](tf, g), g.state, g.key)[1:])
    for _ in range(2):
        inside, key = move()
        MOVES[name](tf, h)
        np.testing.assert_array_equal(g.state, h.state)
        np.testing.assert_array_equal(inside, h.state)
        np.testing.assert_array_equal(key, h.key)


def test_a_generator_in_a_loop_and_in_a_branch(tf):
    g, h = (tf.random.Generator.from_seed(11) for _ in range(2))

    @tf.function
    def draws(n):
        found = tf.TensorArray(tf.float32, size=4, element_shape=[])
        for i in tf.range(4):
            if i < n:
                found = found.write(i, g.normal([]))
            else:
                found = found.write(i, 0.0)
        return found.stack()

    numbers = draws(tf.constant(3)).numpy()
    assert len(set(numbers[:3])) == 3
    assert numbers[3] == 0
    h.skip(3)
    np.testing.assert_array_equal(g.state, h.state)


def test_a_generator_is_split_on_the_first_call(tf):
    g, made = generator(tf), []

    @tf.function
    def draw():
        if not made:
            made.extend(g.split(2))
        return [each.normal([2]) for each in made]

    assert all_differ(values([*draw(), *draw()]))


def test_a_generator_is_made_on_the_first_call_only(tf):
    made = []

    @tf.function
    def keeps():
        if not made:
            made.append(generator(tf))
        return made[0].normal([2])

    assert all_differ(values([keeps(), keeps()]))
    with pytest.raises(ValueError):
        tf.function(lambda: generator(tf).normal([2]))()


@only_gradtape
def test_what_cannot_be_compiled_says_so(tf):
    true = tf.constant([[1]], tf.int64)
    with pytest.raises(NotImplementedError, match="learns"):
        tf.function(
            lambda t: (
                tf.random.learned_unigram_candidate_sampler(t, 1, 2, True, 5).sampled_candidates
            )
        )(true)
    with pytest.raises(TypeError, match="compute_accidental_hits"):
        tf.function(lambda t: tf.nn.compute_accidental_hits(t, [1, 2], 1).ids, jit_compile=True)(
            true
        )
