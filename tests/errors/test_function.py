"""Messages of compiled functions, with the user's line.

A statement that must be named in a message ends with a comment `# here: NAME`.
"""

import logging
import re
from pathlib import Path

import pytest

import gradtape as tf
from gradtape._src.core.errors import SymbolicTensorError

pytestmark = pytest.mark.gradtape_only

X = tf.constant([1.0, 2.0, 3.0])
ONE = tf.constant(1.0)

LINES = {
    found[1]: number
    for number, line in enumerate(Path(__file__).read_text().splitlines(), 1)
    if (found := re.search(r"# here: (\w+)$", line))
}


def at(name):
    return f"{__file__}, line {LINES[name]}"


def raised(kind, f, *args, **kwargs):
    with pytest.raises(kind) as caught:
        f(*args, **kwargs)
    return str(caught.value)


def traced(python, *args, autograph=True, jit_compile=None):
    return tf.function(python, autograph=autograph, jit_compile=jit_compile)(*args)


# What can be a function, and how it is called


def test_what_is_not_callable():
    assert raised(TypeError, tf.function, 3) == ("function: expected a function to compile, not 3.")


def test_an_input_signature_that_is_no_list():
    message = raised(TypeError, tf.function, lambda x: x, input_signature=tf.TensorSpec([]))
    assert message.startswith(
        "function: `input_signature` must be a list or tuple with a TensorSpec, or a nest of them, "
        "for each argument, not TensorSpec("
    )


@tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
def of_two(x):
    return x


SIGNATURES = {
    "another shape": (
        X,
        "of_two: argument 0 must be a TensorSpec(shape=(2,), dtype=tf.float32, name=None) by its "
        "`input_signature`, and is float32 of shape (3,).",
    ),
    "another dtype": (
        tf.constant([1, 2]),
        "of_two: argument 0 must be a TensorSpec(shape=(2,), dtype=tf.float32, name=None) by its "
        "`input_signature`, and is int32 of shape (2,).",
    ),
    "no tensor": (
        "text",
        "of_two: argument 0 must be a TensorSpec(shape=(2,), dtype=tf.float32, name=None). ",
    ),
}


@pytest.mark.parametrize("what", SIGNATURES)
def test_an_argument_that_does_not_fit_the_signature(what):
    argument, message = SIGNATURES[what]
    assert raised(TypeError, of_two, argument).startswith(message)


def test_too_few_arguments_for_the_signature():
    f = tf.function(lambda *xs: xs[0], input_signature=[tf.TensorSpec([]), tf.TensorSpec([])])
    assert raised(TypeError, f, ONE) == (
        "<lambda>: takes 2 arguments by its `input_signature`, and got 1."
    )


def test_a_concrete_function_is_for_one_signature():
    def scaled(x, factor):
        return x * factor

    f = tf.function(scaled).get_concrete_function(X, 2.0)
    assert raised(TypeError, f, tf.constant([1.0]), 2.0).startswith(
        "scaled: this trace is for `x` = <tf.Tensor: shape=(3,)"
    )
    assert raised(TypeError, f, X, 3.0) == "scaled: this trace is for `factor` = 2.0, and got 3.0."
    assert raised(TypeError, f, X, size=1) == (
        "scaled: this trace takes x, factor, and got 1 arguments and size."
    )
    g = tf.function(scaled).get_concrete_function(tf.TensorSpec([3]), 2.0)
    assert raised(TypeError, g) == "scaled: the argument `x` is missing."


def test_a_method_of_an_instance_without_weak_references():
    class Slots:
        __slots__ = ()

        @tf.function
        def double(self, x):
            return 2.0 * x

    assert raised(TypeError, lambda: Slots().double(X)) == (
        "@function: double is a method of Slots, whose instances cannot be referred to weakly: add "
        "'__weakref__' to its __slots__."
    )


def test_what_cannot_be_returned():
    message = raised(TypeError, traced, lambda: object())
    assert message.startswith("@function: <lambda> returned <object object at")
    assert message.endswith(
        "of type object. A function that is traced returns tensors, None, and nests of them."
    )


def test_a_function_that_is_traced_again_and_again(caplog):
    @tf.function
    def scaled(x, factor):
        return x * factor

    with caplog.at_level(logging.WARNING):
        for factor in range(6):
            scaled(X, float(factor))
    (record,) = caplog.records
    assert record.getMessage() == (
        "scaled was traced 5 times, which is slow, because `factor` differs from call to call: "
        "'0.0', '1.0', '2.0', '3.0', '4.0'. Pass numbers as tensors, and tensors of one shape; or "
        "create the function once, outside of the loop."
    )


