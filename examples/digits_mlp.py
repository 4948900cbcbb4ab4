"""Recognize handwritten digits with a multilayer perceptron.

The usual custom loop: a `tf.data.Dataset` of batches, a compiled training step, and a look at the
images that were held back after every epoch.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, digits, new_figure


def main():
    options = arguments(__doc__, epochs=20)
    (images, labels), (test_images, test_labels) = digits(options.seed)
    batches = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(labels)).batch(32)

    network = MLP([64, 128, 64, 10])
    optimizer = tf.optimizers.AdamW(learning_rate=2e-3, weight_decay=1e-3)

    def mean_loss(x, y):
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=network(x))
        return tf.reduce_mean(losses)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = mean_loss(x, y)
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        return loss

    history = []
    metrics = ["loss", "test loss", "test accuracy"]
    bar = tf.keras.utils.Progbar(options.epochs, stateful_metrics=metrics, unit_name="epoch")
    for epoch in range(options.epochs):
        loss = np.mean([train_step(x, y).numpy() for x, y in batches])
        accuracy = np.mean(np.argmax(network(test_images), axis=1) == test_labels)
        history.append([loss, float(mean_loss(test_images, test_labels)), accuracy])
        bar.update(epoch + 1, zip(metrics, history[-1], strict=True))

    if options.figure:
        probabilities = tf.nn.softmax(network(test_images)).numpy()
        draw(options.figure, np.array(history), test_images, test_labels, probabilities)
    print(f"result: loss={history[-1][1]:.4f} accuracy={accuracy:.3f}")


def draw(where, history, images, labels, probabilities):
    """The loss, and the images of whose digit the network is least sure."""
    figure = new_figure(9, 3.6)
    left, right = figure.subfigures(1, 2, width_ratios=[3, 2])
    curve = left.subplots()
    epochs = range(1, len(history) + 1)
    curve.semilogy(epochs, history[:, 0], label="training")
    curve.semilogy(epochs, history[:, 1], label="held back")
    curve.set(title=f"Loss; accuracy {history[-1, 2]:.1%}", xlabel="epoch", ylabel="cross-entropy")
    curve.locator_params(axis="x", integer=True)
    curve.legend()

    right.suptitle("The hardest: what it says, and (the truth)", fontsize="medium")
    sureness = probabilities[np.arange(len(labels)), labels]
    for cell, index in zip(right.subplots(3, 4).flat, np.argsort(sureness), strict=False):
        found = probabilities[index].argmax()
        color = "black" if found == labels[index] else "tab:red"
        cell.imshow(images[index].reshape(8, 8), cmap="gray_r")
        cell.set_title(f"{found} ({labels[index]})", fontsize="small", color=color)
        cell.axis("off")
    figure.savefig(where)


if __name__ == "__main__":
    main()
