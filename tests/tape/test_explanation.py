"""Explanations as fields, as text, as a page."""

import pytest

from gradtape._src.tape.explanation import Cause, Explanation, Step

pytestmark = pytest.mark.gradtape_only

LINE = "y = x < 3.0"


@pytest.fixture
def explained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(f"x = 1.0\n    {LINE}\n")
    step = Step("multiply", (2, None), "float32", str(tmp_path / "train.py"), 1, 0.125)
    return Explanation(
        Cause.INTEGER, "less gives bool.", "Use floats.", str(tmp_path / "train.py"), 2, [step]
    )


def test_the_text_has_all_parts(explained):
    assert explained.source_line == LINE
    assert str(explained).splitlines() == [
        "less gives bool.",
        f"  train.py:2: {LINE}",
        "Use floats.",
        "The path from the source:",
        "  multiply [2, None] float32  |gradient| 0.125  train.py:1",
    ]


def test_the_page_escapes_what_is_the_users(explained):
    page = explained._repr_html_()
    assert "<b>INTEGER</b> less gives bool." in page
    assert "train.py:2: y = x &lt; 3.0" in page and "<td>0.125</td>" in page


def test_what_is_not_known_is_left_out():
    bare = Explanation(Cause.UNUSED, "No op has used x.")
    assert str(bare) == "No op has used x." and bare.source_line == ""
    assert "<table>" not in bare._repr_html_() and "<pre" not in bare._repr_html_()
    assert str(Step("add", (), "float32")) == "add [] float32"
