"""docs/semantics.md, section G: output_gradients."""

import inspect

import numpy as np
import pytest

from .helpers import grad, same

X = [1.0, 2.0, 3.0]


def squares(tf):
    """A persistent tape over x, x * x and 10 x."""
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, 10.0 * x
    return tape, x, y, z


def test_G1_output_gradients_weight_the_target(tf):
    tape, x, y, _ = squares(tf)
    og = tf.constant([1.0, 10.0, -1.0])
    same(tape.gradient(y, x, output_gradients=og), [2.0, 40.0, -6.0])
    same(tape.gradient(y, x, output_gradients=[og]), [2.0, 40.0, -6.0])


def test_G1_from_the_left_of_the_jacobian(tf):
    a = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x, og = tf.constant([[1.0], [1.0], [1.0]]), tf.constant([[10.0], [100.0]])
    g = grad(tf, lambda x: tf.matmul(a, x), x, output_gradients=og)
    same(g, [[410.0], [520.0], [630.0]])


def test_G2_signature(tf):
    parameters = list(inspect.signature(tf.GradientTape.gradient).parameters.values())[1:]
    assert [p.name for p in parameters] == [
        "target",
        "sources",
        "output_gradients",
        "unconnected_gradients",
    ]
    assert parameters[2].default is None
    assert parameters[3].default == tf.UnconnectedGradients.NONE
    tape, x, y, _ = squares(tf)
    other = tf.constant([1.0, 1.0])
    g = tape.gradient(y, [x, other], tf.ones(3), tf.UnconnectedGradients.ZERO)
    same(g[0], [2.0, 4.0, 6.0])
    same(g[1], [0.0, 0.0])
    g = tape.gradient(target=y, sources=x, output_gradients=None, unconnected_gradients="none")
    same(g, [2.0, 4.0, 6.0])


def test_G3_one_output_gradient_per_target(tf):
    tape, x, y, z = squares(tf)
    p, q = tf.constant([1.0, 0.0, 0.0]), tf.constant([0.0, 0.0, 2.0])
    expected = [2.0, 0.0, 20.0]
    same(tape.gradient([y, z], x, output_gradients=[p, q]), expected)
    same(tape.gradient((y, z), x, output_gradients=(p, q)), expected)
    targets, weights = {"z": z, "y": y}, {"y": p, "z": q}
    same(tape.gradient(targets, x, output_gradients=weights), expected)
    same(tape.gradient([y, [z]], x, output_gradients=[p, [q]]), expected)


def test_G4_numpy_arrays_are_accepted(tf):
    tape, x, y, _ = squares(tf)
    g = tape.gradient(y, x, output_gradients=np.array([1, 10, 100], np.float32))
    assert g.dtype == tf.float32
    same(g, [2.0, 40.0, 600.0])


def test_G4_with_their_own_dtype(tf):
    tape, x, y, _ = squares(tf)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tape.gradient(y, x, output_gradients=np.array([1.0, 10.0, 100.0]))


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
def test_G5_another_dtype_is_not_cast(tf, dtype):
    tape, x, y, _ = squares(tf)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tape.gradient(y, x, output_gradients=tf.cast(tf.constant([1.0, 2.0, 3.0]), dtype))


def test_G6_a_python_list_is_a_structure(tf):
    tape, x, y, _ = squares(tf)
    same(tape.gradient(y, x, output_gradients=[5.0, 7.0, 9.0]), [10.0, 20.0, 30.0])


def test_G7_missing_output_gradients_are_ones(tf):
    tape, x, y, z = squares(tf)
    same(tape.gradient([y, z], x, output_gradients=[tf.zeros(3)]), [10.0, 10.0, 10.0])


def test_G8_none_among_output_gradients_raises(tf):
    tape, x, y, z = squares(tf)
    with pytest.raises(ValueError):
        tape.gradient([y, z], x, output_gradients=[None, tf.ones(3)])
    with pytest.raises(ValueError):
        tape.gradient([y, z], x, output_gradients=[tf.ones(3), None])


def test_G9_the_shape_may_be_one_that_broadcasts(tf):
    tape, x, y, _ = squares(tf)
    same(tape.gradient(y, x, output_gradients=tf.constant(5.0)), [10.0, 20.0, 30.0])
    same(tape.gradient(y, x, output_gradients=tf.constant([[1.0, 2.0, 3.0]])), [2.0, 8.0, 18.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tape.gradient(y, x, output_gradients=tf.ones(2))
    same(tape.gradient(y, x), [2.0, 4.0, 6.0])


@pytest.mark.parametrize("reduce", ["reduce_sum", "reduce_mean", "reduce_max", "norm"])
@pytest.mark.parametrize("shape", [[2], [3], [1, 2], [2, 2]])
def test_G9_several_output_gradients_for_a_scalar(tf, reduce, shape):
    x = tf.constant([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        grad(tf, lambda x: getattr(tf, reduce)(x), x, output_gradients=tf.ones(shape))


@pytest.mark.parametrize("shape", [[], [1], [1, 1]])
def test_G9_one_output_gradient_for_a_scalar(tf, shape):
    x = tf.constant([1.0, 2.0])
    same(grad(tf, tf.reduce_sum, x, output_gradients=tf.fill(shape, 3.0)), [3.0, 3.0])


@pytest.mark.gradtape_only
@pytest.mark.parametrize(
    "f, given, expected",
    [
        (lambda tf, x: tf.identity(x), 3.0, [3.0, 3.0]),
        (lambda tf, x: x[:, None] * x, [1.0, 2.0], [8.0, 11.0]),
        (lambda tf, x: tf.tensordot(x, x, 1), [2.0], [4.0, 8.0]),
        (lambda tf, x: tf.square(x), [[1.0, 1.0], [1.0, 1.0]], None),
    ],
)
def test_G9_the_gradient_has_the_shape_of_the_source(tf, f, given, expected):
    x = tf.constant([1.0, 2.0])
    if expected is None:
        with pytest.raises(tf.errors.InvalidArgumentError, match="number 0 has shape"):
            grad(tf, lambda x: f(tf, x), x, output_gradients=tf.constant(given))
    else:
        same(grad(tf, lambda x: f(tf, x), x, output_gradients=tf.constant(given)), expected)


def test_G10_output_gradients_are_recorded_by_an_outer_tape(tf):
    a = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    x, og, tangent = tf.zeros((2, 1)), tf.zeros((3, 1)), tf.constant([[1.0], [10.0]])
    with tf.GradientTape() as outer:
        outer.watch(og)
        product = grad(tf, lambda x: tf.matmul(a, x), x, output_gradients=og)
    same(outer.gradient(product, og, output_gradients=tangent), [[21.0], [43.0], [65.0]])


def test_G11_a_target_that_is_the_source(tf):
    tape, x, y, _ = squares(tf)
    og = tf.constant([5.0, 6.0, 7.0])
    same(tape.gradient(x, x, output_gradients=og), [5.0, 6.0, 7.0])
    same(tape.gradient([x, y], x, output_gradients=[og, tf.ones(3)]), [7.0, 10.0, 13.0])
