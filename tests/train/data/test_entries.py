"""What gradtape promises of its datasets: rows in memory stay numbers until a batch is cut."""

import gc
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

import gradtape as tf
from gradtape.data import Dataset

pytestmark = pytest.mark.gradtape_only


def values(dataset):
    return [(int(i), row.tolist()) for i, row in dataset.as_numpy_iterator()]


def slices(n):
    return Dataset.from_tensor_slices((np.arange(n), np.arange(3.0 * n).reshape(n, 3)))


def one_by_one(dataset):
    """The same elements, through a function, so that none is known by its row."""
    return dataset.map(lambda *element: element)


STAGES = {
    "shuffle": st.tuples(st.integers(1, 30), st.integers(0, 99)),
    "take": st.tuples(st.integers(0, 40)),
    "skip": st.tuples(st.integers(0, 20)),
    "shard": st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1))),
    "repeat": st.tuples(st.integers(0, 3)),
    "cache": st.tuples(),
}
stages = st.lists(
    st.one_of([st.tuples(st.just(name), arguments) for name, arguments in STAGES.items()]),
    max_size=5,
)


def through(dataset, chosen):
    for name, arguments in chosen:
        dataset = getattr(dataset, name)(*arguments)
    return dataset


@given(n=st.integers(0, 30), chosen=stages, size=st.integers(1, 9), drop=st.booleans())
def test_rows_by_number_are_the_rows_one_by_one(n, chosen, size, drop):
    fused, streamed = through(slices(n), chosen), through(one_by_one(slices(n)), chosen)
    assert len(fused) == len(streamed)
    for _ in range(2):
        batches = list(fused.batch(size, drop))
        expected = list(streamed.batch(size, drop))
        assert len(batches) == len(expected) == len(fused.batch(size, drop))
        for batch, wanted in zip(batches, expected, strict=True):
            for ours, theirs in zip(batch, wanted, strict=True):
                np.testing.assert_array_equal(ours, theirs)
                assert ours.dtype == theirs.dtype


def calls_during(action):
    """How many Python functions `action` calls: not those of the garbage that others left."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call"

    gc.collect()
    gc.disable()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


@pytest.mark.parametrize("buffer_size", [100, 10**6])
def test_the_work_of_a_batch_does_not_grow_with_its_rows(buffer_size):
    def calls(rows):
        dataset = slices(rows).shuffle(buffer_size).repeat(2).take(rows).batch(rows // 10)
        return calls_during(lambda: list(dataset))

    calls(500)  # what is asked only once in a process, such as the subclasses of an ABC
    assert calls(50_000) == calls(5_000) < 1000


def test_rows_in_order_are_not_copied():
    first, second = (batch for _, batch in slices(10).batch(5))
    assert np.asarray(first).base.base is np.asarray(second).base.base


def test_zipped_slices_stay_rows():
    zipped = Dataset.zip({"a": slices(5), "b": Dataset.from_tensor_slices(np.arange(4))})
    plain = Dataset.zip({"a": one_by_one(slices(5)), "b": Dataset.from_tensor_slices(np.arange(4))})
    assert len(zipped) == 4
    assert type(zipped._entries) is type(slices(1)._entries) is not type(plain._entries)
    for ours, theirs in zip(zipped.shuffle(9, seed=1), plain.shuffle(9, seed=1), strict=True):
        assert int(ours["b"]) == int(theirs["b"]) == int(ours["a"][0])


def test_reordered_slices_are_not_zipped_as_if_they_were_in_order():
    zipped = Dataset.zip(slices(6).skip(2), slices(6))
    assert [(int(a[0]), int(b[0])) for a, b in zipped] == [(2, 0), (3, 1), (4, 2), (5, 3)]


def test_an_endless_shuffle_of_rows():
    dataset = slices(10).repeat().shuffle(25).batch(7).take(1000)
    counts = np.bincount(np.concatenate([i.numpy() for i, _ in dataset]))
    assert counts.sum() == 7000 and abs(counts - 700).max() <= 25


@pytest.mark.parametrize("source", [slices, lambda n: one_by_one(slices(n))])
def test_all_orders_are_equally_likely(source):
    tf.random.set_seed(0)
    dataset = source(4).shuffle(4)
    orders = [tuple(int(i) for i, _ in dataset) for _ in range(2400)]
    found, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(found) == 24 and abs(counts - 100).max() < 50


def test_a_cached_stream_is_one_block():
    dataset = one_by_one(slices(2000)).cache()
    list(dataset)
    assert [len(block) for block in dataset._blocks()] == [2000]
    assert [len(i) for i, _ in dataset.shuffle(100).batch(300)] == [300] * 6 + [200]


def test_a_shuffle_of_more_rows_than_are_exchanged_at_once():
    fused, streamed = Dataset.range(150_000), Dataset.range(150_000).map(lambda n: n)
    orders = [d.shuffle(50, seed=3).batch(150_000).get_single_element() for d in (fused, streamed)]
    np.testing.assert_array_equal(*orders)
    assert (np.sort(orders[0]) == np.arange(150_000)).all()
    assert (np.arange(150_000) > np.asarray(orders[0]) - 50).all()


def test_an_infinite_dataset_is_not_run_ahead():
    made = []
    dataset = Dataset.counter().map(lambda n: made.append(int(n)) or n).shuffle(5).batch(2)
    next(iter(dataset))
    assert len(made) <= 8


def test_element_spec_of_a_function_that_cannot_take_zeros():
    table = {2: 1.0, 3: 2.0}
    dataset = Dataset.range(2, 4).map(lambda n: table[int(n)])
    assert dataset.element_spec == tf.TensorSpec([], tf.float32)
    nothing = Dataset.range(0).map(lambda n: table[int(n)])
    with pytest.raises(KeyError):
        nothing.element_spec  # noqa: B018
    assert "KeyError" in repr(nothing)


def test_element_spec_does_not_disturb_the_orders():
    first, second = (slices(9).shuffle(9, seed=1).map(lambda i, row: i) for _ in range(2))
    assert first.element_spec.shape == ()
    assert [int(i) for i in first] == [int(i) for i in second]


def test_two_threads_iterate_over_one_dataset():
    dataset = slices(1000).shuffle(1000, seed=0).batch(10)
    orders = {}

    def walk(name):
        orders[name] = np.concatenate([i.numpy() for i, _ in dataset])

    threads = [threading.Thread(target=walk, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for order in orders.values():
        assert sorted(order) == list(range(1000))
    assert (orders["a"] != orders["b"]).any()


def test_elements_of_different_dtypes_are_not_mixed():
    dataset = Dataset.range(2).map(lambda n: 1.5 if n == 1 else 1)
    with pytest.raises(TypeError, match="different dtypes: int32 and float32"):
        list(dataset.batch(2))
