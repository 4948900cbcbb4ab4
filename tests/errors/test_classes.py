"""What is raised is what TensorFlow raises, or a kind of it: these tests run on both."""

import operator

import numpy as np
import pytest

EAGER = {
    # name of the class in tf.errors, or a built-in one: mistakes
    "InvalidArgumentError": {
        "matmul": lambda tf: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
        "matmul of vectors": lambda tf: tf.matmul(tf.ones([3]), tf.ones([3])),
        "add": lambda tf: tf.ones([2, 3]) + tf.ones([4, 3]),
        "reshape": lambda tf: tf.reshape(tf.ones([6]), [4, 2]),
        "int by float": lambda tf: tf.constant([1, 2]) * tf.constant([1.0, 2.0]),
        "float64 and float32": lambda tf: tf.constant(1.0, tf.float64) + tf.constant(1.0),
        "int and a Python float": lambda tf: tf.constant([1, 2]) + 0.5,
        "a string": lambda tf: tf.ones([2]) + "a",
        "concat": lambda tf: tf.concat([tf.ones([2, 3]), tf.ones([3, 2])], 0),
        "stack": lambda tf: tf.stack([tf.ones([2]), tf.ones([3])]),
        "axis of a sum": lambda tf: tf.reduce_sum(tf.ones([2, 3]), axis=2),
        "axis of argmax": lambda tf: tf.argmax(tf.ones([2, 3]), axis=5),
        "squeeze": lambda tf: tf.squeeze(tf.ones([2, 3]), axis=0),
        "expand_dims": lambda tf: tf.expand_dims(tf.ones([2, 3]), 7),
        "transpose": lambda tf: tf.transpose(tf.ones([2, 3]), [0, 1, 2]),
        "gather": lambda tf: tf.gather(tf.ones([3]), [5]),
        "gather by floats": lambda tf: tf.gather(tf.ones([3]), [0.5]),
        "an index": lambda tf: tf.ones([3])[5],
        "too many indices": lambda tf: tf.ones([3])[0, 0],
        "sqrt of integers": lambda tf: tf.sqrt(tf.constant(4)),
        "exp of text": lambda tf: tf.exp(tf.constant("a")),
        "labels": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
            [0, 7], tf.ones([2, 3])
        ),
        "channels": lambda tf: tf.nn.conv2d(
            tf.ones([1, 8, 8, 3]), tf.ones([3, 3, 1, 8]), 1, "SAME"
        ),
        "where": lambda tf: tf.where([True, False], tf.ones([3]), tf.zeros([3])),
        "a negative size": lambda tf: tf.zeros([-1, 2]),
        "not square": lambda tf: tf.linalg.cholesky(tf.ones([2, 3])),
        "singular": lambda tf: tf.linalg.inv(tf.ones([2, 2])),
        "einsum": lambda tf: tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([2, 3])),
        "split": lambda tf: tf.split(tf.ones([5]), 2),
        "slice": lambda tf: tf.slice(tf.ones([3]), [2], [4]),
        "tile": lambda tf: tf.tile(tf.ones([2, 3]), [2]),
        "pad": lambda tf: tf.pad(tf.ones([2, 3]), [[1, 1]]),
        "range": lambda tf: tf.range(0, 10, 0),
        "an integer by zero": lambda tf: tf.constant(1) // tf.constant(0),
        "batches of nothing": lambda tf: list(tf.data.Dataset.range(4).batch(0)),
        "output gradients": lambda tf: gradient(tf, tf.ones([3])),
        "a gradient's shape": lambda tf: step(tf, [(tf.ones([3]), tf.Variable([1.0, 2.0]))]),
    },
    "ResourceExhaustedError": {
        "zeros": lambda tf: tf.zeros([10**7, 10**7]),
        "tile": lambda tf: tf.tile(tf.ones([1, 1]), [10**7, 10**7]),
        "a product": lambda tf: tf.ones([10**6, 1]) @ tf.ones([1, 10**9]),
    },
    "NotFoundError": {
        "checkpoint": lambda tf: tf.train.Checkpoint(v=tf.Variable(1.0)).restore("nowhere/ckpt-1"),
    },
    "OutOfRangeError": {
        "the end": lambda tf: [i.get_next() for i in [iter(tf.data.Dataset.range(1))] * 2],
    },
    "ValueError": {
        "None": lambda tf: tf.ones([2]) + None,
        "ragged": lambda tf: tf.constant([[1, 2], [3]]),
        "an object": lambda tf: tf.constant(object()),
        "truth": lambda tf: bool(tf.ones([3])),
        "assign another shape": lambda tf: tf.Variable([1.0, 2.0]).assign([1.0]),
        "assign another dtype": lambda tf: tf.Variable([1.0]).assign(tf.constant([1])),
        "no value": lambda tf: tf.Variable(None),
        "watch a number": lambda tf: watch(tf, 3.0),
        "no gradient at all": lambda tf: step(tf, [(None, tf.Variable(1.0))]),
        "no pairs": lambda tf: step(tf, []),
        "two clips": lambda tf: tf.optimizers.Adam(clipnorm=1.0, clipvalue=1.0),
        "rows": lambda tf: tf.data.Dataset.from_tensor_slices((np.ones([3, 2]), np.ones(2))),
        "a scalar's rows": lambda tf: tf.data.Dataset.from_tensor_slices(3.0),
    },
    "TypeError": {
        "len": lambda tf: len(tf.constant(1.0)),
        "iteration": lambda tf: list(tf.constant(1.0)),
        "a float of many": lambda tf: float(tf.ones([3])),
        "a hash": lambda tf: {tf.constant(1.0): 1},
        "an item": lambda tf: operator.setitem(tf.ones([3]), 0, 1.0),
        "an index of a float": lambda tf: tf.ones([3])[0.5],
        "a dtype": lambda tf: tf.constant([1.0], dtype="float31"),
        "a float as an integer": lambda tf: tf.constant(1.5, dtype=tf.int32),
        "no target": lambda tf: gradient_of(tf, None),
        "no function": lambda tf: tf.function(3),
        "the components": lambda tf: list(tf.data.Dataset.range(3).map(lambda x, y: x)),
        "an infinite length": lambda tf: len(tf.data.Dataset.range(3).repeat()),
        "one tensor": lambda tf: tf.clip_by_global_norm(tf.ones([2]), 1.0),
    },
    "RuntimeError": {
        "a used tape": lambda tf: [t.gradient(tf.ones([]), tf.ones([])) for t in [entered(tf)] * 2],
    },
    "AttributeError": {"an attribute": lambda tf: tf.ones([3]).reshape([3, 1])},
}

