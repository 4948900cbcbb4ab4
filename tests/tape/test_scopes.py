"""Scopes around code."""

import logging
import threading

import pytest

import gradtape as tf
from gradtape._src.core.convert import promotion
from gradtape._src.tape.scopes import LimitedWarning, get_current_name_scope, numpy_promotion


def test_name_scopes_nest_and_name_variables():
    with tf.name_scope("a") as first, tf.name_scope("b") as second:
        assert (first, second) == ("a/", "a/b/")
        assert get_current_name_scope() == "a/b"
        assert tf.Variable(1.0, name="w").name == "a/b/w:0"
    assert get_current_name_scope() == ""


def test_a_scope_is_left_by_an_exception():
    with pytest.raises(KeyError), tf.name_scope("a"):
        raise KeyError
    assert get_current_name_scope() == ""


def test_a_generator_that_outlasts_the_scopes_around_it():
    def scoped():
        with tf.name_scope("inside"):
            yield get_current_name_scope()
            yield get_current_name_scope()

    late = scoped()
    with tf.name_scope("around"):
        assert next(late) == "around/inside"
    assert get_current_name_scope() == "around/inside"  # the generator has not left it
    assert next(late) == "around/inside"
    assert list(late) == []
    assert get_current_name_scope() == ""
    abandoned = scoped()
    next(abandoned)
    abandoned.close()
    assert get_current_name_scope() == ""


def test_threads_enter_one_scope_at_a_time():
    scope = tf.name_scope("shared")
    inside, leave = threading.Event(), threading.Event()
    seen = []

    def work():
        with scope:
            inside.set()
            leave.wait()
            seen.append(get_current_name_scope())
        seen.append(get_current_name_scope())

    thread = threading.Thread(target=work)
    with tf.name_scope("main"):
        thread.start()
        inside.wait()
        with scope:
            leave.set()
            thread.join()
            assert get_current_name_scope() == "main/shared"
        assert get_current_name_scope() == "main"
    assert seen == ["shared", ""]
    assert get_current_name_scope() == ""


def test_a_name_must_be_a_string():
    with pytest.raises(ValueError, match="name_scope: `name` must be a string, not 3"):
        tf.name_scope(3)


@pytest.mark.parametrize("name", [None, "CPU", "/CPU:0", "/device:cpu:0"])
def test_the_cpu_is_there(name):
    with tf.device(name):
        assert float(tf.constant(1.0)) == 1


@pytest.mark.parametrize("name", ["GPU", "/GPU:0", "/device:TPU:1", "CPU:3", "/device:gpu:*"])
def test_devices_that_are_not_there(name):
    with tf.device(name):
        assert tf.constant(1.0).device.endswith("CPU:0")
    tf.config.set_soft_device_placement(False)
    try:
        refused = pytest.raises(tf.errors.InvalidArgumentError, match="device: there is no")
        with refused, tf.device(name):
            pass
    finally:
        tf.config.set_soft_device_placement(True)


@pytest.mark.parametrize("name", ["foo", "XLA_GPU:0", "GPU:x", 3])
def test_names_that_are_none_of_a_device(name):
    with pytest.raises(ValueError, match="device: "), tf.device(name):
        pass


def test_a_device_of_another_machine():
    refused = pytest.raises(tf.errors.InvalidArgumentError, match="another machine")
    with refused, tf.device("/job:worker/device:CPU:0"):
        pass


def test_without_a_gpu_gpu_says_why():
    x = tf.constant(1.0)
    assert x.cpu() is x
    with pytest.raises(RuntimeError, match=r"gpu\(\): there is no GPU in use: "):
        x.gpu()


def test_init_scope_leaves_the_graph():
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
            seen.append(float(tf.constant(2.0) * 2.0))
        return x

    f(tf.constant(1.0))
    assert seen == [False, True, 4.0]
    assert tf.executing_eagerly()
    with tf.init_scope(), tf.control_dependencies([]):
        assert tf.executing_eagerly()


def test_promotion_is_put_back():
    with pytest.raises(KeyError), numpy_promotion():
        with numpy_promotion(False):
            assert not promotion.numpy
        assert promotion.numpy
        raise KeyError
    assert not promotion.numpy


def test_a_limited_warning_is_logged_so_many_times(caplog):
    warning = LimitedWarning("The value is %r.", 2)
    with caplog.at_level(logging.WARNING, "gradtape"):
        for i in range(4):
            warning.log(i)
    assert [r.getMessage() for r in caplog.records] == ["The value is 0.", "The value is 1."]
    assert tf.get_logger().name == "gradtape"
