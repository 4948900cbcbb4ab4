"""`model.fit`, interrupted again and again: what the process of Keras runs."""

import gc
import os
import random
import signal
import tempfile

import keras
import numpy as np


def run(times):
    """Interrupt `fit` so many times; after each, weights can be saved, loaded, and trained on.

    The problem, a line, is learnt in spite of it: the last loss, beside the first.
    """
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(512, 4)).astype("float32")
    y = x @ np.array([[1.0], [-2.0], [3.0], [0.5]], "float32")
    model = _model()
    first = model.evaluate(x, y, verbose=0)
    model.fit(x, y, batch_size=64, verbose=0)
    rng = random.Random(0)
    for _ in range(times):
        _interrupt(lambda: model.fit(x, y, batch_size=64, epochs=1000, verbose=0), rng)
        _check(model, x)
    model.fit(x, y, batch_size=64, epochs=20, verbose=0)
    return first, model.evaluate(x, y, verbose=0)


def _model():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.02), "mse")
    model.optimizer.build(model.trainable_variables)
    return model


def _interrupt(step, rng):
    """Run `step`, which takes a second or more, until an interrupt ends it within 0.1 s.

    Three times at most: an interrupt in a destructor is lost.
    """
    armed = []

    def handler(*_):
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    gc.disable()  # an exception in the midst of garbage collection is lost
    try:
        for _ in range(3):
            armed[:] = [True]
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-3, 0.1))
            step()
        raise AssertionError("no interrupt came in three calls of fit")
    except KeyboardInterrupt:
        pass
    except RuntimeError as error:  # what Thread.start, waiting for its thread, makes of one
        if str(error) != "release unlocked lock":
            raise
    finally:
        armed.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()


def _check(model, x):
    variables = _values(model)
    assert all(np.isfinite(value).all() for value in variables)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.weights.h5")
        model.save_weights(path)
        other = _model()
        other.load_weights(path)
    assert all(map(np.array_equal, _values(other), variables))
    np.testing.assert_array_equal(other.predict(x, verbose=0), model.predict(x, verbose=0))


def _values(model):
    return [np.asarray(v.value) for v in (*model.weights, *model.optimizer.variables)]
