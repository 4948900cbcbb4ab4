"""What notebooks show: short, escaped, and nothing that runs."""

import pytest

import gradtape as tf

pytestmark = pytest.mark.gradtape_only

HOSTILE = "<script>alert(1)</script>&"


class Layer(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0]], name=HOSTILE)


def tape_of(layer):
    with tf.GradientTape() as tape:
        tf.reduce_sum(layer.w * layer.w)
    return tape


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: tf.constant([[1.5, 2.5]]), ["(1, 2)", "float32", "[[1.5 2.5]]"]),
        (lambda: tf.constant(HOSTILE), ["string"]),
        (lambda: tf.zeros([300, 300]), ["(300, 300)", "..."]),
        (lambda: Layer().w, ["&lt;script&gt;", "(1, 2)", "True", "[[1. 2.]]"]),
        (Layer, ["Layer", "w", "(1, 2)", "float32"]),
        (lambda: tape_of(Layer()), ["not recording", "multiply ×1", "reduce_sum ×1", "&lt;script"]),
        (lambda: tf.optimizers.Adam(0.25), ["steps", "0.25", "beta_1", "variables"]),
        (lambda: tf.optimizers.SGD(0.25, name="<b>"), ["&lt;b&gt;"]),
    ],
)
def test_a_card(make, words):
    text = make()._repr_html_()
    for word in words:
        assert word in text
    assert "<script" not in text and "<b><b>" not in text
    assert len(text) < 6000


def test_a_symbolic_tensor_has_no_values():
    seen = []
    variable = tf.Variable(1.0)

    @tf.function
    def f(x):
        seen.extend([x._repr_html_(), variable._repr_html_()])
        return x + variable

    f(tf.constant([1.0]))
    assert all("symbolic" in text for text in seen) and len(seen) == 2


def test_looking_leaves_all_as_it_was():
    layer = Layer()
    with tf.GradientTape(explain=True) as tape:
        y = layer.w * 2.0
        layer._repr_html_(), y._repr_html_(), tape._repr_html_()
    assert tape.explain(y, layer.w).cause.name == "CONNECTED"
    assert tape.gradient(y, layer.w).numpy().tolist() == [[2.0, 2.0]]
    assert "used" in tape._repr_html_()
