"""vectorized_map and batches: the batching rules, seen through the public functions."""

import logging
from contextlib import suppress

import numpy as np
import pytest
from oracle import cases
from oracle.differential import differentiable, flatten

import gradtape as tf
from gradtape._src.core.backward import backward
from gradtape._src.core.errors import ValuesNeeded
from gradtape._src.tape.batching import Batch, BatchedTensor

pytestmark = pytest.mark.gradtape_only


def close(found, wanted):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    if wanted.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, wanted)
    else:
        finite = np.abs(wanted[np.isfinite(wanted)])
        scale = max(1.0, finite.max()) if finite.size else 1.0
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * scale)


def in_a_loop(f, *stacked):
    return tf.stack([f(*(x[i] for x in stacked)) for i in range(len(stacked[0]))])


def mapped(f, *stacked):
    return tf.vectorized_map(lambda xs: f(*xs), stacked, fallback_to_while_loop=False)


# Every public function of the comparison with TensorFlow, mapped

NEEDS_VALUES = ("mask", "where, indices", "getitem with tensors", "unique")
"""Functions whose result has a shape that depends on values."""


def value_and_gradients(case):
    """What a case computes, and the gradients by a tape of its own: a function of its inputs."""

    def run(tensors):
        sources = [x for x in tensors if differentiable(x)]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            outputs = flatten(case.fn(tf, *tensors))
        targets = [y for y in outputs if differentiable(y)]
        gradients = []
        if targets and sources and case.order:
            with suppress(LookupError):
                gradients = tape.gradient(targets, sources)
        return outputs, [None if g is None else tf.convert_to_tensor(g) for g in gradients]

    return run


def several(array, size, rng):
    stacked = np.stack([array] * size)
    if array.dtype.kind in "fc":
        stacked = stacked * rng.uniform(0.97, 1.0, (size,) + (1,) * array.ndim)
    return tf.constant(stacked.astype(array.dtype))


@pytest.mark.parametrize("topic", cases.TOPICS)
def test_all_cases_mapped_as_in_a_loop(topic):
    rng = np.random.default_rng(0)
    for case in cases.topic(topic):
        if "float64" not in case.dtypes or not case.inputs:
            continue
        run = value_and_gradients(case)
        elems = [several(np.asarray(a), 2, rng) for a in case.draw("float64")]
        try:
            found = tf.vectorized_map(run, elems, fallback_to_while_loop=False)
        except (ValuesNeeded, tf.errors.UnimplementedError):
            if topic in ("math", "rows", "shape", "random"):
                assert any(name in case.name for name in NEEDS_VALUES), case.name
            continue
        for i in range(2):
            wanted = run([x[i] for x in elems])
            for ours, theirs in zip(flatten(found), flatten(wanted), strict=True):
                try:
                    assert (ours is None) == (theirs is None)
                    if ours is not None:
                        close(ours.numpy()[i], theirs.numpy())
                except AssertionError as error:
                    raise AssertionError(f"{case.name}: {error}") from error


# Gradients from outside and inside


def network(x, w, b):
    return tf.nn.softmax(tf.tanh(tf.linalg.matvec(w, x, transpose_a=True)) * x[0] + b)


@pytest.fixture
def inputs():
    rng = np.random.default_rng(1)
    return [tf.constant(rng.normal(size=s)) for s in [(5, 3), (3, 4), (4,)]]


def test_an_outer_tape_sees_one_computation(inputs):
    x, w, b = inputs
    results = []
    for how in mapped, in_a_loop:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = how(lambda row: network(row, w, b), x) ** 2
        results.append([y, *tape.gradient(y, inputs)])
    for ours, theirs in zip(*results, strict=True):
        close(ours, theirs)


def test_second_derivatives_across_the_map(inputs):
    x, w, b = inputs

    def slope(row):
        with tf.GradientTape() as tape:
            tape.watch(row)
            y = tf.reduce_sum(network(row, w, b) ** 2)
        return tape.gradient(y, row)

    results = []
    for how in mapped, in_a_loop:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = how(slope, x)
        results.append([y, *tape.gradient(y * y, inputs)])
    for ours, theirs in zip(*results, strict=True):
        close(ours, theirs)


