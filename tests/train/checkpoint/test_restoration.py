"""A restoration happens whole or not at all."""

import gc
import io

import pytest

import gradtape as tf
from gradtape import train
from gradtape._src.core.errors import DTypeError, ShapeError
from gradtape.errors import DataLossError

from .examples import model, state


@pytest.mark.parametrize(
    "objects, error, message",
    [
        ({"c": [tf.Variable(1.0)]}, DTypeError, "'c/0' is float32 here and int32 in the file"),
        ({"c": [tf.Variable(1), tf.Variable(2)]}, DTypeError, "'c/1' is int32 here and string"),
        ({"b": tf.Variable([1.0])}, ShapeError, r"'b' has shape \(1,\) here and \(3,\) in"),
    ],
)
def test_what_does_not_fit_changes_nothing(path, objects, error, message):
    train.Checkpoint(**model(1)).write(path)
    mine = model(2)
    before = state(mine)
    with pytest.raises(error, match=message):
        train.Checkpoint(**(mine | {"z": objects} | objects)).read(path)
    assert state(mine) == before


def test_a_generator_of_another_kind(path):
    train.Checkpoint(g=tf.random.Generator.from_seed(1, alg="threefry")).write(path)
    with pytest.raises(ShapeError, match="'g'"):
        train.Checkpoint(g=tf.random.Generator.from_seed(1)).read(path)


def test_damage_anywhere_changes_nothing(path):
    checkpoint = train.Checkpoint(**model(1))
    checkpoint.save(path)
    file = path + "-1.safetensors"
    with open(file, "rb") as f:
        whole = f.read()
    mine = model(2)
    before = state(mine)
    other = train.Checkpoint(**mine)
    for i in range(0, len(whole), 3):
        with open(file, "wb") as f:
            f.write(whole[:i] + bytes([whole[i] ^ 0x10]) + whole[i + 1 :])
        with pytest.raises(DataLossError):
            other.restore(path + "-1")
        assert state(mine) == before
    assert int(other.save_counter) == 0
    with open(file, "wb") as f:
        f.write(whole)
    other.restore(path + "-1").assert_consumed()
    assert state(mine) == state(model(1))


def test_an_array_is_not_shared_between_variables_and_file(path):
    v = tf.Variable([1.0, 2.0])
    train.Checkpoint(v=v).write(path)
    w = tf.Variable([0.0, 0.0])
    checkpoint = train.Checkpoint(v=w)
    checkpoint.read(path)
    w.scatter_nd_update([[0]], [9.0])
    checkpoint.read(path)
    assert w.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "use",
    [
        lambda path: train.Checkpoint(v=tf.Variable("text")).restore(path),
        lambda path: train.load_variable(path, "w"),
        lambda path: truncate(path) or train.Checkpoint().restore(path),
    ],
)
def test_a_file_that_is_refused_is_closed(path, use):
    train.Checkpoint(v=tf.Variable(1.0)).write(path)
    with pytest.raises(tf.errors.OpError) as error:
        use(path)
    files = [each for each in gc.get_objects() if isinstance(each, io.BufferedReader)]
    assert not [file for file in files if not file.closed and path in str(file.name)]
    assert error.value.__traceback__  # which holds all that was in use


def truncate(path):
    with open(f"{path}.safetensors", "r+b") as file:
        file.truncate(20)
