"""A linear function, recorded and gone back through, is its transpose."""

import numpy as np

import gradtape as tf
from gradtape._src.core.backward import backward
from gradtape._src.core.recorder import recorders
from gradtape._src.tape.transpose import recorded

RNG = np.random.default_rng(0)


def test_the_transpose_of_a_matrix():
    a = RNG.normal(size=(3, 2))
    x = tf.zeros([2], tf.float64)
    y, records = recorded(lambda xs: tf.linalg.matvec(a, xs[0]), [x])
    v = RNG.normal(size=3)
    (found,) = backward(records, [(y._key, tf.constant(v))], [x._key])
    np.testing.assert_allclose(found, v @ a)


def test_several_inputs_of_which_one_is_not_used():
    xs = [tf.zeros([2]), tf.zeros([2])]
    y, records = recorded(lambda xs: 3.0 * xs[1], xs)
    found = backward(records, [(y._key, tf.ones([2]))], [x._key for x in xs])
    assert found[0] is None and found[1].numpy().tolist() == [3, 3]


def test_no_result():
    assert recorded(lambda xs: None, [tf.zeros([2])]) == (None, [])


def test_a_constant_result_has_a_key_and_no_records():
    y, records = recorded(lambda xs: tf.ones([2]), [tf.zeros([2])])
    assert y._key is not None and records == []


def test_rows_become_dense():
    y, _ = recorded(lambda xs: tf.IndexedSlices(xs[0], [1], [3, 2]), [tf.zeros([1, 2])])
    assert type(y) is tf.Tensor and y.shape == (3, 2)


def test_tapes_around_record_it_too_and_nothing_stays_active():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, _ = recorded(lambda gs: gs[0] * x, [tf.constant(3.0)])
    assert float(tape.gradient(y, x)) == 3
    assert list(recorders()) == []
