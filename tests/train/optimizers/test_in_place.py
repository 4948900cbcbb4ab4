"""Updates in place: what is allocated, what keeps its old value, threads."""

import os
import subprocess
import sys

import numpy as np
import pytest

from .examples import RULES, gradtape_only, peak_of, updated


@gradtape_only
@pytest.mark.parametrize(
    "kind, options",
    [
        *RULES.values(),
        ("Adam", {"weight_decay": 0.1, "global_clipnorm": 1.0}),
        ("Adam", {"clipvalue": 0.1, "use_ema": True}),
        ("SGD", {"gradient_accumulation_steps": 2}),
    ],
)
def test_a_step_allocates_no_array_of_the_size_of_a_variable(tf, kind, options):
    v = tf.Variable(np.ones((2000, 2000), "float32"))
    g = tf.constant(np.full((2000, 2000), 0.5, "float32"))
    optimizer = getattr(tf.optimizers, kind)(**options)
    for _ in range(2):  # with accumulation, each of the two kinds of steps
        assert peak_of(lambda: optimizer.apply_gradients([(g, v)])) < v.numpy().nbytes / 4


@gradtape_only
@pytest.mark.parametrize("read", ["value", "read_value", "numpy", "_as_tensor"])
def test_a_tensor_read_before_the_step_keeps_its_value(tf, read):
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.Adam(0.1)
    before = getattr(v, read)()
    part = v[0]
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)])
    np.testing.assert_array_equal(np.asarray(before), [1.0, 2.0])
    assert part.numpy() == 1.0
    np.testing.assert_allclose(v.numpy(), [0.8, 1.8], rtol=1e-4)


@gradtape_only
def test_a_tape_that_is_open_keeps_the_values_that_it_saw(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(v**3)
    g = tape.gradient(y, v)
    tf.optimizers.SGD(0.1).apply_gradients([(g, v)])
    np.testing.assert_array_equal(tape.gradient(y, v).numpy(), [3.0, 12.0])
    np.testing.assert_array_equal(g.numpy(), [3.0, 12.0])


@gradtape_only
def test_a_gradient_that_is_the_variable_itself(tf):
    v = tf.Variable([1.0, 2.0])
    g = tf.convert_to_tensor(v)
    tf.optimizers.SGD(0.5, momentum=0.5).apply_gradients([(g, v)])
    np.testing.assert_array_equal(g.numpy(), [1.0, 2.0])
    np.testing.assert_array_equal(v.numpy(), [0.5, 1.0])


@gradtape_only
def test_the_state_that_was_read_keeps_its_value(tf):
    v = tf.Variable([1.0])
    optimizer = tf.optimizers.SGD(0.1, momentum=0.5)
    optimizer.build([v])
    count, momentum = (tf.convert_to_tensor(s) for s in optimizer.variables[::2])
    optimizer.apply_gradients([(tf.constant([1.0]), v)])
    assert count.numpy() == 0
    assert momentum.numpy() == [0.0]


@gradtape_only
@pytest.mark.parametrize("order", ["F", "reversed"])
def test_arrays_that_are_not_contiguous(tf, order):
    random = np.random.default_rng(0)
    values, gradient = random.normal(size=(2, 300, 200)).astype("float32")
    other = np.asfortranarray if order == "F" else lambda a: a[::-1].copy()[::-1]
    results = []
    for lay in np.array, other:
        v = tf.Variable(lay(values))
        optimizer = tf.optimizers.Adam(0.1)
        for _ in range(3):
            optimizer.apply_gradients([(tf.Tensor(lay(gradient)), v)])
        results.append(v.numpy())
    np.testing.assert_array_equal(*results)


@gradtape_only
def test_a_process_that_was_forked_updates_large_variables(tf):
    code = """
import os, numpy as np, gradtape as tf
v, g = tf.Variable(np.zeros(10**6, "float32")), tf.constant(np.ones(10**6, "float32"))
optimizer = tf.optimizers.SGD(1.0)
optimizer.apply_gradients([(g, v)])  # starts the thread
child = os.fork() if hasattr(os, "fork") else None
optimizer.apply_gradients([(g, v)])
assert (v.numpy() == -2).all()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    environment = {k: x for k, x in os.environ.items() if k != "OMP_NUM_THREADS"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    assert subprocess.run(command, env=environment, timeout=60).returncode == 0


@gradtape_only
def test_a_kernel_keeps_an_old_value_as_long_as_it_is_needed(monkeypatch):
    from gradtape._src.train.optimizers import in_place
    from gradtape._src.train.optimizers.rule import Rule

    def exchange(xp, w, g, one, two, *, factor):
        new_w = one * factor
        new_one = w + two
        new_two = w * g
        return new_w, {"one": new_one, "two": new_two}

    rule = Rule(exchange, (), ("one", "two"))
    arrays = [np.arange(1.0, 5.0) + 10 * i for i in range(3)]
    g, scalars = np.array([2.0, 3.0, 5.0, 7.0]), {"factor": np.array(100.0)}
    expected = rule(np, [array.copy() for array in arrays], g, scalars)
    for small in (0, 2**20):
        monkeypatch.setattr(in_place, "SMALL", small)
        for one, two in zip(updated(rule, arrays, g, scalars), expected, strict=True):
            np.testing.assert_array_equal(one, two)
