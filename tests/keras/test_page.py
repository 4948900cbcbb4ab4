"""The blocks of docs/keras.md run, in a process of their own, and print what they say.

And what it says of Keras' own tests is what is known of them.
"""

import re
import subprocess
import sys
from pathlib import Path

import suite

PAGE = Path(__file__).parents[2] / "docs/keras.md"


def test_the_blocks_run_and_print_what_they_say(tmp_path):
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S))
    script = tmp_path / "page.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = re.findall(r"^print\(.*\)\s+# (.*)$", code, re.M)
    assert len(expected) >= 4
    assert done.stdout.splitlines() == expected


def test_keras_runs_without_jax():
    code = """
import sys
sys.modules["jax"] = None
import numpy as np, gradtape as tf
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
ones = np.ones((8, 4), "float32")
losses = model.fit(ones, ones[:, :1], epochs=3, verbose=0).history["loss"]
assert losses[2] < losses[0], losses
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_names_of_keras_that_tf_has_itself():
    code = """
import gradtape as tf
assert tf.losses is tf.keras.losses and tf.metrics is tf.keras.metrics
assert tf.initializers is tf.keras.initializers
from tensorflow import losses
assert losses is tf.losses
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def rows(first):
    """The rows of the table that begins so."""
    table = PAGE.read_text(encoding="utf-8").partition(f"| {first} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]


def test_every_known_failure_of_keras_own_tests_is_on_the_page_with_its_reason():
    listed = {}
    for why, tests in rows("why"):
        listed |= dict.fromkeys(re.findall(r"`(.+?)`", tests), why)
    assert listed == suite.known_failures()


SMALL = {"export", "legacy", "quantizers"}
"""Areas of few tests, where those that are listed with a reason are more than 2 of 100."""


def test_at_least_98_of_100_of_keras_own_tests_pass():
    areas = {area: (int(there), int(here)) for area, there, here in rows("area")}
    assert areas.keys() <= set(suite.AREAS)
    for area, (there, here) in areas.items():
        assert (0.0 if area in SMALL else 0.98) * there <= here <= there, area


def test_the_sample_is_of_files_that_are_there():
    assert all((suite.keras_folder() / file).is_file() for file in suite.sample())
