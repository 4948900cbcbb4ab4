"""Dataset: sources, functions of elements, iterating, and what is known beforehand."""

import numpy as np
import pytest

from .examples import Pair, shapes, values

# Sources


def test_slices_of_a_list(Dataset):
    assert values(Dataset.from_tensor_slices([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]


def test_slices_of_structures(Dataset):
    dataset = Dataset.from_tensor_slices(([1, 2], {"b": ["x", "y"], "a": Pair([3, 4], [5.0, 6.0])}))
    assert values(dataset) == [
        (1, {"b": b"x", "a": Pair(3, 5.0)}),
        (2, {"b": b"y", "a": Pair(4, 6.0)}),
    ]
    assert dataset.element_spec[1]["a"].b.dtype.name == "float32"


def test_a_list_of_tuples_is_one_tensor(Dataset):
    assert values(Dataset.from_tensor_slices([(1, 2), (3, 4)])) == [[1, 2], [3, 4]]


def test_slices_of_variables_and_tensors_are_tensors(tf, Dataset):
    for x, y in Dataset.from_tensor_slices((tf.Variable([1.0]), tf.constant([2]))):
        assert isinstance(x, tf.Tensor) and x.shape == () and x.dtype == tf.float32
        assert y.dtype == tf.int32


def test_slices_keep_what_the_array_was(Dataset):
    array = np.zeros(2)
    dataset = Dataset.from_tensor_slices(array)
    array[:] = 1
    assert values(dataset.batch(2)) == [[0.0, 0.0]]


@pytest.mark.parametrize("tensors", [3, ([1], 3), ([1, 2], [1, 2, 3]), ()])
def test_slices_of_what_has_no_common_rows(Dataset, tensors):
    with pytest.raises(ValueError):
        Dataset.from_tensor_slices(tensors)


def test_from_tensors(Dataset):
    assert values(Dataset.from_tensors(([1, 2], 3))) == [([1, 2], 3)]


@pytest.mark.parametrize("args", [(3,), (1, 10, 3), (5, 1, -2), (5, 1), (0,)])
def test_range(tf, Dataset, args):
    assert values(Dataset.range(*args)) == list(range(*args))
    assert values(Dataset.range(*args, output_type=tf.float32).batch(9)) in (
        [],
        [[float(i) for i in range(*args)]],
    )
    assert len(Dataset.range(*args)) == len(range(*args))


def test_range_refuses(tf, Dataset):
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(0, 5, 0)
    with pytest.raises(ValueError):
        Dataset.range()


def test_a_long_range_takes_no_memory(Dataset):
    numbers = Dataset.range(10**14, 10**15)
    assert values(numbers.batch(2).take(1)) == [[10**14, 10**14 + 1]]


def test_counter(Dataset):
    assert values(Dataset.counter(start=5, step=-2).take(1500))[-1] == 5 - 2 * 1499


def test_zip(Dataset):
    a, b = Dataset.range(3), Dataset.from_tensor_slices(([7, 8], [1.0, 2.0]))
    wanted = [(0, (7, 1.0)), (1, (8, 2.0))]
    assert values(Dataset.zip(a, b)) == values(Dataset.zip((a, b))) == wanted
    assert values(Dataset.zip({"a": a, "b": (b,)})) == [{"a": x, "b": (y,)} for x, y in wanted]
    assert values(Dataset.zip(a)) == [0, 1, 2]
    assert len(Dataset.zip(a.repeat(), b)) == 2


@pytest.mark.parametrize("wrong", [lambda d: [d, d], lambda d: (d, [1]), lambda d: 3])
def test_zip_refuses(Dataset, wrong):
    with pytest.raises(TypeError):
        Dataset.zip(wrong(Dataset.range(2)))


def test_random_numbers(Dataset):
    first, second = Dataset.random(seed=4).take(5), Dataset.random(seed=4).take(5)
    assert values(first) == values(second) == values(first)
    assert len(set(values(first))) == 5
    changing = Dataset.random(seed=4, rerandomize_each_iteration=True).take(5)
    assert values(changing) != values(changing)


# Choosing and ordering


def test_concatenate(Dataset):
    joined = Dataset.range(2).concatenate(Dataset.range(10, 13))
    assert values(joined) == [0, 1, 10, 11, 12]
    shapes = Dataset.from_tensors([1]).concatenate(Dataset.from_tensors([1, 2]))
    assert tuple(shapes.element_spec.shape) == (None,)
    ranks = Dataset.from_tensors([1]).concatenate(Dataset.from_tensors(1))
    assert ranks.element_spec.shape.rank is None


@pytest.mark.parametrize("other", [1.0, (1,)])
def test_concatenate_refuses_other_types(Dataset, other):
    with pytest.raises(TypeError):
        Dataset.range(2).concatenate(Dataset.from_tensors(other))


def test_filter(Dataset):
    assert values(Dataset.range(6).filter(lambda n: n % 2 == 0)) == [0, 2, 4]
    pairs = Dataset.from_tensor_slices(([1, 2], [True, False]))
    assert values(pairs.filter(lambda number, keep: keep)) == [(1, True)]


@pytest.mark.parametrize("wrong", [lambda x: x, lambda x: x > np.arange(2)])
def test_a_predicate_returns_one_bool(Dataset, wrong):
    with pytest.raises(ValueError):
        values(Dataset.range(3).filter(wrong))


def test_take_while_and_unique(Dataset):
    assert values(Dataset.range(9).take_while(lambda n: n != 3)) == [0, 1, 2]
    assert values(Dataset.from_tensor_slices([3, 1, 3, 2, 1]).unique()) == [3, 1, 2]
    assert values(Dataset.from_tensor_slices(["a", "b", "a"]).unique()) == [b"a", b"b"]
    with pytest.raises(TypeError):
        Dataset.from_tensor_slices([1.0]).unique()


# Functions


def test_map_unpacks_tuples_only(Dataset):
    assert values(Dataset.from_tensor_slices(([1], [2])).map(lambda a, b: a + b)) == [3]
    assert values(Dataset.from_tensor_slices(([1],)).map(lambda a: a)) == [1]
    assert values(Dataset.from_tensor_slices({"a": [1]}).map(lambda d: d["a"])) == [1]
    assert values(Dataset.from_tensor_slices(Pair([1], [2])).map(lambda pair: pair.b)) == [2]
    with pytest.raises(TypeError):
        values(Dataset.from_tensor_slices(([1], [2])).map(lambda a: a))


def test_what_map_returns(tf, Dataset):
    dataset = Dataset.range(1)
    assert values(dataset.map(lambda n: [n, n + 1])) == [(0, 1)]
    assert values(dataset.map(lambda n: (n, [n, n + 1]))) == [(0, [0, 1])]
    assert values(dataset.map(lambda n: {"a": Pair(n, "b")})) == [{"a": Pair(0, b"b")}]
    number = next(iter(dataset.map(lambda n: 1.5, num_parallel_calls=2)))
    assert isinstance(number, tf.Tensor) and number.dtype == tf.float32


def test_spec_of_map(tf, Dataset):
    dataset = Dataset.range(5).batch(2).map(lambda x: (x, tf.reduce_sum(x), tf.stack([x, x])))
    assert shapes(dataset.element_spec) == [(None,), (), (2, None)]
    assert dataset.element_spec[1].dtype == tf.int64


def test_map_refuses_what_is_no_function(Dataset):
    with pytest.raises(ValueError):
        Dataset.range(2).map(3)


def test_reduce(tf, Dataset):
    assert int(Dataset.range(5).reduce(np.int64(0), lambda total, n: total + n)) == 10
    assert int(Dataset.range(5).reduce(0, lambda count, n: count + 1)) == 5
    pairs = Dataset.from_tensor_slices(([1, 2], [3, 4]))
    sums = pairs.reduce((0, 0), lambda s, pair: (s[0] + pair[0], s[1] + pair[1]))
    assert [int(s) for s in sums] == [3, 7]
    grown = Dataset.range(3).reduce([0], lambda s, n: tf.concat([s, [1]], 0))
    assert grown.numpy().tolist() == [0, 1, 1, 1]


def test_reduce_refuses_another_state(tf, Dataset):
    with pytest.raises(TypeError):
        Dataset.range(5).reduce(0, lambda total, n: n)
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(5).reduce(0, lambda total, n: (total, total))


def test_scan(Dataset):
    dataset = Dataset.range(5).scan(np.int64(0), lambda total, n: (total + n, total))
    assert values(dataset) == [0, 0, 1, 3, 6]
    assert len(dataset) == 5
    with pytest.raises(TypeError):
        values(Dataset.range(5).scan(np.int64(0), lambda total, n: total))


def test_enumerate(tf, Dataset):
    dataset = Dataset.from_tensor_slices([5, 6]).enumerate(start=3)
    assert values(dataset) == [(3, 5), (4, 6)]
    assert dataset.element_spec[0] == tf.TensorSpec([], tf.int64)


def test_no_gradient_flows_out_of_a_dataset(tf, Dataset):
    w = tf.Variable(2.0)
    dataset = Dataset.from_tensors(3.0).map(lambda x: x * w)
    with tf.GradientTape() as tape:
        y = next(iter(dataset))
        total = dataset.reduce(0.0, lambda s, x: s + x)
        z = y * w
    assert float(y) == float(total) == 6.0
    assert tape.gradient([total, z], w).numpy() == 6.0


def test_gradients_inside_a_function(tf, Dataset):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return tape.gradient(y, x)

    dataset = Dataset.from_tensor_slices([1.0, 2.0]).map(slope)
    assert values(dataset) == [3.0, 12.0]


# Running


def test_every_loop_begins_anew(Dataset):
    dataset = Dataset.range(3).batch(2)
    seen = [x.numpy().tolist() for epoch in range(2) for x in dataset]
    assert seen == [[0, 1], [2]] * 2


def test_iterators(tf, Dataset):
    iterator = iter(Dataset.range(2))
    assert int(next(iterator)) == 0
    assert int(iterator.get_next()) == 1
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    assert iter(iterator) is iterator
    assert iterator.element_spec == tf.TensorSpec([], tf.int64)


def test_cardinality(data, Dataset):
    unknown = Dataset.range(3).filter(lambda n: n > 5)
    endless = Dataset.range(3).repeat()
    for dataset, count in [
        (Dataset.range(5).batch(2), 3),
        (Dataset.range(5).batch(2, drop_remainder=True), 2),
        (Dataset.range(5).repeat(3).take(7).skip(2), 5),
        (Dataset.range(3).skip(5), 0),
        (Dataset.range(10).shard(3, 1), 3),
        (endless, data.INFINITE_CARDINALITY),
        (endless.take(4), 4),
        (endless.skip(4), data.INFINITE_CARDINALITY),
        (endless.batch(4), data.INFINITE_CARDINALITY),
        (endless.concatenate(unknown), data.INFINITE_CARDINALITY),
        (unknown, data.UNKNOWN_CARDINALITY),
        (unknown.repeat(2), data.UNKNOWN_CARDINALITY),
        (unknown.repeat(), data.INFINITE_CARDINALITY),
        (unknown.take(1), data.UNKNOWN_CARDINALITY),
        (unknown.concatenate(Dataset.range(3)), data.UNKNOWN_CARDINALITY),
        (Dataset.range(0).repeat(), 0),
        (Dataset.zip(unknown, Dataset.range(3)), data.UNKNOWN_CARDINALITY),
        (Dataset.range(3).map(lambda n: n).prefetch(2), 3),
    ]:
        assert int(dataset.cardinality()) == count
    with pytest.raises(TypeError, match="infinite"):
        len(endless)
    with pytest.raises(TypeError, match="unknown"):
        len(unknown)
    assert Dataset.range(0) and endless


def test_assert_cardinality(tf, data, Dataset):
    unknown = Dataset.range(3).filter(lambda n: n >= 0)
    known = unknown.apply(data.experimental.assert_cardinality(3))
    assert len(known) == 3 and values(known) == [0, 1, 2]
    for wrong in (2, 4):
        with pytest.raises(tf.errors.OpError):
            values(unknown.apply(data.experimental.assert_cardinality(wrong)))


def test_single_element(tf, Dataset):
    assert int(Dataset.from_tensors(5).get_single_element()) == 5
    for count in (0, 2):
        with pytest.raises(tf.errors.InvalidArgumentError):
            Dataset.range(count).get_single_element()


def test_apply_and_options(data, Dataset):
    assert values(Dataset.range(2).apply(lambda d: d.repeat(2))) == [0, 1, 0, 1]
    with pytest.raises(TypeError):
        Dataset.range(2).apply(lambda d: 3)
    options = data.Options()
    options.deterministic = True
    options.experimental_distribute.auto_shard_policy = data.experimental.AutoShardPolicy.OFF
    dataset = Dataset.range(2).with_options(options)
    assert values(dataset) == [0, 1] and dataset.options().deterministic is True


@pytest.mark.parametrize("size", [0, 1, 5, -1])
def test_prefetch(Dataset, size):
    dataset = Dataset.range(20).map(lambda n: n + 1).prefetch(size)
    assert values(dataset) == values(dataset) == list(range(1, 21))


def test_prefetch_refuses(tf, Dataset):
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(3).prefetch(-3)


def test_a_training_loop(tf, Dataset):
    x = np.random.default_rng(0).normal(size=(64, 2)).astype(np.float32)
    y = x @ np.float32([[2.0], [-1.0]])
    w = tf.Variable(tf.zeros([2, 1]))
    dataset = Dataset.from_tensor_slices((x, y)).shuffle(64, seed=0).batch(16).prefetch(2)
    for _ in range(50):
        for inputs, targets in dataset:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((inputs @ w - targets) ** 2)
            w.assign_sub(0.2 * tape.gradient(loss, w))
    np.testing.assert_allclose(w.numpy(), [[2.0], [-1.0]], atol=1e-4)


def numbers(dataset):
    return [element.numpy().tolist() for element in dataset]


@pytest.mark.parametrize(
    "count, key, size, expected",
    [
        (10, lambda x: x % 2, 5, [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]),
        (11, lambda x: (7 - x) % 3, 3, [[0, 3], [6], [1, 4], [7], [2, 5], [8], [10], [9]]),
        (6, lambda x: -(x % 3), 5, [[2, 5], [1, 4], [0, 3]]),
        (6, lambda x: 0, 4, [[0, 1], [2, 3], [4, 5]]),
    ],
)
def test_group_by_window(tf, count, key, size, expected):
    length = 5 if size == 5 else 2
    grouped = tf.data.Dataset.range(count).group_by_window(
        key, lambda key, window: window.batch(length), window_size=size
    )
    assert numbers(grouped) == expected
    assert numbers(grouped) == expected  # each iteration begins anew
    assert grouped.cardinality() == tf.data.UNKNOWN_CARDINALITY
    assert grouped.element_spec == tf.TensorSpec([None], tf.int64)


def test_group_by_window_with_sizes_by_key(tf):
    grouped = tf.data.Dataset.range(12).group_by_window(
        lambda x: x % 3,
        lambda key, window: window.batch(4).map(lambda batch: (key, batch)),
        window_size_func=lambda key: key + 1,
    )
    found = [(int(key), batch.numpy().tolist()) for key, batch in grouped]
    expected = [
        (0, [0]), (0, [3]), (1, [1, 4]), (0, [6]), (2, [2, 5, 8]), (0, [9]), (1, [7, 10]),
        (2, [11]),
    ]  # fmt: skip
    assert found == expected


def test_group_by_window_of_several_components_by_apply(tf):
    pairs = tf.data.Dataset.from_tensor_slices(([1, 2, 3, 4], [5.0, 6.0, 7.0, 8.0]))
    grouping = tf.data.experimental.group_by_window(
        lambda a, b: tf.cast(a % 2, tf.int64), lambda key, window: window.batch(2), window_size=2
    )
    found = [(a.numpy().tolist(), b.numpy().tolist()) for a, b in pairs.apply(grouping)]
    assert found == [([1, 3], [5.0, 7.0]), ([2, 4], [6.0, 8.0])]


def test_group_by_window_refuses(tf):
    dataset = tf.data.Dataset.range(6)

    def both(key, window):
        return window

    for sizes in ({}, {"window_size": 3, "window_size_func": lambda key: 3}):
        with pytest.raises(ValueError):
            dataset.group_by_window(lambda x: x % 2, both, **sizes)
    for key in (lambda x: tf.cast(x, tf.float32), lambda x: tf.stack([x, x])):
        with pytest.raises(ValueError):
            numbers(dataset.group_by_window(key, both, window_size=3))
    with pytest.raises(TypeError):
        numbers(dataset.group_by_window(lambda x: x, lambda key, window: key, window_size=3))
    with pytest.raises(tf.errors.InvalidArgumentError):
        numbers(dataset.group_by_window(lambda x: x, both, window_size=0))


PIPELINES = {
    "range": lambda tf: tf.data.Dataset.range(20),
    "shuffle": lambda tf: tf.data.Dataset.range(6).shuffle(6, seed=1).repeat(),
    "shuffle without a seed": lambda tf: tf.data.Dataset.range(6).shuffle(4).repeat(),
    "repeat, then shuffle": lambda tf: tf.data.Dataset.range(6).repeat().shuffle(4),
    "two shuffles": lambda tf: (
        tf.data.Dataset.range(9).shuffle(4, 1).shuffle(3, 2).batch(2).repeat()
    ),
    "prefetch": lambda tf: tf.data.Dataset.range(6).shuffle(6, 3).repeat().map(abs).prefetch(2),
    "batches": lambda tf: tf.data.Dataset.range(40).batch(2),
}


def promised(name):
    """TensorFlow brings back the order of the pass that it is in, not those of later passes."""
    is_random = "shuffle" in name or name == "prefetch"
    return pytest.param(name, marks=[pytest.mark.gradtape_only] if is_random else [])


@pytest.mark.parametrize("name", list(map(promised, PIPELINES)))
def test_the_place_of_an_iterator_in_a_checkpoint(tf, tmp_path, name):
    iterator = iter(PIPELINES[name](tf))
    checkpoint = tf.train.Checkpoint(iterator=iterator, v=tf.Variable(1.0))
    for _ in range(8):
        next(iterator)
    path = checkpoint.save(str(tmp_path / "checkpoint"))
    expected = [next(iterator).numpy().tolist() for _ in range(9)]
    checkpoint.restore(path).assert_consumed()
    assert [next(iterator).numpy().tolist() for _ in range(9)] == expected
    other = iter(PIPELINES[name](tf))
    tf.train.Checkpoint(iterator=other, v=tf.Variable(0.0)).restore(path)
    assert [next(other).numpy().tolist() for _ in range(9)] == expected


def test_an_iterator_restored_at_its_end(tf, tmp_path):
    iterator = iter(tf.data.Dataset.range(3))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    assert [int(x) for x in iterator] == [0, 1, 2]
    path = checkpoint.save(str(tmp_path / "checkpoint"))
    checkpoint.restore(path)
    with pytest.raises(StopIteration):
        next(iterator)


# None


def test_none_in_an_element_stands_for_itself(tf):
    """As Keras gives inputs that a model can do without."""
    of = tf.data.Dataset
    assert [x[1] for x in of.from_tensors((1, None))] == [None]
    rows = of.from_tensor_slices({"a": [1, 2, 3], "b": None})
    batches = list(rows.batch(2))
    assert [each["a"].numpy().tolist() for each in batches] == [[1, 2], [3]]
    assert [each["b"] for each in batches] == [None, None]
    assert rows.batch(2).element_spec["b"] == tf.NoneTensorSpec()
    assert [x["a"] for x in rows.batch(2).unbatch().as_numpy_iterator()] == [1, 2, 3]

    pairs = of.range(3).map(lambda i: (i, None))
    assert pairs.element_spec[1] == tf.NoneTensorSpec()
    seen = pairs.batch(2).map(lambda i, nothing: (i + 1, nothing is None))
    assert [(x.tolist(), bool(y)) for x, y in seen.as_numpy_iterator()] == [
        ([1, 2], True),
        ([3], True),
    ]
    with pytest.raises((TypeError, ValueError)):
        list(pairs.padded_batch(2))
    with pytest.raises((ValueError, IndexError)):
        of.from_tensor_slices((None, {"a": None}))


def test_none_in_the_elements_that_a_function_takes(tf):
    pairs = tf.data.Dataset.range(3).map(lambda i: (i, None))

    @tf.function
    def following(iterator):
        i, nothing = next(iterator)
        return i, nothing is None

    @tf.function
    def total(dataset):
        result = tf.constant(0, tf.int64)
        for i, nothing in dataset:
            result += i if nothing is None else 100
        return result

    i, is_none = following(iter(pairs))
    assert (int(i), bool(is_none)) == (0, True)
    assert int(total(pairs)) == 3


def test_an_empty_optional_in_an_element(tf):
    """As Keras yields None from a generator."""
    optional = tf.experimental.Optional.empty(None)
    signature = (tf.TensorSpec([]), tf.OptionalSpec(None))
    dataset = tf.data.Dataset.from_generator(
        lambda: iter([(1.0, optional)]), output_signature=signature
    )

    @tf.function
    def following(iterator):
        x, nothing = next(iterator)
        assert isinstance(nothing, tf.experimental.Optional)
        return x

    assert float(following(iter(dataset))) == 1.0
    assert not next(iter(dataset))[1].has_value()
