"""The page of `gradtape doctor` in a real browser, light and dark."""

import pytest

from gradtape._src.core.tables import Table
from gradtape._src.inspect.report import Finding, Report, Section

from .browser import Browser, programs

pytestmark = [
    pytest.mark.gradtape_only,
    pytest.mark.skipif(programs() is None, reason="there is no chromium with a chromedriver here"),
]

BACKGROUND = "return getComputedStyle(document.body).backgroundColor"


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def browser(request, tmp_path):
    browser = Browser(tmp_path, dark=request.param, size=(700, 900))
    browser.dark = request.param
    yield browser
    browser.close()


def test_it_opens_and_shows_what_was_found(browser, tmp_path):
    finding = Finding("A <i>title</i>", "a < b", "Write & see.", __file__, 1)
    table = Table("", ["time", "line"], 1, [["1 ms", "x = '<script>alert(1)</script>' " * 20]], [1])
    report = Report("<x>.py", [finding], [Section("Lines", ["text"], table)])
    path = tmp_path / "page.html"
    path.write_text(report.page(), encoding="utf-8")
    browser.open(path)
    text = browser.run("return document.body.innerText")
    assert "1 finding in <x>.py" in text and "1. A <i>title</i>" in text and "a < b" in text
    assert '"""The page of `gradtape doctor`' in text
    assert browser.run("return document.querySelectorAll('i, script').length") == 0
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    is_dark = browser.run(BACKGROUND) == "rgb(17, 22, 29)"
    assert is_dark == browser.dark
    assert browser.complaints() == []
