"""Tell two spirals apart with a small network and a training loop written out in full.

Every step is plain Python: the tape, the gradients, their norm, the update.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, new_figure

BATCH = 64


def spirals(count, seed):
    """`count` points on each of two interleaved spirals, and the spiral of each."""
    random = np.random.default_rng(seed)
    turn = np.sqrt(random.uniform(0.02, 1.0, size=(2, count))) * 3 * np.pi
    radius = turn / (3 * np.pi)
    angle = turn + np.array([[0.0], [np.pi]])
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1, 2)
    points += random.normal(0, 0.015, size=points.shape)
    return points.astype(np.float32), np.repeat(np.int32([0, 1]), count)


def mean_loss(logits, labels):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def train_step(network, optimizer, x, labels):
    """One step of gradient descent; the norm of the gradient."""
    with tf.GradientTape() as tape:
        loss = mean_loss(network(x), labels)
    gradients = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
    return float(tf.linalg.global_norm(gradients))


def main():
    options = arguments(__doc__, epochs=60)
    points, labels = spirals(500, options.seed)
    batches = tf.data.Dataset.from_tensor_slices((points, labels)).shuffle(1000).batch(BATCH)

    network = MLP([2, 64, 64, 2])
    optimizer = tf.optimizers.SGD(learning_rate=0.05, momentum=0.9)

    losses = []
    metrics = ["loss", "accuracy", "gradient norm"]
    bar = tf.keras.utils.Progbar(options.epochs, stateful_metrics=metrics, unit_name="epoch")
    for epoch in range(options.epochs):
        norms = [train_step(network, optimizer, x, y) for x, y in batches]
        logits = network(points)
        losses.append(float(mean_loss(logits, labels)))
        accuracy = np.mean(np.argmax(logits, axis=1) == labels)
        bar.update(epoch + 1, zip(metrics, [losses[-1], accuracy, np.mean(norms)], strict=True))

    if options.figure:
        draw(options.figure, network, points, labels, losses)
    print(f"result: loss={losses[-1]:.4f} accuracy={accuracy:.3f}")


def draw(where, network, points, labels, losses):
    """What the network says of every place of the plane, and the loss."""
    figure = new_figure(9, 4.2)
    plane, curve = figure.subplots(1, 2)

    side = np.linspace(-1.2, 1.2, 200, dtype=np.float32)
    x, y = np.meshgrid(side, side)
    logits = network(np.stack([x.ravel(), y.ravel()], axis=1))
    probability = tf.nn.softmax(logits).numpy()[:, 1].reshape(x.shape)
    plane.contourf(x, y, probability, np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.6)
    for spiral, color in enumerate(["tab:blue", "tab:red"]):
        plane.plot(*points[labels == spiral].T, ".", color=color, markersize=3)
    plane.set(title="The points, and what the network says", aspect="equal")
    plane.axis("off")

    curve.semilogy(range(1, len(losses) + 1), losses)
    curve.set(title="Loss", xlabel="epoch", ylabel="cross-entropy")
    figure.savefig(where)


if __name__ == "__main__":
    main()
