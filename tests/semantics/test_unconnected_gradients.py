"""docs/semantics.md, section H: unconnected_gradients."""

import pytest

from .helpers import grad, same


@pytest.mark.parametrize("make", ["constant", "Variable"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_H1_zero_gives_zeros_like_the_source(tf, make, dtype):
    x, other = tf.constant(3.0), getattr(tf, make)([[1, 2, 3]], dtype=dtype)
    for zero in "zero", tf.UnconnectedGradients.ZERO:
        gx, gother = grad(tf, lambda x, _: x * x, x, other, unconnected_gradients=zero)
        same(gx, 6.0)
        assert gother.dtype == tf.as_dtype(dtype)
        same(gother, [[0.0, 0.0, 0.0]])


def test_H2_none_is_the_default(tf):
    x, other = tf.constant(3.0), tf.constant(4.0)
    for options in (
        {},
        {"unconnected_gradients": "none"},
        {"unconnected_gradients": tf.UnconnectedGradients.NONE},
    ):
        gx, gother = grad(tf, lambda x, _: x * x, x, other, **options)
        same(gx, 6.0)
        assert gother is None
    assert {member.value for member in tf.UnconnectedGradients} == {"none", "zero"}
    assert tf.UnconnectedGradients.NONE.value == "none"
    assert tf.UnconnectedGradients("zero") is tf.UnconnectedGradients.ZERO


@pytest.mark.parametrize("value", ["nonsense", "ZERO", "zeros"])
def test_H3_any_other_value_raises(tf, value):
    with pytest.raises(ValueError, match=value):
        grad(tf, lambda x: x * x, tf.constant(3.0), unconnected_gradients=value)


def test_H4_an_integer_source_gets_integer_zeros(tf):
    x, n = tf.constant(3.0), tf.constant([1, 2])
    _, g = grad(tf, lambda x, n: x * x, x, n, unconnected_gradients="zero")
    assert g.dtype == tf.int32
    same(g, [0, 0])


def test_H5_a_path_cut_by_stop_gradient_gives_zeros(tf):
    x = tf.constant([1.0, 2.0])
    g = grad(tf, lambda x: tf.stop_gradient(x) * 2.0, x, unconnected_gradients="zero")
    same(g, [0.0, 0.0])
