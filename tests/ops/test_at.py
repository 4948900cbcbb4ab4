"""`x.at[key]`: each update against NumPy's own, gradients to second order, all kinds of keys."""

import numpy as np
import pytest

from gradtape._src.ops.array.at import At
from gradtape._src.testing import check_gradients

pytestmark = pytest.mark.gradtape_only

X = np.random.default_rng(0).normal(size=(3, 4))
KEYS = {
    "integer": 1,
    "element": (2, -1),
    "slice": slice(None, None, 2),
    "backwards": (slice(None, None, -1), slice(1, 3)),
    "new axis": (None, 1),
    "ellipsis": (Ellipsis, 0),
    "nothing": slice(1, 1),
    "everything": (),
    "list": np.array([0, 2]),
    "repeats": np.array([0, 0, 2, 0]),
    "pairs": ([0, 1, 0], [2, 2, 2]),
    "mask": X > 0,
    "row mask": np.array([True, False, True]),
    "mixed": (slice(None), [0, 0, 3]),
}
UPDATES = {
    "set": None,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "mul": np.multiply,
    "divide": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}


@pytest.mark.parametrize("method", UPDATES)
@pytest.mark.parametrize("key", KEYS)
def test_updates(tf, key, method):
    key = KEYS[key]
    values = np.random.default_rng(1).uniform(0.5, 2, size=np.shape(X[key]))
    expected = X.copy()
    if method == "set":
        expected[key] = values
    else:
        UPDATES[method].at(expected, key, values)

    def update(x, v):
        return getattr(At(x)[key], method)(v)

    x = tf.constant(X)
    np.testing.assert_allclose(update(x, tf.constant(values)), expected)
    np.testing.assert_array_equal(x, X)
    check_gradients(update, [X, values], order=2)


def test_get(tf):
    np.testing.assert_array_equal(At(tf.constant(X))[[0, 2], 1].get(), X[[0, 2], 1])


def test_where_an_index_repeats_the_last_value_has_the_gradient(tf):
    x, v = tf.zeros([3]), tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch([x, v])
        y = At(x)[np.array([0, 0, 2])].set(v)
    assert y.numpy().tolist() == [2, 0, 3]
    by_x, by_v = tape.gradient(y, [x, v])
    assert by_x.numpy().tolist() == [0, 1, 0]
    assert by_v.numpy().tolist() == [0, 1, 1]


def test_values_are_broadcast_and_take_the_dtype(tf):
    x = tf.constant([[1, 2], [3, 4]])
    assert At(x)[0].set(9).numpy().tolist() == [[9, 9], [3, 4]]
    assert At(x)[:, [1, 1]].add([1, 2]).numpy().tolist() == [[1, 5], [3, 7]]
    half = At(tf.ones([2], tf.float16))[0].mul(2.5)
    assert half.dtype == tf.float16
    v = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = At(tf.zeros([2, 3]))[0].set(v)
    assert float(tape.gradient(y, v)) == 3


def test_ties_share_the_gradient(tf):
    x, v = tf.constant([1.0, 2.0]), tf.constant([1.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch([x, v])
        y = At(x)[:].max(v)
    by_x, by_v = tape.gradient(y, [x, v])
    assert by_x.numpy().tolist() == [0.5, 1]
    assert by_v.numpy().tolist() == [0.5, 0]


def test_tensors_as_indices_and_compiled(tf):
    jax = pytest.importorskip("jax")
    from gradtape._src.core.tensor import Tensor

    def update(x, i, v):
        return At(Tensor(x))[Tensor(i)].set(Tensor(v))._array

    arguments = np.zeros(4, np.float32), np.array([1, 3, 1]), np.array([5.0, 6.0, 7.0], np.float32)
    assert np.asarray(update(*arguments)).tolist() == [0, 7, 0, 6]
    assert np.asarray(jax.jit(update)(*arguments)).tolist() == [0, 7, 0, 6]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (slice(1, None), [1.0, 2.0, 3.0],
         "at[...].set: `values` of shape (3,) cannot be broadcast to the shape of x[...], (2,) "
         "(x.shape=(3,))."),
        (np.array([0, 1]), [1.0, 2.0, 3.0],
         "at[...].set: `values` of shape (3,) cannot be broadcast to the shape of x[...], (2,) "
         "(x.shape=(3,))."),
    ],
)  # fmt: skip
def test_values_that_do_not_fit(tf, key, value, message):
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        At(tf.zeros([3]))[key].set(value)
    assert str(error.value) == message


def test_an_index_out_of_range(tf):
    for key in (5, np.array([0, 5])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="5"):
            At(tf.zeros([3]))[key].add(1.0)
