"""DCGAN: a generative adversarial network of convolutions, as a model with its own `train_step`.

`fit` gives the batches, the progress and the metrics; what a step is, `train_step` says: two tapes
and two optimizers (Radford et al., 2015). It draws 8 × 8 digits from noise.
"""

import numpy as np
import tensorflow as tf
from helpers import arguments, digits, new_figure
from tensorflow import keras
from tensorflow.keras import layers

NOISE = 16


def make_generator():
    return keras.Sequential(
        [
            keras.Input((NOISE,)),
            layers.Dense(2 * 2 * 64, use_bias=False),
            layers.BatchNormalization(momentum=0.9),
            layers.ReLU(),
            layers.Reshape((2, 2, 64)),
            layers.Conv2DTranspose(32, 4, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(momentum=0.9),
            layers.ReLU(),
            layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="sigmoid"),
        ],
        name="generator",
    )


def make_discriminator():
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(32, 4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Conv2D(64, 4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Flatten(),
            layers.Dropout(0.2),
            layers.Dense(1),
        ],
        name="discriminator",
    )


class GAN(keras.Model):
    """A generator and a discriminator that play against each other."""

    def __init__(self):
        super().__init__()
        self.generator = make_generator()
        self.discriminator = make_discriminator()
        self.noise = keras.random.SeedGenerator(1)
        self.generator_loss = keras.metrics.Mean(name="generator_loss")
        self.discriminator_loss = keras.metrics.Mean(name="discriminator_loss")

    def compile(self, generator_optimizer, discriminator_optimizer, loss):
        super().compile(loss=loss)
        self.generator_optimizer = generator_optimizer
        self.discriminator_optimizer = discriminator_optimizer
        self.entropy = loss

    @property
    def metrics(self):
        return [self.generator_loss, self.discriminator_loss]

    def train_step(self, real):
        noise = keras.random.normal((tf.shape(real)[0], NOISE), seed=self.noise)
        with tf.GradientTape() as generator_tape, tf.GradientTape() as discriminator_tape:
            made = self.generator(noise, training=True)
            of_made = self.discriminator(made, training=True)
            of_real = self.discriminator(real, training=True)
            generator_loss = self.entropy(tf.ones_like(of_made), of_made)
            discriminator_loss = self.entropy(0.9 * tf.ones_like(of_real), of_real)
            discriminator_loss += self.entropy(tf.zeros_like(of_made), of_made)

        weights = self.generator.trainable_weights
        gradients = generator_tape.gradient(generator_loss, weights)
        self.generator_optimizer.apply_gradients(zip(gradients, weights, strict=True))
        weights = self.discriminator.trainable_weights
        gradients = discriminator_tape.gradient(discriminator_loss, weights)
        self.discriminator_optimizer.apply_gradients(zip(gradients, weights, strict=True))

        self.generator_loss.update_state(generator_loss)
        self.discriminator_loss.update_state(discriminator_loss)
        return {metric.name: metric.result() for metric in self.metrics}


class Snapshots(keras.callbacks.Callback):
    """Keeps what the generator makes of the same noise, after some of the epochs."""

    def __init__(self, noise, epochs):
        super().__init__()
        self.noise = noise
        self.epochs = epochs
        self.images = {}

    def on_epoch_end(self, epoch, logs=None):
        if epoch + 1 in self.epochs:
            images = self.model.generator(self.noise, training=False)
            self.images[epoch + 1] = images.numpy()


def main():
    options = arguments(__doc__, epochs=100)
    (images, _), _ = digits(options.seed)
    images = images.reshape(-1, 8, 8, 1)
    dataset = tf.data.Dataset.from_tensor_slices(images).shuffle(len(images), seed=options.seed)

    gan = GAN()
    gan.compile(
        generator_optimizer=keras.optimizers.Adam(1e-3, beta_1=0.5),
        discriminator_optimizer=keras.optimizers.Adam(5e-4, beta_1=0.5),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
    )
    noise = keras.random.normal((500, NOISE), seed=options.seed)
    snapshots = Snapshots(noise, {1, max(1, options.epochs // 5), options.epochs})
    gan.fit(
        dataset.batch(64, drop_remainder=True),
        epochs=options.epochs,
        shuffle=False,  # the dataset is shuffled
        callbacks=[snapshots],
        verbose=2,
    )

    made = snapshots.images[options.epochs]
    # The mean image and how much a pixel varies: a generator that always draws the same fails.
    mean = np.abs(made.mean(axis=0) - images.mean(axis=0)).mean()
    spread = made.std(axis=0).mean() / images.std(axis=0).mean()
    if options.figure:
        draw(options.figure, snapshots.images, images)
    print(f"result: mean_error={mean:.4f} spread={spread:.3f}")


def draw(where, snapshots, images):
    """Sixteen made digits at three moments, and sixteen true ones."""
    figure = new_figure(10, 2.9)
    shown = {f"after epoch {epoch}": made for epoch, made in snapshots.items()}
    shown["handwritten"] = images
    for axes, (title, these) in zip(figure.subplots(1, len(shown)), shown.items(), strict=True):
        framed = np.pad(these[:16, ..., 0], ((0, 0), (1, 1), (1, 1)))
        sheet = framed.reshape(4, 4, 10, 10).transpose(0, 2, 1, 3).reshape(40, 40)
        axes.imshow(sheet, cmap="gray_r", vmin=0, vmax=1)
        axes.set(title=title, xticks=[], yticks=[])
    figure.savefig(where)


if __name__ == "__main__":
    main()
