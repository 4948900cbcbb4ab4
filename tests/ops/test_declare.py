"""A declaration that cannot be meant fails when it is made, that is at import."""

import inspect
import operator
import re

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.op import Op, registry
from gradtape._src.core.tensor import Tensor
from gradtape._src.ops.declare.elementwise import elementwise
from gradtape._src.ops.declare.op import op
from gradtape._src.ops.declare.reduction import reduction
from gradtape._src.testing import all_ops


@pytest.fixture(autouse=True)
def known_ops():
    before = all_ops()  # with those of modules that are imported late
    yield
    registry.clear()
    registry.update(before)


def kernel(xp, x, y):
    return x + y


def with_axis(xp, x, *, axis):
    return x


def reduced(xp, x, *, axis, keepdims):
    return x.sum(axis=axis, keepdims=keepdims)


@pytest.mark.parametrize(
    "declare, text",
    [
        (lambda: op(linaer="x")(kernel), "neither a property nor an argument 'linaer'"),
        (lambda: elementwise(z=1)(kernel), "neither a property nor an argument 'z'"),
        (lambda: reduction(axes=1)(reduced), "neither a property nor an argument 'axes'"),
        (lambda: op(nondiff="z")(kernel), "kernel has no argument 'z'; it has x, y"),
        (lambda: op(zero=["z"])(kernel), "kernel has no argument 'z'"),
        (lambda: op(linear="x, z")(kernel), "kernel has no argument 'z'"),
        (lambda: op(alike="z")(kernel), "kernel has no argument 'z'"),
        (lambda: elementwise(domain={"z": (0, 1)})(kernel), "kernel has no argument 'z'"),
        (lambda: op(nondiff="x", zero="x")(kernel), "`x` can be one of nondiff, zero and linear"),
        (
            lambda: op(nondiff="all", linear="y")(kernel),
            "`y` can be one of nondiff, zero and linear",
        ),
        (lambda: op(zero="x", linear="x")(kernel), "`x` can be one of nondiff, zero and linear"),
        (lambda: op(additive=True, nondiff="x")(kernel), "additive, so each of its arguments"),
        (lambda: op(additive=True, linear="x")(kernel), "additive, so each of its arguments"),
        (lambda: op(dtypes=frozenset())(kernel), "it takes no dtype"),
        (lambda: op(builtin=operator.add)(with_axis), "takes no static parameters"),
        (lambda: elementwise(samples=list, domain={"x": (0, 1)})(kernel), "no domain is needed"),
        (lambda: op(name="add")(kernel), "there is an op of this name already"),
    ],
)
def test_declaration_is_refused(declare, text):
    with pytest.raises(TypeError, match=re.escape(text)):
        declare()
    assert "kernel" not in registry and "reduced" not in registry


@pytest.mark.parametrize(
    "argument, rule, text",
    [
        ("z", lambda g: g, "kernel has no argument 'z'"),
        ("y", lambda g: g, "a gradient rule for `y`, but it is nondiff"),
        ("x", lambda x: x, "a rule begins with the parameters g"),
        ("x", lambda g, z: g, "kernel has no argument 'z'; it has g, x, y, out"),
    ],
)
def test_rule_is_refused(argument, rule, text):
    declared = op(nondiff="y")(kernel)
    with pytest.raises(TypeError, match=re.escape(text)):
        declared.vjp(argument)(rule)


def test_second_rule_is_refused():
    declared = op(kernel)
    declared.vjp("x")(lambda g: g)
    with pytest.raises(TypeError, match="a gradient rule for `x`, but it has one already"):
        declared.vjp("x")(lambda g: g)


def test_a_refused_op_leaves_its_name_free():
    with pytest.raises(TypeError):
        op(linaer="x")(kernel)
    op(kernel)


def test_alike_arguments_must_agree_in_dtype():
    declared = op(nondiff="y", alike="all")(kernel)
    with pytest.raises(TypeError, match="`x` is float32 and `y` is float64"):
        declared(Tensor(np.ones(2, np.float32)), Tensor(np.ones(2)))
    free = op(nondiff="y", name="free")(kernel)
    assert free.op.alike == (0,)
    free(Tensor(np.ones(2, np.float32)), Tensor(np.ones(2)))


def test_zero_gradient_has_the_shape_of_its_argument():
    @op(zero="y", linear="x")
    def kernel(xp, x, y):
        return x + y.sum()

    kernel.vjp("x")(lambda g: g)
    x, y = tf.constant([1.0, 2.0]), tf.ones([3, 4], tf.float32)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        out = kernel(x, y)
    assert tape.gradient(out, y).numpy().tolist() == np.zeros((3, 4)).tolist()


def test_the_table_has_every_property():
    """All that `Op` takes is in the table of its docstring, and nothing else is."""
    # (Since Python 3.13 a docstring is kept without its indentation.)
    table = set(re.findall(r"^`(\w+)`", inspect.cleandoc(Op.__doc__), re.M))
    taken = set(inspect.signature(Op).parameters) - {"unknown"}
    assert table == taken