TRACED = {
    "ValueError": {
        "matmul": lambda tf, x: tf.matmul(x, x),
        "add": lambda tf, x: x + tf.ones([4]),
        "reshape": lambda tf, x: tf.reshape(x, [4]),
        "axis": lambda tf, x: tf.reduce_sum(x, axis=3),
        "concat": lambda tf, x: tf.concat([x, tf.ones([2, 2])], 0),
        "einsum": lambda tf, x: tf.einsum("ij,jk->ik", x, x),
        "None": lambda tf, x: x + None,
    },
    "TypeError": {
        "int by float": lambda tf, x: tf.constant([1, 2, 3]) * x,
        "an object": lambda tf, x: object(),
        "text": lambda tf, x: tf.exp(tf.constant("a")),
    },
    "AttributeError": {"numpy": lambda tf, x: x.numpy()},
    "NotImplementedError": {"NumPy": lambda tf, x: np.sin(x)},
    "KeyError": {"the user's own": lambda tf, x: {}["mine"]},
}


def entered(tf):
    with tf.GradientTape() as tape:
        return tape


def gradient_of(tf, target):
    return entered(tf).gradient(target, tf.Variable(1.0))


def gradient(tf, weights):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(y, v, weights)


def watch(tf, value):
    with tf.GradientTape() as tape:
        tape.watch(value)


def step(tf, pairs):
    tf.optimizers.SGD().apply_gradients(pairs)


def rows(table):
    return [pytest.param(kind, call, id=f"{name}: {kind}")
            for kind, mistakes in table.items() for name, call in mistakes.items()]  # fmt: skip


def kind_of(tf, name):
    return getattr(tf.errors, name, None) or __builtins__[name]


@pytest.mark.parametrize("kind, mistake", rows(EAGER))
def test_eagerly(tf, kind, mistake):
    with pytest.raises(kind_of(tf, kind)):
        mistake(tf)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("kind, mistake", rows(TRACED))
def test_in_a_function(tf, kind, mistake, jit):
    traced = tf.function(lambda x: mistake(tf, x), jit_compile=jit)
    with pytest.raises(kind_of(tf, kind)):
        traced(tf.ones([2, 3]))
