"""What the statement tests have in common."""

import json
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest


def on_gradtape(tf):
    return tf.__name__.partition(".")[0] == "gradtape"


def same(actual, expected, tol=1e-5):
    """Equal shape and, within `tol`, equal values; NaN equals NaN, inf equals inf."""
    assert actual is not None
    actual = np.asarray(actual)
    assert actual.shape == np.shape(expected), (actual.shape, np.shape(expected))
    actual = actual.astype(complex if actual.dtype.kind == "c" else np.float64)
    np.testing.assert_allclose(actual, np.asarray(expected), rtol=tol, atol=tol)


def grad(tf, f, *xs, **options):
    """The gradient of f(*xs), all xs watched: one for one x, a list for several."""
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    grads = tape.gradient(y, list(xs), **options)
    return grads if len(xs) > 1 else grads[0]


def second(tf, f, x):
    """The second derivative of f at x, summed, by two nested tapes."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        first = inner.gradient(y, x)
    return outer.gradient(first, x)


def third(tf, f, x):
    """The third derivative of f at x, by three nested tapes."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as middle:
            middle.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            first = inner.gradient(y, x)
        second = middle.gradient(first, x)
    return outer.gradient(second, x)


def with_gradient(tf, f, *gradients):
    """f(*xs) whose gradient by argument i is upstream * gradients[i]."""

    @tf.custom_gradient
    def wrapped(*xs):
        return f(*xs), lambda upstream: [g and upstream * g for g in gradients]

    return wrapped


def raises(tf, ours, match=None):
    """Expect `ours` from gradtape, where TensorFlow has an accidental AttributeError."""
    if on_gradtape(tf):
        return pytest.raises(ours, match=match)
    return pytest.raises((ours, AttributeError))


def refs(variables):
    """Variables as something that can be compared."""
    return [v.ref() for v in variables]


def in_thread(f, *args):
    """f(*args) run in a new thread: its result, or its exception raised here."""
    return in_threads([lambda: f(*args)])[0]


def in_threads(tasks):
    """The results of the tasks, each run in a thread of its own, all at the same time."""
    results, errors = [None] * len(tasks), []

    def run(i):
        try:
            results[i] = tasks[i]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]
    return results


LOG_PRELUDE = """
import atexit, json, logging
import {module} as tf

messages = []

class Keep(logging.Handler):
    def emit(self, record):
        messages.append([record.levelname, record.getMessage()])

tf.get_logger().addHandler(Keep())
atexit.register(lambda: print(json.dumps(messages)))
"""


def logged(tf, script):
    """The [level, message] pairs that `script` logs in a fresh process, where `tf` is imported.

    A fresh one, because warnings are limited to the first few occurrences per process.
    """
    source = LOG_PRELUDE.format(module=tf.__name__.partition(".")[0]) + textwrap.dedent(script)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
