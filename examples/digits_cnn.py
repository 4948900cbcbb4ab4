"""Recognize handwritten digits with a convolutional network.

Two convolutions with a pooling after each, a dense layer at the end, and a learning rate that falls
along a cosine. The figure shows what the first layer has learned to look for.
"""

import numpy as np
import tensorflow as tf
from common import Dense, arguments, digits, new_figure

BATCH = 32


class Convolution(tf.Module):
    """3 × 3 filters with an offset each; images are [batch, height, width, channels]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        deviation = (2.0 / (9 * inputs)) ** 0.5
        self.filters = tf.Variable(tf.random.normal([3, 3, inputs, outputs], stddev=deviation))
        self.b = tf.Variable(tf.zeros([outputs]))

    def __call__(self, x):
        return tf.nn.conv2d(x, self.filters, strides=1, padding="SAME") + self.b


class CNN(tf.Module):
    def __init__(self):
        super().__init__()
        self.first = Convolution(1, 16)
        self.second = Convolution(16, 32)
        self.last = Dense(2 * 2 * 32, 10)

    def __call__(self, images):
        x = tf.nn.relu(self.first(images))
        x = tf.nn.max_pool2d(x, ksize=2, strides=2, padding="VALID")  # 8 × 8 to 4 × 4
        x = tf.nn.relu(self.second(x))
        x = tf.nn.max_pool2d(x, ksize=2, strides=2, padding="VALID")  # to 2 × 2
        return self.last(tf.reshape(x, [-1, 2 * 2 * 32]))


def main():
    options = arguments(__doc__, epochs=15)
    (images, labels), (test_images, test_labels) = digits(options.seed)
    images, test_images = images.reshape(-1, 8, 8, 1), test_images.reshape(-1, 8, 8, 1)
    batches = (
        tf.data.Dataset.from_tensor_slices((images, labels))
        .shuffle(len(labels))
        .batch(BATCH, drop_remainder=True)
    )

    network = CNN()
    rate = tf.optimizers.schedules.CosineDecay(5e-3, options.epochs * len(batches))
    optimizer = tf.optimizers.Adam(rate)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=network(x))
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        return loss

    history = []
    metrics = ["loss", "test accuracy"]
    bar = tf.keras.utils.Progbar(options.epochs, stateful_metrics=metrics, unit_name="epoch")
    for epoch in range(options.epochs):
        loss = np.mean([train_step(x, y).numpy() for x, y in batches])
        accuracy = np.mean(np.argmax(network(test_images), axis=1) == test_labels)
        history.append([loss, accuracy])
        bar.update(epoch + 1, zip(metrics, history[-1], strict=True))

    if options.figure:
        draw(options.figure, np.array(history), network, test_images[test_labels == 6][:1])
    print(f"result: loss={loss:.4f} accuracy={accuracy:.3f}")


def draw(where, history, network, image):
    """The accuracy, the filters of the first layer, and what they find in one image."""
    figure = new_figure(11, 3.6)
    left, middle, right = figure.subfigures(1, 3, width_ratios=[5, 4, 4], wspace=0.08)

    curve = left.subplots()
    curve.plot(range(1, len(history) + 1), history[:, 1])
    curve.set(title="Accuracy on held back digits", xlabel="epoch", ylabel="accuracy")
    curve.locator_params(axis="x", integer=True)

    middle.suptitle("The 16 filters of the first layer", fontsize="medium")
    filters = network.first.filters.numpy()[:, :, 0]
    for place, cell in enumerate(middle.subplots(4, 4).flat):
        cell.imshow(filters[:, :, place], cmap="RdBu_r", vmin=-1, vmax=1)
        cell.axis("off")

    right.suptitle("What each of them finds in a 6", fontsize="medium")
    found = tf.nn.relu(network.first(image)).numpy()[0]
    for place, cell in enumerate(right.subplots(4, 4).flat):
        cell.imshow(found[:, :, place], cmap="magma", vmin=0, vmax=found.max())
        cell.axis("off")
    figure.savefig(where)


if __name__ == "__main__":
    main()
