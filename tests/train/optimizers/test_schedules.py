"""Learning rates as functions of the step; their numbers are compared in test_trajectories.py."""

import numpy as np
import pytest


def test_a_schedule_of_ones_own(tf):
    class Halving(tf.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.5 ** (tf.cast(step, tf.float32) + 1.0)

    v = tf.Variable(1.0)
    optimizer = tf.optimizers.SGD(Halving())
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert v.numpy() == 0.125
    with pytest.raises(NotImplementedError):
        Halving().get_config()
    with pytest.raises(NotImplementedError):
        tf.optimizers.schedules.LearningRateSchedule()(0)


@pytest.mark.parametrize("step", [0, 1, 7, 15, 16, 40, 100, 1000])
def test_a_schedule_takes_any_kind_of_step(tf, step):
    schedule = tf.optimizers.schedules.PolynomialDecay(0.1, 50, 0.01)
    expected = 0.1 - 0.09 * min(step, 50) / 50
    for given in step, tf.constant(step), tf.Variable(step), tf.constant(step, tf.int64):
        np.testing.assert_allclose(schedule(given).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "kind, arguments",
    [
        ("ExponentialDecay", (0.1, 0, 0.5)),
        ("InverseTimeDecay", (0.1, -1, 0.5)),
        ("PolynomialDecay", (0.1, 0)),
        ("CosineDecay", (0.1, 0)),
        ("CosineDecayRestarts", (0.1, 0)),
        ("PiecewiseConstantDecay", ([1, 2], [0.1, 0.2])),
    ],
)
def test_schedules_that_cannot_be(tf, kind, arguments):
    with pytest.raises(ValueError):
        getattr(tf.optimizers.schedules, kind)(*arguments)
