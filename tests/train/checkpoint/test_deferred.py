"""Values that wait for variables which do not exist yet."""

import os
import subprocess
import sys

import pytest

import gradtape as tf
from gradtape import train
from gradtape._src.core.errors import ShapeError
from gradtape._src.core.trackable import restore_deferred

from .examples import Thing


def test_an_object_that_says_so_is_restored_late(path):
    train.Checkpoint(o=Thing(slots=[tf.Variable(5.0)])).write(path)
    optimizer = Thing()
    checkpoint = train.Checkpoint(o=optimizer)
    status = checkpoint.read(path)
    optimizer.slots = [tf.Variable(0.0)]
    with pytest.raises(AssertionError, match=r"'o/slots/0'.*another restore"):
        status.assert_consumed()
    restore_deferred(Thing())  # an object that no checkpoint knows
    assert float(optimizer.slots[0]) == 0.0
    restore_deferred(optimizer)
    assert float(optimizer.slots[0]) == 5.0
    status.assert_consumed()
    optimizer.slots[0].assign(6.0)
    restore_deferred(optimizer)
    assert float(optimizer.slots[0]) == 6.0


def test_an_object_for_which_nothing_waits_costs_nothing(path):
    """A module that sets an attribute at each step must not pay for the optimizer left out."""
    train.Checkpoint(m=Thing(a=tf.Variable(1)), o=Thing(s=tf.Variable(2))).write(path)
    model, optimizer = Watched(a=tf.Variable(0)), Watched()
    checkpoint = train.Checkpoint(m=model, o=optimizer)
    checkpoint.read(path).expect_partial()
    Watched.walks = 0
    restore_deferred(model)
    assert Watched.walks == 0
    restore_deferred(optimizer)
    assert Watched.walks > 0


class Watched(Thing):
    """Counts how often it is looked into."""

    walks = 0

    def _tracked_items(self):
        Watched.walks += 1
        return vars(self).items()


def test_a_value_arrives_by_a_path_that_is_not_its_name(path):
    v = tf.Variable(5.0)
    train.Checkpoint(model=Thing(v=v), optimizer=Thing(_seen=[v])).write(path)
    optimizer = Thing()
    checkpoint = train.Checkpoint(optimizer=optimizer)
    checkpoint.read(path)
    optimizer._seen = [tf.Variable(0.0)]
    restore_deferred(optimizer)
    assert float(optimizer._seen[0]) == 5.0


def test_what_waits_is_read_even_if_its_file_was_deleted(tmp_path):
    train.Checkpoint(v=tf.Variable(5.0)).write(tmp_path / "ck")
    checkpoint = train.Checkpoint()
    checkpoint.read(tmp_path / "ck")
    os.remove(tmp_path / "ck.safetensors")
    checkpoint.v = tf.Variable(0.0)
    assert float(checkpoint.v) == 5.0


def test_what_waits_must_fit(path):
    train.Checkpoint(v=tf.Variable(5.0)).write(path)
    checkpoint = train.Checkpoint()
    checkpoint.read(path).expect_partial()
    with pytest.raises(ShapeError, match="'v'"):
        checkpoint.v = tf.Variable([0.0])


def test_values_that_found_no_variable_are_reported(path, caplog):
    train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write(path)
    train.Checkpoint(a=tf.Variable(0.0)).read(path).expect_partial()
    assert caplog.messages == []
    train.Checkpoint(a=tf.Variable(0.0)).read(path)
    assert len(caplog.messages) == 1
    assert "'b'" in caplog.messages[0] and "expect_partial" in caplog.messages[0]


def test_the_report_comes_at_the_end_of_the_program_too(path):
    train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write(path)
    code = f"""
import gradtape as tf
from gradtape import train
checkpoint = train.Checkpoint(a=tf.Variable(0.0))
checkpoint.read({path!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("\n") == 1 and "No variable was there for 'b'" in done.stderr
