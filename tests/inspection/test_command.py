"""`gradtape run --explain` and the like: a script is asked about without a change to it."""

import json
import os
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


def run_script(folder, script, *flags):
    (folder / "train.py").write_text(script)
    return subprocess.run(
        [sys.executable, "-m", "gradtape", "run", *flags, "train.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=True,
    )


def test_a_script(tmp_path):
    run = run_script(tmp_path, SCRIPT, "--explain")
    assert run.stdout == "None\n"
    assert run.stderr.splitlines() == [
        "A gradient is None. matmul ran before the tape's block began.",
        "  train.py:6: hidden = features @ w",
        "Move this line into the block: a tape records what is computed inside of it.",
    ]


def test_the_largest_tape_of_a_run(tmp_path):
    run = run_script(tmp_path, TRAINING, "--memory")
    assert run.stdout == "done\n"
    lines = run.stderr.splitlines()
    assert lines[0].startswith("The largest tape of the run. The tape at train.py:7 holds ")
    held = [line for line in lines if line.endswith("train.py:9  y = tf.sin(tf.exp(x))")]
    assert "40 kB" in held[0]


TRAINING = """
import tensorflow as tf

def step(n):
    x = tf.ones([n, n])
    with tf.GradientTape(watch_accessed_variables=False) as unused: pass
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(tf.exp(x))
    return tape.gradient(y, x)

for n in (10, 100, 20):
    step(n)
print("done")
"""


CALLED_UNDER_A_TAPE = """
import tensorflow as tf

v = tf.Variable(tf.ones([8]))
f = tf.function(lambda: tf.reduce_sum(tf.exp(v)))
f()
with tf.GradientTape() as tape:
    y = f()
tape.gradient(y, v)
"""


def test_the_memory_of_a_function_under_a_tape(tmp_path):
    run = run_script(tmp_path, CALLED_UNDER_A_TAPE, "--memory", "--check-numerics", "--profile")
    assert "The largest program of the run. " in run.stderr
    assert "forward" in run.stderr and "train.py:8  y = f()" in run.stderr


def test_where_the_time_of_a_run_went(tmp_path):
    run = run_script(tmp_path, TRAINING, "--profile", "--profile-file=t.json")
    assert run.stdout == "done\n"
    lines = run.stderr.splitlines()
    assert " in ops: forward " in lines[0]
    (forward,) = [line for line in lines if "forward" in line and "train.py:9  y = tf" in line]
    assert " 6 " in forward  # two ops, three times
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert [event["name"] for event in events].count("exp") == 3
    assert lines[-1] == "The profile is in t.json."
