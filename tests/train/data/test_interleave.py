"""Several datasets as one: interleave, flat_map, choose, sample."""

import pytest

from .examples import values


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


def test_cardinality_of_endless_ones(tf, Dataset):
    endless = Dataset.range(2).repeat()
    chosen = Dataset.choose_from_datasets([endless, endless], endless)
    assert chosen.cardinality() == tf.data.INFINITE_CARDINALITY
    assert chosen.batch(4).take(3).cardinality() == 3
    assert Dataset.sample_from_datasets([endless, endless]).take(5).cardinality() == 5
    one = Dataset.sample_from_datasets([Dataset.range(2), Dataset.range(3)])
    assert one.cardinality() == tf.data.UNKNOWN_CARDINALITY


def test_sampling(Dataset):
    parts = [Dataset.range(0, 100), Dataset.range(1000, 1300)]
    drawn = values(Dataset.sample_from_datasets(parts, [0.25, 0.75], seed=1))
    assert [x for x in drawn if x < 1000] == list(range(100))
    assert [x for x in drawn if x >= 1000] == list(range(1000, 1300))
    assert 25 < sum(x < 1000 for x in drawn[:200]) < 75
    assert values(Dataset.sample_from_datasets(parts, [1.0, 0.0])) == list(range(100))
    with pytest.raises(ValueError):
        Dataset.sample_from_datasets(parts, [1.0])


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
