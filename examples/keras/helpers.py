"""What the Keras examples share: the options, the digits and the figures of the other examples."""

import sys
from pathlib import Path

from tensorflow import keras

sys.path.append(str(Path(__file__).parents[1]))

import common
from common import digits, new_figure

__all__ = ["arguments", "digits", "new_figure"]


def arguments(description, **counts):
    """The options of an example; one seed for the weights, the order of the data and all noise."""
    options = common.arguments(description, **counts)
    keras.utils.set_random_seed(options.seed)
    return options
