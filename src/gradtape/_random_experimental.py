"""TensorFlow's `tf.random.experimental`."""

from ._missing import missing_name
from .ops.random_generator import Generator as Generator
from .ops.random_generator import create_rng_state as create_rng_state
from .ops.random_generator import get_global_generator as get_global_generator
from .ops.random_generator import set_global_generator as set_global_generator
from .ops.stateless import Algorithm as Algorithm
from .ops.stateless import index_shuffle as index_shuffle
from .ops.stateless import stateless_fold_in as stateless_fold_in
from .ops.stateless import stateless_shuffle as stateless_shuffle
from .ops.stateless import stateless_split as stateless_split


def __getattr__(name: str) -> object:
    raise missing_name("gradtape.random.experimental", name)
