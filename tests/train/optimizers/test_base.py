"""What all optimizers do around their rules; the numbers are compared in test_trajectories.py."""

import numpy as np
import pytest

from .examples import gradtape_only

# Learning rates


def test_the_learning_rate_can_be_read_and_set(tf):
    optimizer = tf.optimizers.SGD(0.1)
    v = tf.Variable(1.0)
    assert float(optimizer.learning_rate.numpy()) == np.float32(0.1)
    optimizer.learning_rate = 0.5
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert v.numpy() == 0.5
    optimizer.learning_rate.assign(0.25)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert v.numpy() == 0.25
    optimizer.learning_rate = tf.optimizers.schedules.PiecewiseConstantDecay([1], [1.0, 2.0])
    assert len(optimizer.variables) == 1
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert v.numpy() == -1.75
    with pytest.raises(TypeError):
        optimizer.learning_rate = 0.1


@gradtape_only
@pytest.mark.parametrize("rate", ["fast", [0.1], None, 1j])
def test_what_is_no_learning_rate(tf, rate):
    with pytest.raises(ValueError):
        tf.optimizers.SGD(rate)


@gradtape_only
@pytest.mark.parametrize("rate", [1, np.float64(1.0), np.float32(1.0)])
def test_any_number_is_a_learning_rate(tf, rate):
    assert tf.optimizers.SGD(rate).learning_rate.numpy() == np.float32(1.0)
    assert tf.optimizers.SGD(tf.constant(rate)).learning_rate.dtype == tf.float32


# Arguments


@pytest.mark.parametrize(
    "kind, options",
    [
        ("SGD", {"clipnorm": 1.0, "clipvalue": 1.0}),
        ("SGD", {"clipnorm": 1.0, "global_clipnorm": 1.0}),
        ("SGD", {"gradient_accumulation_steps": 1}),
        ("SGD", {"use_ema": True, "ema_momentum": 1.5}),
        ("SGD", {"use_ema": True, "ema_overwrite_frequency": 0.5}),
        ("SGD", {"momentum": 2.0}),
        ("AdamW", {"weight_decay": None}),
        ("Lion", {"beta_1": 0.0}),
        ("Ftrl", {"learning_rate_power": 1.0}),
        ("Ftrl", {"l1_regularization_strength": -1.0}),
        ("Ftrl", {"initial_accumulator_value": -1.0}),
    ],
)
def test_arguments_that_cannot_be(tf, kind, options):
    with pytest.raises(ValueError):
        getattr(tf.optimizers, kind)(**options)


@gradtape_only
def test_an_unknown_argument(tf):
    with pytest.raises(TypeError, match="speed"):
        tf.optimizers.Adam(speed=3)


@gradtape_only
def test_exclusion_from_weight_decay_comes_before_the_first_step(tf):
    optimizer = tf.optimizers.AdamW()
    optimizer.build([tf.Variable(1.0)])
    with pytest.raises(ValueError, match="before the first step"):
        optimizer.exclude_from_weight_decay(var_names=["bias"])


def test_variables_can_be_excluded_from_weight_decay_themselves(tf):
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    optimizer = tf.optimizers.SGD(0.5, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_list=[b])
    optimizer.apply_gradients([(tf.constant(0.0), a), (tf.constant(0.0), b)])
    assert (a.numpy(), b.numpy()) == (0.75, 1.0)


def test_options_can_be_changed_between_steps(tf):
    v = tf.Variable(1.0)
    optimizer = tf.optimizers.SGD(0.5)
    seen = []
    for option, value in [
        ("weight_decay", 0.5),
        ("clipvalue", 0.25),
        ("weight_decay", None),
        ("clipvalue", None),
        ("clipnorm", 0.125),
        ("loss_scale_factor", 16.0),
    ]:
        optimizer.apply_gradients([(tf.constant(1.0), v)])
        seen.append(float(v.numpy()))
        setattr(optimizer, option, value)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    seen.append(float(v.numpy()))
    assert seen == [0.5, -0.125, -0.21875, -0.34375, -0.84375, -0.90625, -0.9375]


# Optimizers of one's own


