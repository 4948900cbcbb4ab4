"""lstm: the loss of a recurrent network whose products are all elementwise."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from bench.gradbench import Prepared, gradbench, rounds, steps_of, tape_program
from bench.question import Step
from bench.systems import compiled

WIDTH = 14

question = gradbench(
    "lstm",
    {
        f"l={layers} c={length}": {"layers": layers, "length": length}
        for layers, length in ((2, 16), (2, 128))
    },
    "l layers over c steps of 14 values each: the gradient of the loss by all parameters. JAX: "
    "scan.",
)

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def make_data(layers: int, length: int) -> Arrays:
    """main, extra, state, sequence; the sequence of 0 and 1."""
    rng = np.random.default_rng(0)
    shapes = (2 * layers, 4 * WIDTH), (3, WIDTH), (2 * layers, WIDTH)
    main, extra, state = (rng.uniform(-1, 1, shape) for shape in shapes)
    return main, extra, state, rng.integers(0, 2, (length, WIDTH)).astype(np.float64)


def sigmoid(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-x))


def advance(xp: Any, main: Any, extra: Any, state: Any, now: Any, after: Any) -> Any:
    """One step in time: the new state, and what it adds to the total."""
    b = WIDTH
    x, new = now * extra[0], []
    for i in range(len(main) // 2):
        h, cell = state[2 * i], state[2 * i + 1]
        gates = xp.concatenate((x, h, x, h)) * main[2 * i] + main[2 * i + 1]
        forget, entry, out = (sigmoid(xp, gates[j * b : (j + 1) * b]) for j in range(3))
        cell = cell * forget + entry * xp.tanh(gates[3 * b :])
        x = out * xp.tanh(cell)
        new += [x, cell]
    y = x * extra[1] + extra[2]
    return new, xp.sum(after * (y - xp.log(2 + xp.sum(xp.exp(y)))))


def objective(xp: Any, main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    total = 0.0
    for t in range(len(sequence) - 1):
        state, part = advance(xp, main, extra, state, sequence[t], sequence[t + 1])
        total = total + part
    return -total / ((len(sequence) - 1) * WIDTH)


@tape_program(question)
def lstm_tape(tf: Any, layers: int, length: int) -> Prepared:
    def loss_and_gradients(main: Any, extra: Any, initial: Any, sequence: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch((main, extra))
            rows, (e0, e1, e2) = tf.unstack(main), tf.unstack(extra)
            inputs = steps_of(tf, sequence)
            state, total = tf.unstack(initial), tf.constant(0.0, tf.float64)
            for t in rounds(tf, length - 1):
                x, new = inputs[t] * e0, []
                for i in range(0, 2 * layers, 2):
                    gates = tf.concat((x, state[i], x, state[i]), 0) * rows[i] + rows[i + 1]
                    forget, entry, out, change = tf.split(gates, 4)
                    kept = state[i + 1] * tf.sigmoid(forget)
                    cell = kept + tf.sigmoid(entry) * tf.tanh(change)
                    x = tf.sigmoid(out) * tf.tanh(cell)
                    new += [x, cell]
                state = new
                y = x * e1 + e2
                normalizer = tf.math.log(2.0 + tf.reduce_sum(tf.exp(y)))
                total = total + tf.reduce_sum(inputs[t + 1] * (y - normalizer))
            loss = -total / ((length - 1) * WIDTH)
        return loss, *tape.gradient(loss, (main, extra))

    return loss_and_gradients, *make_data(layers, length)


@question.program("torch")
def lstm_torch(torch: Any, layers: int, length: int) -> Step:
    main, extra, initial, sequence = map(torch.from_numpy, make_data(layers, length))
    parameters = [main.requires_grad_(), extra.requires_grad_()]
    inputs, begin = sequence.unbind(), initial.unbind()

    def step() -> Any:
        rows, (e0, e1, e2) = main.unbind(), extra.unbind()
        state, total = list(begin), 0.0
        for now, after in pairwise(inputs):
            x = now * e0
            for i in range(0, 2 * layers, 2):
                gates = torch.cat((x, state[i], x, state[i])) * rows[i] + rows[i + 1]
                forget, entry, out, change = gates.chunk(4)
                kept = state[i + 1] * torch.sigmoid(forget)
                state[i + 1] = kept + torch.sigmoid(entry) * torch.tanh(change)
                state[i] = x = torch.sigmoid(out) * torch.tanh(state[i + 1])
            y = x * e1 + e2
            total = total + torch.sum(after * (y - torch.log(2 + torch.sum(torch.exp(y)))))
        loss = -total / ((length - 1) * WIDTH)
        return loss, *torch.autograd.grad(loss, parameters)

    return step


@question.program("jax")
def lstm_jax(jax: Any, layers: int, length: int) -> Step:
    jnp = jax.numpy

    def loss(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
        def body(state: Any, pair: Any) -> Any:
            new, part = advance(jnp, main, extra, state, *pair)
            return jnp.stack(new), part

        _, parts = jax.lax.scan(body, state, (sequence[:-1], sequence[1:]))
        return -jnp.sum(parts) / ((length - 1) * WIDTH)

    def f(*data: Any) -> Any:
        value, gradients = jax.value_and_grad(loss, argnums=(0, 1))(*data)
        return value, *gradients

    return compiled(jax, f, *make_data(layers, length))


@question.program("autograd")
def lstm_autograd(autograd: Any, layers: int, length: int) -> Step:
    main, extra, state, sequence = make_data(layers, length)
    anp = autograd.numpy
    value_and_grad = autograd.value_and_grad(lambda p: objective(anp, *p, state, sequence))

    def step() -> Any:
        loss, gradients = value_and_grad((main, extra))
        return loss, *gradients

    return step
