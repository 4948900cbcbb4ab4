"""Fit a line to noisy points: the smallest custom training loop.

The tape records how the loss comes from the two variables. Its gradient says how to change them,
and the optimizer takes a small step against it.
"""

import numpy as np
import tensorflow as tf
from common import arguments, new_figure


def noisy_line(count, seed):
    """Points around y = 3 x + 2."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, size=count)
    y = 3.0 * x + 2.0 + random.normal(0, 0.3, size=count)
    return tf.constant(x, tf.float32), tf.constant(y, tf.float32)


def mean_squared_error(slope, offset, x, y):
    return tf.reduce_mean((slope * x + offset - y) ** 2)


def main():
    options = arguments(__doc__, epochs=100)
    x, y = noisy_line(100, options.seed)

    slope, offset = tf.Variable(0.0), tf.Variable(0.0)
    optimizer = tf.optimizers.SGD(learning_rate=0.2)
    path = [(slope.numpy(), offset.numpy())]

    bar = tf.keras.utils.Progbar(options.epochs, stateful_metrics=["loss"], unit_name="epoch")
    for epoch in range(options.epochs):
        with tf.GradientTape() as tape:
            loss = mean_squared_error(slope, offset, x, y)
        gradients = tape.gradient(loss, [slope, offset])
        optimizer.apply_gradients(zip(gradients, [slope, offset], strict=True))
        path.append((slope.numpy(), offset.numpy()))
        bar.update(epoch + 1, [("loss", float(loss))])

    if options.figure:
        draw(options.figure, x.numpy(), y.numpy(), np.array(path))
    print("The points were made with y = 3 x + 2.")
    print(f"result: slope={path[-1][0]:.3f} offset={path[-1][1]:.3f} loss={float(loss):.4f}")


def draw(where, x, y, path):
    """The points with the line, and the way down the valley of the loss."""
    figure = new_figure(9, 4)
    line, valley = figure.subplots(1, 2)

    ends = np.array([-1.0, 1.0])
    for step in (0, 2, 5, 10):
        slope, offset = path[min(step, len(path) - 1)]
        line.plot(ends, slope * ends + offset, color="tab:red", alpha=0.25)
        line.annotate(f"{step}", (1.02, slope + offset), color="tab:red", alpha=0.6, va="center")
    line.plot(ends, path[-1, 0] * ends + path[-1, 1], color="tab:red", label="the fitted line")
    line.plot(x, y, ".", color="tab:blue", alpha=0.7, label="the points")
    line.set(title="The line, also after 0, 2, 5 and 10 steps", xlabel="x", ylabel="y")
    line.locator_params(axis="x", nbins=5)
    line.legend(loc="upper left")

    slopes, offsets = np.meshgrid(np.linspace(-0.5, 4.5, 80), np.linspace(-0.5, 3.5, 80))
    errors = (slopes[..., None] * x + offsets[..., None] - y) ** 2
    levels = np.geomspace(0.1, 20, 16)
    valley.contour(slopes, offsets, errors.mean(axis=-1), levels, cmap="viridis", linewidths=0.8)
    valley.plot(*path.T, ".-", color="tab:red", label="gradient descent")
    valley.plot(3, 2, "k*", markersize=12, label="the truth")
    valley.set(title="The loss and the way down", xlabel="slope", ylabel="offset")
    valley.legend(loc="lower right")
    figure.savefig(where)


if __name__ == "__main__":
    main()
