"""TensorArray: what is written is read, stacked, joined, and has a gradient."""

import numpy as np
import pytest

import gradtape as tf


def array(size=3, **options):
    return tf.TensorArray(tf.float32, size, **options)


def test_written_and_stacked():
    a = array().write(0, 1.0).write(2, 3.0)
    assert a.stack().numpy().tolist() == [1, 0, 3]
    assert int(a.size()) == 3 and a.dtype == tf.float32
    assert repr(a) == "<TensorArray: size=3, dtype=float32, element_shape=()>"


def test_a_read_place_is_empty_unless_told_otherwise():
    a = array().write(0, 1.0)
    assert float(a.read(0)) == 1
    with pytest.raises(ValueError, match="element 0 was read before"):
        a.read(0)
    b = array(clear_after_read=False).write(0, 1.0)
    assert float(b.read(0)) == float(b.read(0)) == 1


def test_it_grows_only_if_it_may():
    a = array(0, dynamic_size=True).write(2, 5.0)
    assert a.stack().numpy().tolist() == [0, 0, 5] and a.dynamic_size
    for i in (3, -1):
        with pytest.raises(IndexError, match=f"there is no place {i} in an array of size 3"):
            array().write(i, 1.0)


def test_elements_have_one_shape_unless_told_otherwise():
    a = array().write(0, [1.0, 2.0])
    assert a.element_shape == (2,)
    with pytest.raises(ValueError, match=r"shape \(3,\) does not fit .* shape \(2,\)"):
        a.write(1, [1.0, 2.0, 3.0])
    b = array(2, infer_shape=False).write(0, [1.0]).write(1, [2.0, 3.0])
    assert b.concat().numpy().tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="elements of different shapes cannot be stacked"):
        b.stack()


def test_rows_in_and_out():
    a = array().unstack([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert a.gather([2, 0]).numpy().tolist() == [[5, 6], [1, 2]]
    assert a.gather([]).shape == (0, 2)
    a = array().scatter([2, 0], [[1.0], [2.0]])
    assert a.stack().numpy().tolist() == [[2], [0], [1]]
    a = array(2, infer_shape=False)
    assert a.split([1.0, 2.0, 3.0], [1, 2]).read(1).numpy().tolist() == [2, 3]


def test_nothing_stacked():
    assert array(0).stack().shape == (0,)
    assert array(0, element_shape=[2]).stack().shape == (0, 2)


def test_dtypes_must_agree():
    with pytest.raises(TypeError, match="the array holds float32, and `value` is float64"):
        array().write(0, np.ones(2))
    assert array().write(0, 1).stack().dtype == tf.float32


def test_gradients_pass_through():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        a = array()
        for i in range(3):
            a = a.write(i, x[i] ** 2)
        y = tf.reduce_sum(a.stack() * [1.0, 10.0, 100.0])
    assert tape.gradient(y, x).numpy().tolist() == [2, 40, 600]


def test_in_a_compiled_loop_it_is_one_tensor():
    @tf.function
    def squares(n):
        a = tf.TensorArray(tf.int32, 4)
        for i in tf.range(n):
            a = a.write(i, i * i)
        return a.stack()

    assert squares(tf.constant(3)).numpy().tolist() == [0, 1, 4, 0]


def test_close_and_identity():
    a = array()
    assert a.identity() is a
    a.close()
    assert int(a.size()) == 0
    with pytest.raises(NotImplementedError, match=r"TensorArray\.grad belongs to graphs"):
        a.grad("source")
