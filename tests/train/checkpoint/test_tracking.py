"""What a checkpoint follows from object to object, and what it calls the variables there."""

import logging
import os
from collections import OrderedDict, deque
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import gradtape as tf
from gradtape import train

from .examples import Pair, Thing, names


@dataclass(slots=True)
class Slotted:
    a: object
    b: object = None


class OnlyVariables:
    """Offers its variables, and nothing else that could be followed."""

    __slots__ = ()
    held = (tf.Variable(1.0), tf.Variable(2.0))

    @property
    def variables(self):
        return list(self.held)


def test_any_object_is_followed(path):
    v = [tf.Variable(float(i)) for i in range(12)]
    model = Thing(
        layers=[Thing(kernel=v[0]), Thing(kernel=v[1])],
        pair=Pair(v[2], {"deep": (v[3],)}),
        ordered=OrderedDict(b=v[4]),
        numbers={1: v[5]},
        queue=deque([v[6]]),
        slotted=Slotted(v[7]),
        space=SimpleNamespace(x=v[8]),
        offered=OnlyVariables(),
        number=3,
        array=np.ones(3),
        tensor=tf.constant(1.0),
        function=len,
        module=os,
        kind=Thing,
        logger=logging.getLogger(),
        nothing=None,
        names=["a", "b"],
    )
    assert names(path, model=model) == [
        "model/layers/0/kernel",
        "model/layers/1/kernel",
        "model/numbers/1",
        "model/offered/variables/0",
        "model/offered/variables/1",
        "model/ordered/b",
        "model/pair/0",
        "model/pair/1/deep/0",
        "model/queue/0",
        "model/slotted/a",
        "model/space/x",
    ]


def test_the_public_path_is_the_name_and_then_the_shortest(path):
    kernel = tf.Variable([1.0])
    model = Thing(_all=[kernel], layers=[Thing(dense=Thing(kernel=kernel))])
    optimizer = Thing(_trainable_variables=[kernel], iterations=tf.Variable(0))
    model.parent = model
    expected = ["model/layers/0/dense/kernel", "optimizer/iterations"]
    assert names(path, model=model, optimizer=optimizer) == expected
    assert names(path, optimizer=optimizer, model=model) == expected
    assert names(path, far=[[kernel]], near=[kernel]) == ["near/0"]


def test_a_part_is_restored_by_its_own_path(path):
    """The name in the file is another: the file knows both."""
    kernel, step = tf.Variable([1.0]), tf.Variable(4)
    train.Checkpoint(model=Thing(kernel=kernel), optimizer=Thing(_v=[kernel, step])).write(path)
    fresh = Thing(_v=[tf.Variable([0.0]), tf.Variable(0)])
    train.Checkpoint(optimizer=fresh).read(path).assert_consumed()
    assert (float(fresh._v[0][0]), int(fresh._v[1])) == (1.0, 4)


def test_names_with_slashes_and_other_signs(path):
    keys = ["a/b", "a%2Fb", "", "%", "a.b", "é", "0", "__metadata__"]
    saved = {key: tf.Variable(float(i)) for i, key in enumerate(keys)}
    assert len(names(path, d=saved)) == len(keys)
    fresh = {key: tf.Variable(-1.0) for key in keys}
    train.Checkpoint(d=fresh).read(path).assert_consumed()
    assert [float(fresh[key]) for key in keys] == list(range(len(keys)))


def test_keys_that_are_the_same_text(path):
    with pytest.raises(ValueError, match="'d/1'"):
        names(path, d={1: tf.Variable(1), "1": tf.Variable(2)})


def test_a_cache_with_odd_keys_does_not_matter(path):
    v = tf.Variable(1.0)
    assert names(path, v=v, cache={v.ref(): v, (1, 2): {"v": [v]}}) == ["v"]


def test_a_tape_does_not_count(path):
    v = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        v * v
    assert names(path, trainer=Thing(tape=tape, step=tf.Variable(1))) == ["trainer/step"]
