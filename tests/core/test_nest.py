"""Structures are flattened in TensorFlow's order and come back as what they were."""

import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import gradtape as tf
from gradtape import TensorShape
from gradtape._src.core import nest

Point = namedtuple("Point", "x y")


@dataclass
class Line:
    """A dataclass that says what is inside, and what is not."""

    start: Any
    end: Any
    color: str = "red"

    def __tf_flatten__(self):
        return (self.color,), (self.start, self.end)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*components, *metadata)


@dataclass
class Plain:
    x: Any


class Attrs:
    """What attrs makes of `@attr.s class Attrs: x, y = attr.ib(), attr.ib()`."""

    __attrs_attrs__ = (SimpleNamespace(name="x"), SimpleNamespace(name="y"))

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)


@pytest.mark.parametrize(
    "structure, leaves",
    [
        (1, [1]),
        (None, [None]),
        ([], []),
        ([1, (2, [3])], [1, 2, 3]),
        ({"b": 1, "a": 2}, [2, 1]),
        (OrderedDict([("b", 1), ("a", [2, None])]), [2, None, 1]),
        (Point(1, {"k": 2}), [1, 2]),
        (Line(1, [2, 3], "blue"), [1, 2, 3]),
        ({"line": Line(1, Point(2, 3))}, [1, 2, 3]),
        (Attrs(1, {"b": 2, "a": 3}), [1, 3, 2]),
        (Plain(1), [Plain(1)]),
        ("text", ["text"]),
        (TensorShape([1, 2]), [TensorShape([1, 2])]),
    ],
)
def test_flatten_and_back(structure, leaves):
    assert nest.flatten(structure) == leaves
    back = nest.pack_sequence_as(structure, leaves)
    assert back == structure
    assert type(back) is type(structure)


def test_a_dict_keeps_its_order():
    assert list(nest.map_structure(str, {"b": 1, "a": 2})) == ["b", "a"]


@pytest.mark.parametrize(
    "first, second, kind",
    [
        ([1], [1, 2], ValueError),
        ([1], (1,), TypeError),
        ({"a": 1}, {"b": 1}, ValueError),
        ([1], 1, ValueError),
        (Line(1, 2), [1, 2], TypeError),
        (Line(1, 2), Line(1, [2]), ValueError),
        (Attrs(1, 2), (1, 2), TypeError),
    ],
)
def test_other_structures_are_refused(first, second, kind):
    with pytest.raises(kind):
        nest.map_structure(lambda a, b: a, first, second)


def test_a_wrong_number_of_leaves_is_refused():
    with pytest.raises(ValueError, match="2 leaves"):
        nest.pack_sequence_as([1, 2], [1])


def test_unsortable_keys_are_refused():
    with pytest.raises(TypeError, match="sortable"):
        nest.flatten({1: 1, "a": 2})


def test_containers_of_the_standard_library_come_back_as_they_were():
    few = deque([1, 2], maxlen=3)
    back = nest.map_structure(str, few)
    assert type(back) is deque and back.maxlen == 3 and list(back) == ["1", "2"]
    lists = defaultdict(list, b=1, a=2)
    back = nest.map_structure(str, lists)
    assert type(back) is defaultdict and back.default_factory is list
    assert nest.map_structure(str, {"b": 1, "a": 2}.values()) == ["1", "2"]


def test_a_leaf_alone():
    assert nest.map_structure(lambda x: x + 1, 1) == 2
    assert nest.pack_sequence_as(0, ["only"]) == "only"


def test_map_structure_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one structure is needed"):
        nest.map_structure(str)


def test_empty_containers_are_kept():
    assert nest.map_structure(str, {"a": [], "b": ((), {})}) == {"a": [], "b": ((), {})}


def test_deep_nesting():
    deep = 0
    for _ in range(200):
        deep = [deep]
    assert nest.flatten(deep) == [0]


@pytest.mark.parametrize("kind", [Line, Attrs])
def test_gradients_come_as_the_object_that_the_sources_are(kind):
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = x * y
    found = tape.gradient(z, kind(x, [y]))
    assert type(found) is kind
    assert [float(g) for g in nest.flatten(found)] == [3.0, 2.0]


def test_a_function_takes_and_returns_objects():
    @tf.function
    def double(line):
        return Line(line.start * 2.0, line.end, line.color)

    doubled = double(Line(tf.constant(1.0), tf.constant(2.0), "blue"))
    assert doubled == Line(tf.constant(2.0), tf.constant(2.0), "blue")
    double(Line(tf.constant(5.0), tf.constant(2.0), "blue"))
    assert double.experimental_get_tracing_count() == 1
    assert double(Line(tf.constant(5.0), tf.constant(2.0), "red")).color == "red"


def test_a_module_looks_into_objects():
    module = tf.Module()
    module.line = Line(tf.Variable(1.0), tf.Variable(2.0))
    assert [float(v) for v in module.trainable_variables] == [1.0, 2.0]


def nested(depth, leaf):
    for _ in range(depth):
        leaf = [leaf]
    return leaf


def with_sources(sources):
    with tf.GradientTape() as tape:
        y = tf.constant(1.0)
    return tape.gradient(y, sources)


def with_target(target):
    with tf.GradientTape() as tape:
        v = tf.Variable(1.0)
    return tape.gradient(target, v)


def f(x):
    return x


@pytest.mark.parametrize(
    "call, what",
    [
        (nest.flatten, "nest: `structure`"),
        (lambda s: nest.pack(s, iter([1])), "nest: `structure`"),
        (lambda s: nest.map_structure(str, s), "nest: `structure`"),
        (with_sources, "gradient: `sources`"),
        (with_target, "gradient: `target`"),
        (tf.function(f), "f: an argument"),
    ],
)
def test_a_structure_that_is_too_deep(call, what):
    with pytest.raises(RecursionError) as error:
        call(nested(5000, tf.constant(1.0)))
    assert str(error.value) == (
        f"{what} is nested deeper than Python can follow (its recursion limit is "
        f"{sys.getrecursionlimit()}). Does a loop wrap a list in a list, x = [x]? Collect the "
        "values in one flat list instead."
    )


@pytest.mark.parametrize("depth", [65, 5000])
@pytest.mark.parametrize(
    "call, op",
    [
        (tf.constant, "constant"),
        (tf.Variable, "Variable"),
        (tf.convert_to_tensor, "convert_to_tensor"),
        (lambda x: tf.ones([1]) + x, "add"),
    ],
)
def test_a_tensor_of_lists_that_are_too_deep(call, op, depth):
    with pytest.raises(ValueError) as error:
        call(nested(depth, 1.0))
    assert str(error.value) == (
        f"{op}: the value is a list nested more than 64 deep, and a tensor has no more axes than "
        "that. Does a loop wrap a list in a list, x = [x]?"
    )


def test_a_tensor_of_64_axes():
    assert tf.constant(nested(64, 1.0)).ndim == 64
