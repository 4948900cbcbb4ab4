"""What users do with Keras, each as a function that gives plain values; for test_uses.py."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

N, BATCH = 20, 8  # the last batch is smaller
X = np.linspace(-1.0, 1.0, N * 4, dtype=np.float32).reshape(N, 4)
Y = X.sum(1, keepdims=True)


class Doubled(keras.layers.Layer):
    """Notes the shapes that it is built and called with."""

    seen = None

    def build(self, shape):
        self.seen = [("build", shape)]
        self.w = self.add_weight(shape=(shape[-1], 2), initializer="ones", name="w")

    def call(self, x):
        self.seen.append(("call", tuple(x.shape)))
        return tf.matmul(x, self.w)


class TwoLayers(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = Doubled()
        self.second = [keras.layers.Dense(1, kernel_initializer="ones")]

    def call(self, x):
        return self.second[0](self.first(x))


def dense():
    return keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(1)])


def batches(drop_remainder=False):
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH, drop_remainder=drop_remainder)


def compiled(model, **options):
    model.compile("sgd", "mse", **options)
    return model


# Built in the first step


def shapes_of_sequential(way):
    model = compiled(dense(), **({"steps_per_execution": 2} if way == "several_steps" else {}))
    if way == "evaluate":
        model.evaluate(batches(), verbose=0)
    elif way == "predict":
        model.predict(X, batch_size=BATCH, verbose=0)
    elif way == "train_on_batch":
        model.train_on_batch(X, Y)
    elif way == "full_batches":
        model.fit(batches(drop_remainder=True), verbose=0)
    else:
        model.fit(X, Y, batch_size=BATCH, verbose=0)
    layers = [(layer.input.shape, layer.output.shape) for layer in model.layers]
    return model.input_shape, model.output_shape, layers, model.get_build_config()


def shapes_of_images():
    layers = keras.layers
    model = keras.Sequential(
        [layers.Conv2D(4, 3), layers.BatchNormalization(), layers.MaxPool2D(), layers.Flatten(),
         layers.Dense(3)]
    )  # fmt: skip
    x = np.zeros((N, 8, 8, 1), np.float32)
    compiled(model).fit(x, np.zeros((N, 3)), batch_size=BATCH, verbose=0)
    return [layer.output.shape for layer in model.layers]


def shapes_of_sequences():
    layers = keras.layers
    model = keras.Sequential(
        [layers.Embedding(10, 4), layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
         layers.GRU(2), layers.Dense(1)]
    )  # fmt: skip
    rows = [(np.ones(n, np.int32), 1.0) for n in (2, 3, 4, 5)]
    spec = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([]))
    data = tf.data.Dataset.from_generator(lambda: rows, output_signature=spec).padded_batch(3)
    compiled(model).fit(data, verbose=0)
    return [layer.output.shape for layer in model.layers]


def shapes_of_sparse():
    model = compiled(dense())
    model.fit(tf.sparse.from_dense(X), Y, batch_size=BATCH, verbose=0)
    return model.input_shape, model.output_shape


def shapes_of_subclass():
    model = compiled(TwoLayers())
    model.fit(X, Y, batch_size=BATCH, verbose=0)
    return model.first.seen[:2], model.second[0].get_build_config(), model.get_build_config()


def saved_after_fit():
    model = compiled(TwoLayers())
    model.fit(X, Y, batch_size=BATCH, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        found = keras.models.load_model(path, custom_objects={"TwoLayers": TwoLayers})
    same = np.allclose(found.predict(X, verbose=0), model.predict(X, verbose=0))
    return same, int(found.optimizer.iterations)


def restored_without_its_optimizer():
    """The weights of a compiled model in one that is not; the optimizer's values wait for it."""
    model, other = dense(), dense()
    compiled(model).fit(X, Y, batch_size=BATCH, verbose=0)
    other.build((None, 4))
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(model=model).write(os.path.join(folder, "checkpoint"))
        status = tf.train.Checkpoint(model=other).read(path)
        status.assert_existing_objects_matched()
        same = np.allclose(other(X), model(X))
        compiled(other).optimizer.build(other.trainable_variables)
    return same, int(other.optimizer.iterations)


# Sizes that depend on values, inside of layers


class Positive(keras.layers.Layer):
    def call(self, x):
        return x * tf.reduce_sum(tf.boolean_mask(x, x > 0))


