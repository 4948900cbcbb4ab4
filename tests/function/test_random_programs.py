"""Random programs, eager and compiled: values, gradients and second derivatives are the same.

Straight programs are those of tests/tape/test_three_ways.py. In the place of control flow, Python
runs the branch or the rounds.
"""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tape.test_three_ways import OPS, agree, dense, programs

pytestmark = pytest.mark.gradtape_only

checked = settings(
    max_examples=7,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def everything(tf, loss, xs, vs):
    """Value, gradient and Hessian-vector product of a loss, by tapes right here."""
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(xs)
        with tf.GradientTape() as inner:
            inner.watch(xs)
            y = loss(xs)
        grads = inner.gradient(y, xs, unconnected_gradients="zero")
        grads = [tf.convert_to_tensor(g) for g in grads]
        product = tf.add_n([tf.reduce_sum(g * v) for g, v in zip(grads, vs, strict=True)])
    return [y, *grads, *outer.gradient(product, xs, unconnected_gradients="zero")]


def compare(tf, loss, xs, vs, reference=None):
    """Compiled with the tapes inside and with the tapes outside, it is what `reference` is."""
    expected = dense(tf, everything(tf, reference or loss, xs, vs))
    scale = 1.0 + np.max(np.abs(expected))
    inside = tf.function(lambda xs, vs: everything(tf, loss, xs, vs), autograph=False)(xs, vs)
    agree(dense(tf, inside), expected, 1e-11, scale, "the tapes inside")
    outside = everything(tf, tf.function(loss, autograph=False), xs, vs)
    agree(dense(tf, outside), expected, 1e-11, scale, "the tapes outside")


@checked
@given(st.data())
def test_straight_programs(tf, data):
    program = data.draw(programs(tf, data.draw(st.sampled_from(sorted(OPS)))))
    compare(tf, lambda xs: program.loss(tf, xs), program.sources(tf), program.directions(tf))


# Control flow: a program turns a vector x into another one, with a vector w at hand.


class Python:
    """Control flow as Python has it."""

    def cond(self, pred, yes, no):
        return yes() if bool(pred) else no()

    def switch_case(self, index, branches):
        return branches[int(index)]()

    def while_loop(self, cond, body, state, maximum_iterations):
        for _ in range(maximum_iterations):
            if not bool(cond(*state)):
                break
            state = body(*state)
        return state

    def scan(self, f, elems, initializer):
        states = []
        for row in elems:
            initializer = f(initializer, row)
            states.append(initializer)
        return self.tf.stack(states)

    def foldl(self, f, elems, initializer):
        return self.scan(f, elems, initializer)[-1]

    def map_fn(self, f, elems):
        return self.tf.stack([f(row) for row in elems])

    def __init__(self, tf):
        self.tf = tf


STEPS = {
    "product": lambda tf, x, w: x * w,
    "sine": lambda tf, x, w: tf.sin(x) + 0.5 * w,
    "quotient": lambda tf, x, w: w / (1.0 + x * x),
    "sum": lambda tf, x, w: tf.tanh(x) * tf.reduce_sum(w * x),
    "reverse": lambda tf, x, w: tf.reverse(x, [0]) - x,
    "gather": lambda tf, x, w: tf.gather(x, [2, 0, 2]) * w,
    "stop": lambda tf, x, w: tf.stop_gradient(x) * w + x,
}


class Step:
    def __init__(self, name):
        self.name = name

    def run(self, tf, flow, x, w):
        return STEPS[self.name](tf, x, w)

    def __repr__(self):
        return self.name


class Block:
    """Steps one after the other."""

    def __init__(self, steps):
        self.steps = steps

    def run(self, tf, flow, x, w):
        for step in self.steps:
            x = step.run(tf, flow, x, w)
        return x

    def __repr__(self):
        return f"{self.steps}"


class Form:
    """A form of control flow around blocks."""

    def __init__(self, kind, number, blocks):
        self.kind, self.number, self.blocks = kind, number, blocks

    def run(self, tf, flow, x, w):
        return getattr(self, self.kind)(tf, flow, x, w, *self.blocks)

    def cond(self, tf, flow, x, w, a, b):
        pred = tf.reduce_sum(x * w) > 0.1 * self.number
        return flow.cond(pred, lambda: a.run(tf, flow, x, w), lambda: b.run(tf, flow, x, w))

    def switch(self, tf, flow, x, w, a, b):
        index = tf.cast(tf.abs(tf.reduce_sum(x)) * 10.0, tf.int32) % 3
        branches = [lambda: a.run(tf, flow, x, w), lambda: b.run(tf, flow, x, w), lambda: w * 2.0]
        return flow.switch_case(index, branches)

    def loop(self, tf, flow, x, w, a, b):
        def body(i, x):
            return i + 1, a.run(tf, flow, x, w) + 0.1 * b.run(tf, flow, w, x)

        def goes_on(i, x):
            return tf.logical_and(i < self.number, tf.reduce_sum(x * x) < 9.0)

        start = (tf.constant(0), x)
        return flow.while_loop(goes_on, body, start, maximum_iterations=4)[1]

    def scan(self, tf, flow, x, w, a, b):
        rows = tf.stack([x, w, x - w])
        states = flow.scan(lambda s, row: a.run(tf, flow, s, row), rows, initializer=w)
        return b.run(tf, flow, tf.reduce_mean(states, 0), w)

    def fold(self, tf, flow, x, w, a, b):
        rows = tf.stack([x, w])
        state = flow.foldl(lambda s, row: a.run(tf, flow, row, s), rows, initializer=x)
        return b.run(tf, flow, state, w)

    def map(self, tf, flow, x, w, a, b):
        rows = tf.stack([x, w, x * w])
        mapped = flow.map_fn(lambda row: a.run(tf, flow, row, w), rows)
        return b.run(tf, flow, tf.reduce_sum(mapped, 0), w)

    def __repr__(self):
        return f"{self.kind}({self.number}, {', '.join(map(repr, self.blocks))})"


def blocks(inner):
    return st.lists(inner, min_size=1, max_size=2).map(Block)


def forms(inner):
    kinds = st.sampled_from(["cond", "switch", "loop", "scan", "fold", "map"])
    return st.builds(Form, kinds, st.integers(0, 4), st.tuples(blocks(inner), blocks(inner)))


steps = st.sampled_from(sorted(STEPS)).map(Step)
flat = forms(steps)
nested = forms(st.one_of(flat, steps))


@checked
@given(nested, st.integers(0, 2**31))
def test_control_flow(tf, program, seed):
    rng = np.random.default_rng(seed)
    xs, vs = ([tf.constant(rng.uniform(-1, 1, 3)) for _ in range(2)] for _ in range(2))

    def loss(flow):
        return lambda xs: tf.reduce_sum(tf.sin(program.run(tf, flow, *xs)) * math.sqrt(2))

    compare(tf, loss(tf), xs, vs, reference=loss(Python(tf)))
