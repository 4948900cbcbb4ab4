"""Trackable: see tests/compat/internals for what it is on TensorFlow too."""

import gc
import weakref

import gradtape as tf
from gradtape._src.core.trackable import (
    AutoTrackable,
    NoDependency,
    Trackable,
    has_tensors,
    restore_deferred,
    restored,
)


class Holder(AutoTrackable):
    pass


def test_a_value_can_be_kept_out():
    holder = Holder()
    holder.v = NoDependency(tf.Variable(1.0))
    assert isinstance(holder.v, tf.Variable) and holder._trackable_children() == {}
    holder.v = tf.Variable(2.0)  # from here on it belongs to the object
    assert list(holder._trackable_children()) == ["v"]


def test_objects_of_other_classes_are_looked_into():
    class Plain:
        pass

    holder = Holder()
    holder.plain = Plain()
    assert "plain" not in holder._trackable_children()
    assert dict(holder._tracked_items())["plain"] is holder.plain


def test_nothing_is_noted_where_nothing_is_special():
    holder = Holder()
    holder.v = tf.Variable(1.0)
    assert list(vars(holder)) == ["v"]


def test_what_consists_of_tensors():
    assert has_tensors(tf.Variable(1.0)) and not has_tensors(tf.Module())
    assert not has_tensors(tf.constant(1.0))
    assert isinstance(tf.optimizers.SGD(), Trackable)


def test_checkpoints_are_told_of_what_comes_later():
    told = []

    class Checkpoint:
        def _restore_deferred(self, owner):
            told.append(owner)

    checkpoint, holder = Checkpoint(), Holder()
    restored.add(checkpoint)
    try:
        holder.v = tf.Variable(1.0)
        holder._track_trackable(tf.Variable(2.0), "w")
        restore_deferred(holder)
    finally:
        restored.discard(checkpoint)
    assert told == [holder] * 3
    gone = weakref.ref(checkpoint)
    del checkpoint
    gc.collect()
    assert gone() is None
