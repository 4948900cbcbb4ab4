"""Files of other programs, read without objects and into them."""

import ml_dtypes
import numpy as np
import safetensors.numpy

import gradtape as tf
from gradtape import train
from gradtape._src.train.checkpoint import safetensors as _safetensors


def test_a_file_of_another_program(path):
    safetensors.numpy.save_file(
        {"layer.weight": np.ones((2, 3), np.float32)}, path + ".safetensors"
    )
    v = tf.Variable(tf.zeros([2, 3]))
    train.Checkpoint(**{"layer.weight": v}).read(path).assert_consumed()
    assert float(tf.reduce_sum(v)) == 6.0
    train.Checkpoint(**{"layer.weight": v}).read(path + ".safetensors").assert_consumed()


def test_float8_of_another_program(path):
    array = np.array([0.5, 448.0], ml_dtypes.float8_e4m3fn)
    with open(path + ".safetensors", "wb") as file:
        _safetensors.write(file, {"x": array}, {})
    reader = train.load_checkpoint(path)
    assert reader.get_tensor("x").tolist() == [0.5, 448.0]
    assert reader.get_variable_to_dtype_map() == {"x": tf.experimental.float8_e4m3fn}
    assert reader.debug_string() == b"x (float8_e4m3fn) [2]"
