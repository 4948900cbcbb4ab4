"""docs/semantics.md, section Q: variables of a tf.function: made, read and assigned there."""

import gc
import weakref

import numpy as np
import pytest

from .helpers import same


def test_Q3_a_training_step(tf):
    v = tf.Variable(1.0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = (v * x - y) ** 2
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    losses = [float(step(tf.constant(2.0), tf.constant(6.0))) for _ in range(3)]
    expected, value = [], 1.0
    for _ in range(3):
        expected.append((2.0 * value - 6.0) ** 2)
        value -= 0.1 * 2 * 2.0 * (2.0 * value - 6.0)
    same(losses, expected)
    same(v, value)


def test_Q3_a_linear_regression_converges(tf):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 3)).astype(np.float32)
    true = np.array([[1.0], [-2.0], [0.5]], np.float32)
    y = x @ true + 0.25
    w, b = tf.Variable(tf.zeros([3, 1])), tf.Variable(0.0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w + b - y) ** 2)
        for v, g in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            v.assign_sub(0.2 * g)
        return loss

    for _ in range(100):
        loss = step(x, y)
    same(loss, 0.0)
    same(w, true, tol=1e-3)
    same(b, 0.25, tol=1e-3)


def test_Q3_eager_code_sees_the_variable_between_calls(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def double():
        v.assign(2.0 * v)

    before = v.value()
    double()
    same(v, [2.0, 4.0])
    v.assign_add([1.0, 1.0])
    double()
    same(v, [6.0, 10.0])
    same(before, [1.0, 2.0])


def test_Q16_a_variable_on_every_trace_is_refused(tf):
    @tf.function
    def f(x):
        return tf.Variable(1.0) * x

    with pytest.raises(ValueError):
        f(tf.constant(2.0))


def test_Q16_a_variable_of_the_first_call_only(tf):
    class Counter:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(10.0)
            return self.v.assign_add(x)

    count = Counter()
    same(count(tf.constant(1.0)), 11.0)
    same(count(tf.constant(2.0)), 13.0)
    same(count.v, 13.0)


def test_Q16_a_created_variable_is_differentiable_at_once(tf):
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(3.0))
        return made[0] * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    same(y, 12.0)
    same(tape.gradient(y, x), 12.0)
    with tf.GradientTape() as tape:
        y = f(x)
    same(tape.gradient(y, made[0]), 4.0)


def test_Q17_assignments_take_effect_in_program_order(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f():
        before = v + 0.0
        v.assign(10.0)
        between = v + 0.0
        v.assign_add(5.0)
        v.assign_sub(1.0)
        return before, between, v + 0.0

    for start in (1.0, 14.0):
        before, between, after = f()
        same(before, start)
        same(between, 10.0)
        same(after, 14.0)


def test_Q17_a_counter(tf):
    count = tf.Variable(0)

    @tf.function
    def f():
        count.assign_add(1)
        return count.read_value()

    assert [int(f()) for _ in range(4)] == [1, 2, 3, 4]
    assert int(count) == 4


def test_Q17_parts_of_a_variable(tf):
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(x):
        v[1].assign(x)
        return tf.reduce_sum(v)

    same(f(tf.constant(10.0)), 14.0)
    same(f(tf.constant(20.0)), 24.0)
    same(v, [1.0, 20.0, 3.0])


def test_Q17_an_assignment_cuts_the_chain(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(x * 5.0)
        return v * x

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    same(y, 20.0)
    gx, gv = tape.gradient(y, [x, v])
    same(gx, 10.0)
    same(gv, 2.0)


def model(tf):
    class Model:
        def __init__(self, w):
            self.w = tf.Variable(w)
            self.traced = 0

        @tf.function
        def __call__(self, x):
            self.traced += 1
            return self.w * x

        @tf.function
        def train(self, x, rate=0.5):
            self.w.assign_sub(rate * x)
            return self.w.read_value()

    return Model


def test_Q19_each_instance_has_its_own_state(tf):
    one, two = model(tf)(2.0), model(tf)(3.0)
    x = tf.constant(10.0)
    same(one(x), 20.0)
    same(two(x), 30.0)
    same(one.train(x), -3.0)
    same(one(x), -30.0)
    same(two(x), 30.0)
    assert (one.traced, two.traced) == (1, 1)


def test_Q19_gradients_of_methods(tf):
    one, two = model(tf)(2.0), model(tf)(3.0)
    with tf.GradientTape() as tape:
        y = one(tf.constant(10.0)) * two(tf.constant(100.0))
    g = tape.gradient(y, [one.w, two.w])
    same(g[0], 3000.0)
    same(g[1], 2000.0)


def test_Q19_an_instance_can_go(tf):
    one = model(tf)(2.0)
    one(tf.constant(1.0))
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None
