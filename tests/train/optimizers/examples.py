"""What several tests of optimizers use."""

import tracemalloc

import numpy as np
import pytest

from .trajectories import RULES as RULES

gradtape_only = pytest.mark.gradtape_only
not_finite = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy


def slices(tf, values, indices, rows):
    values = tf.constant(values, tf.float32)
    shape = tf.constant([rows, *values.shape[1:]])
    return tf.IndexedSlices(values, tf.constant(indices), shape)


def example(tf, kind, options):
    """An optimizer after one step, with variables of rank 2, 1, 0, and without elements."""
    random = np.random.default_rng(0)
    variables = [
        tf.Variable(random.normal(size=shape).astype("float32"))
        for shape in [(70, 30), (5,), (), (0, 3)]
    ]
    optimizer = getattr(tf.optimizers, kind)(**({"learning_rate": 0.05} | options))
    grads = [tf.constant(random.normal(size=v.shape).astype("float32")) for v in variables]
    optimizer.apply_gradients(zip(grads, variables, strict=True))
    return optimizer, variables, grads


def peak_of(call):
    """The most bytes that `call()` holds at a time, of those that it allocates."""
    call()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def updated(rule, arrays, g, scalars):
    """What becomes of the arrays, a variable and its slots, in a step by this rule."""
    from gradtape._src.tape.cell import Cell, changing
    from gradtape._src.train.optimizers.in_place import Step

    cells = [Cell(array.copy(), key) for key, array in enumerate(arrays)]
    with changing():
        step = Step()
        step.update(rule.kernel, cells, g, scalars)
        step.make()
    return [cell.read()._array for cell in cells]
