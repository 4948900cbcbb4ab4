"""MAML: find weights from which one gradient step learns a new task (Finn et al., 2017).

A task is a sine wave of unknown height and phase, of which ten points are shown. An inner tape takes
the gradient step on those points; the outer tape differentiates the loss *after* that step, through
the inner gradient, with respect to the weights before it: a derivative of second order.
"""

import itertools

import numpy as np
import tensorflow as tf
from common import arguments, new_figure

SIZES = [1, 40, 40, 1]
TASKS = 25  # in a batch
POINTS = 10  # shown of each task
RATE = 0.02  # of the inner step


def sine_tasks(random, count, points):
    """x and y of `points` points on each of `count` sine waves: two arrays [count, points, 1]."""
    height = random.uniform(0.1, 5.0, size=(count, 1, 1))
    phase = random.uniform(0.0, np.pi, size=(count, 1, 1))
    x = random.uniform(-5.0, 5.0, size=(count, points, 1))
    return x.astype(np.float32), (height * np.sin(x - phase)).astype(np.float32)


def new_weights():
    """w, b, w, b ... of all layers."""
    weights = []
    for inputs, outputs in itertools.pairwise(SIZES):
        deviation = (2.0 / inputs) ** 0.5
        weights.append(tf.Variable(tf.random.normal([inputs, outputs], stddev=deviation)))
        weights.append(tf.Variable(tf.zeros([1, outputs])))
    return weights


def network(weights, x):
    """The network as a function of its weights; where they have a first axis, it is the task."""
    w1, b1, w2, b2, w3, b3 = weights
    x = tf.nn.relu(x @ w1 + b1)
    x = tf.nn.relu(x @ w2 + b2)
    return x @ w3 + b3


def task_losses(weights, x, y):
    return tf.reduce_mean((network(weights, x) - y) ** 2, axis=[1, 2])


def adapt(weights, x, y, steps=1):
    """The weights of each task after gradient steps on its points."""
    weights = [tf.repeat(w[tf.newaxis], len(x), axis=0) for w in weights]
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = tf.reduce_sum(task_losses(weights, x, y))  # of tasks that share nothing
        gradients = tape.gradient(loss, weights)
        weights = [w - RATE * g for w, g in zip(weights, gradients, strict=True)]
    return weights


def main():
    options = arguments(__doc__, steps=3000)
    random = np.random.default_rng(options.seed)

    weights = new_weights()
    optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(shown_x, shown_y, x, y):
        with tf.GradientTape() as tape:
            adapted = adapt(weights, shown_x, shown_y)
            loss = tf.reduce_mean(task_losses(adapted, x, y))
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return loss

    bar = tf.keras.utils.Progbar(options.steps)
    for step in range(options.steps):
        x, y = sine_tasks(random, TASKS, 2 * POINTS)
        loss = train_step(x[:, :POINTS], y[:, :POINTS], x[:, POINTS:], y[:, POINTS:])
        bar.update(step + 1, [("loss after the inner step", float(loss))])

    x, y = sine_tasks(random, 200, POINTS + 100)
    steps = range(11)
    losses = []
    for count in steps:
        adapted = adapt(weights, x[:, :POINTS], y[:, :POINTS], count)
        losses.append(float(tf.reduce_mean(task_losses(adapted, x[:, POINTS:], y[:, POINTS:]))))

    if options.figure:
        draw(options.figure, weights, losses)
    print(f"result: before={losses[0]:.3f} one_step={losses[1]:.3f} ten_steps={losses[10]:.3f}")


def draw(where, weights, losses):
    """One new task before and after adapting, and the mean loss over many."""
    figure = new_figure(9, 4)
    wave, curve = figure.subplots(1, 2, width_ratios=[3, 2])

    random = np.random.default_rng(7)
    shown_x, shown_y = sine_tasks(random, 1, POINTS)
    x = np.linspace(-5, 5, 200, dtype=np.float32)[:, None]
    for steps, color in [(0, "tab:gray"), (1, "tab:orange"), (10, "tab:red")]:
        adapted = adapt(weights, shown_x, shown_y, steps)
        name = {0: "before", 1: "after 1 step"}.get(steps, f"after {steps} steps")
        wave.plot(x, network(adapted, x)[0], color=color, label=name)
    height, phase = wave_of(7)
    wave.legend()

    curve.semilogy(range(len(losses)), losses, "o-", color="tab:red")
    curve.set(title="200 new tasks", xlabel="gradient steps", ylabel="mean squared error")
    figure.savefig(where)


if __name__ == "__main__":
    main()
