"""enable_check_numerics beside a live TensorFlow: the class, the opening words, the op.

GRADTAPE_ORACLE_PYTHON=.../python pytest -m oracle tests/oracle/test_numerics.py
"""

import json
import os
import re
import subprocess

import pytest

from . import numerics

pytestmark = pytest.mark.oracle


def parts(line):
    """The number of the output, how it ran and the op, as both write them."""
    found = re.fullmatch(
        r"!!! Detected Infinity or NaN in output (\d+) of (eagerly-executing|graph) op "
        r'"(\w+)" \(# of outputs: (\d+)\) !!!',
        line,
    )
    assert found, line
    number, way, op, count = found.groups()
    return number, way, op.lower(), count


def test_beside_tensorflow(tf):
    python = os.environ.get("GRADTAPE_ORACLE_PYTHON")
    if not python:
        pytest.fail("set GRADTAPE_ORACLE_PYTHON to a Python that has TensorFlow")
    done = subprocess.run([python, numerics.__file__], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout.splitlines()[-1])
    actual = numerics.found(tf)
    assert actual.keys() == expected.keys()
    # TensorFlow makes a constant of it, which it looks at: eagerly it does not.
    del expected["a filled tensor, compiled"]
    for name, wanted in expected.items():
        if wanted is None:
            assert actual[name] is None, name
            continue
        assert actual[name][0] == wanted[0], name
        ours, theirs = parts(actual[name][1]), parts(wanted[1])
        if name.startswith("gradient"):  # TensorFlow has ops that are gradients, gradtape has not
            assert ours[1] == theirs[1], name
        else:
            assert ours == theirs, name
