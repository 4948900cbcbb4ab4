"""Memory as a value: how arrays are summed up. What a tape finds: inspection/test_memory.py."""

import pytest

from gradtape._src.tape.memory import Held, Memory, Share

pytestmark = pytest.mark.gradtape_only


def memory(**fields):
    tensors = [
        Held(800, (100,), "float64", op="exp", file="a.py", line=3, can_be_remade=True),
        Held(400, (100,), "float32", op="exp", file="a.py", line=4, freed=False),
        Held(80, (20,), "float32", name="w", file="a.py", line=3, freed=False),
        Held(40, (10,), "float32"),
    ]
    return Memory(tensors, records=1000, count=5, **fields)


def test_sums():
    held = memory()
    assert held.arrays == 1320
    assert held.total == 2320
    assert held.freed == 1000 + 800 + 40
    assert held.budget_frees == 800


def test_by_op_with_the_largest_first():
    assert memory().by_op == [
        Share("exp", 1200, 2, 800),
        Share("variables", 80, 1, 0),
        Share("given", 40, 1, 0),
    ]


def test_by_line_for_the_lines_that_are_known():
    assert memory().by_line == [Share("a.py:3", 880, 2, 800), Share("a.py:4", 400, 1, 0)]


def test_what_an_array_is():
    assert [held.what for held in memory().tensors] == [
        "exp [100] float64",
        "exp [100] float32",
        "variable w [20] float32",
        "given [10] float32",
    ]


def test_text_and_page_say_the_total_and_where_the_tape_is():
    held = memory(file="train.py", line=7, functions=[Share("<lambda>", 800, 1, 800)])
    for text in (str(held), repr(held), held._repr_html_()):
        assert "2.32 kB" in text and "train.py:7" in text
    assert "&lt;lambda&gt;" in held._repr_html_()
