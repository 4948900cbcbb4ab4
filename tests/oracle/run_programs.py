"""Run random programs on one system, and keep what they give.

    PYTHON tests/oracle/run_programs.py MODULE OUT FIRST_SEED COUNT [MODE ...]

MODULE is `tensorflow` or `gradtape`. The modes: `eager`; `outside`: the program is a tf.function
and the tapes are outside; `inside`: all of it is one tf.function.
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

MODES = ("eager", "outside", "inside")

TAPES = """

def derivatives(program, xs, weights):
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
"""
WEIGHTS = [0.7, -1.1, 0.4, 1.3]


def load(tf, program, folder):
    """The module of a program, from a file: AutoGraph reads the source."""
    path = Path(folder) / f"program_{program.seed}.py"
    path.write_text(program.source + TAPES)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    module.tf = tf
    spec.loader.exec_module(module)
    return module


def run(tf, program, mode, folder):
    """{"value", "first", "second", "state": arrays or None}, or {"error": text}."""
    module = load(tf, program, folder)
    xs = [
        tf.Variable(a) if is_variable else tf.constant(a)
        for a, is_variable in zip(program.arrays, program.is_variable, strict=True)
    ]
    call, derivatives = module.program, module.derivatives
    if mode == "outside":
        call = tf.function(call)
    try:
        if mode == "inside":
            ys, first, second = tf.function(lambda: derivatives(call, xs, WEIGHTS))()
        else:
            ys, first, second = derivatives(call, xs, WEIGHTS)
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
