"""A training step with state that it keeps: in TensorFlow's API, and in JAX's with donation."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.function._models import DECAY_1, DECAY_2, EPSILON, RATE, Model
from bench.question import Step

DESCENT_RATE = 0.1


def tape_step(tf: Any, model: Model) -> tuple[Any, list[Any]]:
    """The step as a compiled function of inputs and labels, and the variables it trains."""
    parameters = {name: tf.Variable(array) for name, array in model.parameters.items()}
    trained = list(parameters.values())
    update = tape_adam(tf, trained) if model.adaptive else tape_descent(trained)

    @tf.function(jit_compile=True)
    def step(x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = model.of_tape(tf, parameters, x, labels)
        update(tape.gradient(loss, trained))
        return loss

    return step, trained


def tape_adam(tf: Any, trained: list[Any]) -> Any:
    time = tf.Variable(0.0, trainable=False)
    first = [tf.Variable(np.zeros(v.shape, np.float32), trainable=False) for v in trained]
    second = [tf.Variable(np.zeros(v.shape, np.float32), trainable=False) for v in trained]

    def update(gradients: Any) -> None:
        time.assign_add(1.0)
        rate = RATE * tf.sqrt(1 - DECAY_2**time) / (1 - DECAY_1**time)
        for v, m, s, g in zip(trained, first, second, gradients, strict=True):
            m.assign(DECAY_1 * m + (1 - DECAY_1) * g)
            s.assign(DECAY_2 * s + (1 - DECAY_2) * g * g)
            v.assign_sub(rate * m / (tf.sqrt(s) + EPSILON))

    return update


def tape_descent(trained: list[Any]) -> Any:
    def update(gradients: Any) -> None:
        for v, g in zip(trained, gradients, strict=True):
            v.assign_sub(DESCENT_RATE * g)

    return update


def loss_of_jax(jax: Any, model: Model) -> Any:
    """The loss as a function of a list of parameters, the inputs and the labels."""
    names = list(model.parameters)

    def loss(parameters: Any, x: Any, labels: Any) -> Any:
        return model.of_jax(jax, dict(zip(names, parameters, strict=True)), x, labels)

    return loss


def jax_step(jax: Any, model: Model) -> tuple[Any, Any]:
    """The step as a compiled function of the state, inputs and labels, and its first state."""
    jax.config.update("jax_enable_x64", False)  # JAX as it comes; the other suites want float64
    jnp = jax.numpy
    map_tree = jax.tree_util.tree_map
    value_and_grad = jax.value_and_grad(loss_of_jax(jax, model))

    def adam(state: Any, x: Any, labels: Any) -> Any:
        time, parameters, first, second = state
        loss, gradients = value_and_grad(parameters, x, labels)
        time = time + 1
        rate = RATE * jnp.sqrt(1 - DECAY_2**time) / (1 - DECAY_1**time)
        first = map_tree(lambda m, g: DECAY_1 * m + (1 - DECAY_1) * g, first, gradients)
        second = map_tree(lambda s, g: DECAY_2 * s + (1 - DECAY_2) * g * g, second, gradients)
        parameters = map_tree(
            lambda v, m, s: v - rate * m / (jnp.sqrt(s) + EPSILON), parameters, first, second
        )
        return loss, (time, parameters, first, second)

    def descent(state: Any, x: Any, labels: Any) -> Any:
        loss, gradients = value_and_grad(state[1], x, labels)
        descended = map_tree(lambda v, g: v - DESCENT_RATE * g, state[1], gradients)
        return loss, (state[0], descended)

    parameters = jax.device_put(list(model.parameters.values()))
    time = jnp.zeros((), jnp.float32)
    if not model.adaptive:
        return jax.jit(descent, donate_argnums=0), (time, parameters)
    zeros = [map_tree(jnp.zeros_like, parameters) for _ in range(2)]
    return jax.jit(adam, donate_argnums=0), (time, parameters, *zeros)


def steady_tape(tf: Any, model: Model) -> Step:
    step, trained = tape_step(tf, model)
    x, labels = tf.constant(model.inputs), tf.constant(model.labels)

    def once() -> Any:
        return step(x, labels).numpy(), *trained

    return once


def steady_jax(jax: Any, model: Model) -> Step:
    step, state = jax_step(jax, model)
    x, labels = jax.device_put((model.inputs, model.labels))

    def once() -> Any:
        nonlocal state
        loss, state = step(state, x, labels)
        return np.asarray(loss), *state[1]

    return once
