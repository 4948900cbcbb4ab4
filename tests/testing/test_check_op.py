"""The checker must be able to fail: each contract is broken once."""

import contextlib

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.op import registry
from gradtape._src.ops.declare.elementwise import elementwise
from gradtape._src.ops.declare.op import op
from gradtape._src.testing import all_ops, check_gradients, check_op


@contextlib.contextmanager
def declared(make):
    """An op for the length of a test: the registry is as before afterwards."""
    before = all_ops()  # with those of modules that are imported late
    try:
        yield make()
    finally:
        registry.clear()
        registry.update(before)


def rejects(make, match):
    with declared(make) as made, pytest.raises(AssertionError, match=match):
        check_op(made)


def my_tanh(scale=1.0, second=1.0):
    def partial(out):
        return scale * (1 - out * out)

    @elementwise(x=partial)
    def my_tanh(xp, x):
        return xp.tanh(x)

    return my_tanh


def test_accepts_a_right_rule():
    with declared(my_tanh) as made:
        check_op(made)


def test_rejects_a_rule_wrong_by_a_thousandth():
    rejects(lambda: my_tanh(scale=1.001), "order 1")


def test_rejects_a_wrong_second_order():
    def make():
        @elementwise(x=lambda g, x: g * tf.stop_gradient(tf.cos(x)))
        def my_sin(xp, x):
            return xp.sin(x)

        return my_sin

    rejects(make, "order 2")


def test_rejects_a_kernel_that_writes_its_input():
    def make():
        @elementwise(x=1, samples=lambda r: [([r.normal(size=3)], {})])
        def greedy(xp, x):
            x += 1
            return x.copy()

        return greedy

    rejects(make, "wrote to its inputs")


def test_rejects_a_wrong_reference():
    def make():
        @elementwise(x=1, reference=lambda x: x)
        def shifted(xp, x):
            return x + 1

        return shifted

    rejects(make, "reference")


def linear_op(**properties):
    @op(samples=lambda r: [([r.normal(size=(2, 3))], {})], **properties)
    def doubled(xp, x):
        return x * 2

    @doubled.vjp("x")
    def doubled_vjp(g):
        return g * 2.0

    @doubled.batch
    def doubled_batch(batched, x):
        return doubled(x)

    return doubled


def test_rejects_a_wrong_batching_rule():
    def make():
        made = linear_op()
        made.batch(lambda batched, x: made(x) + 1.0)
        return made

    rejects(make, "batching rule")


def test_rejects_a_wrong_spec():
    def make():
        made = linear_op()
        made.spec(lambda x: x._replace(shape=(7,)))
        return made

    rejects(make, "spec rule")


def test_rejects_a_result_in_another_dtype():
    def make():
        @elementwise(x=1)
        def widening(xp, x):
            return x.astype(np.float64)

        return widening

    rejects(make, "float64 out")


def test_rejects_a_wrong_claim_of_linearity():
    def make():
        @elementwise(x=lambda x: 2 * x, linear="x")
        def claimed(xp, x):
            return x * x

        return claimed

    rejects(make, "forward mode")


def with_rows(rows):
    made = my_tanh()
    made.op.rows("x")(rows)
    return made


def test_accepts_right_rows():
    with declared(lambda: with_rows(diagonal_rows)) as made:
        check_op(made, jit=False)


def diagonal_rows(g, out):
    d = tf.reshape(g * (1 - out * out), (-1,))
    return tf.reshape(tf.linalg.diag(d), (d.shape[0], *out.shape))


def test_rejects_wrong_rows():
    rejects(lambda: with_rows(lambda g, out: 1.001 * diagonal_rows(g, out)), "row 0 by `x`")


def test_rejects_rows_that_no_sample_has():
    rejects(lambda: with_rows(lambda g: None), "no sample has rows by 'x'")


def test_rejects_an_argument_without_rule():
    def make():
        @op(samples=lambda r: [([r.normal(size=3)], {})])
        def ruleless(xp, x):
            return x

        return ruleless

    rejects(make, "no gradient rule")


def test_a_declaration_with_an_unknown_name_fails_at_once():
    with declared(linear_op) as made:
        with pytest.raises(TypeError, match="no argument 'y'"):
            made.vjp("y")
        with pytest.raises(TypeError, match="no argument 'z'"):
            made.vjp("x")(lambda g, z: g)
        with pytest.raises(TypeError, match="begins with the parameters g"):
            made.vjp("x")(lambda x: x)


def test_a_missing_rule_is_an_error_when_the_gradient_is_taken():
    def make():
        @op
        def mystery(xp, x):
            return x * 2

        return mystery

    with declared(make) as made:
        x = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = made(x)
        with pytest.raises(LookupError, match=r"mystery: no gradient rule with respect to `x`"):
            tape.gradient(y, x)


def test_check_gradients_of_any_function():
    inputs = [np.array([[0.3, -0.5]]), np.array([[1.0, 2.0], [0.5, -1.0]])]
    check_gradients(lambda x, w: tf.tanh(tf.matmul(x, w)), inputs)
    with pytest.raises(AssertionError, match="input 0"):
        check_gradients(lambda x, w: x * tf.stop_gradient(x), inputs)
