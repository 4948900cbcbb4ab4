"""prefetch: threads that end, and errors in their place."""

import gc
import threading
import time

import pytest

from gradtape.data import AUTOTUNE, Dataset

from .test_entries import one_by_one, slices

pytestmark = pytest.mark.gradtape_only


def producers():
    return [t for t in threading.enumerate() if t.name == "gradtape-prefetch"]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    gc.collect()
    for thread in producers():
        thread.join(10)
    assert not producers()


def numbers(n, ahead):
    return Dataset.range(n).map(lambda i: i).prefetch(ahead)


def test_the_thread_ends_with_the_elements():
    assert len(list(numbers(100, 3))) == 100


def test_the_thread_ends_when_the_loop_is_left():
    for i in numbers(10**9, 3):
        if i == 5:
            break


def test_the_thread_ends_when_the_iterator_is_garbage():
    iterator = iter(numbers(10**9, 3))
    next(iterator)
    assert producers()
    cycle = [iterator]
    cycle.append(cycle)
    del iterator, cycle
    gc.collect()


def test_threads_in_a_row_all_end():
    dataset = numbers(10**9, 2).map(lambda i: i + 1).prefetch(2).batch(3).prefetch(1)
    assert next(iter(dataset)).numpy().tolist() == [1, 2, 3]


def test_errors_come_in_their_place():
    def refuse(i):
        if i == 3:
            raise KeyError("three")
        return i

    dataset = Dataset.range(9).map(refuse).prefetch(5)
    seen = []
    with pytest.raises(KeyError, match="three"):
        for i in dataset:
            seen.append(int(i))
    assert seen == [0, 1, 2]


def test_as_many_are_made_ahead_as_were_asked_for():
    made = []
    enough = threading.Event()

    def note(i):
        made.append(int(i))
        if len(made) == 4:
            enough.set()
        return i

    iterator = iter(Dataset.range(100).map(note).prefetch(3))
    next(iterator)
    assert enough.wait(10)
    assert made == [0, 1, 2, 3]


def test_functions_run_in_the_thread_of_prefetch():
    dataset = Dataset.range(2).map(lambda i: threading.current_thread().name).prefetch(1)
    assert [name.numpy() for name in dataset] == [b"gradtape-prefetch"] * 2


def test_a_single_element_needs_no_thread():
    dataset = Dataset.range(1).map(lambda i: threading.current_thread().name).prefetch(1)
    assert [name.numpy() for name in dataset] == [b"MainThread"]


def test_rows_in_memory_need_no_thread():
    iterator = iter(slices(100).shuffle(100).batch(10).prefetch(AUTOTUNE))
    next(iterator)
    assert not producers()


def test_autotune_takes_a_thread_for_slow_elements_only():
    def slow(i):
        time.sleep(0.06)
        return i

    quick = iter(one_by_one(slices(1000)).batch(10).prefetch(AUTOTUNE))
    for _ in range(50):
        next(quick)
    assert not producers()
    iterator = iter(Dataset.range(6).map(slow).prefetch(AUTOTUNE))
    assert [int(next(iterator)) for _ in range(2)] == [0, 1]
    assert not producers()  # one that is slow fills a buffer, maybe, or was disturbed
    assert [int(next(iterator)) for _ in range(2)] == [2, 3]
    assert producers()
    assert [int(i) for i in iterator] == [4, 5]
