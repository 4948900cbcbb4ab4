"""Which frames, and which errors behind an error, are left of it."""

import os
import pickle
import sys
import traceback

import pytest

import gradtape as tf
from gradtape._src.core.tracebacks import PACKAGE, border, is_beneath, shorten


@pytest.fixture(autouse=True)
def filtering():
    """As it is for users; the other tests show all frames."""
    tf.debugging.enable_traceback_filtering()
    yield
    tf.debugging.disable_traceback_filtering()


def names(error):
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def caught(function, *args):
    try:
        function(*args)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def wrong():
    return tf.ones([2]) + tf.ones([3])


def test_the_folder_of_the_package():
    assert os.path.samefile(PACKAGE, os.path.dirname(tf.__file__))
    assert PACKAGE.endswith(os.sep)


def test_what_is_beneath():
    assert is_beneath(os.__file__)
    assert is_beneath("/x/site-packages/jax/_src/core.py")
    assert is_beneath("<frozen importlib._bootstrap>")
    assert is_beneath(os.path.join(os.path.dirname(sys.executable), "gradtape"))  # the command
    assert not is_beneath("/x/site-packages/somebodys/jax/core.py")
    assert not is_beneath("/home/me/numpy/mine.py")
    assert not is_beneath("<string>")


def test_an_op_leaves_no_frame():
    assert names(caught(wrong)) == ["caught", "wrong"]


def test_frames_of_the_user_between_ours_stay():
    def mine(x):
        return x + wrong()

    error = caught(lambda: list(tf.data.Dataset.range(2).map(mine)))
    assert names(error) == ["caught", "<lambda>", "mine", "wrong"]


def test_what_the_users_code_calls_of_the_libraries_stays():
    def mine(x):
        os.makedirs(os.path.join(os.devnull, "a", "b"))

    error = caught(lambda: list(tf.data.Dataset.range(2).map(mine)))
    assert names(error)[-2:] == ["makedirs", "makedirs"]


def test_a_cause_that_the_user_gives_stays():
    def mine(x):
        try:
            {}["mine"]
        except KeyError as error:
            raise RuntimeError("mine") from error

    error = caught(tf.function(mine), tf.constant(1.0))
    assert type(error) is RuntimeError and type(error.__cause__) is KeyError
    assert names(error.__cause__) == ["mine"]


def test_what_the_user_was_handling_stays_behind_what_is_taken_out():
    try:
        {}["mine"]
    except KeyError as mine:
        f = tf.function(lambda x: tf.zeros([tf.cast(x, tf.int32)]), jit_compile=True)
        error = caught(f, tf.constant(1.0))
        assert isinstance(error, tf.errors.SymbolicTensorError)
        assert error.__cause__ is None and error.__context__ is mine


def test_an_error_inside_ours_is_taken_out():
    error = caught(lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])))
    assert error.__cause__ is None and error.__context__ is None


def test_errors_can_be_pickled():
    error = caught(lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)


def test_filtering_can_be_disabled():
    assert tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.disable_traceback_filtering()
    assert not tf.debugging.is_traceback_filtering_enabled()
    assert names(caught(wrong))[:3] == ["caught", "wrong", "call"]
    tf.debugging.enable_traceback_filtering()
    assert names(caught(wrong)) == ["caught", "wrong"]


def test_a_ring_of_errors_ends():
    one, two = ValueError("one"), ValueError("two")
    one.__context__, two.__context__ = two, one
    shorten(one)
    assert one.__context__ is two


def test_a_border_is_the_function():
    @border
    def f(x):
        """Text."""
        return x + 1

    assert f(1) == 2 and f.__name__ == "f" and f.__doc__ == "Text."
