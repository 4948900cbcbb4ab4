"""Five models: how they are trained in each of Keras' ways, saved and loaded.

Plain Keras code: it runs on gradtape and on TensorFlow. Weights and data are drawn by NumPy, and so
are the same on both.
"""

import keras
import numpy as np
import tensorflow as tf
from gradients import generator
from keras import layers

BATCHES, BATCH, EPOCHS = 5, 16, 10
STEPS = BATCHES * EPOCHS
RATE = 1e-2


@keras.saving.register_keras_serializable("gradtape tests")
class FixedDropout(layers.Layer):
    """Dropout whose mask is the same in each step: random numbers differ from system to system."""

    def call(self, x, training=False):
        if not training:
            return x
        shape = tuple(x.shape[1:])
        kept = generator("mask", shape).uniform(size=shape) < 0.75
        return x * tf.constant(kept / 0.75, x.dtype)

    def compute_output_shape(self, input_shape):
        return input_shape


@keras.saving.register_keras_serializable("gradtape tests")
class GAN(keras.Model):
    """Two models and two optimizers in a train_step of our own. The noise comes with the data."""

    def __init__(self, generator_model, discriminator, **kwargs):
        super().__init__(**kwargs)
        self.generator_model, self.discriminator = generator_model, discriminator
        self.loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
        self.g_optimizer = keras.optimizers.Adam(RATE)
        self.g_optimizer.build(generator_model.trainable_variables)
        self.d_optimizer = keras.optimizers.Adam(RATE)
        self.d_optimizer.build(discriminator.trainable_variables)

    def call(self, noise):
        return self.discriminator(self.generator_model(noise))

    def train_step(self, data):
        real, noise = data[:2]  # train_on_batch adds a weight, None
        with tf.GradientTape() as tape:
            fake = self.generator_model(noise, training=True)
            fake_logits = self.discriminator(fake, training=True)
            real_logits = self.discriminator(real, training=True)
            d_loss = self.loss_fn(tf.ones_like(real_logits), real_logits)
            d_loss += self.loss_fn(tf.zeros_like(fake_logits), fake_logits)
        weights = self.discriminator.trainable_variables
        self.d_optimizer.apply_gradients(zip(tape.gradient(d_loss, weights), weights, strict=True))
        with tf.GradientTape() as tape:
            fake_logits = self.discriminator(self.generator_model(noise, training=True))
            g_loss = self.loss_fn(tf.ones_like(fake_logits), fake_logits)
        weights = self.generator_model.trainable_variables
        self.g_optimizer.apply_gradients(zip(tape.gradient(g_loss, weights), weights, strict=True))
        return {"d_loss": d_loss, "g_loss": g_loss}

    def get_config(self):
        parts = {"generator_model": self.generator_model, "discriminator": self.discriminator}
        return super().get_config() | {
            name: keras.saving.serialize_keras_object(part) for name, part in parts.items()
        }

    @classmethod
    def from_config(cls, config):
        for name in ("generator_model", "discriminator"):
            config[name] = keras.saving.deserialize_keras_object(config[name])
        return cls(**config)


def mlp():
    x = keras.Input((6,))
    y = layers.Dense(16, activation="relu")(x)
    y = layers.Dense(16, activation="tanh")(y)
    return keras.Model(x, layers.Dense(3)(y))


def cnn():
    return keras.Sequential(
        [
            keras.Input((8, 8, 2)),
            layers.Conv2D(4, 3, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.Activation("relu"),
            layers.MaxPooling2D(),
            FixedDropout(),
            layers.Conv2D(6, 3, strides=2, activation="gelu"),
            layers.BatchNormalization(momentum=0.8),
            layers.Flatten(),
            layers.Dense(3),
        ]
    )


def lstm():
    return keras.Sequential(
        [
            keras.Input((7,), dtype="int32"),
            layers.Embedding(12, 6, mask_zero=True),
            layers.LSTM(8, return_sequences=True),
            layers.LSTM(6),
            layers.Dense(3),
        ]
    )


def transformer():
    x = keras.Input((6,), dtype="int32")
    y = layers.Embedding(12, 8)(x)
    a = layers.MultiHeadAttention(2, 4)(y, y, use_causal_mask=True)
    y = layers.LayerNormalization()(y + a)
    a = layers.Dense(8)(layers.Dense(16, activation="gelu")(y))
    y = layers.LayerNormalization()(y + a)
    return keras.Model(x, layers.Dense(3)(layers.GlobalAveragePooling1D()(y)))


def gan():
    noise, sample = keras.Input((4,)), keras.Input((5,))
    fake = layers.Dense(5)(layers.Dense(8, activation="relu")(noise))
    logits = layers.Dense(1)(layers.LeakyReLU(0.2)(layers.Dense(8)(sample)))
    model = GAN(keras.Model(noise, fake), keras.Model(sample, logits))
    model.build((None, 4))
    return model


MODELS = {"mlp": mlp, "cnn": cnn, "lstm": lstm, "transformer": transformer, "gan": gan}


def build(name):
    """The model, with weights of ours, compiled."""
    model = MODELS[name]()
    for i, weight in enumerate(model.weights):
        fan_in = weight.shape[0] if len(weight.shape) > 1 else 16
        value = generator(name, i, weight.name).normal(size=weight.shape) / np.sqrt(fan_in)
        weight.assign(value + 1 if weight.name in ("gamma", "moving_variance") else value)
    return model


def compile_model(name, model, **options):
    if name == "gan":
        model.compile(**options)
    else:
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=keras.optimizers.Adam(RATE), loss=loss, **options)
    return model


