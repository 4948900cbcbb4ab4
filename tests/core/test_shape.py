"""TensorShape: a tuple that may not know all of itself."""

import copy
import pickle

import numpy as np
import pytest

from gradtape import TensorShape
from gradtape._src.core.shape import broadcasts_to

UNKNOWN = TensorShape(None)
PARTLY = TensorShape([2, None])
KNOWN = TensorShape([2, 3])


def test_what_it_is_made_of():
    assert TensorShape(4) == (4,)
    assert TensorShape([2, -1]) == TensorShape([2, None]) == [2, None]
    assert TensorShape(KNOWN) == KNOWN and TensorShape(UNKNOWN) == UNKNOWN
    assert TensorShape(()) != UNKNOWN and TensorShape([]).rank == 0
    assert TensorShape.of((2, 3)) == KNOWN


def test_rank_and_size():
    assert (KNOWN.rank, PARTLY.ndims, UNKNOWN.rank) == (2, 2, None)
    assert (KNOWN.num_elements(), PARTLY.num_elements(), UNKNOWN.num_elements()) == (6, None, None)
    assert TensorShape([]).num_elements() == 1 and TensorShape([0, 5]).num_elements() == 0
    assert (KNOWN.dims, UNKNOWN.dims) == ([2, 3], None)
    assert KNOWN.is_fully_defined() and not PARTLY.is_fully_defined()
    assert bool(TensorShape([])) and not UNKNOWN


@pytest.mark.parametrize(
    "a, b, fits",
    [
        (KNOWN, PARTLY, True),
        (KNOWN, UNKNOWN, True),
        (UNKNOWN, UNKNOWN, True),
        (KNOWN, [2, 4], False),
        (KNOWN, [2], False),
        (PARTLY, [3, 3], False),
    ],
)
def test_compatible(a, b, fits):
    assert a.is_compatible_with(b) is fits and TensorShape(b).is_compatible_with(a) is fits
    if not fits:
        with pytest.raises(ValueError, match="are incompatible"):
            a.assert_is_compatible_with(b)


def test_merge_knows_what_either_knows():
    assert PARTLY.merge_with([None, 3]) == [2, 3]
    assert UNKNOWN.merge_with(KNOWN) == KNOWN and KNOWN.merge_with(UNKNOWN) == KNOWN
    with pytest.raises(ValueError, match=r"Shapes \(2, 3\) and \(3, 3\) are incompatible"):
        KNOWN.merge_with([3, 3])


def test_joining_and_slices_are_shapes():
    assert ([*KNOWN, 4]) == [2, 3, 4] and ([4, *KNOWN]) == [4, 2, 3]
    assert KNOWN.concatenate(UNKNOWN) == UNKNOWN
    assert isinstance(KNOWN[:1], TensorShape) and KNOWN[1] == 3
    assert KNOWN.with_rank(2) is KNOWN and UNKNOWN.with_rank(2) == [None, None]
    with pytest.raises(ValueError, match=r"Shape \(2, 3\) must have rank 3"):
        KNOWN.with_rank(3)


@pytest.mark.parametrize("use", [len, lambda s: s[0], lambda s: s[:1], TensorShape.as_list])
def test_an_unknown_rank_cannot_be_looked_into(use):
    with pytest.raises(
        ValueError, match="needs a known rank, and the rank of this shape is unknown"
    ):
        use(UNKNOWN)


def test_equality_and_hash():
    assert KNOWN == (2, 3) and KNOWN == [2, 3] and KNOWN != (2, 4) and KNOWN != "23"
    assert UNKNOWN == None and KNOWN != None  # noqa: E711
    assert TensorShape([]) != UNKNOWN
    assert {KNOWN: 1}[2, 3] == 1


def test_texts():
    assert [str(s) for s in (KNOWN, PARTLY, UNKNOWN, TensorShape(4))] == [
        "(2, 3)",
        "(2, None)",
        "<unknown>",
        "(4,)",
    ]
    assert repr(KNOWN) == "TensorShape([2, 3])" and repr(UNKNOWN) == "TensorShape(None)"


@pytest.mark.parametrize("shape", [KNOWN, PARTLY, UNKNOWN])
def test_copies(shape):
    for other in (pickle.loads(pickle.dumps(shape)), copy.deepcopy(shape)):
        assert type(other) is TensorShape and other == shape


def test_it_counts_and_finds_as_a_tuple_does():
    assert TensorShape([2, 3, 2]).count(2) == 2
    assert KNOWN.index(3) == 1
    with pytest.raises(ValueError):
        KNOWN.index(9)


def test_what_is_known_of_the_rank():
    known, unknown = TensorShape([2, None]), TensorShape(None)
    for shape in (known, unknown):
        shape.assert_has_rank(2)
        shape.assert_same_rank([5, 6])
        shape.assert_same_rank(None)
        assert shape.with_rank_at_least(2) == shape.with_rank_at_most(2) == shape
    for wrong in (
        lambda: known.assert_has_rank(1),
        lambda: known.assert_same_rank([1]),
        lambda: known.with_rank_at_least(3),
        lambda: known.with_rank_at_most(1),
    ):
        with pytest.raises(ValueError):
            wrong()


@pytest.mark.parametrize(
    "one, other, common, subtype",
    [
        ([2, 3], [2, 3], [2, 3], True),
        ([2, 3], [2, None], [2, None], True),
        ([2, None], [2, 3], [2, None], False),
        ([2, 3], [3, 3], [None, 3], False),
        ([2], [2, 3], None, False),
        ([2], None, None, True),
        (None, [2], None, False),
        (None, None, None, True),
    ],
)
def test_what_two_shapes_have_in_common(one, other, common, subtype):
    first, second = TensorShape(one), TensorShape(other)
    assert first.most_specific_compatible_shape(second) == TensorShape(common)
    assert first.is_subtype_of(second) is subtype


def test_broadcasts_to_is_numpys():
    shapes = [(), (1,), (3,), (1, 3), (2, 1), (2, 3), (1, 1, 1), (4, 2, 3), (0,), (2, 0)]
    for shape in shapes:
        for wanted in shapes:
            try:
                fits = np.broadcast_shapes(shape, wanted) == wanted
            except ValueError:
                fits = False
            assert broadcasts_to(shape, wanted) == fits, (shape, wanted)
