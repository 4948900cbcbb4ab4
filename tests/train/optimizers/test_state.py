"""The state of an optimizer: named, saved, set, copied."""

import copy
import pickle

import numpy as np
import pytest

from .examples import example, gradtape_only


def test_names(tf):
    assert tf.optimizers.Adam(name="mine").name == "mine"
    one, two = tf.optimizers.RMSprop().name, tf.optimizers.RMSprop().name
    assert one != two
    assert one.startswith("rm_sprop") and two.startswith("rm_sprop")


def test_the_state_is_set_and_read_in_order(tf):
    optimizer, variables, grads = example(tf, "Adam", {"amsgrad": True})
    store = {}
    optimizer.save_own_variables(store)
    assert list(store) == [str(i) for i in range(2 + 3 * len(variables))]
    other = tf.optimizers.Adam(amsgrad=True)
    copies = [tf.Variable(v) for v in variables]
    other.build(copies)
    other.load_own_variables(store)
    for one, two in (optimizer, variables), (other, copies):
        one.apply_gradients(zip(grads, two, strict=True))
    for one, two in zip(variables, copies, strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())


@gradtape_only
def test_a_state_that_does_not_fit_changes_nothing(tf):
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.SGD(0.1, momentum=0.9)
    with pytest.raises(ValueError, match="not built"):
        optimizer.set_weights([])
    optimizer.build([v])
    for weights in [np.int64(3), np.float32(0.5)], [np.int64(3), np.float32(0.5), np.zeros(3)]:
        with pytest.raises(ValueError, match="state"):
            optimizer.set_weights(weights)
    assert optimizer.iterations.numpy() == 0
    optimizer.set_weights([np.int64(3), np.float32(0.5), np.ones(2, np.float32)])
    assert optimizer.iterations.numpy() == 3


@gradtape_only
@pytest.mark.parametrize("kind", ["Adam", "Nadam", "LossScaleOptimizer"])
def test_a_checkpoint_holds_the_state(tf, kind, tmp_path):
    def start():
        v = tf.Variable([1.0, 2.0], name="v")
        inner = tf.optimizers.Adam(0.1)
        dynamic = kind == "LossScaleOptimizer"
        optimizer = (
            tf.optimizers.LossScaleOptimizer(inner, 4.0)
            if dynamic
            else getattr(tf.optimizers, kind)(0.1)
        )
        return v, optimizer, tf.train.Checkpoint(v=v, optimizer=optimizer)

    def steps(v, optimizer, count):
        for _ in range(count):
            optimizer.apply_gradients([(tf.constant([1.0, -1.0]) * v, v)])

    v, optimizer, checkpoint = start()
    steps(v, optimizer, 3)
    path = checkpoint.save(str(tmp_path / "state"))
    steps(v, optimizer, 3)
    again, other, checkpoint = start()
    checkpoint.restore(path)  # before the optimizer has made its slots
    steps(again, other, 3)
    np.testing.assert_array_equal(again.numpy(), v.numpy())
    for one, two in zip(optimizer.variables, other.variables, strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())


@gradtape_only
@pytest.mark.parametrize("kind", ["Adam", "SGD", "Nadam", "LossScaleOptimizer"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_goes_its_own_way(tf, kind, copied):
    v = tf.Variable([1.0, 2.0])
    inner = tf.optimizers.Adam(0.1, amsgrad=True)
    optimizer = (
        tf.optimizers.LossScaleOptimizer(inner)
        if kind == "LossScaleOptimizer"
        else getattr(tf.optimizers, kind)(0.1)
    )
    g = tf.constant([1.0, -1.0])
    optimizer.apply_gradients([(g, v)])
    other, w = copied([optimizer, v])
    optimizer.apply_gradients([(g, v)])
    after = v.numpy()
    assert not np.array_equal(w.numpy(), after)
    other.apply_gradients([(g, w)])
    np.testing.assert_array_equal(w.numpy(), after)
    np.testing.assert_array_equal(v.numpy(), after)
