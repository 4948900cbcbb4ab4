"""Compare what random programs give on gradtape with what they give on TensorFlow.

    ORACLE_PYTHON tests/oracle/run_programs.py tensorflow tensorflow.npz 0 5000 eager
    PYTHON        tests/oracle/run_programs.py gradtape gradtape.npz 0 5000
    PYTHON        tests/oracle/compare_programs.py tensorflow.npz gradtape.npz

Eager code is compared with eager code, None included. A compiled program must give the numbers of
eager code; a derivative that vanishes may be None in one and zeros in the other, since a call is
one op to a tape outside. Where derivatives differ, central differences of gradtape's own values (or
first derivatives) say who is right, and the values themselves must agree. What TensorFlow refuses
is counted apart.
"""

import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from oracle import differential
from oracle.programs import Program
from oracle.run_programs import WEIGHTS, run
from oracle.statements import SINGLE

TOLERANCE = 1e-6
"""Relative, in float64: the second derivatives of some programs are sums of 1e8 and -1e8."""

SINGLE_TOLERANCE = 1e-3
"""Of programs that compute in float32 too."""

ONE_OP = ("@tf.function", "@tf.recompute_grad")
"""A call of such a function is one op: TensorFlow gives zeros by what it was given and did not use
(a branch not taken), where gradtape, which sees through the call, gives None."""


def tolerance_of(program):
    return SINGLE_TOLERANCE if SINGLE in program.source else TOLERANCE


def agree(wanted, got, tolerance):
    pairs = zip(*differential.fill_none(wanted, got), strict=True)
    return all(
        a is b or (a.shape == b.shape and np.allclose(a, b, tolerance, tolerance, equal_nan=True))
        for a, b in pairs
    )


def disagreements(seed, mode, wanted, got):
    """What is wrong with `got`: "value", "state", "first", "second", "none"; or an error's text."""
    if "error" in wanted or "error" in got:
        if "error" in wanted:
            return []  # TensorFlow refuses it: there is nothing to compare with
        return [got["error"]]
    program = Program(seed)
    near = partial(agree, tolerance=tolerance_of(program))
    for part in ("value", "state"):
        if not near(wanted[part], got[part]):
            return [part]
    wrong = [part for part in ("first", "second") if not near(wanted[part], got[part])]
    wrong = [part for part in wrong if not is_right(seed, part, wanted[part], got[part])]
    if mode == "eager" and not any(mark in program.source for mark in ONE_OP):
        missing = [[g is None for g in result["first"]] for result in (wanted, got)]
        if missing[0] != missing[1]:
            wrong.append("none")
    return wrong


def is_right(seed, part, wanted, got):
    """Whether derivatives are those that central differences give, where they are not TensorFlow's.

    (Where they are, both may mean to have another one: `stop_gradient`, custom gradients. A program
    that assigns what depends on another input is beyond differences: no gradient flows there.)
    """
    import gradtape

    program = Program(seed)
    tolerance = tolerance_of(program)

    def number(arrays):
        program.arrays = arrays
        with tempfile.TemporaryDirectory() as folder:
            found = run(gradtape, program, "eager", folder)
        if part == "first":
            return sum(w * y.sum() for w, y in zip(WEIGHTS, found["value"], strict=False))
        pairs = zip(WEIGHTS, found["first"], strict=False)
        return sum(w * np.sin(g + 0.3).sum() for w, g in pairs if g is not None)

    for expected, theirs, ours in zip(
        differential.differences(number, program.arrays),
        *differential.fill_none(wanted, got),
        strict=True,
    ):
        if theirs is None:  # as is ours
            continue
        close = partial(np.isclose, ours, equal_nan=True)
        # What is left of float64 after differences:
        if not np.all(close(theirs, tolerance, tolerance) | close(expected, 1e-5, 1e-5)):
            return False
    return True


def compare(tensorflow, gradtape):
    """{"SEED MODE": what is wrong with gradtape's results}, and how many there are of each mode.

    Those that TensorFlow refuses are counted as "refused".
    """
    wrong, counts = {}, Counter()
    for name, got in gradtape.items():
        seed, mode = name.split()
        wanted = tensorflow[f"{seed} eager"]
        found = disagreements(int(seed), mode, wanted, got)
        counts[mode] += 1
        counts["refused"] += "error" in wanted
        if found:
            wrong[name] = found
    return wrong, counts


def main(*paths):
    wrong, counts = compare(*map(differential.load, map(Path, paths)))
    for name, found in wrong.items():
        print(f"{name}: {', '.join(found)}")
    print(f"{counts.pop('refused')} of these TensorFlow refuses")
    for mode, count in counts.items():
        agree = count - sum(name.endswith(mode) for name in wrong)
        print(f"{mode}: {agree} of {count} programs agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
