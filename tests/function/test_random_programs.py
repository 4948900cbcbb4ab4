"""Random programs, eager and compiled: values, gradients and second derivatives are the same.

Straight programs are those of tests/tape/test_three_ways.py. Programs with control flow are
compared with what Python does in their place.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tape.test_three_ways import OPS, agree, dense, programs, tape_in_tape

pytestmark = pytest.mark.gradtape_only

checked = settings(
    max_examples=2,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def everything(tf, program, xs, vs):
    """Value, gradient and Hessian-vector product, by tapes right here."""
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = program.loss(tf, xs)
    grads = tape.gradient(y, xs, unconnected_gradients="zero")
    products = tape_in_tape(tf, program, xs, vs)
    return [y, *map(tf.convert_to_tensor, [*grads, *products])]


class Compiled:
    """A program whose loss is a compiled function."""

    def __init__(self, tf, program):
        self._loss = tf.function(lambda xs: program.loss(tf, xs))

    def loss(self, tf, xs):
        return self._loss(xs)


@pytest.mark.parametrize("op", OPS)
@checked
@given(st.data())
def test_compiled_is_eager(tf, op, data):
    program = data.draw(programs(tf, op))
    xs, vs = program.sources(tf), program.directions(tf)
    expected = dense(tf, everything(tf, program, xs, vs))
    scale = 1.0 + np.max(np.abs(expected))
    inside = tf.function(lambda xs, vs: everything(tf, program, xs, vs))(xs, vs)
    agree(dense(tf, inside), expected, 1e-11, scale, "the tapes inside")
    outside = everything(tf, Compiled(tf, program), xs, vs)
    agree(dense(tf, outside), expected, 1e-11, scale, "the tapes outside")
