"""What checkers are told is what is there."""

import inspect

import pytest

import gradtape as tf
from gradtape._src.core import annotations
from gradtape._src.ops.array.at import At, Place
from gradtape._src.ops.operators import OPERATORS


def methods(kind):
    return {name for name, value in vars(kind).items() if inspect.isfunction(value)}


def parameters(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def test_checkers_know_every_operator():
    told = {name for name in methods(annotations.Operators) if name.startswith("__")}
    assert told == set(OPERATORS)


@pytest.mark.parametrize(
    "told, function",
    [
        (annotations.Unary, tf.exp),
        (annotations.Unary, tf.math.lgamma),
        (annotations.Binary, tf.add),
        (annotations.Binary, tf.less),
        (annotations.Reduction, tf.reduce_sum),
        (annotations.Reduction, tf.reduce_any),
    ],
)
def test_the_callables_of_declared_ops(told, function):
    assert parameters(told.__call__)[1:] == parameters(function)
    for name in methods(annotations.Declared) - {"__call__"} | set(
        annotations.Declared.__annotations__
    ):
        assert hasattr(function, name)


def test_places_of_a_tensor():
    public = {name for name in methods(Place) if not name.startswith("_")}
    assert {n for n in methods(annotations.Place) if not n.startswith("_")} == public
    assert "__getitem__" in methods(annotations.Places) & methods(At)


@pytest.mark.parametrize(
    "value",
    [tf.constant(1.0), tf.Variable(1.0), tf.constant([1.0]).numpy(), tf.constant(1.0).numpy()],
)
def test_what_becomes_a_tensor_has_an_array(value):
    assert hasattr(value, "__array__")
