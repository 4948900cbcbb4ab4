"""Witnesses: told of all that happens to tensors, and of nothing when they have ended."""

import pytest

import gradtape as tf
from gradtape._src.core.tracing import tracing
from gradtape._src.core.witness import Witness


class Notebook(Witness):
    def __init__(self):
        self.said = []

    def ran(self, op, inputs, outputs, params):
        self.said.append((op.name, len(inputs), params))

    def left(self, tensor, use):
        self.said.append(("left", use))

    def was_read(self, variable):
        self.said.append(("read", variable.name))

    def assigned(self, variable, value):
        self.said.append(("assigned", variable.name, value))

    def derived(self, tape, target, sources, found):
        self.said.append(("derived", len(sources)))


@pytest.fixture
def notebook():
    witness = Notebook()
    witness.begin()
    yield witness
    witness.end()
    assert not tracing.witnesses and not tracing.noting


def test_all_that_happens_is_told(notebook):
    v = tf.Variable(2.0, name="v")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * 3.0)
    tape.gradient(y, [v])
    v.assign(1.0)
    float(y)
    names = [each[0] for each in notebook.said]
    assert names[:3] == ["read", "multiply", "reduce_sum"]
    assert ("multiply", 2, {}) in notebook.said
    assert ("derived", 1) in notebook.said
    assert ("assigned", "v:0", 1.0) in notebook.said
    assert names[-1] == "left"


def test_static_parameters_are_told(notebook):
    tf.reduce_sum(tf.ones((2, 3)), axis=1)
    (params,) = [params for name, _, params in notebook.said if name == "reduce_sum"]
    assert params["axis"] in (1, (1,))


def test_the_backward_pass_is_told(notebook):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.exp(x)
    del notebook.said[:]
    tape.gradient(y, x)
    assert "multiply" in [each[0] for each in notebook.said]


def test_several_are_told_the_same(notebook):
    second = Notebook()
    second.begin()
    try:
        tf.constant(1.0) + 2.0
    finally:
        second.end()
    tf.constant(1.0) * 2.0
    assert [each[0] for each in second.said] == ["add"]
    assert [each[0] for each in notebook.said] == ["add", "multiply"]


def test_a_compiled_call_is_one_op(notebook):
    v = tf.Variable(2.0)
    step = tf.function(lambda x: x * v)
    step(tf.constant(1.0))
    del notebook.said[:]
    step(tf.constant(1.0))
    assert [len(each) for each in notebook.said if each[0] not in ("read", "left")] == [3]
