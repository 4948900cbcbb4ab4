"""Logistic regression: tell two kinds of iris apart by the size of their petals.

The model is linear; the sigmoid makes a probability of it, and the loss is the cross-entropy. The
data comes in small shuffled batches from a `tf.data.Dataset`.
"""

import numpy as np
import tensorflow as tf
from common import arguments, new_figure
from sklearn.datasets import load_iris

KINDS = ["versicolor", "virginica"]


def iris():
    """Length and width of 100 petals in cm, and whether each is of the second kind."""
    flowers = load_iris()
    chosen = flowers.target > 0
    petals, kinds = flowers.data[chosen, 2:], flowers.target[chosen]
    return petals.astype(np.float32), (kinds == 2).astype(np.float32)


class LogisticRegression(tf.Module):
    """The logit of the second kind, linear in the standardized sizes."""

    def __init__(self, sizes):
        super().__init__()
        self.mean, self.deviation = sizes.mean(axis=0), sizes.std(axis=0)
        self.w = tf.Variable(tf.zeros([2, 1]), name="w")
        self.b = tf.Variable(0.0, name="b")

    def __call__(self, sizes):
        x = (sizes - self.mean) / self.deviation
        return tf.squeeze(x @ self.w, axis=1) + self.b


def cross_entropy(labels, logits):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def main():
    options = arguments(__doc__, epochs=60)
    sizes, labels = iris()
    batches = tf.data.Dataset.from_tensor_slices((sizes, labels)).shuffle(len(labels)).batch(20)

    model = LogisticRegression(sizes)
    optimizer = tf.optimizers.Adam(learning_rate=0.05)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = cross_entropy(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    losses = []
    bar = tf.keras.utils.Progbar(
        options.epochs, stateful_metrics=["loss", "accuracy"], unit_name="epoch"
    )
    for epoch in range(options.epochs):
        for x, y in batches:
            train_step(x, y)
        logits = model(sizes)
        losses.append(float(cross_entropy(labels, logits)))
        accuracy = np.mean((logits.numpy() > 0) == labels)
        bar.update(epoch + 1, [("loss", losses[-1]), ("accuracy", accuracy)])

    if options.figure:
        draw(options.figure, model, sizes, labels, losses)
    print(f"result: loss={losses[-1]:.4f} accuracy={accuracy:.3f}")


def draw(where, model, sizes, labels, losses):
    """The flowers on the probability that the model gives, and the loss."""
    figure = new_figure(9, 4)
    plane, curve = figure.subplots(1, 2, width_ratios=[3, 2])

    lengths, widths = np.meshgrid(np.linspace(2.8, 7.2, 120), np.linspace(0.8, 2.7, 120))
    grid = np.stack([lengths.ravel(), widths.ravel()], axis=1).astype(np.float32)
    probability = tf.sigmoid(model(grid)).numpy().reshape(lengths.shape)
    shades = plane.contourf(
        lengths, widths, probability, np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.6
    )
    plane.contour(lengths, widths, probability, [0.5], colors="black", linewidths=1)
    figure.colorbar(shades, ax=plane, label=f"probability of {KINDS[1]}")
    for kind, color in enumerate(["tab:blue", "tab:red"]):
        of_kind = sizes[labels == kind]
        plane.plot(*of_kind.T, "o", color=color, mec="white", label=KINDS[kind])
    plane.set(title="Two kinds of iris", xlabel="petal length (cm)", ylabel="petal width (cm)")
    plane.legend(loc="lower right")

    curve.plot(range(1, len(losses) + 1), losses)
    curve.set(title="Loss", xlabel="epoch", ylabel="cross-entropy", ylim=(0, None))
    figure.savefig(where)


if __name__ == "__main__":
    main()
