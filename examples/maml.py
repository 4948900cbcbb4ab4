"""MAML: find weights from which one gradient step learns a new task (Finn et al., 2017).

A task is a sine wave of unknown height and phase, of which ten points are shown. The inner tape
takes the gradient step on those points. The outer tape differentiates the loss after that step with
respect to the weights before it, through the inner gradient: a derivative of second order.
"""

import itertools

import numpy as np
import tensorflow as tf
from common import arguments, new_figure

SIZES = [1, 40, 40, 1]
TASKS = 25  # in a batch
POINTS = 10  # shown of each task
RATE = 0.01  # of the inner step


def sine_tasks(random, count):
    """Heights and phases of `count` sine waves, each as an array [count, 1, 1]."""
    height = random.uniform(0.1, 5.0, size=(count, 1, 1))
    phase = random.uniform(0.0, np.pi, size=(count, 1, 1))
    return height, phase


def points_of(tasks, random, count):
    """x and y of `count` points on each wave: two arrays [tasks, count, 1]."""
    height, phase = tasks
    x = random.uniform(-5.0, 5.0, size=(len(height), count, 1))
    return x.astype(np.float32), (height * np.sin(x - phase)).astype(np.float32)


def new_weights():
    """w, b, w, b ... of all layers."""
    weights = []
    for inputs, outputs in itertools.pairwise(SIZES):
        deviation = inputs**-0.5
        weights.append(tf.Variable(tf.random.normal([inputs, outputs], stddev=deviation)))
        weights.append(tf.Variable(tf.zeros([1, outputs])))
    return weights


def network(weights, x):
    """The network as a function of its weights; where they have a first axis, it is the task."""
    w1, b1, w2, b2, w3, b3 = weights
    x = tf.tanh(x @ w1 + b1)
    x = tf.tanh(x @ w2 + b2)
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
    options = arguments(__doc__, steps=4000)
    random = np.random.default_rng(options.seed)

    weights = new_weights()
    rate = tf.optimizers.schedules.CosineDecay(3e-3, options.steps)
    optimizer = tf.optimizers.Adam(rate)

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
        tasks = sine_tasks(random, TASKS)
        loss = train_step(*points_of(tasks, random, POINTS), *points_of(tasks, random, POINTS))
        bar.update(step + 1, [("loss after the inner step", float(loss))])

    tasks = sine_tasks(random, 200)
    shown, new = points_of(tasks, random, POINTS), points_of(tasks, random, 100)
    losses = [
        float(tf.reduce_mean(task_losses(adapt(weights, *shown, steps), *new)))
        for steps in range(11)
    ]

    if options.figure:
        draw(options.figure, weights, losses)
    print(f"result: before={losses[0]:.3f} one_step={losses[1]:.3f} ten_steps={losses[10]:.3f}")


def draw(where, weights, losses):
    """One new task before and after adapting, and the mean loss over many."""
    figure = new_figure(9, 4)
    wave, curve = figure.subplots(1, 2, width_ratios=[3, 2])

    tasks = np.full([1, 1, 1], 3.0), np.full([1, 1, 1], 1.0)
    shown = points_of(tasks, np.random.default_rng(3), POINTS)
    x = np.linspace(-5, 5, 200, dtype=np.float32)[:, None]
    wave.plot(x, 3.0 * np.sin(x - 1.0), "k:", label="the wave")
    wave.plot(*np.squeeze(shown), "ko", label=f"the {POINTS} points shown")
    for steps, color in [(0, "tab:gray"), (1, "tab:orange"), (10, "tab:red")]:
        guess = network(adapt(weights, *shown, steps), x)[0]
        wave.plot(x, guess, color=color, label=f"gradient steps: {steps}")
    wave.set(title="A new task", xlabel="x", ylabel="y", ylim=(-4, 6.5))
    wave.legend(loc="upper center", ncols=2)

    curve.plot(range(len(losses)), losses, "o-", color="tab:red")
    curve.set(
        title="200 new tasks", xlabel="gradient steps", ylabel="mean squared error", ylim=(0, None)
    )
    figure.savefig(where)


if __name__ == "__main__":
    main()