# Values that there are none of while a function is traced


def test_a_tensor_that_left_its_function():
    left = []

    @tf.function
    def f(x):
        left.append(x * 2.0)  # here: leaked
        return x

    f(X)
    message = (
        f"A tensor of a function that was traced is out of scope: it was made at {at('leaked')}, "
        "and has a value inside that function only. Return it from the function; do not keep it "
        "in an attribute, a list or a global."
    )
    uses = [
        lambda: left[0].numpy(),
        lambda: left[0] + 1.0,
        lambda: f(left[0]),
        lambda: traced(lambda x: x + left[0], X),
    ]
    for use in uses:
        assert raised(SymbolicTensorError, use).endswith(message)


def test_the_values_of_a_tensor_in_python():
    def f(x):
        y = x + 1.0  # here: made
        return y.numpy()

    message = raised(SymbolicTensorError, traced, f, X)
    assert message.endswith(
        f"(Made at {at('made')}.) Inside a function use tf.print to see values, tf.cond and "
        "tf.while_loop, or Python's `if` and `while` with autograph=True, to decide by them, or "
        "tf.config.run_functions_eagerly(True) to debug."
    )


def test_a_python_if_without_autograph():
    def f(x):
        y = x[0] > 0.0  # here: condition
        return x if y else -x

    assert f"(Made at {at('condition')}.)" in raised(
        SymbolicTensorError, traced, f, X, autograph=False
    )


DEPENDS = "the size of its result depends on values, which"
NEEDS = "to compile it, XLA needs the values of `limit`, which"
VALUES = {
    "places": (lambda x: tf.where(x > 0.0), f"where: {DEPENDS}"),  # here: places
    "length": (lambda x: tf.range(tf.cast(x[0], tf.int32)), f"range: {NEEDS}"),  # here: length
}
COMPILED = (
    "In a compiled program sizes and axes are fixed, and {} has jit_compile=True; without it, it "
    "would run as plain Python. To compile it, compute with masks (tf.where with three arguments), "
    "pass the number as a Python value, give a TensorArray its size, or put what can be compiled "
    "into a @function of its own, which this one calls."
)


@pytest.mark.parametrize("line", VALUES)
def test_an_op_that_needs_values(line):
    python, what = VALUES[line]
    message = raised(tf.errors.DynamicSizeError, traced, python, X, jit_compile=True)
    assert message == (
        f"{at(line)}: {what} are not known while the function is traced. "
        f"{COMPILED.format('<lambda>')}"
    )


def test_a_size_that_is_a_tensor():
    def f(x):
        n = tf.cast(x[0], tf.int32)
        return tf.zeros([n])  # here: size

    message = raised(tf.errors.DynamicSizeError, traced, f, X, jit_compile=True)
    assert message == (
        f"{at('size')}: zeros: to compile it, XLA needs the values of `shape`, which are not known "
        f"while the function is traced. {COMPILED.format('f')}"
    )


# Variables


def test_a_variable_that_is_created_by_a_later_call():
    @tf.function
    def f(x):
        v = tf.Variable(1.0, name="made_inside")  # here: created
        return x * v

    assert raised(ValueError, f, X) == (
        f"{at('created')}: @function: f creates variables ('made_inside:0') when it is called "
        "again. A function may create variables on its first call only: keep them, e.g. `if "
        "self.v is None: self.v = tf.Variable(...)`, or create them outside."
    )


def test_an_initial_value_that_depends_on_an_argument():
    kept = []

    @tf.function
    def f(x):
        if not kept:
            kept.append(tf.Variable(x + 1.0, name="later"))  # here: initial
        return x * kept[0]

    assert raised(ValueError, f, X) == (
        f"{at('initial')}: @function: the initial value of the variable 'later:0' depends on an "
        "argument of f, which has no value while it is traced. Create the variable outside, or "
        "from values that do not depend on the arguments."
    )


# Control flow as functions


def cond_of_structures(x):
    return tf.cond(x[0] > 0.0, lambda: (x, x), lambda: [x])  # here: cond_structures


def cond_of_dtypes(x):
    return tf.cond(x[0] > 0.0, lambda: x, lambda: tf.constant(1))  # here: cond_dtypes


