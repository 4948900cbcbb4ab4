"""A neural ODE: learn the law of motion from the motion (Chen et al., 2018).

A network gives the velocity at each place of the plane. From it the Runge-Kutta method computes
where a point goes, and the tape goes back through all its steps. The truth is a spiral, of which the
network only ever sees short pieces.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, new_figure

STEP = 0.05  # of time
AHEAD = 10  # steps that the network has to foresee
BATCH = 64


def spiral_law(y):
    """Velocities that turn and shrink: the true law."""
    return y**3 @ np.float32([[-0.1, -2.0], [2.0, -0.1]])


def runge_kutta(law, y, steps):
    """The places after 0, 1 ... `steps` steps of the classical method of fourth order."""
    places = [y]
    for _ in range(steps):
        k1 = law(y)
        k2 = law(y + 0.5 * STEP * k1)
        k3 = law(y + 0.5 * STEP * k2)
        k4 = law(y + STEP * k3)
        y = y + STEP / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        places.append(y)
    return tf.stack(places)


def pieces(track, random):
    """BATCH pieces of the track, AHEAD steps long: an array [AHEAD + 1, BATCH, 2]."""
    starts = random.integers(len(track) - AHEAD, size=BATCH)
    return track[starts + np.arange(AHEAD + 1)[:, None]]


def main():
    options = arguments(__doc__, steps=2000)
    random = np.random.default_rng(options.seed)
    start = np.float32([[2.0, 0.0]])
    track = runge_kutta(spiral_law, start, 500).numpy()[:, 0]

    network = MLP([2, 64, 64, 2], activation=tf.tanh)
    rate = tf.keras.optimizers.schedules.CosineDecay(5e-3, options.steps)
    optimizer = tf.keras.optimizers.Adam(rate)

    @tf.function
    def train_step(true_places):
        with tf.GradientTape() as tape:
            places = runge_kutta(network, true_places[0], AHEAD)
            loss = tf.reduce_mean((places - true_places) ** 2)
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        return loss

    bar = tf.keras.utils.Progbar(options.steps, stateful_metrics=["loss"])
    for step in range(options.steps):
        loss = train_step(pieces(track, random))
        bar.update(step + 1, [("loss", float(loss))])

    learned = runge_kutta(network, start, 500).numpy()[:, 0]
    error = np.mean(np.linalg.norm(learned - track, axis=1))
    if options.figure:
        draw(options.figure, network, track, learned)
    print(f"result: loss={float(loss):.6f} error={error:.4f}")


def draw(where, network, track, learned):
    """The learned velocities with both tracks, and the tracks over time."""
    figure = new_figure(10, 4.2)
    plane, curve = figure.subplots(1, 2)

    side = np.linspace(-2.3, 2.3, 22, dtype=np.float32)
    x, y = np.meshgrid(side, side)
    velocity = network(np.stack([x.ravel(), y.ravel()], axis=1)).numpy()
    speed = np.linalg.norm(velocity, axis=1, keepdims=True)
    plane.quiver(x, y, *(velocity / speed).T, speed, cmap="Blues", pivot="mid", scale=30)
    plane.plot(*track.T, color="black", linewidth=3, alpha=0.3, label="truth")
    plane.plot(*learned.T, color="tab:red", label="learned")
    plane.set(title="The learned velocities, and the track", aspect="equal")
    plane.legend(loc="upper right")

    time = STEP * np.arange(len(track))
    for axis, name, color in [(0, "x", "tab:red"), (1, "y", "tab:blue")]:
        curve.plot(time, track[:, axis], color="black", linewidth=3, alpha=0.3)
        curve.plot(time, learned[:, axis], color=color, label=name)
    curve.set(title="From one start, over 25 s (truth in gray)", xlabel="time (s)", ylabel="place")
    curve.legend(loc="upper right")
    figure.savefig(where)


if __name__ == "__main__":
    main()
