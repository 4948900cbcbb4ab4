"""Structures are flattened in TensorFlow's order and come back as what they were."""

from collections import OrderedDict, namedtuple

import pytest

from gradtape import TensorShape, nest

Point = namedtuple("Point", "x y")


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
