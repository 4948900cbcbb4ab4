"""Patterns: the axes along which elements of an op stay apart."""

import pytest

from gradtape._src.core.pattern import ELEMENTWISE, MOVES, across, aligned, each_matrix, leading
from gradtape._src.testing import all_ops


@pytest.mark.parametrize(
    "rule, x, out, params, pairs",
    [
        (ELEMENTWISE, (2, 3), (2, 3), {}, [(0, 0), (1, 1)]),
        (ELEMENTWISE, (3,), (2, 3), {}, [(0, 1)]),
        (ELEMENTWISE, (), (2, 3), {}, []),
        (aligned(1), (4, 2, 3), (4, 2), {}, [(1, 0)]),
        (aligned(2), (5, 2, 3), (5, 2, 4), {}, [(0, 0)]),
        (aligned(2), (2, 3), (5, 2, 4), {}, []),
        (leading(1), (4, 2, 3), (4, 2), {}, [(0, 0), (1, 1)]),
        (each_matrix, (4, 2, 2), (4,), {}, [(0, 0)]),
        (each_matrix, (2, 2), (), {}, []),
        (across("axis"), (2, 3, 4), (2, 4), {"axis": 1}, [(0, 0), (2, 1)]),
        (across("axis"), (2, 3, 4), (2, 3, 4), {"axis": -1}, [(0, 0), (1, 1)]),
        (across("axis"), (2, 3, 4), (3,), {"axis": (0, -1)}, [(1, 0)]),
        (across("axis"), (2, 3), (), {"axis": [0, 1]}, []),
        (across("axis"), (), (), {"axis": ()}, []),
    ],
)
def test_pairs_of_axes(rule, x, out, params, pairs):
    assert rule(0, x, out, params) == pairs


def test_every_declared_pattern_is_one_of_the_three():
    for op in all_ops().values():
        assert op.pattern is None or op.pattern == MOVES or callable(op.pattern), op
