"""Run a case of walk.py: its values, its gradients by inputs and weights, and what it assigns."""

import contextlib
import dataclasses
import math
import zlib

import keras
import numpy as np
import tensorflow as tf
import walk
from keras import tree

MODES = ("eager", "function", "jit")
CALLS, EXAMPLES = 16, 16
"""Behind the statistics of a random layer: calls, and examples in each."""


def generator(*parts):
    """Random numbers for what has this name: the same ones on every machine."""
    return np.random.RandomState(zlib.crc32(" ".join(map(str, parts)).encode()))


@contextlib.contextmanager
def precision(dtype):
    before = keras.config.floatx(), keras.config.dtype_policy()
    keras.config.set_floatx(dtype)
    keras.config.set_dtype_policy(dtype)
    try:
        yield
    finally:
        keras.config.set_floatx(before[0])
        keras.config.set_dtype_policy(before[1])


def is_floating(x):
    return tf.as_dtype(x.dtype).is_floating


def prepare(case, seed):
    """What the case calls, built and with weights of ours; its arguments, with tensors."""
    r = generator(case.name, seed)

    def draw(value):
        if not callable(value):
            return value
        array = value(r)
        return tf.constant(array.astype(case.dtype) if array.dtype.kind == "f" else array)

    inputs, call = tree.map_structure(draw, (case.inputs, case.call))
    called = case.make()
    if isinstance(called, keras.Layer):
        called(*inputs, **call)
        set_weights(called, seed)
    return called, inputs, call


def set_weights(layer, seed):
    """Weights by their names and shapes: an initializer would draw other ones on each system."""
    for i, weight in enumerate(floating_weights(layer)):
        value = 0.5 * generator(i, weight.name, tuple(weight.shape), seed).normal(size=weight.shape)
        if "variance" in weight.name or "stddev" in weight.name:
            value = 0.5 + np.abs(value)
        weight.assign(value)


def floating_weights(layer):
    return [w for w in layer.weights if is_floating(w)]


def cotangent(y):
    """Irregular numbers between -1.6 and 1.6, so that nothing cancels in their products with y."""
    k = tf.cast(tf.range(tf.size(y)), "int32")
    w = (tf.cast((k * k * 37 + k * 11 + 5) % 97, y.dtype) - 48.5) / 32
    return tf.reshape(w, tf.shape(y))


def run(case, mode="eager", seed=0):
    """{"value": arrays, "gradients": {name: array or None}, "sparse": names, "state": arrays}."""
    if isinstance(case, str):
        case = walk.table()[case]
    keras.utils.set_random_seed(seed)
    with precision(case.dtype):
        called, inputs, call = prepare(case, seed)
        weights = floating_weights(called) if isinstance(called, keras.Layer) else []
        leaves = tree.flatten((inputs, call))
        places = [i for i, x in enumerate(leaves) if tf.is_tensor(x)]
        sparse = []

        def step(*tensors):
            for i, x in zip(places, tensors, strict=True):
                leaves[i] = x
            args, kwargs = tree.pack_sequence_as((inputs, call), leaves)
            sources = [x for x in tensors if is_floating(x)]
            with tf.GradientTape() as tape:
                tape.watch(sources)
                outputs = tree.flatten(called(*args, **kwargs))
                outputs += [y._keras_mask for y in outputs if hasattr(y, "_keras_mask")]
                outputs = [y for y in outputs if y is not None]
                terms = [tf.reduce_sum(cotangent(y) * y) for y in outputs if is_floating(y)]
                terms += getattr(called, "losses", [])
                target = tf.add_n(terms) if terms else tf.constant(0.0)  # integers have none
            gradients = tape.gradient(target, [*sources, *weights])
            sparse[:] = [isinstance(g, tf.IndexedSlices) for g in gradients]
            dense = [g if g is None else tf.convert_to_tensor(g) for g in gradients]
            return outputs, dense

        if mode != "eager":
            step = tf.function(step, jit_compile=mode == "jit")
        outputs, gradients = step(*(leaves[i] for i in places))
        names = [f"input {i}" for i in range(len(gradients) - len(weights))]
        names += [f"weight {i} {w.name}" for i, w in enumerate(weights)]
        return {
            "value": [y.numpy() for y in outputs],
            "gradients": {
                n: g if g is None else g.numpy() for n, g in zip(names, gradients, strict=True)
            },
            "sparse": [n for n, s in zip(names, sparse, strict=True) if s],
            "state": [w.numpy() for w in weights if not w.trainable],
        }


def names():
    """The names of all cases."""
    return list(walk.table())


