"""Which graph a thread traces into."""

import threading

import pytest

import gradtape as tf
from gradtape._src.core.tracing import current_graph, traced_into, tracing


def test_outside_there_is_none():
    assert current_graph() is None and not tracing.threads


def test_blocks_nest_and_none_leaves_them():
    with traced_into("outer"):
        with traced_into("inner"):
            assert current_graph() == "inner" and tracing.threads == {threading.get_ident()}
            with traced_into(None):
                assert current_graph() is None and not tracing.threads
        assert current_graph() == "outer"
    assert current_graph() is None and not tracing.threads


def test_an_exception_leaves_the_block():
    with pytest.raises(KeyError), traced_into("graph"):
        raise KeyError
    assert current_graph() is None and not tracing.threads


def test_another_thread_is_not_in_the_graph_but_knows_that_there_is_one():
    found = []

    def look():
        found.append((current_graph(), len(tracing.threads)))

    with traced_into("graph"):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert found == [(None, 1)]


def test_a_function_is_traced_into_a_graph_of_its_own():
    graphs = []

    @tf.function
    def f(x):
        graphs.append(current_graph())
        return x

    f(tf.constant(1.0))
    assert graphs[0] is not None and current_graph() is None