class Different(keras.layers.Layer):
    def call(self, x):
        different = tf.unique(tf.reshape(tf.round(x), [-1]))[0]
        return x * tf.cast(tf.size(different), x.dtype)


class FirstFew(keras.layers.Layer):
    def call(self, x):
        n = tf.reduce_sum(tf.cast(x > 0, tf.int32)) % 3 + 1
        return x + tf.reduce_mean(x[:, :n], 1, keepdims=True)


def losses_of_dynamic(name):
    layer = {"positive": Positive, "different": Different, "first_few": FirstFew}[name]()
    model = keras.Sequential([layer, keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile(keras.optimizers.SGD(1e-4), "mse")
    return model.fit(X, Y, batch_size=BATCH, epochs=2, shuffle=False, verbose=0).history["loss"]


# Sparse inputs, whose gradients are IndexedSlices


def losses_of_sparse(optimizer):
    values = np.where(X > 0.3, X, 0.0).astype(np.float32)
    inputs = keras.Input((4,), sparse=True)
    hidden = keras.layers.Dense(2, "tanh", kernel_initializer="ones")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="ones")(hidden))
    model.compile(getattr(keras.optimizers, optimizer)(0.05), "mse")
    data = tf.sparse.from_dense(values)
    return model.fit(data, Y, batch_size=BATCH, epochs=3, shuffle=False, verbose=0).history["loss"]


# Rows of an embedding, some of them more than once in a batch


def embedding_after(optimizer, **options):
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Embedding(6, 3, keras.initializers.Constant(0.1)),
         keras.layers.Flatten(), keras.layers.Dense(1, kernel_initializer="ones")]
    )  # fmt: skip
    words = np.arange(N * 4).reshape(N, 4) * 3 % 5
    model.compile(optimizer, "mse", **options)
    model.fit(words, Y, batch_size=10, epochs=2, shuffle=False, verbose=0)
    return model.layers[0].get_weights()[0].ravel().tolist()


# Where the data end is found by asking for more


def steps_counted(steps_per_execution):
    """The optimizer's count after 2 epochs of 3 batches, whose number Keras does not know."""
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    compiled(model, steps_per_execution=steps_per_execution)
    model.fit(batches().filter(lambda x, y: True), epochs=2, verbose=0)
    return int(model.optimizer.iterations)


# Several steps at once


def losses_of_several_steps(steps):
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(2, "tanh", kernel_initializer="ones"),
         keras.layers.Dense(1, kernel_initializer="ones")]
    )  # fmt: skip
    model.compile(keras.optimizers.Adam(0.05), "mse", steps_per_execution=steps)
    return model.fit(X, Y, batch_size=BATCH, epochs=3, shuffle=False, verbose=0).history["loss"]


# What is said


def said_of_text():
    """The messages about fitting two models of text."""
    import logging

    said = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    tf.get_logger().addHandler(handler)
    try:
        words = tf.constant(["a b", "b", "a", "c a"])
        for _ in range(2):
            vectorize = keras.layers.TextVectorization(output_sequence_length=2)
            vectorize.adapt(words)
            layers = [keras.layers.Embedding(9, 2), keras.layers.Flatten(), keras.layers.Dense(1)]
            model = keras.Sequential([keras.Input((), dtype="string"), vectorize, *layers])
            compiled(model).fit(words, tf.ones([4]), batch_size=2, verbose=0)
    finally:
        tf.get_logger().removeHandler(handler)
    return [message for message in said if "plain Python" in message]


# TensorBoard's own reader, in the same process


def read_by_tensorboard():
    """Whether the losses that it reads are those of the history, of training and validation."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    with tempfile.TemporaryDirectory() as folder:
        callback = keras.callbacks.TensorBoard(folder, histogram_freq=1)
        history = compiled(dense()).fit(
            X, Y, epochs=2, validation_data=(X, Y), callbacks=[callback], verbose=0
        )
        found = []
        for part, key in (("train", "loss"), ("validation", "val_loss")):
            events = EventAccumulator(os.path.join(folder, part))
            events.Reload()
            losses = [float(make_ndarray(e.tensor_proto)) for e in events.Tensors("epoch_loss")]
            found.append(np.allclose(losses, history.history[key]))
    return found