def cond_of_shapes(x):
    return tf.cond(x[0] > 0.0, lambda: x, lambda: x[:2])  # here: cond_shapes


def cond_of_many(x):
    return tf.cond(x > 0.0, lambda: x, lambda: -x)  # here: cond_many


def switch_of_shapes(x):
    index = tf.cast(x[0], tf.int32)
    return tf.switch_case(index, [lambda: x, lambda: -x, lambda: x[0]])  # here: switch_shapes


def loop_of_dtypes(x):
    start = [tf.constant(0)]
    return tf.while_loop(lambda i: i < 3, lambda i: tf.cast(i, "int64"), start)  # here: loop_dtypes


def loop_of_shapes(x):
    double = lambda y: tf.concat([y, y], 0)  # noqa: E731
    return tf.while_loop(lambda y: y[0] < 3.0, double, [x])  # here: loop_shapes


def loop_of_structures(x):
    return tf.while_loop(lambda y, z: y[0] < 3.0, lambda y, z: [y], [x, x])


def loop_of_many_conditions(x):
    return tf.while_loop(lambda y: y < 3.0, lambda y: y + 1.0, [x])  # here: loop_many


V = tf.Variable(1.0)


def loop_that_assigns_in_cond(x):
    return tf.while_loop(lambda y: V.assign_add(1.0) < y[0], lambda y: y, [x])  # here: loop_assigns


def loop_of_unknown_elements(x):
    start = [tf.constant(0), tf.TensorArray(tf.float32, 3)]
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a), start)  # here: loop_array


INVALID = tf.errors.InvalidArgumentError

MISMATCHES = {
    cond_of_structures: (
        "cond_structures",
        (TypeError, ValueError),
        "cond: `true_fn` and `false_fn` must return the same structure, because only the run "
        "decides between them. ",
    ),
    cond_of_dtypes: (
        "cond_dtypes",
        TypeError,
        "cond: result 0 of `true_fn` is float32, and that of `false_fn` is int32. They must agree: "
        "cast one of them.",
    ),
    cond_of_shapes: (
        "cond_shapes",
        tf.errors.DynamicSizeError,
        "cond: result 0 of `true_fn` has shape (3,), and that of `false_fn` has shape (2,), so "
        "that only the run decides on the shape. In a compiled program sizes and axes are fixed, "
        "and",
    ),
    cond_of_many: (
        "cond_many",
        ValueError,
        "cond: the condition must be one value, and has shape (3,). Use reduce_any(x) or "
        "reduce_all(x).",
    ),
    switch_of_shapes: (
        "switch_shapes",
        tf.errors.DynamicSizeError,
        "switch_case: result 0 of `branch 0` has shape (3,), and that of `branch 2` has shape (), "
        "so that only the run decides on the shape.",
    ),
    loop_of_dtypes: (
        "loop_dtypes",
        TypeError,
        "while_loop: loop variable 0 begins as int32, and is int64 after one round. Cast it to "
        "what it was.",
    ),
    loop_of_shapes: (
        "loop_shapes",
        ValueError,
        "while_loop: loop variable 0 begins with shape (3,), and has shape (6,) after one round. A "
        "compiled loop keeps its shapes: collect values with tf.TensorArray or tf.scan.",
    ),
    loop_of_many_conditions: (
        "loop_many",
        ValueError,
        "while_loop: `cond` must return one bool, and returned <tf.Tensor",
    ),
    loop_that_assigns_in_cond: (
        "loop_assigns",
        INVALID,
        "while_loop: `cond` must not assign to variables.",
    ),
    loop_of_unknown_elements: (
        "loop_array",
        INVALID,
        "while_loop: loop variable 1 is a TensorArray that no round writes, and the shape of its "
        "elements is not known. Give `element_shape`.",
    ),
}


@pytest.mark.parametrize("python", MISMATCHES, ids=lambda f: f.__name__)
def test_control_flow_that_does_not_fit(python):
    line, kind, message = MISMATCHES[python]
    found = raised(kind, traced, python, X, jit_compile=True)
    assert found.startswith(f"{at(line)}: {message}")


def test_a_body_that_returns_another_structure():
    message = raised((TypeError, ValueError), traced, loop_of_structures, X)
    assert message.startswith("while_loop: `body` must return its loop variables nested as they")


