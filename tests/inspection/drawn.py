"""A program to draw: modules, a loop, a name scope, a value that leaves, and integers."""

import gradtape as tf


class Dense(tf.Module):
    def __init__(self, inputs, outputs, name):
        super().__init__(name)
        with self.name_scope:
            self.w = tf.Variable(tf.random.normal([inputs, outputs]) * 0.3, name="w")
            self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x):
        return tf.nn.relu(x @ self.w + self.b)


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.first = Dense(8, 16, "first")
        self.cell = tf.Variable(tf.random.normal([16, 16]) * 0.2, name="cell")
        self.head = Dense(16, 3, "head")

    def __call__(self, x):
        x = self.first(x)
        h = tf.zeros([4, 16])
        for _ in range(12):
            h = tf.tanh(h @ self.cell + x)  # the loop
        with tf.name_scope("scores"):
            return self.head(h)


def run(**options):
    """The tape, its loss, and variables: of the model, and one whose value left the tape."""
    model = Model()
    x = tf.random.normal([4, 8])
    labels = tf.constant([0, 1, 2, 1])
    temperature = tf.Variable(2.0, name="temperature")
    with tf.GradientTape(**options) as tape:
        scores = model(x)
        divisor = tf.constant(float(temperature.numpy()))
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores / divisor)
        hits = tf.cast(tf.argmax(scores, axis=1) == 1, tf.float32)
        loss = tf.reduce_mean(losses) + 0.0 * tf.reduce_mean(hits)
    return tape, loss, model, temperature
