"""Memory of large results is used again, when nobody looks at it any more."""

import gc

import numpy as np
import pytest

from gradtape._src.engines.numpy import memory

SIZE = memory.SMALL // 4


@pytest.fixture(autouse=True)
def nothing_spare(monkeypatch):
    monkeypatch.setattr(memory, "_spare", {})
    monkeypatch.setattr(memory._Lent.__del__, "__defaults__", (memory._take_back,))


def held():
    return sum(size * len(pieces) for size, pieces in memory._spare.items())


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.bool_])
def test_an_array_as_numpy_makes_it(dtype):
    array = memory.empty((2, SIZE), np.dtype(dtype))
    assert array.shape == (2, SIZE) and array.dtype == dtype
    assert array.flags.c_contiguous and array.flags.writeable and array.flags.aligned
    array[...] = 1
    assert (array == 1).all()


def test_it_is_used_again():
    array = memory.empty((SIZE,), np.dtype(np.float32))
    before = address(array)
    del array
    gc.collect()
    assert held() == 4 * SIZE
    again = memory.empty((2, SIZE // 2), np.dtype(np.int32))
    assert address(again) == before and held() == 0


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


def test_no_more_is_held_than_said(monkeypatch):
    monkeypatch.setattr(memory, "MOST", 20 * SIZE)
    arrays = [memory.empty((SIZE + i,), np.dtype(np.float32)) for i in range(10)]
    while arrays:
        arrays.pop()
        gc.collect()
        assert held() <= memory.MOST
    assert held() > 0
