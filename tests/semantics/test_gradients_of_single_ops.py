"""docs/semantics.md, section X: gradients of single operations against central differences."""

import numpy as np
import pytest
from oracle.cases_rows import CASES
from oracle.differential import differences, differentiable, flatten, weights

from .helpers import on_gradtape

ROWS = {case.name: case for case in CASES}

# Central differences with a step of 1e-5 are good to about 1e-9 for values and derivatives near 1.
TOLERANCE = 1e-7


def gradients(tf, f, arrays):
    """The gradients of the tensor f(*tensors) by its floating inputs, None where there is none."""
    xs = [tf.constant(a) for a in arrays]
    sources = [x for x in xs if differentiable(x)]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = f(*xs)
    return [g if g is None else tf.convert_to_tensor(g).numpy() for g in tape.gradient(y, sources)]


def check(tf, f, arrays):
    expected = differences(lambda xs: float(f(*[tf.constant(x) for x in xs])), arrays)
    for a, e in zip(gradients(tf, f, arrays), expected, strict=True):
        a = np.zeros_like(e) if a is None else a
        scale = max(1.0, np.abs(e).max(initial=0.0))
        np.testing.assert_allclose(a, e, rtol=TOLERANCE, atol=TOLERANCE * scale)


def weighted(tf, fn):
    """fn as a scalar function, each output element with a weight of its own."""

    def scalar(*xs):
        ys = [y for y in flatten(fn(tf, *xs)) if differentiable(y)]
        return tf.add_n([tf.reduce_sum(y * weights(y.numpy())) for y in ys])

    return scalar


def sum_of_squared_gradients(tf, fn):
    scalar = weighted(tf, fn)

    def second(*xs):
        sources = [x for x in xs if differentiable(x)]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            # The square keeps linear ops from having a second derivative of zero.
            y = scalar(*xs) ** 2
        grads = [tf.convert_to_tensor(g) for g in tape.gradient(y, sources) if g is not None]
        return tf.add_n([tf.reduce_sum(g * g) for g in grads])

    return second


@pytest.mark.parametrize("row", ROWS)
def test_X_gradient(tf, row):
    case = ROWS[row]
    check(tf, weighted(tf, case.fn), case.draw("float64"))


@pytest.mark.parametrize("row", ROWS)
def test_X144_second_order(tf, row):
    case = ROWS[row]
    if not on_gradtape(tf) and (case.differs or row == "X45-softsign"):
        pytest.skip(case.differs or "TensorFlow has no second derivative")
    check(tf, sum_of_squared_gradients(tf, case.fn), case.draw("float64"))
