"""What the declaration of an op says: what is kept for its rules, and what they are."""

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.errors import NoGradientError
from gradtape._src.core.op import JointOp, Keep, Op, keeper, parameters_of, registry, spec_like
from gradtape._src.core.spec import Spec
from gradtape._src.core.tensor import Tensor
from gradtape._src.testing import all_ops


@pytest.fixture
def declare():
    """Declares ops that are forgotten again."""
    before = all_ops()  # with those of modules that are imported late
    yield Op
    registry.clear()
    registry.update(before)


def kernel_of_three(xp, x, y, *, axis):
    return x


def test_the_signature_of_the_kernel_is_the_schema(declare):
    op = declare(kernel_of_three, nondiff="y", name="three")
    assert op.arguments == ("x", "y") and op.static == ("axis",)
    assert op.takes_engine and not op.variadic
    assert op.alike == (0,)
    assert registry["three"] is op
    assert repr(op) == "<op three(x, y, axis)>"


def test_a_second_op_of_a_name_is_refused():
    with pytest.raises(TypeError, match="declaration of add: there is an op of this name already"):
        Op(lambda xp, x: x, name="add")


def test_a_rule_keeps_what_it_names_and_no_more(declare):
    op = declare(kernel_of_three, name="three")

    @op.vjp("x")
    def x_vjp(g, y, out: Spec, *, axis):
        return g * y

    assert op.plan((True, False)) == (None, Keep.VALUE, Keep.SPEC)
    assert op.plan((False, False)) == (None, None, None)
    x, y, out = (Tensor(np.ones(2)) for _ in range(3))
    saved = op.keep_for((0,))(x, y, out)
    assert saved[0] is None and saved[1] is y and saved[2] == Spec((2,), np.dtype(float))
    assert float(op.pulls[0](3.0, (None, 2.0, None), {"axis": 0})) == 6


def test_value_is_kept_where_one_rule_needs_it_and_another_the_spec(declare):
    op = declare(kernel_of_three, name="three")
    op.vjp("x")(lambda g, y: g)

    @op.vjp("y")
    def y_vjp(g, y: Spec):
        return g

    assert op.plan((True, True)) == (None, Keep.VALUE, None)
    assert op.plan((False, True)) == (None, Keep.SPEC, None)


def test_a_rule_that_names_what_is_not_there_is_refused(declare):
    op = declare(kernel_of_three, name="three")
    with pytest.raises(TypeError, match="three has no argument 'z'; it has g, x, y, out, axis"):
        op.vjp("x")(lambda g, z: g)
    with pytest.raises(TypeError, match="three has no argument 'w'; it has x, y"):
        op.vjp("w")
    with pytest.raises(TypeError, match="three: a rule begins with the parameters g"):
        op.vjp("x")(lambda x, g: g)


def test_an_argument_without_a_rule_says_so_when_it_is_asked(declare):
    op = declare(kernel_of_three, name="three")
    op.vjp("y")(lambda g: g)
    with pytest.raises(
        NoGradientError, match=r"three: no gradient rule .* `x` \(rules exist for: `y`\)"
    ):
        op.pulls[0](1.0, (), {})


def test_nondiff_gives_none_and_is_kept_for_no_one(declare):
    op = declare(kernel_of_three, nondiff="y", name="three")
    assert op.pulls[1](1.0, (), {}) is None
    assert op.keep_for((1,)) is None and op.keep_for((0, 1)) is not None
    assert not declare(kernel_of_three, nondiff="all", name="four").differentiable


def test_a_variadic_argument_has_one_rule_for_all_its_inputs():
    concat = registry["concat"]
    assert concat.variadic
    xs = [Tensor(np.ones(i)) for i in (1, 2)]
    assert concat.names_of(xs) == [f"{concat.arguments[-1]}[0]", f"{concat.arguments[-1]}[1]"]
    assert concat.slots_of(xs) == (tuple(xs),)
    assert concat.argument_at(0) == concat.argument_at(7) == concat.arguments[-1]
    g = tf.constant([1.0, 2.0, 3.0])
    saved = concat.keep_for((0, 1))(tuple(xs), g)
    params = {"axis": 0}
    assert concat.pulls[0](g, saved, params).numpy().tolist() == [1]
    assert concat.pulls[1](g, saved, params).numpy().tolist() == [2, 3]


def test_keeper_of_every_kind():
    x, out = Tensor(np.ones((1, 2))), Tensor(np.ones((3, 2)))
    assert keeper((None, None))(x, out) == (None, None)
    assert keeper((Keep.VALUE, None))(x, out)[0] is x
    assert keeper((Keep.SPEC, None))(x, out)[0] == spec_like(x)
    broadcast = keeper((Keep.SPEC_IF_BROADCAST, None))
    assert broadcast(x, out) == (spec_like(x), None)
    assert broadcast(out, out) == (None, None)
    assert keeper((None, None)) is keeper((None, None))


def test_spec_like_goes_into_tuples():
    x = Tensor(np.ones(2))
    assert spec_like((x, (x,))) == (spec_like(x), (spec_like(x),))


def test_parameters_of_a_function():
    def f(g, x: Spec, *values, axis, keep=None): ...

    found = parameters_of(f)
    assert found.positional == ("g", "x") and found.variadic == "values"
    assert found.keyword == ("axis", "keep") and found.specs == {"x"}
    assert found.names == ("g", "x", "axis", "keep")


def test_the_rule_of_a_joint_op_runs_once_for_all_inputs_of_a_visit():
    calls = []
    op = JointOp("both", lambda g: calls.append(g) or [g, None])
    pulls = op.pulls
    assert (pulls[0](1, (), {}), pulls[1](1, (), {})) == (1, None)
    assert calls == [1]
    op.pulls[0](2, (), {})
    assert calls == [1, 2]
    assert op.keep_for((0,))("inputs", "outputs") == (None, None)
    assert repr(op) == "<op both, of one call>"


def test_an_error_of_a_kernel_is_told_in_the_words_of_the_op():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"^add: .*x.shape=\(2,\), y.shape=\(3,\)"
    ):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])


def test_work_counts_elements_by_default():
    x = Tensor(np.ones((2, 3)))
    assert all_ops()["exp"].work(x, x) == 12
    assert registry["concat"].work((x, x), x) == 18
