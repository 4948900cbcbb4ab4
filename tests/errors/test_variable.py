"""Messages of variables."""

import re

import pytest

import gradtape as tf
from gradtape._src.core.errors import DTypeError, ShapeError, SymbolicTensorError

pytestmark = pytest.mark.gradtape_only

INVALID = tf.errors.InvalidArgumentError
IN_EACH_OF_A_BATCH = "a variable holds one value, and inside vectorized_map this tensor has one for"


def vector():
    return tf.Variable([1.0, 2.0], name="w")


def matrix():
    return tf.Variable(tf.zeros([3, 2]), name="m")


def rows(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices))


def for_each(use):
    return tf.vectorized_map(lambda x: use(x) or x, tf.constant([1.0, 2.0]))


def leaked():
    """A tensor of a function that was traced."""
    found = []
    tf.function(lambda x: found.append(x * 2.0))(tf.constant(1.0))
    return found[0]


MESSAGES = {
    "an item is assigned": (
        TypeError,
        "'Variable' object does not support item assignment. Write v[i].assign(value), or "
        "v.scatter_nd_update(indices, values) for many places.",
        lambda: vector().__setitem__(0, 1.0),
    ),
    "no initial value": (
        ValueError,
        "Variable: `initial_value` is needed: a number, a list, an array or a tensor.",
        lambda: tf.Variable(),
    ),
    "a shape that does not fit": (
        ShapeError,
        "Variable: shape=(3,) does not fit a value of shape (2,).",
        lambda: tf.Variable([1.0, 2.0], shape=[3]),
    ),
    "a dtype that does not fit": (
        DTypeError,
        "Variable: the initial value is float32, and dtype=float64 was asked for. Cast it with "
        "tf.cast.",
        lambda: tf.Variable(tf.constant(1.0), dtype=tf.float64),
    ),
    "made in a batch": (
        INVALID,
        f"Variable: {IN_EACH_OF_A_BATCH} each element. Return it from the function",
        lambda: for_each(tf.Variable),
    ),
    "made from a leaked tensor": (
        SymbolicTensorError,
        "A tensor of a function that was traced is out of scope",
        lambda: tf.Variable(leaked()),
    ),
    "assign: another dtype": (
        DTypeError,
        "assign: the variable 'w:0' is float32, and the value is int32. Cast it: "
        "tf.cast(value, tf.float32).",
        lambda: vector().assign(tf.constant([1, 2])),
    ),
    "assign: another shape": (
        ShapeError,
        "assign: the variable 'w:0' has shape (2,), and the value has shape (3,). They must be "
        "equal; nothing is broadcast.",
        lambda: vector().assign([1.0, 2.0, 3.0]),
    ),
    "assign: another rank than that left open": (
        ShapeError,
        "assign: the variable 'Variable:0' has shape (None,), and the value has shape (1, 1).",
        lambda: tf.Variable([1.0], shape=[None]).assign([[1.0]]),
    ),
    "assign_add: another shape": (
        ShapeError,
        "assign_add: the variable 'w:0' has shape (2,), and the value has shape ().",
        lambda: vector().assign_add(1.0),
    ),
    "assign_sub: another dtype": (
        DTypeError,
        "assign_sub: the variable 'w:0' is float32, and the value is float64.",
        lambda: vector().assign_sub(tf.Variable([1.0, 2.0], dtype=tf.float64)),
    ),
    "assign: no number": (
        DTypeError,
        "assign: expected values of float32, but received a string: ['a', 'b'].",
        lambda: vector().assign(["a", "b"]),
    ),
    "assign: in a batch": (
        INVALID,
        f"assign: {IN_EACH_OF_A_BATCH}",
        lambda: for_each(tf.Variable(0.0).assign),
    ),
    "assign: a leaked tensor": (
        SymbolicTensorError,
        "A tensor of a function that was traced is out of scope",
        lambda: tf.Variable(1.0).assign(leaked()),
    ),
    "+=": (
        RuntimeError,
        "A variable is not changed by += and its like. Use v.assign_add(x), v.assign_sub(x) or "
        "v.assign(...); or write v = v + x to make a tensor.",
        lambda: vector().__iadd__(1.0),
    ),
    **{
        f"{operator}=": (
            RuntimeError,
            "A variable is not changed by += and its like.",
            lambda name=name: getattr(vector(), f"__i{name}__")(1.0),
        )
        for operator, name in [
            ("-", "sub"),
            ("*", "mul"),
            ("/", "truediv"),
            ("//", "floordiv"),
            ("**", "pow"),
        ]
    },
    "hash": (
        TypeError,
        "Variable is unhashable, because == compares element by element. Use v.ref() as the key.",
        lambda: {vector()},
    ),
    "len of a scalar": (
        TypeError,
        "A tensor of rank 0 has no len().",
        lambda: len(tf.Variable(1.0)),
    ),
    "scatter_add: no slices": (
        TypeError,
        "scatter_add: `sparse_delta` must be an IndexedSlices, not list.",
        lambda: matrix().scatter_add([1.0]),
    ),
    "scatter_sub: of a scalar": (
        ShapeError,
        "scatter_sub: the variable 'Variable:0' is a scalar and has no rows.",
        lambda: tf.Variable(1.0).scatter_sub(rows([1.0], [0])),
    ),
    "scatter_update: another dtype": (
        DTypeError,
        "scatter_update: the variable 'm:0' is float32, and the value is int32.",
        lambda: matrix().scatter_update(rows([[1, 2]], [0])),
    ),
    "scatter_mul: another shape": (
        ShapeError,
        "scatter_mul: for these indices and a variable of shape (3, 2) the updates must have "
        "shape (1, 2) or (), and have (1, 3).",
        lambda: matrix().scatter_mul(rows([[1.0, 2.0, 3.0]], [0])),
    ),
    "scatter_max: a row that is not there": (
        INVALID,
        "scatter_max: indices[0] = 3 is not in [0, 3).",
        lambda: matrix().scatter_max(rows([[1.0, 2.0]], [3])),
    ),
    "scatter_nd_add: indices that are no integers": (
        DTypeError,
        "scatter_nd_add: `indices` must be integers, and are float32.",
        lambda: matrix().scatter_nd_add([[0.5, 1.0]], [1.0]),
    ),
    "scatter_nd_sub: too many coordinates": (
        ShapeError,
        "scatter_nd_sub: the last axis of `indices` must hold at most 2 coordinates of the "
        "variable, which has shape (3, 2). Received: array([[0, 0, 0]]",
        lambda: matrix().scatter_nd_sub([[0, 0, 0]], [1.0]),
    ),
    "scatter_nd_update: another shape": (
        ShapeError,
        "scatter_nd_update: for these indices and a variable of shape (3, 2) the updates must "
        "have shape (1,), and have (2,).",
        lambda: matrix().scatter_nd_update([[0, 0]], [1.0, 2.0]),
    ),
    "a part: another shape": (
        INVALID,
        "from shape (3,) into shape (2,) (the variable has shape (3, 2)).",
        lambda: matrix()[0].assign([1.0, 2.0, 3.0]),
    ),
    "a part: another dtype": (
        DTypeError,
        "assign: the variable 'm:0' is float32, and the value is int32.",
        lambda: matrix()[0].assign(tf.constant([1, 2])),
    ),
}


@pytest.mark.parametrize(("kind", "message", "use"), MESSAGES.values(), ids=MESSAGES)
def test_messages(kind, message, use):
    with pytest.raises(kind, match=re.escape(message)):
        use()
