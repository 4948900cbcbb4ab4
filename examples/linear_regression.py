"""Fit a line to noisy points: the smallest custom training loop.

It says `import tensorflow as tf` and runs on TensorFlow; `gradtape run` runs it on gradtape.
"""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--epochs", type=int, default=200)
epochs = parser.parse_args().epochs

random = np.random.default_rng(0)
x = tf.constant(random.uniform(-1, 1, size=(100, 1)), dtype=tf.float32)
y = 3.0 * x + 2.0 + tf.constant(random.normal(0, 0.1, size=(100, 1)), dtype=tf.float32)

slope = tf.Variable([[0.0]])
offset = tf.Variable([0.0])

for epoch in range(1, epochs + 1):
    with tf.GradientTape() as tape:
        error = tf.matmul(x, slope) + offset - y
        loss = tf.reduce_mean(error * error)
    d_slope, d_offset = tape.gradient(loss, [slope, offset])
    slope.assign_sub(0.1 * d_slope)
    offset.assign_sub(0.1 * d_offset)
    if epoch % max(epochs // 10, 1) == 0:
        print(f"epoch {epoch:4d}  loss {float(loss):.5f}")

print(f"y = {float(slope[0, 0]):.2f} x + {float(offset[0]):.2f}  (made with y = 3 x + 2)")
