"""What works on blocks alone: take, skip, shard, repeat, cache, window."""

import pytest

from .examples import values


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