def test_an_optimizer_in_the_way_of_keras(tf):
    class Heavy(tf.optimizers.Optimizer):
        def __init__(self, learning_rate=0.5, **kwargs):
            super().__init__(learning_rate=learning_rate, **kwargs)

        def build(self, variables):
            super().build(variables)
            self.sums = [self.add_variable_from_reference(v, name="sum") for v in variables]

        def update_step(self, gradient, variable, learning_rate):
            total = self.sums[self._get_variable_index(variable)]
            self.assign_add(total, gradient)
            self.assign_sub(variable, total * learning_rate)

    v, w = tf.Variable([1.0, 2.0]), tf.Variable(4.0)
    optimizer = Heavy(weight_decay=0.5, clipvalue=0.5)
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant([0.25, 8.0]), v), (tf.constant(-8.0), w)])
    # w: 4 * 0.75 + 0.25 = 3.25, then 3.25 * 0.75 + 0.5
    np.testing.assert_allclose(w.numpy(), 2.9375)
    np.testing.assert_allclose(v.numpy(), [0.21875, 0.4375])
    assert len(optimizer.variables) == 4


@gradtape_only
def test_a_subclass_may_change_the_gradient_and_pass_it_on(tf):
    class Negative(tf.optimizers.SGD):
        def update_step(self, gradient, variable, learning_rate):
            super().update_step(-gradient, variable, learning_rate)

    v = tf.Variable(1.0)
    optimizer = Negative(0.5, momentum=0.5)
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert v.numpy() == 2.25


# minimize


@gradtape_only
def test_minimize(tf):
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.SGD(0.25)
    steps = optimizer.minimize(lambda: tf.reduce_sum(v**2), [v])
    np.testing.assert_array_equal(v.numpy(), [0.5, 1.0])
    assert steps.numpy() == 1
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v**2)
    optimizer.minimize(loss, [v], tape=tape)
    np.testing.assert_array_equal(v.numpy(), [0.25, 0.5])
    optimizer.minimize(lambda: tf.reduce_sum(v**2), lambda: (v,), tape=tf.GradientTape())
    np.testing.assert_array_equal(v.numpy(), [0.125, 0.25])
    with pytest.raises(ValueError, match="`tape` is needed"):
        optimizer.minimize(loss, [v])


@gradtape_only
def test_gradients_can_be_changed_between_computing_and_applying(tf):
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.SGD(1.0)
    pairs = optimizer.compute_gradients(lambda: tf.reduce_sum(v**2), [v])
    np.testing.assert_array_equal(pairs[0][0].numpy(), [2.0, 4.0])
    clipped, _ = tf.clip_by_global_norm([g for g, _ in pairs], 1.0)
    optimizer.apply_gradients(zip(clipped, [v], strict=True))
    np.testing.assert_allclose(v.numpy(), [1 - 1 / 5**0.5, 2 - 2 / 5**0.5], rtol=1e-6)


@gradtape_only
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_minimize_scales_the_loss_itself(tf, dtype):
    for optimizer in (
        tf.optimizers.SGD(0.25, loss_scale_factor=1024.0),
        tf.optimizers.LossScaleOptimizer(tf.optimizers.SGD(0.25), 1024.0),
    ):
        v = tf.Variable(tf.constant([1.0, 2.0], dtype))
        for wanted in [0.5, 1.0], [0.25, 0.5]:
            optimizer.minimize(lambda v=v: tf.reduce_sum(v**2), [v])
            np.testing.assert_array_equal(v.numpy(), wanted)


# Compiled


def test_an_optimizer_is_built_inside_a_function(tf):
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.Adam(0.1)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((v - x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, [v]), [v], strict=True))
        return loss

    losses = [float(step(tf.constant([0.0, 0.0])).numpy()) for _ in range(20)]
    assert losses[-1] < 0.5 * losses[0]
    assert int(optimizer.iterations.numpy()) == 20
    optimizer.learning_rate = 0.0  # seen by the function that is compiled already
    before = v.numpy()
    step(tf.constant([0.0, 0.0]))
    np.testing.assert_array_equal(v.numpy(), before)


def test_eager_and_compiled_steps_take_turns(tf):
    results = []
    for turns in [False, False, False, False], [True, False, True, True]:
        v = tf.Variable([1.0, 2.0])
        optimizer = tf.optimizers.Adam(0.1)
        optimizer.build([v])

        def step(optimizer=optimizer, v=v):
            optimizer.apply_gradients([(v * 2.0, v)])

        compiled = tf.function(step)
        for turn in turns:
            (compiled if turn else step)()
        results.append([v.numpy(), *[s.numpy() for s in optimizer.variables]])
    for one, two in zip(*results, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6)
