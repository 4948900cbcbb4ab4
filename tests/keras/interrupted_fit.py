"""`model.fit`, interrupted again and again: what the process of Keras runs."""

import gc
import os
import random
import signal
import sys
import tempfile

import keras
import numpy as np


def run(times, seed=0):
    """Interrupt `fit` so many times; after each, weights can be saved, loaded, and trained on.

    The problem, a line, is learnt in spite of it: the last loss, beside the first.
    """
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(512, 4)).astype("float32")
    y = x @ np.array([[1.0], [-2.0], [3.0], [0.5]], "float32")
    model = _model()
    first = model.evaluate(x, y, verbose=0)
    model.fit(x, y, batch_size=64, verbose=0)
    rng = random.Random(seed)
    for _ in range(times):
        _interrupt(lambda: model.fit(x, y, batch_size=64, epochs=200, verbose=0), rng)
        _check(model, x)
    model.fit(x, y, batch_size=64, epochs=20, verbose=0)
    return first, model.evaluate(x, y, verbose=0)


def _model():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.02), "mse")
    model.optimizer.build(model.trainable_variables)
    return model


def _interrupt(step, rng):
    """Run `step` until an interrupt ends it, which comes within 0.1 s.

    Every interrupt ends it, but those that Python itself ignores, and reports: in a destructor.
    Then another comes, in another run.
    """
    armed, ignored = [], []

    def handler(_, frame):
        if armed and _is_kept_by_keras(frame):
            signal.setitimer(signal.ITIMER_REAL, 1e-4)  # again, when it has come out of there
        elif armed:
            armed.clear()
            raise KeyboardInterrupt

    report = sys.unraisablehook
    sys.unraisablehook = lambda error: ignored.append(error.exc_type)
    signal.signal(signal.SIGALRM, handler)  # and stays: one that comes late would end the process
    gc.disable()  # an exception in the midst of garbage collection is ignored
    try:
        for _ in range(100):
            ignored.clear()
            armed[:] = [True]
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-3, 0.1))
            step()
            # (It is still armed if `step` was quicker, as it can be on another machine.)
            assert armed or ignored == [KeyboardInterrupt], "fit took no notice of an interrupt"
        raise AssertionError("no interrupt came in a hundred calls of fit")
    except KeyboardInterrupt:
        pass
    finally:
        armed.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = report
        gc.enable()


def _is_kept_by_keras(frame):
    """Whether an exception here ends in the `except: pass` around the logs that Keras reads."""
    while frame is not None:
        if frame.f_code.co_name == "pythonify_logs":
            return True
        frame = frame.f_back
    return False


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