def without_cases():
    """What Keras has and walk.py neither runs nor gives a reason for."""
    found = walk.subjects()
    return [name for name, cases in found.items() if not cases and name not in walk.NOT_RUN]


def unknown():
    """What walk.py speaks of and Keras does not have."""
    found = walk.subjects()
    return [name for name in walk.NOT_RUN | walk.NO_GRADIENT | walk.NO_XLA if name not in found]


def no_gradient():
    return walk.NO_GRADIENT


def no_xla():
    return walk.NO_XLA


# Random layers


def statistics(case, seed=0):
    """Of a layer that draws in training: {"shape", "mean", "spread"} of each floating output.

    Mean and standard deviation of a call's numbers; of both the mean over the calls, and their own
    standard deviation. (Some layers draw once for all examples.) None if the layer has no seed.
    """
    if isinstance(case, str):
        case = walk.table()[case]
    keras.utils.set_random_seed(seed)
    called, inputs, call = prepare(case, seed)
    if not draws(called):
        return None
    inputs, call = tree.map_structure(repeated, (inputs, call))
    calls = []
    for _ in range(CALLS):
        outputs = tree.flatten(called(*inputs, **call | {"training": True}))
        calls.append([y.numpy() for y in outputs if y is not None and is_floating(y)])
    return [
        {
            "shape": list(ys[0].shape),
            "mean": moments([y.mean(dtype="float64") for y in ys]),
            "spread": moments([y.std(dtype="float64") for y in ys]),
        }
        for ys in zip(*calls, strict=True)
    ]


def moments(numbers):
    return [float(np.mean(numbers)), float(np.std(numbers))]


def draws(called):
    """Whether it is a layer that has a seed."""
    return isinstance(called, keras.Layer) and len(called.variables) > len(called.weights)


def repeated(x):
    if not tf.is_tensor(x):
        return x
    return tf.repeat(x, EXAMPLES // x.shape[0], axis=0)


def slopes(case, seed=0):
    """The derivative of a random layer in training along a direction: by the tape, by differences.

    The seed is the same for all calls: the function that was drawn is the one to be differentiated.
    """
    if isinstance(case, str):
        case = walk.table()[case]
    case = dataclasses.replace(case, dtype="float64")
    with precision("float64"):
        keras.utils.set_random_seed(seed)
        called, inputs, call = prepare(case, seed)
        call = call | {"training": True}
        states = [v for v in called.variables if all(v is not w for w in called.weights)]
        start = [v.numpy() for v in states]
        leaves = tree.flatten(inputs)
        r = generator(case.name, "direction")
        ways = [r.normal(size=x.shape) if is_floating(x) else None for x in leaves]

        def target(step):
            for v, value in zip(states, start, strict=True):
                v.assign(value)
            moved = [x if w is None else x + step * w for x, w in zip(leaves, ways, strict=True)]
            outputs = tree.flatten(called(*tree.pack_sequence_as(inputs, moved), **call))
            return tf.add_n([tf.reduce_sum(cotangent(y) * y) for y in outputs if is_floating(y)])

        step, width = tf.constant(0.0, "float64"), tf.constant(1e-6, "float64")
        with tf.GradientTape() as tape:
            tape.watch(step)
            y = target(step)
        slope = tape.gradient(y, step)
        difference = (target(width) - target(-width)) / (2 * width)
        return None if slope is None else float(slope), float(difference)


def is_smooth(case):
    """Whether the two slopes are equal; images are often rounded, or computed in float32 only."""
    try:
        pairs = [slopes(case, seed) for seed in range(4)]
    except tf.errors.InvalidArgumentError:  # float32 meets float64 inside the layer
        return False
    return all(a is not None and math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-5) for a, b in pairs)


# The test of the test

PLANTS = {
    "the gradient by the input is lost": lambda call: (
        lambda x, *a, **k: call(tree.map_structure(tf.stop_gradient, x), *a, **k)
    ),
    "all gradients are lost": lambda call: (
        lambda *a, **k: tree.map_structure(tf.stop_gradient, call(*a, **k))
    ),
    "gradients are wrong by a thousandth": lambda call: (
        lambda *a, **k: tree.map_structure(scaled, call(*a, **k))
    ),
}


@tf.custom_gradient
def scaled(x):
    return tf.identity(x), lambda g: g * 1.001


def run_planted(name, plant, mode):
    """`run` on a layer whose `call` was tampered with."""
    case = walk.table()[name]

    def make():
        layer = case.make()
        layer.call = PLANTS[plant](layer.call)
        return layer

    return run(dataclasses.replace(case, make=make), mode)
