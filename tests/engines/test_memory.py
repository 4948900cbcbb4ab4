"""Memory of large results is used again, when nobody looks at it any more."""

import gc

import numpy as np
import pytest

from gradtape._src.engines.numpy import memory

SIZE = memory.SMALL // 4


@pytest.fixture(autouse=True)
def store(monkeypatch):
    monkeypatch.setattr(memory, "_store", memory._Store())
    return memory._store


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.bool_])
def test_an_array_as_numpy_makes_it(dtype):
    array = memory.empty((2, SIZE), np.dtype(dtype))
    assert array.shape == (2, SIZE) and array.dtype == dtype
    assert array.flags.c_contiguous and array.flags.writeable and array.flags.aligned
    array[...] = 1
    assert (array == 1).all()


def test_it_is_used_again(store):
    array = memory.empty((SIZE,), np.dtype(np.float32))
    before = address(array)
    del array
    gc.collect()
    again = memory.empty((2, SIZE // 2), np.dtype(np.int32))
    assert address(again) == before
    assert store.held() == 4 * SIZE


def test_not_as_long_as_somebody_looks_at_it():
    array = memory.empty((SIZE,), np.dtype(np.float32))
    views = [array[10:], memoryview(array), array.reshape(2, -1).T]
    array[...] = 3
    del array
    while views:
        gc.collect()
        other = memory.empty((SIZE,), np.dtype(np.float32))
        other[...] = 4
        assert (np.asarray(views.pop()) == 3).all()
        del other


def test_small_arrays_are_left_to_the_allocator():
    assert memory.empty((10,), np.dtype(np.float32)).flags.owndata


def test_no_more_is_held_than_said(store, monkeypatch):
    monkeypatch.setattr(memory, "MOST", 20 * SIZE)
    arrays = []
    for i in range(10):
        arrays.append(memory.empty((SIZE + i,), np.dtype(np.float32)))
        arrays[-1][...] = i
        assert store.held() <= memory.MOST
    for i, array in enumerate(arrays):
        assert (array == i).all()
    del array
    while arrays:
        arrays.pop()
        memory.empty((SIZE,), np.dtype(np.float32))
        assert store.held() <= memory.MOST


def test_what_stays_does_not_keep_others_from_being_used_again(store, monkeypatch):
    monkeypatch.setattr(memory, "MOST", 20 * SIZE)
    stays = [memory.empty((SIZE,), np.dtype(np.float32)) for _ in range(10)]
    places = set()
    for _ in range(10):
        array = memory.empty((SIZE,), np.dtype(np.float32))
        places.add(address(array))
        del array
    assert len(places) == 1 and len(stays) == 10


def test_what_is_larger_than_all_of_it(monkeypatch):
    monkeypatch.setattr(memory, "MOST", SIZE)
    assert memory.empty((SIZE,), np.dtype(np.float32)).shape == (SIZE,)
    assert memory._store.held() == 0
