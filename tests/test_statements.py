"""docs/semantics.md and the tests name the same statements, each where the page says."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/semantics.md").read_text(encoding="utf-8")
STATEMENTS = re.findall(r"\*\*([A-Z]\d+)\*\* ([●◐○])", PAGE)
SECTIONS = dict(re.findall(r"^## ([A-Z])\. (.*?)(?=^## )", PAGE, re.M | re.S))

# A test names its statement first; the rows of section X are cases.
NAMED = re.compile(r"^ *def test_([A-Z]\d+)_|^ *case\(\"(X\d+)-", re.M)


def files_by_statement():
    found = defaultdict(set)
    for path in (ROOT / "tests").rglob("*.py"):
        for of_test, of_row in NAMED.findall(path.read_text(encoding="utf-8")):
            found[of_test or of_row].add(path.relative_to(ROOT).as_posix())
    return found


TESTS = files_by_statement()


def test_the_numbers_of_each_section_are_complete():
    numbers = [number for number, _ in STATEMENTS]
    for letter, text in SECTIONS.items():
        count = sum(number[0] == letter for number in numbers)
        here = re.findall(rf"\*\*({letter}\d+)\*\* [●◐○]", text)
        assert here == [f"{letter}{i + 1}" for i in range(count)]
    assert {number[0] for number in numbers} == SECTIONS.keys()


def test_every_statement_has_a_test():
    assert {number for number, _ in STATEMENTS} <= TESTS.keys()


def test_every_test_has_a_statement():
    assert TESTS.keys() <= {number for number, _ in STATEMENTS}


@pytest.mark.parametrize("letter", SECTIONS)
def test_a_section_links_to_its_tests(letter):
    linked = set(re.findall(r"\]\(\.\./([^)]+)\)", SECTIONS[letter]))
    hold = set().union(*(files for number, files in TESTS.items() if number[0] == letter))
    assert hold <= linked


def test_the_contents_lead_to_each_section():
    headings = re.findall(r"^## ([A-Z]\. .*)$", PAGE, re.M)
    anchors = [re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings]
    assert re.findall(r"\]\(#([^)]+)\)", PAGE) == anchors


def test_the_page_of_differences_names_the_statements_that_differ():
    differences = (ROOT / "docs/differences.md").read_text(encoding="utf-8")
    statements = re.finditer(r"^- \*\*([A-Z]\d+)\*\*.*?(?=^- |^$)", PAGE, re.M | re.S)
    for found in statements:
        if "differences.md" in found[0]:  # itself is named there, or those that it names
            numbers = re.findall(r"\b[A-Z]\d+\b", found[0])
            assert any(re.search(rf"\b{number}\b", differences) for number in numbers), found[0]
