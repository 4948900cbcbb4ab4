"""`gradtape run --explain`: a script says why its gradients are None, without a change to it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.gradtape_only

SCRIPT = """
import tensorflow as tf

features = tf.constant([[1.0, 2.0]])
w = tf.Variable([[3.0], [4.0]])
hidden = features @ w
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(hidden ** 2)
print(tape.gradient(loss, w))
"""


def test_a_script(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, "-m", "gradtape", "run", "--explain", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "None\n"
    assert run.stderr.splitlines() == [
        "A gradient is None. matmul ran before the tape's block began.",
        "  train.py:6: hidden = features @ w",
        "Move this line into the block: a tape records what is computed inside of it.",
    ]
