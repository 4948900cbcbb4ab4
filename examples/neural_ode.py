"""A neural ODE: learn the law of motion from the motion (Chen et al., 2018).

A network says how fast a state changes. The Runge-Kutta method computes from that where the state
goes, and the tape goes back through all of its steps. The truth is a pendulum with friction, whose
angle and speed move along a spiral; the network sees short pieces of it.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, new_figure

STEP = 0.1  # seconds
LENGTH = 250  # steps of the whole track
AHEAD = 10  # steps that the network has to foresee
BATCH = 64


def pendulum(state):
    """The true law: how angle and speed change."""
    angle, speed = tf.unstack(state, axis=1)
    return tf.stack([speed, -4.0 * tf.sin(angle) - 0.2 * speed], axis=1)


def runge_kutta(law, y, steps):
    """The states after 0, 1 ... `steps` steps of the classical method of fourth order."""
    states = [y]
    for _ in range(steps):
        k1 = law(y)
        k2 = law(y + 0.5 * STEP * k1)
        k3 = law(y + 0.5 * STEP * k2)
        k4 = law(y + STEP * k3)
        y = y + STEP / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        states.append(y)
    return tf.stack(states)


def pieces(track, random):
    """BATCH pieces of the track, AHEAD steps long: an array [AHEAD + 1, BATCH, 2]."""
    starts = random.integers(len(track) - AHEAD, size=BATCH)
    return track[starts + np.arange(AHEAD + 1)[:, None]]


def main():
    options = arguments(__doc__, steps=2000)
    random = np.random.default_rng(options.seed)
    start = tf.constant([[2.5, 0.0]])
    track = runge_kutta(pendulum, start, LENGTH).numpy()[:, 0]

    network = MLP([2, 64, 64, 2], activation=tf.tanh)
    rate = tf.optimizers.schedules.CosineDecay(5e-3, options.steps)
    optimizer = tf.optimizers.Adam(rate)

    @tf.function
    def train_step(truth):
        with tf.GradientTape() as tape:
            states = runge_kutta(network, truth[0], AHEAD)
            loss = tf.reduce_mean((states - truth) ** 2)
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        return loss

    bar = tf.keras.utils.Progbar(options.steps, stateful_metrics=["loss"])
    for step in range(options.steps):
        loss = train_step(pieces(track, random))
        bar.update(step + 1, [("loss", float(loss))])

    learned = runge_kutta(network, start, LENGTH).numpy()[:, 0]
    error = np.mean(np.linalg.norm(learned - track, axis=1))
    if options.figure:
        draw(options.figure, network, track, learned)
    print(f"result: loss={float(loss):.6f} error={error:.4f}")


def draw(where, network, track, learned):
    """The learned law with the track in it, and the angle over time."""
    figure = new_figure(10, 4)
    plane, curve = figure.subplots(1, 2, width_ratios=[4, 5])

    angle, speed = np.meshgrid(np.linspace(-3, 3, 19), np.linspace(-4.5, 4.5, 19))
    states = np.stack([angle.ravel(), speed.ravel()], axis=1).astype(np.float32)
    change = network(states).numpy().T
    plane.quiver(*states.T, *change, color="tab:gray", alpha=0.5, scale=150, width=0.003)
    plane.plot(*track.T, color="black", linewidth=4, alpha=0.25, label="truth")
    plane.plot(*learned.T, color="tab:red", label="learned")
    plane.set(title="The learned law, and the track", xlabel="angle", ylabel="speed")
    plane.legend(loc="upper right")

    time = STEP * np.arange(len(track))
    curve.plot(time, track[:, 0], color="black", linewidth=4, alpha=0.25, label="truth")
    curve.plot(time, learned[:, 0], color="tab:red", label="learned")
    curve.set(title="The same over time", xlabel="time (s)", ylabel="angle")
    curve.legend(loc="upper right")
    figure.savefig(where)


if __name__ == "__main__":
    main()
