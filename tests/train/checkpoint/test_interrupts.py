"""Interrupts of checkpoints: a restoration is one step, and a file is whole."""

import os

import numpy as np
import pytest
from interrupts import at_every_point

pytestmark = [
    pytest.mark.gradtape_only,
    # A file that an interrupt kept from being closed is closed when the exception is forgotten.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Model:
    """Everything that a checkpoint saves, and whether it is all of one kind."""

    def __init__(self, tf):
        self.weights = [tf.Variable(np.zeros((3, 2), np.float32)) for _ in range(4)]
        self.optimizer = tf.optimizers.Adam(0.1)
        self.optimizer.build(self.weights)
        self.generator = tf.random.Generator.from_seed(1)
        self._leaves = [*self.weights, *self.optimizer.variables[2:]]

    def fill(self, number):
        for v in self._leaves:
            v.assign(np.full(v.shape, number, np.float32))
        self.generator.reset([number, 0, 1])

    def number(self):
        found = {float(n) for v in self._leaves for n in v.numpy().flat}
        found.add(float(self.generator.state.numpy()[0]))
        (number,) = found
        return number


@pytest.mark.parametrize("method", ["restore", "read"])
def test_a_restoration_is_one_step(tf, tmp_path, method):
    model = Model(tf)
    checkpoint = tf.train.Checkpoint(model=model)
    model.fill(7)
    path = checkpoint.save(tmp_path / "ckpt")

    def step():
        getattr(checkpoint, method)(path).assert_consumed()

    def check():
        assert model.number() in (5, 7)
        step()
        assert model.number() == 7

    assert at_every_point(step, check, lambda: model.fill(5)) > 25


def test_a_first_restoration_can_be_made_again(tf, tmp_path):
    """A checkpoint of a new process, and a variable that is made after it was restored."""
    model = Model(tf)
    model.fill(7)
    saved = tf.train.Checkpoint(model=model, late=tf.Variable(3.0))
    path = saved.save(tmp_path / "ckpt")
    checkpoint = None

    def begin():
        nonlocal checkpoint
        model.fill(5)
        checkpoint = tf.train.Checkpoint(model=model)

    def step():
        checkpoint.restore(path)
        checkpoint.late = tf.Variable(0.0)

    def check():
        assert model.number() in (5, 7)
        checkpoint.restore(path)
        if not hasattr(checkpoint, "late"):
            checkpoint.late = tf.Variable(0.0)
        assert model.number() == 7 and float(checkpoint.late) == 3.0
        assert int(checkpoint.save_counter) == 1

    assert at_every_point(step, check, begin) > 25


def test_a_file_is_whole_and_counts_as_one(tf, tmp_path):
    model = Model(tf)
    checkpoint = tf.train.Checkpoint(model=model)
    number = 0

    def step():
        manager.save()

    def begin():
        nonlocal number, manager
        number += 1
        model.fill(number)

    def check():
        """The latest, as another process would find it, is this one or the one before."""
        latest = tf.train.latest_checkpoint(tmp_path)
        other = Model(tf)
        tf.train.Checkpoint(model=other).restore(latest).assert_existing_objects_matched()
        assert other.number() in (number, number - 1)
        assert os.path.basename(latest) == f"ckpt-{int(checkpoint.save_counter)}" or (
            other.number() == number - 1
        )
        assert manager.save() == tf.train.latest_checkpoint(tmp_path)

    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    manager.save()
    assert at_every_point(step, check, begin, stride=2) > 12
    for _ in range(3):
        manager.save()
    # None was forgotten when it was to be deleted, but for those written and not yet known.
    listed = set(manager.checkpoints)
    assert len(listed) == 2 and all(os.path.exists(f"{path}.safetensors") for path in listed)
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
