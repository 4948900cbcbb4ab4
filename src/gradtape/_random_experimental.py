"""TensorFlow's `tf.random.experimental`."""

from typing import TYPE_CHECKING

from ._later import later


if TYPE_CHECKING:
    from .ops.random_generator import Generator as Generator
    from .ops.random_generator import create_rng_state as create_rng_state
    from .ops.random_generator import get_global_generator as get_global_generator
    from .ops.random_generator import set_global_generator as set_global_generator
    from .ops.stateless import Algorithm as Algorithm
    from .ops.stateless import index_shuffle as index_shuffle
    from .ops.stateless import stateless_fold_in as stateless_fold_in
    from .ops.stateless import stateless_shuffle as stateless_shuffle
    from .ops.stateless import stateless_split as stateless_split

_LATER = {
    "ops.random_generator": "Generator create_rng_state get_global_generator set_global_generator",
    "ops.stateless": "Algorithm index_shuffle stateless_fold_in stateless_shuffle stateless_split",
}
__getattr__, __dir__ = later("gradtape.random.experimental", globals(), _LATER)
