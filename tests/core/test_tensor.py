"""Tensor: an immutable array with an identity."""

import copy
import operator
import pickle
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.tensor import (
    LateTensor,
    Tensor,
    is_symbolic,
    key_of,
    new_key,
    numpy_text,
)

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def test_it_has_no_key_until_a_tape_asks():
    x = tf.constant(1.0)
    assert x._key is None
    key = key_of(x)
    assert x._key == key == key_of(x)
    assert key_of(tf.constant(1.0)) > key


def test_threads_that_ask_at_once_get_one_key():
    for _ in range(50):
        x, found = Tensor(np.float32(1)), []
        barrier = threading.Barrier(4)

        def ask(x=x, found=found, barrier=barrier):
            barrier.wait()
            found.append(key_of(x))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(found) == {x._key}


def test_keys_grow():
    assert new_key() < new_key()


def test_what_it_shows():
    assert (X.dtype, X.ndim, X.nbytes) == (tf.float32, 2, 16)
    assert X.shape == X.get_shape() == (2, 2)
    assert X.device.endswith("CPU:0") and X.name.endswith(":0")
    X.set_shape([2, None])
    with pytest.raises(ValueError, match="incompatible"):
        X.set_shape([3, 2])


def test_numpy_gives_an_array_of_ones_own():
    a = X.numpy()
    a[:] = 0
    assert X.numpy()[0, 0] == 1
    assert isinstance(tf.constant(1.0).numpy(), np.float32)


def test_asarray_is_a_view_that_cannot_be_written():
    view = np.asarray(X)
    assert not view.flags.writeable
    assert np.array(X).flags.writeable
    assert np.asarray(X, np.float64).dtype == np.float64


@pytest.mark.parametrize(
    "change", [lambda x: operator.setitem(x, 0, 1.0), lambda x: operator.setitem(x, ..., X)]
)
def test_it_cannot_be_written(change):
    with pytest.raises(TypeError, match=r"item assignment: .* immutable. Write x = x.at\[i\].set"):
        change(X)


def test_at_gives_a_new_one():
    y = X.at[0, 1].set(9.0)
    assert y.numpy().tolist() == [[1, 9], [3, 4]] and X.numpy()[0, 1] == 2


def test_it_is_unhashable_and_its_reference_is_not():
    with pytest.raises(TypeError, match=r"unhashable.* Use x.ref\(\)"):
        hash(X)
    assert X.ref() == X.ref() and X.ref() != tf.identity(X).ref()
    assert X.ref() != X and {X.ref(): 1}[X.ref()] == 1
    assert X.ref().deref() is X and "Reference wrapping" in repr(X.ref())


def test_rows_and_length():
    assert len(X) == 2 and [row.numpy().tolist() for row in X] == [[1, 2], [3, 4]]
    scalar = tf.constant(1.0)
    for use in (len, iter):
        with pytest.raises(TypeError, match="tensor of rank 0"):
            use(scalar)


def test_truth():
    assert bool(tf.constant([[1]])) and not tf.constant(0.0)
    for several in (X, tf.zeros([0])):
        with pytest.raises(ValueError, match=r"ambiguous. Use reduce_any"):
            bool(several)


def test_numbers():
    one = tf.constant([[2.5]])
    assert (float(one), int(one), complex(one)) == (2.5, 2, 2.5 + 0j)
    assert [10, 20, 30][tf.constant(1)] == 20
    with pytest.raises(TypeError, match=r"float\(\) needs a tensor of one element, and this has"):
        float(X)
    with pytest.raises(
        TypeError, match="Only integer tensors can be used as an index, not float32"
    ):
        [1][tf.constant(0.0)]


def test_texts():
    assert f"{tf.constant(1.25)}" == "1.25" and f"{tf.constant(1.25):.1f}" == "1.2"
    assert repr(tf.constant(1.0)) == "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>"
    assert str(tf.constant([1])) == "tf.Tensor([1], shape=(1,), dtype=int32)"
    assert repr(X).startswith("<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\narray([[")
    assert numpy_text(np.float32(2)) == "2.0"


def test_copies():
    assert copy.copy(X) is X
    for other in (copy.deepcopy(X), pickle.loads(pickle.dumps(X))):
        assert other is not X and other._key is None
        assert other.numpy().tolist() == X.numpy().tolist()


def test_symbolic_tensors_have_no_values():
    seen = []

    @tf.function(autograph=False)
    def f(x):
        seen.append((is_symbolic(x._array), repr(x), f"{x}"))
        for use in (np.asarray, Tensor.numpy, bool, float):
            with pytest.raises(TypeError, match=r"has none: it is symbolic.*\(Made at"):
                use(x)
        return x

    f(tf.constant(1.0))
    assert seen[0] == (True, *["<tf.Tensor: shape=(), dtype=float32, symbolic>"] * 2)
    assert not is_symbolic(X._array)


def test_reflected_operators_put_the_other_side_first():
    x = tf.constant(2.0)
    assert [float(y) for y in (1 - x, 1 / x, 3**x, 7 % x, 7 // x)] == [-1, 0.5, 9, 1, 3]
    assert float(round(tf.constant(2.6))) == 3 and float(+x) == 2 and float(abs(-x)) == 2
    assert bool(True ^ tf.constant(False)) and bool(~tf.constant(False))
    assert (np.ones([1, 2]) @ X).shape == (1, 2)


def test_a_late_tensor_is_a_plain_one_when_it_was_looked_at():
    made = []

    def make():
        made.append(np.array([1.0, 2.0], np.float32))
        return made[-1]

    x = LateTensor(make)
    assert isinstance(x, Tensor) and not made
    np.testing.assert_array_equal((x * x).numpy(), [1.0, 4.0])
    assert type(x) is Tensor and len(made) == 1 and x._array is made[0]
    y = LateTensor(make)
    with tf.GradientTape() as tape:
        tape.watch(y)
        loss = 3.0 * y
    np.testing.assert_array_equal(tape.gradient(loss, y).numpy(), [3.0, 3.0])
