"""Messages of control flow, TensorArray and TensorFlow's small helpers."""

import re

import pytest

import gradtape as tf

pytestmark = pytest.mark.gradtape_only

X = tf.constant([1.0, 2.0, 3.0])


def one():
    return X[0]


def raises(kind, message, f):
    with pytest.raises(kind) as caught:
        f()
    assert re.search(message, str(caught.value)), str(caught.value)


INVALID = tf.errors.InvalidArgumentError

MESSAGES = {
    "cond without a function": (
        TypeError,
        "cond: `false_fn` must be a function, not None",
        lambda: tf.cond(True, one),
    ),
    "case of a bool": (
        TypeError,
        "case: a condition must be a tensor of bool, not True",
        lambda: tf.case([(True, one)]),
    ),
    "case of a dict": (
        TypeError,
        "case: `pred_fn_pairs` must be a list of pairs",
        lambda: tf.case({1: one}),
    ),
    "case of no pairs": (
        TypeError,
        "case: `pred_fn_pairs` must consist of pairs",
        lambda: tf.case([one]),
    ),
    "case of nothing": (ValueError, "case: `pred_fn_pairs` is empty", lambda: tf.case([])),
    "case without a true one": (
        INVALID,
        "case: no condition is true, and there is no `default`",
        lambda: tf.case([(X[0] > 5.0, one)]),
    ),
    "case exclusive": (
        INVALID,
        r"case: exclusive=True, and more than one condition is true: \[True, True\]",
        lambda: tf.case([(X[0] > 0.0, one), (X[1] > 0.0, one)], default=one, exclusive=True),
    ),
    "switch_case of a number": (
        TypeError,
        "switch_case: `branch_index` must be an integer tensor, not 0",
        lambda: tf.switch_case(0, [one]),
    ),
    "switch_case of a float": (
        TypeError,
        "integer tensor, not float32",
        lambda: tf.switch_case(X[0], [one]),
    ),
    "switch_case of a vector": (
        ValueError,
        r"switch_case: `branch_index` must be a scalar, and has shape \(2,\)",
        lambda: tf.switch_case(tf.constant([0, 1]), [one]),
    ),
    "switch_case with a gap": (
        ValueError,
        r"must be 0 to 1, each once, and are \[0, 2\]",
        lambda: tf.switch_case(tf.constant(0), {0: one, 2: one}),
    ),
    "while_loop without variables": (
        ValueError,
        "while_loop: `loop_vars` must be a list or tuple of at least one tensor",
        lambda: tf.while_loop(lambda: True, lambda: (), []),
    ),
    "while_loop with a body that loses one": (
        ValueError,
        "while_loop: `body` must return its 2 loop variables as a list or tuple, and returned",
        lambda: tf.while_loop(lambda i, x: i < 2, lambda i, x: i + 1, (tf.constant(0), X)),
    ),
    "while_loop with another nesting": (
        ValueError,
        "while_loop: `body` must return its loop variables nested as they came",
        lambda: tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, [x]), (tf.constant(0), X)),
    ),
    "while_loop and its invariant": (
        ValueError,
        r"begins with shape \(3,\), which its invariant \(None, 2\) does not allow",
        lambda: tf.while_loop(
            lambda x: True, lambda x: x, (X,), shape_invariants=(tf.TensorShape([None, 2]),)
        ),
    ),
    "map_fn of a scalar": (
        ValueError,
        "map_fn: a tensor in `elems` is a scalar",
        lambda: tf.map_fn(tf.sin, X[0]),
    ),
    "map_fn of nothing": (
        ValueError,
        "map_fn: `elems` holds no tensor",
        lambda: tf.map_fn(tf.sin, []),
    ),
    "map_fn of two lengths": (
        ValueError,
        r"one length along axis 0. Received: \(3,\), \(2,\)",
        lambda: tf.map_fn(lambda p: p, (X, X[:2])),
    ),
    "map_fn and its dtype": (
        INVALID,
        "map_fn: `fn` returned int32 where float32 is expected. Cast what it returns or give "
        "`fn_output_signature`",
        lambda: tf.map_fn(lambda v: tf.cast(v, tf.int32), X),
    ),
    "map_fn and its shape": (
        ValueError,
        r"map_fn: `fn` returned shape \(\) where \(2,\) is expected",
        lambda: tf.map_fn(lambda v: v, X, fn_output_signature=tf.TensorSpec([2])),
    ),
    "map_fn and its nesting": (
        ValueError,
        "map_fn: `fn` must return what is nested",
        lambda: tf.map_fn(lambda v: (v, v), X),
    ),
    "map_fn to several shapes": (
        ValueError,
        r"map_fn: `fn` returned different shapes, which cannot be stacked: \[\(1,\), \(2,\), "
        r"\(3,\)\]",
        lambda: tf.map_fn(lambda v: tf.ones([int(v)]), X),
    ),
    "map_fn and a wrong signature": (
        TypeError,
        "map_fn: `fn_output_signature` must consist of dtypes and TypeSpecs, and holds 3",
        lambda: tf.map_fn(lambda v: v, X, fn_output_signature=3),
    ),
    "scan of nothing": (
        tf.errors.OutOfRangeError,
        "scan: `elems` is empty and there is no `initializer`",
        lambda: tf.scan(lambda a, v: a, X[:0]),
    ),
    "scan and its dtype": (
        INVALID,
        "scan: `fn` returned int32 where float32 is expected",
        lambda: tf.scan(lambda a, v: tf.cast(v, tf.int32), X),
    ),
    "foldl and its nesting": (
        ValueError,
        "foldl: `fn` must return what is nested",
        lambda: tf.foldl(lambda a, v: (a, v), X),
    ),
    "foldr of no function": (
        TypeError,
        "foldr: `fn` must be a function, not 3",
        lambda: tf.foldr(3, X),
    ),
    "TensorArray without a size": (
        ValueError,
        "TensorArray: `size` is needed",
        lambda: tf.TensorArray(tf.float32),
    ),
    "TensorArray written outside": (
        tf.errors.OutOfRangeError,
        r"TensorArray.write: there is no place 2 in an array of size 2; with dynamic_size=True it "
        r"would grow",
        lambda: tf.TensorArray(tf.float32, 2).write(2, 1.0),
    ),
    "TensorArray at a negative index": (
        tf.errors.OutOfRangeError,
        r"TensorArray.read: there is no element -1 in an array of size 2",
        lambda: tf.TensorArray(tf.float32, 2).read(-1),
    ),
    "TensorArray at a float": (
        TypeError,
        r"TensorArray.write: `index` must be an integer, not 1.5",
        lambda: tf.TensorArray(tf.float32, 2).write(1.5, 1.0),
    ),
    "TensorArray of another dtype": (
        INVALID,
        "TensorArray.write: the array holds float32, and `value` is int32. Cast it",
        lambda: tf.TensorArray(tf.float32, 2).write(0, tf.constant(1)),
    ),
    "TensorArray of another shape": (
        ValueError,
        r"an element of shape \(3,\) does not fit an array of elements of shape \(\).* use "
        r"infer_shape=False",
        lambda: tf.TensorArray(tf.float32, 2).write(0, 1.0).write(1, X),
    ),
    "TensorArray of unknown zeros": (
        ValueError,
        "element 0 was never written, and the shape of its zeros is not known. Give "
        "`element_shape`",
        lambda: tf.TensorArray(tf.float32, 2).stack(),
    ),
    "TensorArray unstacked": (
        ValueError,
        "TensorArray.unstack: `value` has 3 rows, and the array has 2 places and no dynamic_size",
        lambda: tf.TensorArray(tf.float32, 2).unstack(X),
    ),
    "TensorArray split": (
        INVALID,
        r"TensorArray.split: `lengths` sum up to 4, and `value` has shape \(3,\)",
        lambda: tf.TensorArray(tf.float32, 2).split(X, [2, 2]),
    ),
    "TensorArray split in too many": (
        INVALID,
        "TensorArray.split: there are 3 `lengths`, and the array has 2 places",
        lambda: tf.TensorArray(tf.float32, 2).split(X, [1, 1, 1]),
    ),
    "TensorArray of scalars joined": (
        INVALID,
        r"TensorArray.concat: the element at 0 is a scalar, and has no axis to join along. Use "
        r"stack\(\)",
        lambda: tf.TensorArray(tf.float32, 3).unstack(X).concat(),
    ),
    "TensorArray scattered": (
        ValueError,
        "TensorArray.scatter: there are 4 indices, and `value`",
        lambda: tf.TensorArray(tf.float32, 4).scatter([0, 1, 2, 3], X),
    ),
    "TensorArray gathered outside": (
        IndexError,
        "TensorArray.gather: there is no element 3 in an array of size 3",
        lambda: tf.TensorArray(tf.float32, 3).unstack(X).gather([3]),
    ),
    "bitcast to a larger dtype": (
        INVALID,
        r"bitcast: from float32 to float64 the last axis must have size 2, and `input` has shape "
        r"\(3,\)",
        lambda: tf.bitcast(X, tf.float64),
    ),
    "bitcast to bool": (
        INVALID,
        "bitcast: `type` must be numeric, and is bool",
        lambda: tf.bitcast(X, tf.bool),
    ),
    "as_string and fill": (INVALID, "as_string: `fill` must be", lambda: tf.as_string(X, fill="x")),
    "as_string of integers": (
        INVALID,
        "`precision`, `scientific` and `shortest` are for floats, and `input` is int32",
        lambda: tf.as_string(tf.constant(1), precision=2),
    ),
    "an initializer of integers": (
        ValueError,
        "random_normal_initializer: `dtype` must be floating, and is int32",
        lambda: tf.random_normal_initializer()([2], tf.int32),
    ),
    "an initializer of a tensor": (
        TypeError,
        "constant_initializer: `value` must be a number, a list or an array, not a Tensor",
        lambda: tf.constant_initializer(X),
    ),
    "conversion of a built-in type": (
        TypeError,
        "float is built in and is converted already",
        lambda: tf.register_tensor_conversion_function(float, lambda *args, **options: X),
    ),
    "a type of what has none": (
        TypeError,
        "type_spec_from_value: no type describes <object",
        lambda: tf.type_spec_from_value(object()),
    ),
}


@pytest.mark.parametrize("what", MESSAGES)
def test_message(what):
    raises(*MESSAGES[what])


def test_reading_twice():
    array = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
    array.read(0)
    raises(INVALID, "element 0 was read before.* Use clear_after_read=False", lambda: array.read(0))
    raises(INVALID, "TensorArray.stack: element 0 was read before", array.stack)


def test_no_gradient():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        targets = tf.unique(x).y, tf.bitcast(x, tf.float16), tf.guarantee_const(x)
    for y, name in zip(targets, ["unique", "bitcast", "guarantee_const"], strict=True):
        raises(
            LookupError,
            f"{name}: there is no gradient.*stop_gradient",
            lambda y=y: tape.gradient(y, x),
        )
