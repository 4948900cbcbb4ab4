"""Tables with bars, numbers of bytes and lines, as reports show them."""

import os

import pytest

from gradtape._src.core.tables import Table, bar, bytes_text, place_text, short

pytestmark = pytest.mark.gradtape_only

TABLE = Table("By op", ["bytes", "", "op"], 1, [["120 B", "ab", "<x>"], ["7 B", "c", "y"]], [1, 0])


def test_a_table_of_text():
    assert str(TABLE).splitlines() == [
        "By op",
        "bytes                        op",
        "120 B  ████████████████  ab  <x>",
        "  7 B                    c   y",
    ]


def test_a_table_without_a_title_begins_with_its_heads():
    assert str(TABLE._replace(title="")).startswith("bytes")


def test_a_table_for_a_notebook_is_escaped_and_has_bars():
    page = TABLE.html()
    assert "&lt;x&gt;" in page and "<x>" not in page
    assert page.count("<tr>") == 3
    assert "width:8em" in page and "width:0em" in page


@pytest.mark.parametrize(
    "share, eighths", [(0.0, 0), (1.0, 128), (0.5, 64), (0.26, 33), (-1.0, 0), (7.0, 128)]
)
def test_the_length_of_a_bar(share, eighths):
    drawn = bar(share)
    assert len(drawn) == 16
    parts = drawn.rstrip()
    rest = " ▏▎▍▌▋▊▉".index(parts[-1]) if eighths % 8 else 0
    assert 8 * parts.count("█") + rest == eighths


@pytest.mark.parametrize(
    "count, text",
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1_214_000, "1.21 MB"), (5e12, "5e+03 GB")],
)
def test_bytes_to_read(count, text):
    assert bytes_text(count) == text


def test_a_line_stands_with_its_text_and_its_path_from_here(tmp_path, monkeypatch):
    file = tmp_path / "train.py"
    file.write_text("first\n   second  \n")
    monkeypatch.chdir(tmp_path)
    assert place_text(str(file), 2) == "train.py:2  second"
    assert place_text(str(file), 9) == "train.py:9"
    assert place_text("", 0) == ""
    outside = os.path.join(os.path.dirname(tmp_path), "other.py")
    assert short(outside) == outside
