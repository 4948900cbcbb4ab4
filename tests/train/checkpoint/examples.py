"""Objects that hold variables, for several tests of checkpoints."""

from collections import namedtuple

import numpy as np

import gradtape as tf
from gradtape import train
from gradtape._src.train.module import Module

Pair = namedtuple("Pair", "p q")


class Thing:
    """A plain object of a user."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


def names(path, **objects):
    return [name for name, _ in train.list_variables(train.Checkpoint(**objects).write(path))]


def model(value, size=3):
    return {
        "a": tf.Variable(tf.fill([size], float(value))),
        "b": tf.Variable(tf.fill([size], float(value))),
        "c": [tf.Variable(value), tf.Variable(f"{value}"), tf.random.Generator.from_seed(value)],
    }


def state(objects):
    *variables, generator = objects["c"]
    values = [np.array(v).tolist() for v in (objects["a"], objects["b"], *variables)]
    return values, generator.state.numpy().tolist()


class Dense(Module):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.kernel = None

    def __call__(self, x):
        if self.kernel is None:
            self.kernel = tf.Variable(tf.ones([x.shape[-1], self.units]))
            self.bias = tf.Variable(tf.zeros([self.units]))
        return x @ self.kernel + self.bias


class Net(Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense(4), Dense(1)]

    def __call__(self, x):
        return self.layers[1](tf.tanh(self.layers[0](x)))


def losses(net, optimizer, steps):
    x, found = tf.constant([[0.1, 0.2], [0.3, -0.4]]), []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - 1.0) ** 2)
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        found.append(float(loss))
    return found
