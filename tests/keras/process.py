"""A process in which `tensorflow` is gradtape, or is TensorFlow, and Keras runs on it.

Keras wants the name `tensorflow` for good, and every type of gradtape then says that it is
TensorFlow's; other tests of the same worker of pytest would see that. So each worker starts one
process for Keras, when a test first asks, and calls functions there: a test for each case, and one
import of Keras for all of them.
"""

import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

SERVER = str(Path(__file__).with_name("serve.py"))


class Keras:
    """`keras("gradients.run", case, mode)` calls `run` of gradients.py there."""

    def __init__(self, command):
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (until close)
        self.process = subprocess.Popen(
            [*command, SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"},
        )

    def __call__(self, name, *args, **kwargs):
        try:
            pickle.dump((name, args, kwargs), self.process.stdin)
            self.process.stdin.flush()
            kind, answer = pickle.load(self.process.stdout)
        except (EOFError, BrokenPipeError):
            self.errors.seek(0)
            raise RuntimeError(f"{name}: the process ended.\n{self.errors.read()}") from None
        if kind == "error":
            raise RuntimeError(f"{name}{args}:\n{answer}")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def on(module):
    """Keras on gradtape, or on the TensorFlow of this Python."""
    alias = ["-m", "gradtape", "run"] if module == "gradtape" else []
    return Keras([sys.executable, *alias])
