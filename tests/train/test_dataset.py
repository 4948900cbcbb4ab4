"""Datasets: the semantics of tf.data, on gradtape and, unchanged, on TensorFlow."""

import collections
import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

Pair = collections.namedtuple("Pair", "a b")


@pytest.fixture(scope="module")
def data(tf):
    if tf.__name__ == "gradtape":
        return importlib.import_module("gradtape.data")
    return tf.data


@pytest.fixture(scope="module")
def Dataset(data):
    return data.Dataset


def plain(value):
    """An element in Python's own types."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        parts = [plain(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.tolist() if hasattr(value, "tolist") else value


def values(dataset):
    return [plain(element) for element in dataset.as_numpy_iterator()]


def shapes(spec):
    return [None if s.shape.rank is None else tuple(s.shape) for s in spec]


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


def test_generator_with_signature(tf, Dataset):
    def generate(n):
        for i in range(n):
            yield i, {"row": [float(i)] * i}

    signature = (
        tf.TensorSpec([], tf.int64),
        {"row": tf.TensorSpec([None], tf.float32)},
    )
    dataset = Dataset.from_generator(generate, output_signature=signature, args=(3,))
    wanted = [(0, {"row": []}), (1, {"row": [1.0]}), (2, {"row": [2.0, 2.0]})]
    assert values(dataset) == wanted == values(dataset)
    assert dataset.element_spec == signature
    with pytest.raises(TypeError, match="unknown"):
        len(dataset)


def test_generator_with_types_and_shapes(tf, Dataset):
    dataset = Dataset.from_generator(lambda: iter([(1, [2.0])]), (tf.int32, tf.float32), ([], [1]))
    assert values(dataset) == [(1, [2.0])]
    assert shapes(dataset.element_spec) == [(), (1,)]
    assert Dataset.from_generator(lambda: iter([1]), tf.int32).element_spec.shape.rank is None


def test_generator_converts_arrays(tf, Dataset):
    signature = tf.TensorSpec([], tf.float32)
    dataset = Dataset.from_generator(lambda: iter([np.float64(0.5)]), output_signature=signature)
    assert next(iter(dataset)).dtype == tf.float32


@pytest.mark.parametrize(
    "element, signature",
    [
        ([1, 2], [3]),
        ("a", []),
        ((1, 2), []),
    ],
)
def test_generator_that_breaks_its_promise(tf, Dataset, element, signature):
    spec = tf.TensorSpec(signature, tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        values(Dataset.from_generator(lambda: iter([element]), output_signature=spec))


@pytest.mark.parametrize("element", [(1, 2, 3), [1, 2], {"a": 1, "b": 2}])
def test_generator_of_another_structure(tf, Dataset, element):
    with pytest.raises(tf.errors.InvalidArgumentError):
        values(Dataset.from_generator(lambda: iter([element]), (tf.int32, tf.int32)))


def test_generator_arguments(tf, Dataset):
    for arguments in (
        {},
        {"output_types": tf.int32, "output_signature": tf.TensorSpec([], tf.int32)},
        {"output_signature": tf.int32},
    ):
        with pytest.raises(TypeError):
            Dataset.from_generator(lambda: iter([1]), **arguments)
    with pytest.raises(TypeError):
        Dataset.from_generator([1], tf.int32)


def test_random_numbers(Dataset):
    first, second = Dataset.random(seed=4).take(5), Dataset.random(seed=4).take(5)
    assert values(first) == values(second) == values(first)
    assert len(set(values(first))) == 5
    changing = Dataset.random(seed=4, rerandomize_each_iteration=True).take(5)
    assert values(changing) != values(changing)


def test_choosing(tf, Dataset):
    parts = [Dataset.from_tensors(letter).repeat(n) for letter, n in (("a", 9), ("b", 9), ("c", 2))]
    choices = Dataset.range(3).repeat(4)
    assert b"".join(values(Dataset.choose_from_datasets(parts, choices))) == b"abcabcab"
    going_on = Dataset.choose_from_datasets(parts, choices, stop_on_empty_dataset=False)
    assert b"".join(values(going_on)) == b"abcabcabab"
    with pytest.raises(tf.errors.InvalidArgumentError):
        values(Dataset.choose_from_datasets(parts[:2], choices))
    with pytest.raises(TypeError):
        Dataset.choose_from_datasets(parts, Dataset.from_tensors(1.0))


def test_sampling(Dataset):
    parts = [Dataset.range(0, 100), Dataset.range(1000, 1300)]
    drawn = values(Dataset.sample_from_datasets(parts, [0.25, 0.75], seed=1))
    assert [x for x in drawn if x < 1000] == list(range(100))
    assert [x for x in drawn if x >= 1000] == list(range(1000, 1300))
    assert 25 < sum(x < 1000 for x in drawn[:200]) < 75
    assert values(Dataset.sample_from_datasets(parts, [1.0, 0.0])) == list(range(100))
    with pytest.raises(ValueError):
        Dataset.sample_from_datasets(parts, [1.0])


# Choosing and ordering


def test_take_skip_and_shard(Dataset):
    dataset = Dataset.range(10)
    assert values(dataset.take(3)) == [0, 1, 2]
    assert values(dataset.take(-1)) == list(range(10))
    assert values(dataset.take(20)) == list(range(10))
    assert values(dataset.skip(8)) == [8, 9]
    assert values(dataset.skip(-1)) == []
    assert values(dataset.shard(3, 1)) == [1, 4, 7]


@pytest.mark.parametrize("shards, index", [(3, 3), (0, 0), (3, -1)])
def test_shard_refuses(tf, Dataset, shards, index):
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(10).shard(shards, index)


def test_repeat(Dataset):
    dataset = Dataset.range(2)
    assert values(dataset.repeat(3)) == [0, 1] * 3
    assert values(dataset.repeat(0)) == []
    assert values(dataset.repeat().take(5)) == [0, 1, 0, 1, 0]
    assert values(dataset.repeat(-1).take(3)) == [0, 1, 0]
    assert values(Dataset.range(0).repeat()) == []


def test_take_asks_for_no_more(tf, Dataset):
    asked = []

    def generate():
        for i in range(10):
            asked.append(i)
            yield i

    dataset = Dataset.from_generator(generate, output_signature=tf.TensorSpec([], tf.int32))
    assert values(dataset.batch(2).take(2)) == [[0, 1], [2, 3]]
    assert asked == [0, 1, 2, 3]


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


def test_cache_calls_the_function_once(tf, Dataset):
    calls = []

    def generate():
        calls.append(1)
        yield from range(3)

    dataset = Dataset.from_generator(generate, output_signature=tf.TensorSpec([], tf.int32)).cache()
    assert values(dataset) == values(dataset) == [0, 1, 2]
    assert len(calls) == 1


def test_an_iteration_that_was_left_is_not_cached(tf, Dataset):
    dataset = Dataset.range(5).cache()
    next(iter(dataset))
    assert values(dataset) == [0, 1, 2, 3, 4]


def test_cache_keeps_the_order_of_a_shuffle(Dataset):
    dataset = Dataset.range(20).shuffle(20).cache()
    assert values(dataset) == values(dataset)
    reshuffled = Dataset.range(20).cache().shuffle(20)
    assert values(reshuffled) != values(reshuffled)


# Shuffling


def test_each_iteration_is_shuffled_anew(Dataset):
    dataset = Dataset.range(20).shuffle(20, seed=1)
    first, second = values(dataset), values(dataset)
    assert first != second
    assert sorted(first) == sorted(second) == list(range(20))
    twice = values(Dataset.range(20).shuffle(20, seed=1).repeat(2))
    assert twice == first + second


def test_one_order_for_all_iterations(Dataset):
    dataset = Dataset.range(20).shuffle(20, reshuffle_each_iteration=False)
    assert values(dataset) == values(dataset)


def test_equal_seeds_shuffle_alike(Dataset):
    first = Dataset.range(20).shuffle(8, seed=7)
    second = Dataset.range(100, 120).shuffle(8, seed=7)
    for _ in range(2):
        assert [x + 100 for x in values(first)] == values(second)
    assert values(Dataset.range(20).shuffle(8, seed=8)) != values(
        Dataset.range(20).shuffle(8, seed=7)
    )


def test_the_global_seed(tf, Dataset):
    orders = []
    for _ in range(2):
        tf.random.set_seed(3)
        one, other = Dataset.range(20).shuffle(20), Dataset.range(20).shuffle(20)
        orders.append([values(one), values(one), values(other)])
    assert orders[0] == orders[1]
    assert len(set(map(tuple, orders[0]))) == 3
    tf.random.set_seed(4)
    assert values(Dataset.range(20).shuffle(20)) != orders[0][0]


def test_the_global_seed_counts_beside_a_seed(tf, Dataset):
    orders = []
    for seed in (3, 3, 4):
        tf.random.set_seed(seed)
        orders.append(values(Dataset.range(20).shuffle(20, seed=1)))
    assert orders[0] == orders[1] != orders[2]


def test_a_small_buffer_moves_elements_forward_by_less_than_its_size(Dataset):
    order = values(Dataset.range(1000).shuffle(10))
    assert sorted(order) == list(range(1000))
    assert min(place - element for place, element in enumerate(order)) == -9
    assert values(Dataset.range(9).shuffle(1)) == list(range(9))


@pytest.mark.parametrize("size", [1, 3, 8])
def test_distribution_of_the_first_element(Dataset, size):
    dataset = Dataset.range(8).shuffle(size).take(1).repeat(2000)
    counts = np.bincount(values(dataset), minlength=8)
    expected = np.where(np.arange(8) < size, 2000 / size, 0)
    assert (np.abs(counts - expected) <= 6 * np.sqrt(expected)).all()


@pytest.mark.parametrize("size", [0, -1])
def test_shuffle_refuses(tf, Dataset, size):
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(3).shuffle(size)


def test_a_buffer_for_all(data, Dataset):
    order = values(Dataset.range(50).shuffle(data.UNKNOWN_CARDINALITY))
    assert sorted(order) == list(range(50)) != order


# Several elements in one


def test_batch(Dataset):
    pairs = Dataset.from_tensor_slices(([1, 2, 3], {"a": [[4], [5], [6]]}))
    assert values(pairs.batch(2)) == [([1, 2], {"a": [[4], [5]]}), ([3], {"a": [[6]]})]
    assert values(pairs.batch(2, drop_remainder=True)) == [([1, 2], {"a": [[4], [5]]})]
    assert values(Dataset.range(4).batch(2).batch(2)) == [[[0, 1], [2, 3]]]


def test_batch_of_what_a_function_returned(tf, Dataset):
    dataset = Dataset.from_tensor_slices((["a", "b"], [[1, 2], [3, 4]])).map(lambda *pair: pair)
    assert values(dataset.batch(2)) == [([b"a", b"b"], [[1, 2], [3, 4]])]
    half = dataset.map(lambda s, x: tf.cast(x, tf.bfloat16)).batch(2)
    assert next(iter(half)).dtype == tf.bfloat16
    assert values(half) == [[[1.0, 2.0], [3.0, 4.0]]]


def test_spec_of_a_batch(Dataset):
    dataset = Dataset.from_tensor_slices(np.zeros((4, 3)))
    assert tuple(dataset.batch(2).element_spec.shape) == (None, 3)
    assert tuple(dataset.batch(2, drop_remainder=True).element_spec.shape) == (2, 3)


@pytest.mark.parametrize("size", [0, -1])
def test_batch_refuses_a_size(tf, Dataset, size):
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(3).batch(size)


@pytest.mark.parametrize("size, error", [(2.0, TypeError), (None, ValueError)])
def test_batch_refuses_what_is_no_integer(Dataset, size, error):
    with pytest.raises(error):
        Dataset.range(3).batch(size)


def ragged(tf, Dataset, rows, dtype="int32"):
    signature = tf.TensorSpec([None], dtype)
    return Dataset.from_generator(lambda: iter(rows), output_signature=signature)


def test_batch_refuses_different_shapes(tf, Dataset):
    with pytest.raises(tf.errors.InvalidArgumentError, match="component 0"):
        values(ragged(tf, Dataset, [[1], [1, 2]]).batch(2))


def test_padded_batch(tf, Dataset):
    dataset = ragged(tf, Dataset, [[1], [1, 2], []])
    assert values(dataset.padded_batch(2)) == [[[1, 0], [1, 2]], [[]]]
    padded = dataset.padded_batch(3, padded_shapes=[3], padding_values=-1)
    assert values(padded) == [[[1, -1, -1], [1, 2, -1], [-1, -1, -1]]]
    assert values(dataset.padded_batch(2, drop_remainder=True)) == [[[1, 0], [1, 2]]]
    strings = ragged(tf, Dataset, [["a"], ["b", "c"]], "string")
    assert values(strings.padded_batch(2)) == [[[b"a", b""], [b"b", b"c"]]]


def test_padded_batch_of_structures(tf, Dataset):
    dataset = Dataset.range(3).map(lambda n: (tf.fill([n], n), {"n": n}))
    padded = dataset.padded_batch(
        3,
        padded_shapes=([None], {"n": []}),
        padding_values=(tf.constant(-1, tf.int64), {"n": None}),
    )
    assert values(padded) == [([[-1, -1], [1, -1], [2, 2]], {"n": [0, 1, 2]})]


def test_spec_of_a_padded_batch(Dataset):
    dataset = Dataset.from_tensor_slices(np.zeros((4, 3)))
    assert tuple(dataset.padded_batch(2).element_spec.shape) == (None, 3)
    padded = dataset.padded_batch(2, padded_shapes=[-1], drop_remainder=True)
    assert tuple(padded.element_spec.shape) == (2, None)


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"padded_shapes": [1, 2]}, ValueError),
        ({"padding_values": 1.5}, TypeError),
    ],
)
def test_padded_batch_refuses(tf, Dataset, arguments, error):
    with pytest.raises(error):
        values(ragged(tf, Dataset, [[1], [1, 2]]).padded_batch(2, **arguments))


def test_padding_never_cuts(tf, Dataset):
    with pytest.raises((ValueError, tf.errors.OpError)):
        values(ragged(tf, Dataset, [[1], [1, 2]]).padded_batch(2, padded_shapes=[1]))


def test_unbatch(Dataset):
    dataset = Dataset.from_tensor_slices(([1, 2, 3], [[4.0], [5.0], [6.0]])).batch(2)
    assert values(dataset.unbatch()) == [(1, [4.0]), (2, [5.0]), (3, [6.0])]
    assert shapes(dataset.unbatch().element_spec) == [(), (1,)]
    assert values(dataset.rebatch(3)) == [([1, 2, 3], [[4.0], [5.0], [6.0]])]


@pytest.mark.parametrize("element", [3, ([1, 2], [1, 2, 3])])
def test_unbatch_refuses(Dataset, element):
    with pytest.raises(ValueError):
        values(Dataset.from_tensors(element).unbatch())


@pytest.mark.parametrize(
    "n, arguments",
    [
        (7, (3,)),
        (7, (3, 1)),
        (7, (3, 1, 1, True)),
        (7, (3, 1, 2, True)),
        (7, (3, 1, 2)),
        (12, (3, None, 2)),
        (12, (2, 5)),
        (2, (3, 1, 1, True)),
    ],
)
def test_window(Dataset, n, arguments):
    size, shift, stride, drop = (*arguments, *(None, None, 1, False)[len(arguments) :])
    starts = range(0, n, shift or size)
    wanted = [list(range(n))[i : i + (size - 1) * stride + 1 : stride] for i in starts]
    wanted = [w for w in wanted if len(w) == size or not drop]
    for source in (Dataset.range(n), Dataset.range(n).map(lambda i: i)):
        windows = source.window(size, shift, stride, drop)
        assert [values(window) for window in windows] == wanted
        assert len(windows) == len(wanted)


def test_windows_of_pairs(Dataset):
    pairs = Dataset.from_tensor_slices(([1, 2, 3], [4, 5, 6]))
    series = pairs.window(2, shift=1, drop_remainder=True).flat_map(
        lambda a, b: Dataset.zip((a.batch(2), b.batch(2)))
    )
    assert values(series) == [([1, 2], [4, 5]), ([2, 3], [5, 6])]
    assert "DatasetSpec" in repr(pairs.window(2).element_spec)


def test_window_refuses(tf, Dataset):
    for arguments in ((0,), (2, 0), (2, 1, 0)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            Dataset.range(7).window(*arguments)


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


def test_flat_map(Dataset):
    assert values(Dataset.range(4).flat_map(lambda n: Dataset.range(n))) == [0, 0, 1, 0, 1, 2]


@pytest.mark.parametrize(
    "cycle, block, wanted",
    [
        (2, 4, "111122221122333344443344555555"),
        (3, 1, "123123123123123123454545454545"),
    ],
)
def test_interleave(Dataset, cycle, block, wanted):
    dataset = Dataset.range(1, 6).interleave(
        lambda n: Dataset.from_tensors(n).repeat(6), cycle_length=cycle, block_length=block
    )
    assert "".join(map(str, values(dataset))) == wanted


def test_interleave_of_different_lengths(Dataset):
    dataset = Dataset.range(1, 6).interleave(
        lambda n: Dataset.from_tensors(n).repeat(n), cycle_length=3, block_length=2
    )
    assert values(dataset) == [1, 2, 2, 3, 3, 4, 4, 3, 4, 4, 5, 5, 5, 5, 5]


def test_interleave_refuses(tf, Dataset):
    for lengths in ({"cycle_length": 0}, {"cycle_length": 1, "block_length": 0}):
        with pytest.raises(tf.errors.InvalidArgumentError):
            Dataset.range(3).interleave(lambda n: Dataset.range(n), **lengths)


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


# Properties

rows = st.integers(0, 40)
sizes = st.integers(1, 12)


@given(n=rows, size=sizes, drop=st.booleans())
def test_unbatch_undoes_batch(Dataset, n, size, drop):
    dataset = Dataset.from_tensor_slices((np.arange(n), np.ones((n, 2)))).batch(size, drop)
    kept = n - n % size if drop else n
    assert [i for i, _ in values(dataset.unbatch())] == list(range(kept))


@given(n=rows, size=st.integers(1, 50))
def test_a_shuffle_is_a_permutation(Dataset, n, size):
    order = values(Dataset.range(n).shuffle(size))
    assert sorted(order) == list(range(n))
    assert all(place > element - size for place, element in enumerate(order))
