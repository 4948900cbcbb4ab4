"""Train a small network to tell two spirals apart, with a training loop written out in full.

It says `import tensorflow as tf` and runs on TensorFlow; `gradtape run` runs it on gradtape.
"""

import argparse
import itertools
import sys

import numpy as np
import tensorflow as tf

SIZES = [2, 64, 64, 2]
BATCH = 64
RATE = 0.05
MOMENTUM = 0.9


def spirals(count, seed=0):
    """`count` points on each of two interleaved spirals, shuffled, and the spiral of each."""
    random = np.random.default_rng(seed)
    turn = np.sqrt(random.uniform(0.02, 1.0, size=(2, count))) * 3 * np.pi
    radius = turn / (3 * np.pi)
    angle = turn + np.array([[0.0], [np.pi]])
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1, 2)
    points += random.normal(0, 0.015, size=points.shape)
    labels = np.repeat([0, 1], count)
    order = random.permutation(len(labels))
    return points[order].astype(np.float32), labels[order].astype(np.int32)


def make_network():
    """The weights and offsets of all layers, in order: w, b, w, b ..."""
    variables = []
    for fan_in, fan_out in itertools.pairwise(SIZES):
        scale = (2.0 / fan_in) ** 0.5
        variables.append(tf.Variable(scale * tf.random.normal([fan_in, fan_out])))
        variables.append(tf.Variable(tf.constant(0.0, shape=[fan_out])))
    return variables


def network(variables, x):
    w1, b1, w2, b2, w3, b3 = variables
    hidden = tf.tanh(tf.matmul(x, w1) + b1)
    hidden = tf.nn.relu(tf.matmul(hidden, w2) + b2)
    return tf.matmul(hidden, w3) + b3


def mean_loss(logits, labels):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def accuracy_of(logits, labels):
    found = tf.cast(tf.argmax(logits, axis=-1), tf.int32)
    return tf.reduce_mean(tf.cast(tf.equal(found, labels), tf.float32))


def train_step(variables, velocities, x, labels):
    """One step of gradient descent with momentum; the norm of the gradient before it."""
    with tf.GradientTape() as tape:
        loss = mean_loss(network(variables, x), labels)
    gradients = tape.gradient(loss, variables)
    for variable, velocity, gradient in zip(variables, velocities, gradients, strict=True):
        velocity.assign_sub((1.0 - MOMENTUM) * velocity - gradient)
        variable.assign_sub(RATE * velocity)
    return float(tf.linalg.global_norm(gradients))


def show(epoch, epochs, text):
    """A bar that moves on a terminal; elsewhere, a line for every tenth of the way."""
    if sys.stdout.isatty():
        done = 24 * epoch // epochs
        print(f"\r[{'#' * done}{'.' * (24 - done)}] {text}", end="", flush=True)
        if epoch == epochs:
            print()
    elif 10 * epoch // epochs > 10 * (epoch - 1) // epochs:
        print(f"[{100 * epoch // epochs:3d} %] {text}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=60)
    epochs = parser.parse_args().epochs

    tf.random.set_seed(0)
    points, classes = spirals(500)
    x, labels = tf.constant(points), tf.constant(classes)
    variables = make_network()
    velocities = [tf.Variable(0.0 * variable) for variable in variables]

    for epoch in range(1, epochs + 1):
        norms = [
            train_step(variables, velocities, x[i : i + BATCH], labels[i : i + BATCH])
            for i in range(0, len(points), BATCH)
        ]
        logits = network(variables, x)
        loss, accuracy = float(mean_loss(logits, labels)), float(accuracy_of(logits, labels))
        show(
            epoch,
            epochs,
            f"epoch {epoch:{len(str(epochs))}d}  loss {loss:.4f}  accuracy {accuracy:.3f}"
            f"  gradient norm {sum(norms) / len(norms):.3f} (max {max(norms):.3f})",
        )
    print(f"final loss {loss:.4f}, accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
