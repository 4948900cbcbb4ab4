"""The user's line: of what runs, of what raised, of what made a tracer."""

import sys

import pytest

from gradtape._src.core.tracebacks import PACKAGE
from gradtape._src.function.lines import lines_to, user_line

pytestmark = pytest.mark.gradtape_only


def test_the_line_that_runs_is_the_innermost_of_the_user():
    assert user_line() == f"{__file__}, line {sys._getframe().f_lineno}"


def test_machinery_is_passed_over():
    beneath = "/usr/lib/python3/dist-packages/numpy/core.py"
    lines = [(f"{PACKAGE}_src/core/op.py", 1), (beneath, 2), ("/home/me/jax/mine.py", 3)]
    assert user_line(lines) == "/home/me/jax/mine.py, line 3"


def test_without_a_line_of_the_user():
    assert user_line([(f"{PACKAGE}__init__.py", 1)]) == "@function"


def test_the_line_of_an_error(tf):
    def wrong():
        return tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))

    with pytest.raises(ValueError) as caught:
        wrong()
    assert (
        user_line(lines_to(caught.value)) == f"{__file__}, line {wrong.__code__.co_firstlineno + 1}"
    )