def test_gradients_of_each_example_by_what_they_share(inputs):
    x, w, b = inputs
    weight = tf.Variable(w)

    def gradients(row):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(network(row, weight, b) ** 2)
        return tape.gradient(y, weight)

    close(mapped(gradients, x), in_a_loop(gradients, x))


def test_maps_inside_maps(inputs):
    x, w, b = inputs

    def pairs(first, second, how):
        return how(lambda p: how(lambda q: network(p * q, w, b), second), first)

    results = []
    for how in mapped, in_a_loop:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = pairs(x, x, how)
        results.append([y, *tape.gradient(y * y, inputs)])
    assert results[0][0].shape == (5, 5, 4)
    for ours, theirs in zip(*results, strict=True):
        close(ours, theirs)


def test_custom_gradients_and_recomputation(inputs):
    x, w, b = inputs

    @tf.custom_gradient
    def tripled(row):
        return tf.sin(row), lambda g: 3.0 * g * tf.cos(row) * b[0]

    again = tf.recompute_grad(lambda row: network(tripled(row), w, b))
    results = []
    for how in mapped, in_a_loop:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = how(again, x) ** 2
        results.append([y, *tape.gradient(y, inputs)])
    for ours, theirs in zip(*results, strict=True):
        close(ours, theirs)


def test_forward_mode_inside(inputs):
    x, w, b = inputs

    def slope(row):
        with tf.autodiff.ForwardAccumulator(row, tf.ones_like(row)) as accumulator:
            y = network(row, w, b)
        return accumulator.jvp(y)

    results = []
    for how in mapped, in_a_loop:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = how(slope, x)
        results.append([y, *tape.gradient(y * y, inputs)])
    for ours, theirs in zip(*results, strict=True):
        close(ours, theirs)


# Batched cotangents


def rows_of_jacobian(tape, y, x):
    """The Jacobian of a vector, from one backward pass over the rows of the identity."""
    with Batch(len(y)) as batch:
        seed = batch.of(tf.eye(len(y), dtype=y.dtype))
        found = backward(reversed(tape.records), [(y._key, seed)], [x._key])[0]
        return batch.joined(found)


def test_a_backward_pass_over_a_batch_of_cotangents(inputs):
    x, w, _ = inputs
    v = x[0]
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = tf.tanh(tf.linalg.matvec(w, v, transpose_a=True))
    wanted = (1 - y.numpy() ** 2)[:, None] * w.numpy().T
    close(rows_of_jacobian(tape, y, v), wanted)


def test_batched_cotangents_of_look_ups_and_several_outputs():
    table = tf.constant(np.arange(12.0).reshape(4, 3))
    with tf.GradientTape() as tape:
        tape.watch(table)
        first, second = tf.split(tf.gather(table, [1, 3, 1]) ** 2, 2 * [0] + [1, 2], axis=1)[2:]
        y = tf.reduce_sum(first, 1) * tf.reduce_sum(second, 1)
    with Batch(3) as batch:
        seed = batch.of(tf.eye(3, dtype=tf.float64))
        found = backward(reversed(tape.records), [(y._key, seed)], [table._key])[0]
        rows = batch.joined(tf.convert_to_tensor(found))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(table)
        looked = tf.gather(table, [1, 3, 1]) ** 2
        parts = [looked[i, 0] * (looked[i, 1] + looked[i, 2]) for i in range(3)]
    wanted = tf.stack([tf.convert_to_tensor(tape.gradient(part, table)) for part in parts])
    close(rows, wanted)


def test_cotangents_that_do_not_depend_on_the_batch_are_spread():
    with Batch(3) as batch:
        close(batch.joined(tf.constant([1.0, 2.0])), np.float32([[1, 2]] * 3))


# What a batched tensor is to Python


