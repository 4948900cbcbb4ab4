"""A physics-informed network: a swinging spring, of which only the beginning was measured.

The network gives the place u at time t. Its loss has two parts: the measurements, and how far u is
from the law u″ + 2 d u′ + k u = 0, also at times when nothing was measured. Two tapes, one inside
the other, give u′ and u″; a third one differentiates the loss that contains them. The damping d is
a variable too, and found on the way. A network without the law shows what the law is worth.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, new_figure

DAMPING, STIFFNESS = 0.3, 9.0
END, MEASURED = 5.0, 2.0  # seconds
FREQUENCY = (STIFFNESS - DAMPING**2) ** 0.5


def truth(t):
    """The solution of the law that starts at u = 1, at rest."""
    return np.exp(-DAMPING * t) * (
        np.cos(FREQUENCY * t) + DAMPING / FREQUENCY * np.sin(FREQUENCY * t)
    )


def residual(network, damping, t):
    """How far the network is from the law, at the times t."""
    with tf.GradientTape() as outer:
        outer.watch(t)
        with tf.GradientTape() as inner:
            inner.watch(t)
            u = network(t)
        velocity = inner.gradient(u, t)
    acceleration = outer.gradient(velocity, t)
    return acceleration + 2.0 * damping * velocity + STIFFNESS * u


def train(network, damping, measured, law_times, steps):
    """Fit the network to the measurements and, where there are `law_times`, to the law there."""
    variables = network.trainable_variables
    if law_times is not None:
        variables = [*variables, damping]
    rate = tf.optimizers.schedules.CosineDecay(5e-3, steps)
    optimizer = tf.optimizers.Adam(rate)
    times, places = measured

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((network(times) - places) ** 2)
            if law_times is not None:
                loss += 0.01 * tf.reduce_mean(residual(network, damping, law_times) ** 2)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    bar = tf.keras.utils.Progbar(steps, stateful_metrics=["loss", "damping"])
    for step in range(steps):
        loss = train_step()
        bar.update(step + 1, [("loss", float(loss)), ("damping", damping.numpy())])


def main():
    options = arguments(__doc__, steps=6000)
    random = np.random.default_rng(options.seed)
    times = random.uniform(0, MEASURED, size=(30, 1)).astype(np.float32)
    places = truth(times) + random.normal(0, 0.02, size=times.shape).astype(np.float32)
    law_times = tf.constant(np.linspace(0, END, 100, dtype=np.float32)[:, None])

    with_law, without = (MLP([1, 32, 32, 32, 1], activation=tf.tanh) for _ in range(2))
    damping = tf.Variable(1.0)
    train(with_law, damping, (times, places), law_times, options.steps)
    train(without, damping, (times, places), None, max(options.steps // 3, 1))

    t = np.linspace(0, END, 200, dtype=np.float32)[:, None]
    error = np.sqrt(np.mean((with_law(t) - truth(t)) ** 2))
    error_without = np.sqrt(np.mean((without(t) - truth(t)) ** 2))
    if options.figure:
        draw(options.figure, times, places, t, with_law(t), without(t))
    print(
        f"result: error={error:.4f} without_law={error_without:.3f} damping={damping.numpy():.3f}"
    )


def draw(where, times, places, t, with_law, without):
    """The measurements, the truth, and what the two networks make of them."""
    figure = new_figure(9, 4)
    axes = figure.subplots()
    axes.axvspan(0, MEASURED, color="gray", alpha=0.12, linewidth=0)
    axes.plot(t, truth(t), color="black", linestyle=":", label="truth")
    axes.plot(t, without, color="tab:orange", label="network without the law")
    axes.plot(t, with_law, color="tab:blue", label="network with the law")
    axes.plot(times, places, "o", color="black", markersize=4, label="measurements")
    axes.set(title="A swinging spring, measured in the gray part", xlabel="time (s)")
    axes.set(ylabel="place", xlim=(0, END), ylim=(-1.3, 1.3))
    axes.legend(ncols=2, loc="lower right")
    figure.savefig(where)


if __name__ == "__main__":
    main()