def data(name):
    """(x, y), of BATCHES * BATCH examples; for the GAN samples and noise."""
    r = generator(name, "data")
    n = BATCHES * BATCH
    if name == "gan":
        return r.normal(1.0, 0.5, size=(n, 5)).astype("float32"), noise(n)
    shapes = {"mlp": (6,), "cnn": (8, 8, 2)}
    if name in shapes:
        x = r.normal(size=(n, *shapes[name])).astype("float32")
    else:
        x = r.randint(0, 12, size=(n, 7 if name == "lstm" else 6)).astype("int32")
    return x, r.randint(0, 3, size=n).astype("int32")


def noise(n):
    return generator("noise").normal(size=(n, 4)).astype("float32")


def examples(name):
    """What the model is asked about after training."""
    return noise(8) if name == "gan" else data(name)[0][:8]


# The ways to train


class Losses(keras.callbacks.Callback):
    """The loss of each step. Keras reports the mean since the epoch began, which is undone here."""

    def on_train_begin(self, logs=None):
        self.found = []

    def on_train_batch_end(self, batch, logs=None):
        if "loss" in logs:
            before = self.mean * batch if batch else 0.0
            self.mean = logs["loss"]
            self.found.append([self.mean * (batch + 1) - before])
        else:
            self.found.append([logs["d_loss"], logs["g_loss"]])


def fit(name, model, **options):
    compile_model(name, model, **options)
    losses = Losses()
    model.fit(
        *data(name), batch_size=BATCH, epochs=EPOCHS, shuffle=False, verbose=0, callbacks=[losses]
    )
    return losses.found


def fit_eagerly(name, model):
    return fit(name, model, run_eagerly=True)


def fit_with_xla(name, model):
    return fit(name, model, jit_compile=True)


def fit_several_steps(name, model):
    """From a tf.data.Dataset, several steps in one call of the compiled function.

    Keras reports the losses of an epoch only; the predictions after training say whether it was
    the same training.
    """
    compile_model(name, model, steps_per_execution=2)
    dataset = tf.data.Dataset.from_tensor_slices(data(name)).batch(BATCH)
    model.fit(dataset, epochs=EPOCHS, shuffle=False, verbose=0)
    return []


def batches(name):
    arrays = data(name)
    for step in range(STEPS):
        start = step % BATCHES * BATCH
        yield tuple(a[start : start + BATCH] for a in arrays)


def train_on_batch(name, model):
    compile_model(name, model)
    found = []
    for x, y in batches(name):
        model.reset_metrics()
        logs = model.train_on_batch(x, y, return_dict=True)
        found.append([logs[n] for n in ("loss", "d_loss", "g_loss") if n in logs])
    return found


def loop(name, model, wrap=lambda step: step):
    """A loop of the user's, with a tape."""
    if name == "gan":
        step = wrap(lambda *data: list(model.train_step(data).values()))
    else:
        optimizer = keras.optimizers.Adam(RATE)
        optimizer.build(model.trainable_variables)
        loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

        @wrap
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return [loss]

    return [[float(loss) for loss in step(*map(tf.constant, batch))] for batch in batches(name)]


def compiled_loop(name, model):
    return loop(name, model, tf.function)


WAYS = {
    way.__name__: way
    for way in (
        fit,
        fit_eagerly,
        fit_with_xla,
        fit_several_steps,
        train_on_batch,
        loop,
        compiled_loop,
    )
}


def train(name, way):
    """{"loss": of each step, "prediction"}: the model trained in one of the ways."""
    model = build(name)
    losses = WAYS[way](name, model)
    prediction = model.predict(examples(name), verbose=0)
    return {"loss": np.array(losses, "float64"), "prediction": np.asarray(prediction)}


# Files


def save(name, folder):
    """Train, write model.keras and model.weights.h5, and say what the model predicts."""
    model = build(name)
    fit(name, model)
    model.save(f"{folder}/{name}.keras")
    model.save_weights(f"{folder}/{name}.weights.h5")
    return after(name, model)


def load(name, folder):
    """What the models of the two files predict; the first goes on training as it would have."""
    model = keras.saving.load_model(f"{folder}/{name}.keras")
    other = MODELS[name]()
    other.load_weights(f"{folder}/{name}.weights.h5")
    return after(name, model), np.asarray(other.predict(examples(name), verbose=0))


def after(name, model):
    """Predictions, then losses of more training with the same optimizer: its state counts too."""
    prediction = np.asarray(model.predict(examples(name), verbose=0))
    if not model.compiled:  # the GAN, whose file holds no loss
        model.compile()
    losses = Losses()
    model.fit(*data(name), batch_size=BATCH, shuffle=False, verbose=0, callbacks=[losses])
    return prediction, np.array(losses.found, "float64")
