"""Each method that draws a tape or a trace. What is drawn: inspection/test_viewer.py."""

import xml.etree.ElementTree as ET

import pytest

import gradtape as tf

pytestmark = pytest.mark.gradtape_only


def tape():
    x = tf.Variable([1.0, 2.0], name="x")
    with tf.GradientTape() as tape:
        tf.reduce_sum(tf.exp(x))
    return tape


def trace():
    return tf.function(lambda x: tf.reduce_sum(tf.exp(x))).get_concrete_function(tf.constant([1.0]))


DRAWN = pytest.mark.parametrize("make", [tape, trace])


@DRAWN
def test_a_page(make, tmp_path):
    make().save_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "reduce_sum" in text


@DRAWN
def test_an_image(make, tmp_path):
    make().save_svg(tmp_path / "image.svg", unfolded=True)
    root = ET.parse(tmp_path / "image.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "exp" in "".join(root.itertext())


@DRAWN
def test_texts(make):
    drawn = make()
    assert drawn.to_mermaid(unfolded=True).startswith("flowchart TB")
    assert drawn.to_dot(unfolded=True).startswith("digraph {")
    assert "exp" in drawn.to_mermaid(unfolded=True) and "exp" in drawn.to_dot(unfolded=True)


def test_a_trace_has_no_gradient_to_choose(tmp_path):
    with pytest.raises(ValueError, match="`target` and `source` choose a gradient of a tape"):
        trace().save_html(tmp_path / "page.html", target=tf.constant(1.0))
    assert not list(tmp_path.iterdir())
