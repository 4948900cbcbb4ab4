"""Operations refuse wrong arguments, say why, and leave the tape usable."""

import re

import numpy as np
import pytest

from .helpers import same

WRONG = {
    "add_shapes": (lambda tf, x, m: x + tf.ones(3), "add (2,) (3,)"),
    "multiply_shapes": (lambda tf, x, m: tf.multiply(m, x), "multiply (2, 3) (2,)"),
    "add_dtypes": (lambda tf, x, m: x + tf.ones(2, tf.float64), "add `x` `y` float32 float64"),
    "multiply_dtypes": (lambda tf, x, m: tf.constant([1, 2]) * x, "multiply `x` `y` int32 float32"),
    "int_and_float": (lambda tf, x, m: tf.constant([1, 2]) + 1.5, "add int32 float 1.5"),
    "add_bool": (lambda tf, x, m: tf.constant(True) + tf.constant(True), "add `x` bool"),
    "add_text": (lambda tf, x, m: x + "text", "add float32 string"),
    "exp_text": (lambda tf, x, m: tf.exp("text"), "exp `x` string"),
    "sqrt_int": (lambda tf, x, m: tf.sqrt(tf.constant([1])), "sqrt `x` int32 cast"),
    "matmul_shapes": (lambda tf, x, m: tf.matmul(m, m), "matmul (2, 3)"),
    "matmul_rank": (lambda tf, x, m: tf.matmul(x, x), "matmul (2,)"),
    "matmul_dtypes": (
        lambda tf, x, m: tf.matmul(m, tf.ones((3, 2), tf.float64)),
        "matmul float32 float64",
    ),
    "reshape": (lambda tf, x, m: tf.reshape(x, [3]), "reshape (2,) 3"),
    "concat_shapes": (lambda tf, x, m: tf.concat([m, tf.ones((4, 5))], 0), "concat (2, 3) (4, 5)"),
    "concat_axis": (lambda tf, x, m: tf.concat([x, x], 3), "concat axis 3"),
    "concat_dtypes": (
        lambda tf, x, m: tf.concat([x, tf.constant([1])], 0),
        "concat float32 int32",
    ),
    "stack_shapes": (lambda tf, x, m: tf.stack([x, tf.ones(3)]), "stack (2,) (3,)"),
    "gather_index": (lambda tf, x, m: tf.gather(x, [5]), "gather indices 5"),
    "gather_dtype": (lambda tf, x, m: tf.gather(x, [0.5]), "gather indices float32"),
    "reduce_axis": (lambda tf, x, m: tf.reduce_sum(x, axis=3), "reduce_sum axis 3"),
    "transpose": (lambda tf, x, m: tf.transpose(m, [0, 0]), "transpose perm"),
    "where": (lambda tf, x, m: tf.where([True, False, True], x, x), "where (3,) (2,)"),
    "split": (lambda tf, x, m: tf.split(x, 3), "split 3"),
    "expand_dims": (lambda tf, x, m: tf.expand_dims(x, 5), "expand_dims axis 5"),
    "squeeze": (lambda tf, x, m: tf.squeeze(x, 0), "squeeze axis 0 (2,)"),
    "broadcast_to": (lambda tf, x, m: tf.broadcast_to(x, [3]), "broadcast_to (2,) 3"),
    "tile": (lambda tf, x, m: tf.tile(x, [1, 2]), "tile multiples"),
    "pad": (lambda tf, x, m: tf.pad(x, [[1, 1], [1, 1]]), "pad paddings"),
    "einsum": (lambda tf, x, m: tf.einsum("ij,jk->ik", m, m), "einsum (2, 3)"),
}


WRONG_TYPE = {
    "add_none": (lambda tf, x, m: x + None, ValueError, "None"),
    "exp_none": (lambda tf, x, m: tf.exp(None), ValueError, "exp None"),
    "multiply_object": (lambda tf, x, m: tf.multiply(x, object()), ValueError, "multiply object"),
    "index_float": (lambda tf, x, m: x[0.5], TypeError, "0.5"),
    "cast_nonsense": (lambda tf, x, m: tf.cast(x, "nonsense"), TypeError, "nonsense"),
    "convert": (lambda tf, x, m: tf.convert_to_tensor(x, tf.int32), ValueError, "float32 int32"),
    "ragged_list": (lambda tf, x, m: tf.constant([[1.0], [1.0, 2.0]]), ValueError, "rectangular"),
    "watch": (lambda tf, x, m: tf.GradientTape().watch(1.0), ValueError, "float"),
}


def assert_refused_and_usable(tf, call, kind):
    """That `call` raises, inside a tape that keeps what it recorded and goes on recording."""
    x, m = tf.Variable([2.0, 3.0]), tf.Variable(np.ones((2, 3), "float32"))
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        with pytest.raises(kind) as caught:
            call(tf, x.value(), m.value())
        same(tape.gradient(y, x), [4.0, 6.0])
        z = y * x
    same(tape.gradient(y, x), [4.0, 6.0])
    same(tape.gradient(z, x), [12.0, 27.0])
    return str(caught.value)


def assert_words(text, words):
    """That `text` has all the words: shapes as tuples, names in backticks or bare."""
    for word in re.findall(r"\([^)]*\)|\S+", words):
        whole = re.escape(word)
        if word[0].isalnum():
            whole = rf"(?<!\w){whole}(?!\w)"
        assert re.search(whole, text, re.IGNORECASE), f"{word!r} is not in: {text}"


@pytest.mark.parametrize("call", [c for c, _ in WRONG.values()], ids=WRONG)
def test_a_wrong_shape_or_dtype_is_refused_and_leaves_the_tape_usable(tf, call):
    assert_refused_and_usable(tf, call, tf.errors.InvalidArgumentError)


@pytest.mark.parametrize("call, kind, words", WRONG_TYPE.values(), ids=WRONG_TYPE)
def test_a_wrong_type_is_refused_and_leaves_the_tape_usable(tf, call, kind, words):
    assert_refused_and_usable(tf, call, kind)


@pytest.mark.gradtape_only
@pytest.mark.parametrize("call, words", WRONG.values(), ids=WRONG)
def test_a_wrong_shape_or_dtype_is_explained(tf, call, words):
    assert_words(assert_refused_and_usable(tf, call, tf.errors.InvalidArgumentError), words)


@pytest.mark.gradtape_only
@pytest.mark.parametrize("call, kind, words", WRONG_TYPE.values(), ids=WRONG_TYPE)
def test_a_wrong_type_is_explained(tf, call, kind, words):
    assert_words(assert_refused_and_usable(tf, call, kind), words)


def test_an_index_out_of_range(tf):
    kinds = (tf.errors.InvalidArgumentError, IndexError)
    assert_refused_and_usable(tf, lambda tf, x, m: x[7], kinds)
    assert_refused_and_usable(tf, lambda tf, x, m: m[0, -4], kinds)


def test_a_failing_operation_on_a_plain_tape_does_not_use_it_up(tf):
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                y + tf.ones(3)
    same(tape.gradient(y, x), [4.0, 6.0])


def test_a_refused_assignment_leaves_variable_and_tape_alone(tf):
    v = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = v * v
        with pytest.raises(ValueError):
            v.assign([1.0, 2.0, 3.0])
        z = y * v
    same(v.numpy(), [2.0, 3.0])
    same(tape.gradient(z, v), [12.0, 27.0])
