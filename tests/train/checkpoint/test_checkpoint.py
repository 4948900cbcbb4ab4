"""Checkpoint: what gradtape promises of it beyond TensorFlow."""

import subprocess
import sys

import pytest

import gradtape as tf
from gradtape import train
from gradtape._src.train.optimizers.adam import Adam

from .examples import Net, Thing, losses


def test_a_name_that_root_has(path):
    with pytest.raises(ValueError, match="'w' is an attribute of `root` already"):
        train.Checkpoint(Thing(w=tf.Variable(1.0)), w=tf.Variable(1.0))
    with pytest.raises(ValueError, match="needs a name"):
        train.Checkpoint(tf.Variable(1.0))


def test_training_goes_on_to_the_bit(path):
    """Layers and slots do not exist at the restore: they are made by the first step."""
    net, optimizer = Net(), Adam(0.01)
    losses(net, optimizer, 5)
    saved = train.Checkpoint(net=net, optimizer=optimizer).save(path)
    expected = losses(net, optimizer, 5)
    net, optimizer = Net(), Adam(0.01)
    checkpoint = train.Checkpoint(net=net, optimizer=optimizer)
    status = checkpoint.restore(saved)
    assert losses(net, optimizer, 5) == expected
    status.assert_consumed()


def test_import_is_light():
    code = "import sys, gradtape.train; print([n for n in sys.modules if '_src.train' in n])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
