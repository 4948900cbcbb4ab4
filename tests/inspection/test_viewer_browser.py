"""The page in a real browser, where one is installed with its driver (Debian: chromium-driver)."""

import pytest

import gradtape as tf
from gradtape._src.inspect.viewer.drawing import pictures_of
from gradtape._src.inspect.viewer.layered import placed
from gradtape._src.inspect.viewer.page import page

from . import drawn
from .browser import Browser, programs

pytestmark = [
    pytest.mark.gradtape_only,
    pytest.mark.skipif(programs() is None, reason="there is no chromium with a chromedriver here"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a picture, which it gives; hears no complaint, and sees no other file."""

    def open_page(pictures):
        (picture,) = pictures
        path = tmp_path / "page.html"
        path.write_text(page("test", pictures), encoding="utf-8")
        browser.open(path)
        browser.until("return window.viewer !== undefined && viewer.stats.frames > 0")
        return picture

    yield open_page
    assert browser.complaints() == []
    assert browser.run("return performance.getEntriesByType('resource').length") == 0


def test_it_opens_where_python_has_put_all_of_it(browser, opened):
    tape, loss, *_ = drawn.run(explain=True)
    picture = opened(pictures_of(tape, loss))
    where = placed(picture)
    there = browser.run(
        "const v = viewer.view; return v.shown.map(i => [i, v.x[i], v.y[i], v.w[i], v.h[i]])"
    )
    assert {i: pytest.approx(where[i]) for i in where} == {i: tuple(r) for i, *r in there}
    browser.run("viewer.view.open.fill(1); viewer.view.layout(); viewer.fitAll(); viewer.draw()")
    there = browser.run("const v = viewer.view; return v.shown.map(i => [i, v.x[i], v.y[i]])")
    where = placed(picture, unfolded=True)
    assert {i: pytest.approx(where[i][:2]) for i in where} == {i: tuple(r) for i, *r in there}
    assert browser.run("return viewer.stats.drawn") > 20


def test_on_a_narrow_window_nothing_is_cut_off(browser, opened, tmp_path):
    tape, loss, model, _ = drawn.run(explain=True)
    narrow = Browser(tmp_path / "narrow", size=(700, 900))
    try:
        path = tmp_path / "page.html"
        path.write_text(page("test", pictures_of(tape, loss, model.cell)), encoding="utf-8")
        narrow.open(path)
        narrow.until("return window.viewer !== undefined && viewer.stats.frames > 0")
        ends = narrow.run(
            "return [...document.querySelectorAll('aside > section, #path li .bar')]"
            ".map(each => each.getBoundingClientRect().right)"
        )
        assert len(ends) > 5 and max(ends) <= narrow.run("return innerWidth")
    finally:
        narrow.close()


def test_the_source_begins_at_the_lines_that_ran(browser, opened):
    tape, loss, *_ = drawn.run(explain=True)
    opened(pictures_of(tape, loss))
    assert browser.run(
        "const box = document.getElementById('lines').getBoundingClientRect();"
        "const row = document.querySelector('#lines .used').getBoundingClientRect();"
        "return row.top >= box.top && row.bottom <= box.bottom && box.height > 0"
    )


def test_search_finds_and_unfolds(browser, opened):
    tape, loss, *_ = drawn.run(explain=True)
    picture = opened(pictures_of(tape, loss))
    browser.run("document.getElementById('canvas').focus()")
    browser.keys("/tanh float32")
    browser.until("return document.querySelectorAll('#results li').length >= 12")
    browser.keys("\ue007")  # Enter
    selected = browser.run("return viewer.view.selected")
    assert picture.boxes[selected].label == "tanh"
    assert browser.run("const v = viewer.view; return v.visible[v.selected]") == 1
    assert "tanh" in browser.run("return document.getElementById('details').textContent")
    line = browser.run("return document.querySelector('#lines .here').textContent")
    assert "# the loop" in line
    assert browser.run("return document.activeElement.id") == "canvas"


def test_a_path_with_norms_and_where_another_is_cut(browser, opened):
    tape, loss, model, _extra = drawn.run(explain=True)
    picture = opened(pictures_of(tape, loss, model.cell))
    source, target = picture.source, picture.target
    path = browser.run("const p = viewer.view.path; return [p.source, p.target, p.connected]")
    assert path == [source, target, True]
    text = browser.run("return document.getElementById('path').textContent")
    assert "cell → loss" in text and "matmul" in text
    assert float(f"{picture.boxes[source].gradient['norm']:.4g}") == pytest.approx(
        browser.run(
            "return Number(document.querySelector('#path li span:nth-child(2)').textContent)"
        ),
        rel=1e-3,
    )
    steps = browser.run("return document.querySelectorAll('#path li').length")
    browser.run("document.querySelector('#path button').click()")
    longer = browser.run("return document.querySelectorAll('#path li').length")
    assert longer >= steps + 3 * 11  # through all rounds of the loop
    lit = browser.run("return [...viewer.view.path.items].every(i => viewer.view.visible[i])")
    assert lit is True
    cut = next(i for i, box in enumerate(picture.boxes) if box.name == "temperature")
    browser.run(f"viewer.setEnd('source', {cut})")
    text = browser.run("return document.getElementById('path').textContent")
    assert "LEFT_TAPE" in text and "no gradient comes back" in text


def test_an_integer_cuts_the_path(browser, opened):
    x = tf.Variable([1.0, 3.0], name="x")
    with tf.GradientTape(explain=True) as tape:
        best = tf.cast(tf.argmax(x), tf.float32)
        loss = best * 2.0
    opened(pictures_of(tape, loss, x))
    text = browser.run("return document.getElementById('path').textContent")
    assert "INTEGER" in text and "✕ argmax" in text
    assert browser.run("return viewer.view.path.cuts.length") > 0


def test_it_is_moved_by_keys_and_says_what_is_selected(browser, opened):
    tape, loss, *_ = drawn.run(explain=True)
    picture = opened(pictures_of(tape, loss))
    browser.run("viewer.select(-1); document.getElementById('canvas').focus()")
    for expected in range(3):
        browser.keys("\ue015")  # the arrow down
        assert browser.run("return viewer.view.selected") >= 0, expected
    said = browser.run("return document.getElementById('live').textContent")
    selected = browser.run("return viewer.view.selected")
    first = len(picture.boxes)
    boxed = selected < first
    title = picture.boxes[selected].label if boxed else picture.groups[selected - first].label
    assert title in said
    folded = next(
        first + i for i, g in enumerate(picture.groups) if g.style == "line" and not g.opened
    )
    browser.run(f"viewer.select({folded})")
    browser.keys("\ue007")
    assert browser.run(f"return viewer.view.open[{folded}]") == 1
    browser.keys("c+-0")
    assert browser.run("return document.getElementById('colour').value") != ""
    browser.keys("?")
    assert browser.run("return document.getElementById('help').open") is True
    browser.keys("\ue00c")  # Escape


def test_each_colouring_and_hostile_names(browser, opened):
    v = tf.Variable(2.0, name="</script><img src=x onerror=alert(1)>")
    with tf.GradientTape(explain=True) as tape:
        loss = tf.sin(v) * v
    opened(pictures_of(tape, loss, v))
    assert len(browser.run("return [...document.scripts].map(s => s.id)")) == 2
    assert browser.run("return document.images.length") == 0
    for name in browser.run(
        "return [...document.getElementById('colour').options].map(o => o.value)"
    ):
        browser.run(f"viewer.setColour('{name}'); viewer.draw()")
    said = browser.run("return document.getElementById('path').textContent")
    assert "</script><img src=x onerror=alert(1)> → loss" in said


def test_thousands_of_records_are_drawn_as_few(browser, opened):
    x = tf.Variable(tf.ones([2]))
    with tf.GradientTape() as tape:
        y = x
        for _ in range(3000):
            y = tf.sin(y)
    opened(pictures_of(tape, y))
    assert 0 < browser.run("viewer.draw(); return viewer.stats.drawn") < 300
    browser.run("viewer.view.open.fill(1); viewer.view.layout(); viewer.fitAll(); viewer.draw()")
    assert browser.run("return viewer.stats.drawn") < 3000
