"""TensorFlow's `tf.random`."""

from typing import TYPE_CHECKING

from . import _random_experimental as experimental
from ._later import later


if TYPE_CHECKING:
    from .ops.random import categorical as categorical
    from .ops.random import gamma as gamma
    from .ops.random import normal as normal
    from .ops.random import poisson as poisson
    from .ops.random import set_seed as set_seed
    from .ops.random import shuffle as shuffle
    from .ops.random import truncated_normal as truncated_normal
    from .ops.random import uniform as uniform
    from .ops.random_generator import Generator as Generator
    from .ops.random_generator import create_rng_state as create_rng_state
    from .ops.random_generator import get_global_generator as get_global_generator
    from .ops.random_generator import set_global_generator as set_global_generator
    from .ops.sampling import all_candidate_sampler as all_candidate_sampler
    from .ops.sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
    from .ops.sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
    from .ops.sampling import log_uniform_candidate_sampler as log_uniform_candidate_sampler
    from .ops.sampling import uniform_candidate_sampler as uniform_candidate_sampler
    from .ops.stateless import Algorithm as Algorithm
    from .ops.stateless import fold_in as fold_in
    from .ops.stateless import split as split
    from .ops.stateless import stateless_binomial as stateless_binomial
    from .ops.stateless import stateless_categorical as stateless_categorical
    from .ops.stateless import stateless_gamma as stateless_gamma
    from .ops.stateless import stateless_normal as stateless_normal
    from .ops.stateless import (
        stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
    )
    from .ops.stateless import stateless_poisson as stateless_poisson
    from .ops.stateless import stateless_truncated_normal as stateless_truncated_normal
    from .ops.stateless import stateless_uniform as stateless_uniform

_LATER = {
    "ops.random": "categorical gamma normal poisson set_seed shuffle truncated_normal uniform",
    "ops.random_generator": "Generator create_rng_state get_global_generator set_global_generator",
    "ops.sampling": (
        "all_candidate_sampler fixed_unigram_candidate_sampler "
        "learned_unigram_candidate_sampler log_uniform_candidate_sampler "
        "uniform_candidate_sampler"
    ),
    "ops.stateless": (
        "Algorithm fold_in split stateless_binomial stateless_categorical stateless_gamma "
        "stateless_normal stateless_parameterized_truncated_normal stateless_poisson "
        "stateless_truncated_normal stateless_uniform"
    ),
}
__getattr__, __dir__ = later(__name__, globals(), _LATER)