def test_it_shows_one_element():
    seen = []

    def f(row):
        seen.append(row)
        assert isinstance(row, BatchedTensor) and tf.is_tensor(row)
        assert row.shape == (3,) and row.ndim == 1 and len(row) == 3 and row.dtype == tf.float32
        assert "one of 2 elements" in repr(row)
        assert tf.get_static_value(row) is None
        return sum(row)

    close(mapped(f, tf.ones((2, 3))), np.float32([3, 3]))
    assert len(seen) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"used after it\. Return it"):
        seen[0] + 1.0


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x if x > 0.0 else -x,
        lambda x: tf.constant(float(x)),
        lambda x: tf.constant(x.numpy()),
        lambda x: tf.constant(np.sin(x)),
        lambda x: tf.reduce_sum(tf.ones([int(x * x)])),
        lambda x: tf.while_loop(lambda y: y < 9.0, lambda y: (2.0 * y,), (x * x,))[0],
        lambda x: tf.cond(x > 0.0, lambda: tf.sqrt(x), lambda: -x),
    ],
    ids=["if", "float", "numpy", "ufunc", "shape", "while_loop", "cond"],
)
def test_a_function_that_needs_values_runs_in_a_loop(f, caplog):
    x = tf.constant([1.0, -2.0, 3.0])
    with caplog.at_level(logging.WARNING, logger="gradtape"):
        close(tf.vectorized_map(f, x), in_a_loop(f, x))
    assert "runs" in caplog.text and "in a loop" in caplog.text
    caplog.clear()
    tf.vectorized_map(f, x, warn=False)
    assert not caplog.text
    with pytest.raises(ValuesNeeded, match=r"tf\.where"):
        tf.vectorized_map(f, x, fallback_to_while_loop=False)


def test_gradients_through_the_loop():
    x = tf.constant([1.0, -2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(lambda v: v * v if v > 0.0 else -v, x, warn=False)
    close(tape.gradient(y, x), np.float32([2, -1, 6]))


def test_random_draws():
    tf.random.set_seed(3)
    zeros = tf.zeros([200])
    for draw in (
        lambda v: v + tf.random.normal([2]),
        lambda v: v + tf.random.uniform([2]),
        lambda v: v + tf.random.truncated_normal([2], stddev=v + 1.0),
    ):
        drawn = tf.vectorized_map(draw, zeros, fallback_to_while_loop=False).numpy()
        assert drawn.shape == (200, 2) and len(np.unique(drawn)) > 390
    chosen = tf.vectorized_map(lambda v: tf.random.uniform([], 0, 1000, tf.int32), zeros)
    assert chosen.shape == (200,) and len(np.unique(chosen)) > 100
    nested = tf.vectorized_map(
        lambda row: tf.vectorized_map(lambda v: tf.random.normal([]), row), tf.zeros([4, 5])
    )
    assert len(np.unique(nested)) == 20
    # An op that cannot draw for all elements together runs in a loop.
    shuffled = tf.vectorized_map(
        lambda v: tf.random.shuffle(tf.range(50)), tf.zeros([3]), warn=False
    )
    assert shuffled.shape == (3, 50) and not np.array_equal(shuffled[0], shuffled[1])


def test_a_variable_cannot_take_the_values_of_a_batch():
    v = tf.Variable(0.0)
    for f in v.assign, v.assign_add, tf.Variable:
        with pytest.raises(tf.errors.InvalidArgumentError, match="a variable holds one value"):
            tf.vectorized_map(lambda x, f=f: f(x).read_value(), tf.ones([3]))
    assert v.numpy() == 0.0


def test_empty_and_single_batches():
    assert tf.vectorized_map(lambda r: tf.reduce_sum(r * 2.0), tf.zeros([0, 3])).shape == (0,)
    close(tf.vectorized_map(lambda r: r[0] + r[1], tf.ones([1, 3])), np.float32([2]))
    assert tf.vectorized_map(lambda r: None, tf.ones([2])) is None


@pytest.mark.parametrize(
    "elems, message",
    [
        ([], "`elems` holds no tensor"),
        (tf.constant(1.0), "is a scalar, and has no elements along axis 0"),
        (
            (tf.ones([3]), tf.ones([2])),
            r"one length along axis 0, or length 1. Received shapes: \(3,\), \(2,\)",
        ),
    ],
    ids=["none", "scalar", "lengths"],
)
def test_wrong_elements(elems, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.vectorized_map(lambda x: x, elems)


def test_an_error_speaks_of_one_element():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"x.shape=\(3,\), y.shape=\(2,\)"):
        tf.vectorized_map(lambda row: row + tf.ones([2]), tf.ones([5, 3]))


def test_a_failing_function_leaves_no_batch_behind():
    with pytest.raises(ZeroDivisionError):
        tf.vectorized_map(lambda row: 1 / 0, tf.ones([5, 3]))
    drawn = tf.random.normal([2])
    assert type(drawn) is tf.Tensor
