"""Random generators of datasets: reproducible from a seed, one for each iteration."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, repeat
from typing import Any

import numpy as np

from ...ops.random import generator_for


def generators(seed: Any, op: str, anew: bool) -> Callable[[], np.random.Generator]:
    """Gives a generator for each iteration: each time another if `anew`, else always the same.

    Datasets with equal seeds have equal sequences of generators; one without a seed takes its own
    from the common sequence of random numbers.
    """
    if seed is None:
        entropy = generator_for().integers(2**63)
    else:
        # Asked only for what it was seeded with, that is, `seed`, `op` and the global seed.
        entropy = generator_for(seed, op).bit_generator.seed_seq.entropy
    iterations = count() if anew else repeat(0)

    def generator() -> np.random.Generator:
        sequence = np.random.SeedSequence(entropy, spawn_key=(next(iterations),))
        return np.random.default_rng(sequence)

    return generator
