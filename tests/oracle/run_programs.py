"""Run random programs on one system, and keep what they give.

    PYTHON tests/oracle/run_programs.py MODULE OUT FIRST_SEED COUNT [MODE ...]

MODULE is `tensorflow` or `gradtape`. The modes: `eager`; `outside`: the program is a tf.function
and the tapes are outside; `inside`: all of it is one tf.function; `open`: as `outside`, with a
signature that leaves all sizes open.
"""

import importlib.util
import sys
import tempfile
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from oracle import differential
from oracle.programs import Program

MODES = ("eager", "outside", "inside", "open")

WEIGHTS = [0.7, -1.1, 0.4, 1.3]


def derivatives(tf, program, xs, weights):
    """(Not in the file of a program, so that AutoGraph converts it once and not with each.)"""
    with tf.GradientTape() as outer:
        outer.watch(xs)
        with tf.GradientTape() as inner:
            inner.watch(xs)
            ys = [tf.convert_to_tensor(y) for y in program(*xs)]
            loss = tf.add_n([tf.reduce_sum(y * weights[i]) for i, y in enumerate(ys)])
        first = inner.gradient(loss, xs)
        slope = tf.constant(0.0, tf.float64)
        for i, g in enumerate(first):
            if g is not None:
                slope = slope + weights[i] * tf.reduce_sum(tf.sin(tf.convert_to_tensor(g) + 0.3))
    return ys, first, outer.gradient(slope, xs)


def load(tf, program, folder):
    """The function of a program, from a file: AutoGraph reads the source.

    It is kept, so that AutoGraph converts it once for all modes.
    """
    if program.function is None:
        path = Path(folder) / f"program_{program.seed}.py"
        path.write_text(program.source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        module.tf = tf
        spec.loader.exec_module(module)
        program.function = module.program
    return program.function


def with_open_sizes(tf, program, xs):
    """A function of those that are tensors, of whose sizes its signature says nothing."""
    places = [i for i, x in enumerate(xs) if not isinstance(x, tf.Variable)]

    def with_variables(*tensors):
        given = dict(zip(places, tensors, strict=True))
        return program(*[given.get(i, x) for i, x in enumerate(xs)])

    signature = [tf.TensorSpec([None] * len(xs[i].shape), tf.float64) for i in places]
    function = tf.function(with_variables, input_signature=signature)
    return lambda *xs: function(*[xs[i] for i in places])


def run(tf, program, mode, folder):
    """{"value", "first", "second", "state": arrays or None}, or {"error": text}."""
    call = load(tf, program, folder)
    xs = [
        tf.Variable(a) if is_variable else tf.constant(a)
        for a, is_variable in zip(program.arrays, program.is_variable, strict=True)
    ]
    if mode == "outside":
        call = tf.function(call)
    elif mode == "open":
        call = with_open_sizes(tf, call, xs)
    try:
        if mode == "inside":
            ys, first, second = tf.function(lambda: derivatives(tf, call, xs, WEIGHTS))()
        else:
            ys, first, second = derivatives(tf, call, xs, WEIGHTS)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {
        "value": [np.asarray(y) for y in ys],
        "first": [None if g is None else np.asarray(tf.convert_to_tensor(g)) for g in first],
        "second": [None if g is None else np.asarray(tf.convert_to_tensor(g)) for g in second],
        "state": [np.asarray(x) for x in xs],
    }


def main(module, out, first, count, *modes):
    tf = importlib.import_module(module)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(first), int(first) + int(count)):
            program = Program(seed)
            for mode in modes or MODES:
                results[f"{seed} {mode}"] = run(tf, program, mode, folder)
            if sys.stderr.isatty():
                print(f"\r{seed}", end="", file=sys.stderr)
    differential.save(Path(out), results)


if __name__ == "__main__":
    main(*sys.argv[1:])
