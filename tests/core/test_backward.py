"""The chain rule, on records made by hand: what it needs of an op is said here in full."""

from types import SimpleNamespace

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.backward import backward
from gradtape._src.core.cotangent import IndexedSlices
from gradtape._src.core.spec import Spec
from gradtape._src.core.tensor import Tensor


def op(*rules, passes_slices=False, fills_missing=True):
    """An op whose rule for each input is a function of `g` alone."""
    pulls = [lambda g, saved, params, rule=rule: rule(g) for rule in rules]
    return SimpleNamespace(pulls=pulls, passes_slices=passes_slices, fills_missing=fills_missing)


def times(factor):
    return lambda g: g * factor


def forbidden(*args):
    raise AssertionError("this rule must not run")


def number(x):
    return Tensor(np.float32(x))


def test_both_ways_from_a_fork_are_summed():
    # a = 2x, b = 3x, y = 5a + 7b
    records = [
        (op(times(2.0)), ((0, 1),), 2, (), {}),
        (op(times(3.0)), ((0, 1),), 3, (), {}),
        (op(times(5.0), times(7.0)), ((0, 2), (1, 3)), 4, (), {}),
    ]
    (g,) = backward(reversed(records), [(4, number(1))], [1])
    assert float(g) == 2 * 5 + 3 * 7


def test_one_tensor_in_two_places_of_an_op():
    records = [(op(times(2.0), times(3.0)), ((0, 1), (1, 1)), 2, (), {})]
    (g,) = backward(records, [(2, number(1))], [1])
    assert float(g) == 5


def test_a_source_on_the_way_has_its_cotangent_and_passes_it_on():
    records = [
        (op(times(2.0)), ((0, 1),), 2, (), {}),
        (op(times(3.0)), ((0, 2),), 3, (), {}),
    ]
    found = backward(reversed(records), [(3, number(1))], [1, 2, 3])
    assert [float(g) for g in found] == [6, 3, 1]


def test_seeds_of_one_target_add_up():
    records = [(op(times(2.0)), ((0, 1),), 2, (), {})]
    (g,) = backward(records, [(2, number(1)), (2, number(10))], [1])
    assert float(g) == 22


def test_what_the_target_does_not_depend_on_is_not_visited():
    records = [
        (op(times(2.0)), ((0, 1),), 2, (), {}),
        (op(forbidden), ((0, 2),), 3, (), {}),
        (op(forbidden, fills_missing=True), ((0, 2),), (4, 5), ((None, None),), {}),
    ]
    found = backward(reversed(records), [(2, number(1))], [1, 3, 99])
    assert float(found[0]) == 2
    assert found[1:] == [None, None]


def test_only_tracked_positions_are_asked():
    records = [(op(forbidden, times(2.0)), ((1, 1),), 2, (), {})]
    assert float(backward(records, [(2, number(1))], [1])[0]) == 2


def test_a_rule_that_gives_none_adds_nothing():
    records = [(op(lambda g: None, times(2.0)), ((0, 1), (1, 1)), 2, (), {})]
    assert float(backward(records, [(2, number(1))], [1])[0]) == 2
    assert backward([(op(lambda g: None), ((0, 1),), 2, (), {})], [(2, number(1))], [1]) == [None]


@pytest.mark.parametrize("like", [Spec((2,), np.dtype(np.float64)), Tensor(np.ones(2))])
def test_an_unused_output_gets_zeros_of_its_own_shape_and_dtype(like):
    seen = []
    records = [(op(seen.append), ((0, 1),), (2, 3), ((None, like),), {})]
    backward(records, [(2, number(1))], [1])
    first, second = seen[0]
    assert float(first) == 1
    assert second.dtype == tf.float64 and second.numpy().tolist() == [0, 0]


def test_an_op_that_does_not_fill_gets_none_for_an_unused_output():
    seen = []
    records = [(op(seen.append, fills_missing=False), ((0, 1),), (2, 3), (None,), {})]
    backward(records, [(3, number(1))], [1])
    assert seen[0][0] is None and float(seen[0][1]) == 1


@pytest.mark.parametrize("passes, kind", [(True, IndexedSlices), (False, Tensor)])
def test_rows_stay_rows_only_for_a_rule_that_takes_them(passes, kind):
    seen = []
    rows = tf.IndexedSlices([[1.0]], [1], [3, 1])
    records = [(op(seen.append, passes_slices=passes), ((0, 1),), 2, (), {})]
    backward(records, [(2, rows)], [1])
    assert type(seen[0]) is kind


def test_rules_get_what_was_saved_and_the_static_parameters():
    records = [
        (
            SimpleNamespace(pulls=[lambda *args: args], passes_slices=False, fills_missing=True),
            ((0, 1),),
            2,
            ("saved",),
            {"axis": 1},
        )
    ]
    g = number(1)
    assert backward(records, [(2, g)], [1]) == [(g, ("saved",), {"axis": 1})]


def test_other_rules_stand_in_the_place_of_the_ops_own():
    # What runs back are numbers of paths here, from y = f(a, a), a = f(x, x).
    records = [
        (op(forbidden, forbidden), ((0, 1), (1, 1)), 2, ("s",), {"p": 1}),
        (op(forbidden, forbidden), ((0, 2), (1, 2)), 3, (), {}),
    ]
    seen = []

    def rules(*args):
        seen.append(args)
        return {i: lambda g, saved, params: seen.append((saved, params)) or g for i in (0, 1)}

    assert backward(reversed(records), [(3, 1)], [1], rules) == [4]
    assert seen[0] == records[1][:3] and seen[3] == records[0][:3]
    assert seen[1:3] == [((), {})] * 2 and seen[4:] == [(("s",), {"p": 1})] * 2


def test_other_rules_are_asked_for_once_and_only_on_the_way():
    asked = []
    records = [
        (op(times(2.0)), ((0, 1),), 2, (), {}),
        (op(forbidden), ((0, 1),), 3, (), {}),
    ]
    rules = lambda op, inputs, outputs: asked.append(outputs) or op.pulls  # noqa: E731
    assert float(backward(reversed(records), [(2, number(1))], [1], rules)[0]) == 2
    assert asked == [2]


def test_records_are_taken_one_by_one():
    """A tape lets go of each record as it is used, so nothing may ask for the next one early."""
    order = []

    def records():
        for key in (3, 2):
            order.append(f"record {key}")
            yield (
                op(lambda g, key=key: order.append(f"rule {key}") or g),
                ((0, key - 1),),
                key,
                (),
                {},
            )

    backward(records(), [(3, number(1))], [1])
    assert order == ["record 3", "rule 3", "record 2", "rule 2"]
