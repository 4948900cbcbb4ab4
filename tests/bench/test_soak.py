"""`python -m bench soak`: it runs, and it sees what is wrong."""

import importlib
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.gradtape_only,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers to interrupt by"),
]


def test_a_few_seconds():
    command = [sys.executable, "-m", "bench", "soak", "--minutes", "0.1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert "no value was lost or torn" in done.stdout, done.stdout + done.stderr
    assert "rounds" in done.stdout and "memory:" in done.stdout


def test_what_is_wrong_is_seen(tf, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    soak = importlib.import_module("bench.soak")
    model = soak.Model(tf, compiled=False)
    batch = tf.zeros([3])
    for _ in range(2):
        model.step(batch)
        model.check()
    torn = model.weights[0].numpy().copy()
    torn[0] += 1
    model.weights[0].assign(torn)
    with pytest.raises(soak.Wrong, match="a weight is torn"):
        model.check()
    model.weights[0].assign(np.full_like(torn, torn[0, 0]))
    with pytest.raises(soak.Wrong, match="the values of the weights are of two steps"):
        model.check()
    model.weights[0].assign(np.full_like(torn, model.weights[1].numpy()[0]))
    model.check()
    model.optimizer.iterations.assign_add(1)
    with pytest.raises(soak.Wrong, match="the count of steps"):
        model.check()
