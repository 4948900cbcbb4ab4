"""Messages of tapes, accumulators and custom gradients: what is wrong, what came, what to do."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

import gradtape as tf
from gradtape._src.core.dispatch import nary
from gradtape._src.core.op import Op, registry

pytestmark = pytest.mark.gradtape_only

X = tf.constant([1.0, 2.0])
MATRIX = tf.ones([2, 3])


def used(name="gradient", **options):
    """A tape that has recorded `2 * X`."""
    with tf.GradientTape(**options) as tape:
        tape.watch([X, MATRIX])
        tape.y = 2.0 * X
        tape.z = 2.0 * MATRIX
    return tape


def asked_twice():
    tape = used()
    tape.gradient(tape.y, X)
    tape.gradient(tape.y, X)


def entered_twice():
    with tf.GradientTape() as tape, tape:
        pass


def active_twice():
    with tf.autodiff.ForwardAccumulator(X, X) as acc, acc:
        pass


def stopped_outside():
    with used().stop_recording():
        pass


def stopped_before():
    with tf.GradientTape().stop_recording():
        pass


def custom(f, *args):
    """The gradient of a function with a gradient of its own."""
    args = args or (X,)
    with tf.GradientTape() as tape:
        tape.watch([a for a in args if isinstance(a, tf.Tensor)])
        y = tf.custom_gradient(f)(*args)
    return tape.gradient(y, args[0])


V = tf.Variable(2.0, name="w")


def reads_a_variable(x):
    return x * V, lambda g: g


def gives_one_of_two(x):
    return x * V, lambda g, variables=None: g


def no_rule():
    bare = Op(lambda xp, x: x, name="bare")
    del registry["bare"]
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = nary(bare)(X)
    tape.gradient(y, X)


@dataclass
class Weights:
    w: float


MESSAGES = {
    # Recording
    "watch a number": (
        ValueError,
        "watch: expected a tensor, a variable or a nest of them, but received 3.0 of type float. "
        "Make it a tensor with tf.constant(...).",
        lambda: used().watch([X, 3.0]),
    ),
    "watch before": (
        RuntimeError,
        "watch() needs a tape that has been entered: write `with tf.GradientTape() as tape:`.",
        lambda: tf.GradientTape().watch(X),
    ),
    "watch a variable before": (
        RuntimeError,
        "watch() needs a tape that has been entered",
        lambda: tf.GradientTape().watch(V),
    ),
    "stop_recording before": (
        RuntimeError,
        "stop_recording() needs a tape that has been entered",
        stopped_before,
    ),
    "stop_recording outside": (
        ValueError,
        "stop_recording() belongs inside the `with` block of the tape.",
        stopped_outside,
    ),
    "reset outside": (
        ValueError,
        "reset() belongs inside the `with` block of the tape: it is not recording.",
        lambda: used().reset(),
    ),
    "entered twice": (
        ValueError,
        "This tape is recording already: a block of it cannot hold another.",
        entered_twice,
    ),
    "budget": (
        ValueError,
        "memory_budget: expected a number of bytes or a text like '2GB' or '512MiB', not '2 cats'.",
        lambda: tf.GradientTape(memory_budget="2 cats"),
    ),
    "budget of two points": (
        ValueError,
        "memory_budget: expected a number of bytes or a text like '2GB' or '512MiB', not '1.2.3GB'",
        lambda: tf.GradientTape(memory_budget="1.2.3GB"),
    ),
    # gradient
    "gradient twice": (
        RuntimeError,
        "A non-persistent GradientTape can only be used to compute one set of gradients (or "
        "jacobians). Use tf.GradientTape(persistent=True) to ask it several times.",
        asked_twice,
    ),
    "gradient of nothing recorded": (
        RuntimeError,
        "This tape was never entered, so it holds nothing to differentiate: compute the target "
        "inside `with tf.GradientTape() as tape:`.",
        lambda: tf.GradientTape().gradient(X, X),
    ),
    "target None": (
        TypeError,
        "gradient: `target` must be a tensor or a nest of tensors, and is None.",
        lambda: used().gradient(None, X),
    ),
    "target of a number": (
        TypeError,
        "gradient: `target` must consist of tensors, and holds 3.0 of type float.",
        lambda: used().gradient([3.0], X),
    ),
    "target of rows": (
        TypeError,
        "gradient: an IndexedSlices cannot be a target. Make it dense: "
        "tf.convert_to_tensor(slices).",
        lambda: used().gradient(tf.IndexedSlices([1.0], [0], [2]), X),
    ),
    "source of a number": (
        TypeError,
        "gradient: `sources` must consist of tensors and variables, and hold 3.0 of type float. "
        "The gradient is by a tensor that the tape watched: x = tf.constant(...), tape.watch(x).",
        lambda: used().gradient(X, [X, 3.0]),
    ),
    "source of a dataclass": (
        TypeError,
        "gradient: `sources` must consist of tensors and variables, and hold Weights(w=3.0) of "
        "type Weights. A dataclass is looked into if it says how, with __tf_flatten__ and "
        "__tf_unflatten__; or pass vars(x), its fields as a dict.",
        lambda: used().gradient(X, Weights(3.0)),
    ),
    "source None": (
        TypeError,
        "gradient: `sources` must consist of tensors and variables, and hold None of type NoneType",
        lambda: used().gradient(X, None),
    ),
    "output gradient None": (
        ValueError,
        "gradient: `output_gradients` must not hold None.",
        lambda: used().gradient([X, X], X, [None, X]),
    ),
    "unconnected": (
        ValueError,
        "gradient: unknown value for `unconnected_gradients`: 'zeros'. It is 'none' or 'zero'.",
        lambda: used().gradient(X, X, unconnected_gradients="zeros"),
    ),
    "no rule": (
        LookupError,
        "bare: no gradient rule with respect to `x` (rules exist for: no argument). Pass "
        "stop_gradient(x) if its gradient is not wanted, or give the op a rule with "
        '@bare.vjp("x").',
        no_rule,
    ),
    # jacobian
    "jacobian of a list": (
        TypeError,
        "jacobian: `target` must be one tensor, and is a list: [",
        lambda: used().jacobian([X], X),
    ),
    "jacobian by a number": (
        TypeError,
        "`sources` must consist of tensors and variables, and hold 'x' of type str.",
        lambda: used().jacobian(X, "x"),
    ),
    "jacobian row by row": (
        RuntimeError,
        "jacobian: experimental_use_pfor=False asks the tape once for each row, which takes a "
        "persistent one: tf.GradientTape(persistent=True).",
        lambda: used().jacobian(X, X, experimental_use_pfor=False),
    ),
    "jacobian of few at a time": (
        ValueError,
        "jacobian: `parallel_iterations` limits how many rows are computed at once: it must be 2 "
        "or more, on a persistent tape, and is 1.",
        lambda: used(persistent=True).jacobian(X, X, parallel_iterations=1),
    ),
    "jacobian unconnected": (
        ValueError,
        "unknown value for `unconnected_gradients`: 1. It is 'none' or 'zero'.",
        lambda: used().jacobian(X, X, unconnected_gradients=1),
    ),
    "jacobian never entered": (
        RuntimeError,
        "This tape was never entered",
        lambda: tf.GradientTape().jacobian(X, X),
    ),
    # batch_jacobian
    "batch_jacobian of a vector": (
        ValueError,
        "batch_jacobian: target and source need rank 2 or more, the first axis being the examples. "
        "Received shapes (2,) and (2, 3).",
        lambda: used().batch_jacobian(X, MATRIX),
    ),
    "batch_jacobian of other examples": (
        ValueError,
        "batch_jacobian: target and source must have the same first dimension, the number of "
        "examples. Received shapes (4, 3) and (2, 3).",
        lambda: used().batch_jacobian(tf.ones([4, 3]), MATRIX),
    ),
    "batch_jacobian of a list": (
        TypeError,
        "batch_jacobian: `target` must be one tensor, and is a list",
        lambda: used().batch_jacobian([MATRIX], MATRIX),
    ),
    "batch_jacobian by a list": (
        TypeError,
        "batch_jacobian: `source` must be one tensor, and is a list",
        lambda: used().batch_jacobian(MATRIX, [MATRIX]),
    ),
    "batch_jacobian of integers": (
        TypeError,
        "batch_jacobian: `target` must be floating or complex.",
        lambda: used().batch_jacobian(tf.ones([2, 3], tf.int32), MATRIX),
    ),
    "batch_jacobian of few at a time": (
        RuntimeError,
        "batch_jacobian: `parallel_iterations` limits how many rows are computed at once",
        lambda: used().batch_jacobian(MATRIX, MATRIX, parallel_iterations=4),
    ),
    "batch_jacobian row by row": (
        RuntimeError,
        "batch_jacobian: experimental_use_pfor=False asks the tape once for each row",
        lambda: used().batch_jacobian(MATRIX, MATRIX, experimental_use_pfor=False),
    ),
    # per_example_gradient
    "per_example_gradient of a scalar": (
        ValueError,
        "per_example_gradient: `losses` must be a floating tensor of rank 1, a loss for each "
        "example.",
        lambda: used().per_example_gradient(X[0], X),
    ),
    "per_example_gradient of integers": (
        ValueError,
        "per_example_gradient: `losses` must be a floating tensor of rank 1",
        lambda: used().per_example_gradient(tf.constant([1, 2]), X),
    ),
    "per_example_gradient of a list": (
        TypeError,
        "per_example_gradient: `losses` must be one tensor, and is a list: [1.0].",
        lambda: used().per_example_gradient([1.0], X),
    ),
    # sparse_jacobian
    "sparse_jacobian of a list": (
        TypeError,
        "sparse_jacobian: `target` must be one tensor, and is a list",
        lambda: used().sparse_jacobian([X], X),
    ),
    "sparse_jacobian by a list": (
        TypeError,
        "sparse_jacobian: `source` must be one tensor, and is a list",
        lambda: used().sparse_jacobian(X, [X]),
    ),
    "sparse_jacobian in a dense structure": (
        TypeError,
        "sparse_jacobian: `structure` must be a SciPy sparse array, such as "
        "tape.jacobian_structure gives, and is a ndarray.",
        lambda: used().sparse_jacobian(X, X, np.eye(2)),
    ),
    "sparse_jacobian in another structure": (
        ValueError,
        "sparse_jacobian: `structure` must have a row for each element of `target` and a column "
        "for each of `source`: shape (2, 2). Received shape (2, 6).",
        lambda: used().sparse_jacobian(X, X, used().jacobian_structure(X, MATRIX)),
    ),
    "jacobian_structure by a list": (
        TypeError,
        "jacobian_structure: `source` must be one tensor, and is a tuple",
        lambda: used().jacobian_structure(X, (X,)),
    ),
    "jacobian_structure never entered": (
        RuntimeError,
        "This tape was never entered",
        lambda: tf.GradientTape().jacobian_structure(X, X),
    ),
    # ForwardAccumulator
    "tangents nested otherwise": (
        ValueError,
        "ForwardAccumulator: `tangents` must be nested like `primals`.",
        lambda: tf.autodiff.ForwardAccumulator([X], X),
    ),
    "a primal that is a number": (
        ValueError,
        "ForwardAccumulator: `primals` must consist of tensors and variables, and hold 1.0 of type "
        "float.",
        lambda: tf.autodiff.ForwardAccumulator(1.0, 1.0),
    ),
    "a tangent of another shape": (
        ValueError,
        "ForwardAccumulator: a tangent must have the dtype and shape of its primal, float32 (2,), "
        "and has float32 (3,).",
        lambda: tf.autodiff.ForwardAccumulator(X, tf.ones([3])),
    ),
    "a tangent of another dtype": (
        ValueError,
        "and has float64 (2,).",
        lambda: tf.autodiff.ForwardAccumulator(X, tf.ones([2], tf.float64)),
    ),
    "a primal twice": (
        ValueError,
        "ForwardAccumulator: a tensor is listed twice in `primals`.",
        lambda: tf.autodiff.ForwardAccumulator([X, X], [X, X]),
    ),
    "an accumulator in itself": (
        ValueError,
        "This accumulator is active already: a block of it cannot hold another.",
        active_twice,
    ),
    "jvp unconnected": (
        ValueError,
        "unknown value for `unconnected_gradients`: 'some'",
        lambda: tf.autodiff.ForwardAccumulator(X, X).jvp(X, unconnected_gradients="some"),
    ),
    "tangents without an axis": (
        ValueError,
        "BatchForwardAccumulator: `tangents` must have one axis more than `primals`, the first "
        "one, of one length for all.",
        lambda: tf.autodiff.BatchForwardAccumulator([X, X], [tf.ones([3, 2]), tf.ones([4, 2])]),
    ),
    # custom_gradient
    "no pair": (
        TypeError,
        "custom_gradient: <lambda> must return a pair (result, function of the upstream "
        "gradients), and returned <tf.Tensor",
        lambda: custom(lambda x: x),
    ),
    "no function": (
        TypeError,
        "custom_gradient: <lambda> must return a pair (result, function of the upstream gradients)",
        lambda: custom(lambda x: (x, x)),
    ),
    "no keyword for variables": (
        TypeError,
        "custom_gradient: reads_a_variable reads the variables 'w:0', so its gradient function "
        "must take the keyword `variables` and return (gradients of the arguments, gradients of "
        "the variables).",
        lambda: custom(reads_a_variable),
    ),
    "one of two": (
        ValueError,
        "custom_gradient: the gradient function of gives_one_of_two must return (gradients of the "
        "arguments, gradients of the variables), and returned",
        lambda: custom(gives_one_of_two),
    ),
    "too many gradients": (
        ValueError,
        "custom_gradient: the gradient function of <lambda> returned 2 gradients for 1 arguments. "
        "It must return one for each, None where there is none.",
        lambda: custom(lambda x: (x, lambda g: (g, g))),
    ),
    "a gradient of another shape": (
        ValueError,
        "custom_gradient: the gradient function of <lambda> returned a gradient of shape (1,) for "
        "argument 0, which has shape (2,). They must be equal.",
        lambda: custom(lambda x: (x, lambda g: g[:1])),
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_message(case):
    kind, message, call = MESSAGES[case]
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value), str(caught.value)


@pytest.mark.parametrize("case", MESSAGES)
def test_it_is_a_sentence(case):
    """A text begins with who speaks, and ends with a full stop."""
    _, _, call = MESSAGES[case]
    with pytest.raises(Exception) as caught:
        call()
    assert re.match(r"[A-Z<]|\w+(\(\))?[: ]", str(caught.value))
    assert str(caught.value).rstrip().endswith((".", '")'))


def test_a_refused_argument_leaves_the_tape_as_it_was():
    tape = used()
    for refused in (
        lambda: tape.gradient(None, X),
        lambda: tape.gradient(tape.y, 3.0),
        lambda: tape.gradient(tape.y, X, unconnected_gradients="no"),
        lambda: tape.batch_jacobian(tape.y, X),
        lambda: tape.per_example_gradient(tape.z, X),
        lambda: tape.sparse_jacobian(tape.y, X, np.eye(2)),
    ):
        with pytest.raises((TypeError, ValueError)):
            refused()
    assert tape.gradient(tape.y, X).numpy().tolist() == [2, 2]
