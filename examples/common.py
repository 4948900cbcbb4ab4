"""What the examples share: their options, a network, the digits, and how figures look."""

import argparse
import itertools

import numpy as np
import tensorflow as tf


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def arguments(description, **counts):
    """The options of an example: `counts` with their defaults (`epochs=60`), --seed, --figure."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    for name, default in counts.items():
        parser.add_argument(f"--{name}", type=positive, default=default, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--figure", metavar="PATH", help="where to draw the result")
    options = parser.parse_args()
    tf.random.set_seed(options.seed)
    return options


class Dense(tf.Module):
    """x W + b, with weights that keep the size of what goes through a ReLU."""

    def __init__(self, inputs, outputs):
        super().__init__()
        deviation = (2.0 / inputs) ** 0.5
        self.w = tf.Variable(tf.random.normal([inputs, outputs], stddev=deviation), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x):
        return x @ self.w + self.b


class MLP(tf.Module):
    """Dense layers with an activation between them: `MLP([64, 128, 10])` has two."""

    def __init__(self, sizes, activation=tf.nn.relu):
        super().__init__()
        self.layers = [Dense(*pair) for pair in itertools.pairwise(sizes)]
        self.activation = activation

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


def digits(seed):
    """(images, labels) to train with and to test with: 8 × 8 handwritten digits as rows in [0, 1].

    They ship with scikit-learn. 1408 are to train with, which is a whole number of batches.
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    images, labels = (images / 16.0).astype(np.float32), labels.astype(np.int32)
    order = np.random.default_rng(seed).permutation(len(labels))
    train, test = order[:1408], order[1408:]
    return (images[train], labels[train]), (images[test], labels[test])


def new_figure(width, height):
    """An empty figure of width × height inches, drawn without a window."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(
        {
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": "medium",
            "legend.edgecolor": "none",
            "savefig.dpi": 120,
        }
    )
    return Figure(figsize=(width, height), layout="constrained")
