"""A variational autoencoder: digits as points of a plane.

The encoder gives each image a mean and a deviation, the decoder makes an image from a point near
the mean. The point is mean + deviation × noise, so the tape goes through both networks. The loss is
the negative evidence lower bound: what the image costs when its point is known, and what the point
costs against a standard normal distribution.
"""

import numpy as np
import tensorflow as tf
from common import MLP, arguments, digits, new_figure


class VAE(tf.Module):
    def __init__(self):
        super().__init__()
        self.encoder = MLP([64, 256, 128, 2 + 2])
        self.decoder = MLP([2, 128, 256, 64])

    def encode(self, images):
        """Mean and logarithm of the variance of each image's place in the plane."""
        return tf.split(self.encoder(images), 2, axis=1)

    def loss(self, images):
        """The mean negative evidence lower bound, in nats for an image."""
        mean, log_variance = self.encode(images)
        noise = tf.random.normal(tf.shape(mean))
        logits = self.decoder(mean + tf.exp(0.5 * log_variance) * noise)
        pixels = tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=logits)
        divergence = 0.5 * (mean**2 + tf.exp(log_variance) - 1.0 - log_variance)
        return tf.reduce_mean(tf.reduce_sum(pixels, axis=1) + tf.reduce_sum(divergence, axis=1))


def main():
    options = arguments(__doc__, epochs=100)
    (images, _), (test_images, test_labels) = digits(options.seed)
    batches = tf.data.Dataset.from_tensor_slices(images).shuffle(len(images)).batch(64)

    model = VAE()
    optimizer = tf.optimizers.Adam(1e-3)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = model.loss(x)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    history = []
    metrics = ["loss", "test loss"]
    bar = tf.keras.utils.Progbar(options.epochs, stateful_metrics=metrics, unit_name="epoch")
    for epoch in range(options.epochs):
        loss = np.mean([train_step(x).numpy() for x in batches])
        history.append([loss, float(model.loss(tf.constant(test_images)))])
        bar.update(epoch + 1, zip(metrics, history[-1], strict=True))

    if options.figure:
        draw(options.figure, model, test_images, test_labels)
    print(f"result: loss={history[-1][0]:.3f} test_loss={history[-1][1]:.3f}")


def draw(where, model, images, labels):
    """Where the digits lie in the plane, and what the decoder draws at each place of it."""
    figure = new_figure(10, 4.8)
    plane, pictures = figure.subplots(1, 2)

    mean, _ = model.encode(images)
    points = plane.scatter(*mean.numpy().T, c=labels, cmap="tab10", vmin=-0.5, vmax=9.5, s=14)
    figure.colorbar(points, ax=plane, ticks=range(10), label="digit")
    plane.set(title="Held back digits in the plane", aspect="equal")
    plane.set(xlim=(-2.7, 2.7), ylim=(-2.7, 2.7))

    side = np.linspace(-2.4, 2.4, 9, dtype=np.float32)
    x, y = np.meshgrid(side, side[::-1])
    made = tf.sigmoid(model.decoder(np.stack([x.ravel(), y.ravel()], axis=1)))
    tiles = np.pad(made.numpy().reshape(9, 9, 8, 8), [(0, 0), (0, 0), (1, 1), (1, 1)])
    mosaic = tiles.swapaxes(1, 2).reshape(90, 90)
    pictures.imshow(mosaic, cmap="gray_r", extent=(-2.7, 2.7, -2.7, 2.7))
    pictures.set(title="What the decoder makes of each place")
    figure.savefig(where)


if __name__ == "__main__":
    main()