def test_a_gradient_of_another_dtype():
    f = tf.function(lambda x: x * 2.0)
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)
    weights = tf.ones(3, tf.float64)
    assert raised(TypeError, tape.gradient, y, X, output_gradients=weights) == (
        "gradient: the output gradient of a result of <lambda> is float64, and the result is "
        "float32. Cast it: tf.cast(g, tf.float32)."
    )


# Python's control flow


def if_of_many(x):
    if x > 0.0:  # here: if_many
        x = -x
    return x


def if_without_else(x):
    if x[0] > 0.0:  # here: if_else
        y = x
    return y


def if_that_returns_in_one_branch(x):
    if x[0] > 0.0:  # here: if_return
        return x


def if_of_structures(x):
    y = (x, x)
    if x[0] > 0.0:  # here: if_structures
        y = [x]
    return y


def if_of_objects(x):
    y = list
    if x[0] > 0.0:  # here: if_objects
        y = dict
    return x, y


def if_of_dtypes(x):
    y = tf.constant(1)
    if x[0] > 0.0:  # here: if_dtypes
        y = x[0]
    return y


def if_of_shapes(x):
    y = x
    if x[0] > 0.0:  # here: if_shapes
        y = x[:2]
    return y


def while_of_dtypes(x):
    i = 0
    while i < tf.cast(x[0], tf.int32):  # here: while_dtypes
        i = i + 0.5 * x[0] if False else tf.cast(i, tf.int64)
    return i


def while_of_shapes(x):
    while x[0] < 3.0:  # here: while_shapes
        x = tf.concat([x, x], 0)
    return x


def while_of_structures(x):
    y = (x,)
    while x[0] < 3.0:  # here: while_structures
        x = x + 1.0
        y = (x, x)
    return y


def while_of_objects(x):
    kind = list
    while x[0] < 3.0:  # here: while_objects
        x = x + 1.0
        kind = dict
    return x, kind


def while_that_loses_a_tensor(x):
    y = x
    while x[0] < 3.0:  # here: while_lost
        x = x + 1.0
        y = "gone"
    return y


def while_that_appends(x):
    found = []
    while x[0] < 3.0:  # here: while_appends
        x = x + 1.0
        found.append(x)
    return found


PYTHON = {
    if_of_many: (
        "if_many",
        ValueError,
        "the truth value of a tensor of shape (3,) is ambiguous. Use tf.reduce_any(x) or "
        "tf.reduce_all(x).",
    ),
    if_without_else: (
        "if_else",
        ValueError,
        "`y` must also be initialized in the else branch, because the condition is a tensor and "
        "only the program knows which branch runs. Give it a value of the same shape and dtype "
        "there, or before the `if`.",
    ),
    if_that_returns_in_one_branch: (
        "if_return",
        ValueError,
        "the else branch must also have a return statement with a value, because the condition is "
        "a tensor: a program returns the same on every path.",
    ),
    if_of_structures: (
        "if_structures",
        TypeError,
        "`y` must have the same nested structure in both branches of an `if` on a tensor. ",
    ),
    if_of_objects: (
        "if_objects",
        TypeError,
        "`y` is <class 'dict'> in the main branch and <class 'list'> in the else branch. Where the "
        "condition is a tensor, only tensors and numbers can depend on it.",
    ),
    if_of_dtypes: (
        "if_dtypes",
        TypeError,
        "`y` has dtype float32 in the main branch and int32 in the else branch. Convert one of "
        "them with tf.cast.",
    ),
    if_of_shapes: (
        "if_shapes",
        tf.errors.DynamicSizeError,
        "`y` has shape (2,) in the main branch and (3,) in the else branch, so that only the run "
        "decides on the shape. In a compiled program sizes and axes are fixed, and",
    ),
    while_of_dtypes: (
        "while_dtypes",
        TypeError,
        "`i` has dtype int32 before the loop (it begins as the number 0) and int64 after a round "
        "of it. Begin with a tensor of int64, or convert with tf.cast.",
    ),
    while_of_shapes: (
        "while_shapes",
        ValueError,
        "`x` has shape (3,) before the loop and (6,) after a round of it. A compiled loop keeps "
        "its shapes: begin with the shape that it has later, or collect values with a "
        "tf.TensorArray or by appending to a list.",
    ),
    while_of_structures: (
        "while_structures",
        TypeError,
        "`y` must have the same nested structure before the loop and after a round of it, because "
        "the loop is part of the program. ",
    ),
    while_of_objects: (
        "while_objects",
        TypeError,
        "`kind` is <class 'list'> before the loop and <class 'dict'> after a round of it. A loop "
        "of the program carries tensors and numbers only: begin with a tensor of the shape and "
        "dtype that it has later.",
    ),
    while_that_loses_a_tensor: (
        "while_lost",
        TypeError,
        "`y` is a tensor before the loop and 'gone' after a round of it. A loop of the program "
        "carries the same tensors from round to round.",
    ),
    while_that_appends: (
        "while_appends",
        TypeError,
        "`found` is appended to in a loop of which only the program knows the number of rounds, so "
        "that a list cannot hold the results. Use a tf.TensorArray of the largest size, or a `for` "
        "over a tensor without break and return.",
    ),
}


