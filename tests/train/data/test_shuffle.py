"""shuffle: any order is equally likely, and a seed makes it the same in every run."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from .examples import values


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


@given(n=st.integers(0, 40), size=st.integers(1, 50))
def test_a_shuffle_is_a_permutation(Dataset, n, size):
    order = values(Dataset.range(n).shuffle(size))
    assert sorted(order) == list(range(n))
    assert all(place > element - size for place, element in enumerate(order))