@pytest.mark.parametrize("python", PYTHON, ids=lambda f: f.__name__)
def test_python_control_flow_that_does_not_fit(python):
    line, kind, message = PYTHON[python]
    found = raised(kind, traced, python, X, jit_compile=True)
    assert found.startswith(f"{at(line)}: {message}")


def test_a_variable_that_only_a_loop_gives_a_value_to():
    @tf.function
    def f(n):
        for i in tf.range(n):  # here: never
            y = i
        return y

    assert int(f(tf.constant(3))) == 2
    assert raised(INVALID, f, tf.constant(0)) == (
        f"{at('never')}: the loop must run at least once to give a value to y. Give them values "
        "before the loop."
    )


def test_an_assertion_that_fails_at_the_run():
    @tf.function
    def f(x):
        assert x[0] > 0.0, "must be positive"  # here: asserted
        return x

    f(X)
    assert raised(INVALID, f, -X) == f"{at('asserted')}: assertion failed. must be positive"


def test_a_loop_over_a_scalar():
    def f(x):
        for _ in x[0]:
            pass

    assert raised(TypeError, traced, f, X) == "A tensor of rank 0 cannot be iterated over."


def test_why_a_function_was_not_converted():
    def f(x):
        class Inner:
            pass

        return x if x[0] > 0.0 else -x

    message = raised(SymbolicTensorError, traced, f, X)
    assert message.endswith("f as it is: it defines a class.")


# Derivatives inside a function


def test_gradients_outside_of_a_function():
    assert raised(RuntimeError, tf.gradients, X, X) == (
        "gradients: works inside @function only. Eagerly, record with tf.GradientTape() and ask "
        "the tape: tape.gradient(y, x)."
    )


def test_too_few_weights_of_gradients():
    f = tf.function(lambda x: tf.gradients([x, x], x, grad_ys=[x]))
    assert raised(ValueError, f, X) == "gradients: 2 ys and 1 grad_ys are given."


# Files


def test_an_exported_function_of_other_tensors():
    served = tf.function(lambda x: x * 2.0).export(tf.TensorSpec([3]))
    assert raised(INVALID, served) == (
        "<lambda>: the exported function takes 1 tensors, and got 0."
    )
    assert raised(INVALID, served, ONE) == (
        "<lambda>: tensor 0 must be float32 of shape (3,), and is float32 of shape ()."
    )


def test_a_result_that_cannot_be_exported():
    f = tf.function(lambda x: tf.IndexedSlices(x, tf.constant([0, 1, 2]), (5,)))
    assert raised(NotImplementedError, f.export, tf.TensorSpec([3])) == (
        "export: <lambda> returns a value of type IndexedSlices. Return the tensors that it is "
        "made of."
    )


def test_a_file_that_is_no_function(tmp_path):
    path = tmp_path / "other.npz"
    path.write_bytes(b"something else")
    message = raised(INVALID, tf.function.load, path)
    assert message.startswith(f"function.load: {str(path)!r} is not an exported function: ")


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("value", "dtype"),
    [(3.7, tf.int32), (tf.bfloat16.as_numpy_dtype(0.5), tf.bool), (1j, tf.float32)],
)
def test_numbers_that_python_returns_are_not_cut(value, dtype, compiled):
    def call(x):
        return tf.numpy_function(lambda _: value, [x], tf.TensorSpec([], dtype))

    message = raised(INVALID, tf.function(call) if compiled else call, ONE)
    assert f"and `Tout` says {dtype.name}, which would lose a part of them." in message


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[0, 0],
        lambda x: x[..., 0, 0],
        lambda x: x[3],
        lambda x: x["name"],
        lambda x: x[:, None, 0.5],
    ],
)
def test_a_wrong_index_is_told_as_eagerly(f):
    assert raised(Exception, traced, f, X) == raised(Exception, f, X)
