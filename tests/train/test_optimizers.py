"""What optimizers do around their rules. Numbers are compared in test_optimizers_keras.py."""

import copy
import os
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from .record_optimizers import RULES

gradtape_only = pytest.mark.gradtape_only
not_finite = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy


def slices(tf, values, indices, rows):
    values = tf.constant(values, tf.float32)
    shape = tf.constant([rows, *values.shape[1:]])
    return tf.IndexedSlices(values, tf.constant(indices), shape)


def example(tf, kind, options):
    """An optimizer after one step, with variables of rank 2, 1, 0, and without elements."""
    random = np.random.default_rng(0)
    variables = [
        tf.Variable(random.normal(size=shape).astype("float32"))
        for shape in [(70, 30), (5,), (), (0, 3)]
    ]
    optimizer = getattr(tf.optimizers, kind)(**({"learning_rate": 0.05} | options))
    grads = [tf.constant(random.normal(size=v.shape).astype("float32")) for v in variables]
    optimizer.apply_gradients(zip(grads, variables, strict=True))
    return optimizer, variables, grads


# Gradients that are missing or do not fit


def test_variables_without_gradient_are_named_in_a_warning(tf):
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([1.0, 2.0], name="b")
    optimizer = tf.optimizers.Adam(0.1)
    with pytest.warns(UserWarning, match=r"Gradients do not exist for variables \['b:0'\]"):
        optimizer.apply_gradients([(tf.constant([1.0, 1.0]), a), (None, b)])
    np.testing.assert_allclose(a.numpy(), [0.9, 1.9], rtol=1e-4)
    np.testing.assert_array_equal(b.numpy(), [1.0, 2.0])
    assert int(optimizer.iterations.numpy()) == 1


@gradtape_only
def test_the_warning_says_where_to_read_why_and_points_to_the_call(tf):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="b")
    with pytest.warns(UserWarning, match="docs/why-none.md") as caught:
        tf.optimizers.SGD().apply_gradients([(tf.constant(1.0), a), (None, b)])
    assert caught[0].filename == __file__


def test_no_gradient_at_all_is_an_error(tf):
    v = tf.Variable(1.0, name="v")
    optimizer = tf.optimizers.SGD(0.1)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, v)])
    assert int(optimizer.iterations.numpy()) == 0


@gradtape_only
def test_the_error_names_the_variables_and_says_where_to_read_why(tf):
    with pytest.raises(ValueError, match=r"\['v:0'\].*docs/why-none.md"):
        tf.optimizers.SGD().apply_gradients([(None, tf.Variable(1.0, name="v"))])


def test_an_optimizer_knows_the_variables_that_it_was_built_with(tf):
    optimizer = tf.optimizers.SGD(0.1)
    first, other = tf.Variable(1.0), tf.Variable(1.0)
    optimizer.build([first])
    with pytest.raises(ValueError):
        optimizer.apply_gradients([(tf.constant(1.0), other)])
    assert other.numpy() == 1.0


def test_some_of_the_variables_can_be_updated(tf):
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    optimizer = tf.optimizers.SGD(0.5, momentum=0.5)
    optimizer.build([a, b])
    optimizer.apply([tf.constant(1.0)], [b])
    assert (a.numpy(), b.numpy()) == (1.0, 0.5)
    optimizer.apply([tf.constant(1.0), tf.constant(1.0)])
    assert (a.numpy(), b.numpy()) == (0.5, -0.25)


@pytest.mark.parametrize("grads", [[], [1.0], [1.0, 1.0]])
def test_gradients_without_variables_need_a_built_optimizer(tf, grads):
    optimizer = tf.optimizers.SGD(0.1)
    grads = [tf.constant(g) for g in grads]
    if not grads:
        assert optimizer.apply(grads) is None
        return
    with pytest.raises(ValueError, match="must"):
        optimizer.apply(grads)
    optimizer.build([tf.Variable(1.0) for _ in range(3)])
    with pytest.raises(ValueError):
        optimizer.apply(grads)


@gradtape_only
def test_a_gradient_that_does_not_fit_changes_nothing(tf):
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([1.0, 2.0], name="b")
    optimizer = tf.optimizers.Adam(0.1)
    for bad in tf.constant([1.0, 1.0, 1.0]), tf.constant(1.0), slices(tf, [[1.0]], [0], 2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="'b:0' has shape"):
            optimizer.apply_gradients([(tf.constant([1.0, 1.0]), a), (bad, b)])
    np.testing.assert_array_equal(a.numpy(), [1.0, 2.0])
    np.testing.assert_array_equal(b.numpy(), [1.0, 2.0])
    assert not any(v.numpy().any() for v in optimizer.variables if "learning" not in v.name)


@gradtape_only
def test_rows_that_do_not_fit_change_nothing(tf):
    table = tf.Variable(np.ones((3, 2), "float32"), name="table")
    optimizer = tf.optimizers.SGD(0.1)
    for values, indices, message in [
        ([[1.0, 1.0]], [3], r"indices\[0\] = 3 is not in \[0, 3\)"),
        ([[1.0, 1.0]], [-1], r"= -1 is not in"),
        ([[1.0, 1.0, 1.0]], [0], "the rows of its gradient"),
        ([[1.0, 1.0]], [0, 1], "the rows of its gradient"),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            optimizer.apply_gradients([(slices(tf, values, indices, 3), table)])
    np.testing.assert_array_equal(table.numpy(), np.ones((3, 2)))


@gradtape_only
@pytest.mark.parametrize(
    "pairs, error, message",
    [
        (lambda tf: [], ValueError, "is empty"),
        (lambda tf: [(tf.constant(1.0), 3.0)], TypeError, "number 0 is a float"),
        (lambda tf: [(tf.constant(1.0), tf.Variable(1, name="n"))], TypeError, "'n:0' is int32"),
    ],
)
def test_what_cannot_be_updated(tf, pairs, error, message):
    with pytest.raises(error, match=message):
        tf.optimizers.SGD().apply_gradients(pairs(tf))


@gradtape_only
def test_a_variable_given_twice_is_an_error(tf):
    v = tf.Variable(1.0, name="twice")
    with pytest.raises(ValueError, match="'twice:0' is given twice"):
        tf.optimizers.SGD().apply_gradients([(tf.constant(1.0), v), (tf.constant(1.0), v)])
    assert v.numpy() == 1.0


def test_gradients_are_cast_to_the_dtype_of_the_variable(tf):
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.SGD(0.5)
    for g in tf.constant([1, 1]), np.array([1.0, 1.0]), tf.constant([1.0, 1.0], tf.float64):
        optimizer.apply_gradients([(g, v)])
    np.testing.assert_array_equal(v.numpy(), [-0.5, 0.5])


@not_finite
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_gradients_that_are_not_finite_are_clipped_as_in_keras(tf, value):
    g = tf.constant([1.0, value], tf.float32)
    expected = {
        "clipnorm": [0.5 if value == np.inf else np.nan, np.nan],
        "global_clipnorm": [np.nan, np.nan],
        "clipvalue": [0.0, 0.0 if value == np.inf else np.nan],
    }
    for option, wanted in expected.items():
        v = tf.Variable([0.5, 0.5])
        tf.optimizers.SGD(0.5, **{option: 1.0}).apply_gradients([(g, v)])
        np.testing.assert_array_equal(v.numpy(), wanted, err_msg=option)


# Rows


@gradtape_only
@pytest.mark.parametrize("name", RULES)
def test_repeated_rows_add_up(tf, name):
    """As the dense gradient has it. Keras squares the parts of the sum one by one."""
    kind, options = RULES[name]
    values = [[1.0, 2.0], [3.0, -1.0], [-0.5, 0.25]]
    rows = slices(tf, values, [1, 3, 1], 4)
    results = []
    for g in rows, tf.convert_to_tensor(rows):
        table = tf.Variable(np.linspace(-1, 1, 8, dtype="float32").reshape(4, 2))
        optimizer = getattr(tf.optimizers, kind)(**({"learning_rate": 0.05} | options))
        for _ in range(3):
            optimizer.apply_gradients([(g, table)])
        results.append([v.numpy() for v in (table, *optimizer.variables)])
    for sparse, dense in zip(*results, strict=True):
        np.testing.assert_allclose(sparse, dense, rtol=1e-6, atol=1e-7)


@gradtape_only
@pytest.mark.parametrize(
    "kind, options", [("SGD", {}), ("Adagrad", {}), ("SGD", {"clipnorm": 1.0})]
)
def test_rows_cost_what_they_are(tf, kind, options):
    table = tf.Variable(np.ones((100_000, 8), "float32"))
    optimizer = getattr(tf.optimizers, kind)(**options)
    g = slices(tf, np.ones((3, 8)), [5, 70_000, 5], 100_000)
    optimizer.apply_gradients([(g, table)])
    changed = np.flatnonzero((table.numpy() != 1).any(1))
    np.testing.assert_array_equal(changed, [5, 70_000])
    assert peak_of(lambda: optimizer.apply_gradients([(g, table)])) < table.numpy().nbytes / 50


# In place


def peak_of(call):
    """The most bytes that `call()` holds at a time, of those that it allocates."""
    call()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@gradtape_only
@pytest.mark.parametrize(
    "kind, options",
    [
        *RULES.values(),
        ("Adam", {"weight_decay": 0.1, "global_clipnorm": 1.0}),
        ("Adam", {"clipvalue": 0.1, "use_ema": True}),
        ("SGD", {"gradient_accumulation_steps": 2}),
    ],
)
def test_a_step_allocates_no_array_of_the_size_of_a_variable(tf, kind, options):
    v = tf.Variable(np.ones((2000, 2000), "float32"))
    g = tf.constant(np.full((2000, 2000), 0.5, "float32"))
    optimizer = getattr(tf.optimizers, kind)(**options)
    for _ in range(2):  # with accumulation, each of the two kinds of steps
        assert peak_of(lambda: optimizer.apply_gradients([(g, v)])) < v.numpy().nbytes / 4


@gradtape_only
@pytest.mark.parametrize("read", ["value", "read_value", "numpy", "_as_tensor"])
def test_a_tensor_read_before_the_step_keeps_its_value(tf, read):
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.Adam(0.1)
    before = getattr(v, read)()
    part = v[0]
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)])
    np.testing.assert_array_equal(np.asarray(before), [1.0, 2.0])
    assert part.numpy() == 1.0
    np.testing.assert_allclose(v.numpy(), [0.8, 1.8], rtol=1e-4)


@gradtape_only
def test_a_tape_that_is_open_keeps_the_values_that_it_saw(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(v**3)
    g = tape.gradient(y, v)
    tf.optimizers.SGD(0.1).apply_gradients([(g, v)])
    np.testing.assert_array_equal(tape.gradient(y, v).numpy(), [3.0, 12.0])
    np.testing.assert_array_equal(g.numpy(), [3.0, 12.0])


@gradtape_only
def test_a_gradient_that_is_the_variable_itself(tf):
    v = tf.Variable([1.0, 2.0])
    g = tf.convert_to_tensor(v)
    tf.optimizers.SGD(0.5, momentum=0.5).apply_gradients([(g, v)])
    np.testing.assert_array_equal(g.numpy(), [1.0, 2.0])
    np.testing.assert_array_equal(v.numpy(), [0.5, 1.0])


@gradtape_only
def test_the_state_that_was_read_keeps_its_value(tf):
    v = tf.Variable([1.0])
    optimizer = tf.optimizers.SGD(0.1, momentum=0.5)
    optimizer.build([v])
    count, momentum = (tf.convert_to_tensor(s) for s in optimizer.variables[::2])
    optimizer.apply_gradients([(tf.constant([1.0]), v)])
    assert count.numpy() == 0
    assert momentum.numpy() == [0.0]


@gradtape_only
@pytest.mark.parametrize("order", ["F", "reversed"])
def test_arrays_that_are_not_contiguous(tf, order):
    random = np.random.default_rng(0)
    values, gradient = random.normal(size=(2, 300, 200)).astype("float32")
    other = np.asfortranarray if order == "F" else lambda a: a[::-1].copy()[::-1]
    results = []
    for lay in np.array, other:
        v = tf.Variable(lay(values))
        optimizer = tf.optimizers.Adam(0.1)
        for _ in range(3):
            optimizer.apply_gradients([(tf.Tensor(lay(gradient)), v)])
        results.append(v.numpy())
    np.testing.assert_array_equal(*results)


# Rules: in place, as they stand, compiled


@gradtape_only
@pytest.mark.parametrize("name", RULES)
def test_a_rule_gives_the_same_in_place_in_blocks_and_compiled(tf, name, monkeypatch):
    import jax

    from gradtape.train.optimizers import rules

    optimizer, _, grads = example(tf, *RULES[name])
    for i, g in enumerate(grads):
        change = optimizer._changes[i]
        arrays = [v.numpy() for v in optimizer._updated[i]]
        arrays = [np.asarray(array) for array in arrays]
        scalars = optimizer._scalars(optimizer.learning_rate.numpy(), g.numpy().dtype)
        expected = change(np, arrays, g.numpy(), scalars)
        for block, large in (2**20, 2**20), (4 * 256, 2**20), (4 * 256, 4 * 2048):
            monkeypatch.setattr(rules, "BLOCK", block)
            monkeypatch.setattr(rules, "LARGE", large)
            written = [array.copy() for array in arrays]
            change.plan.run(written, g.numpy(), scalars)
            for one, two in zip(written, expected, strict=True):
                np.testing.assert_array_equal(one, two)
        compiled = jax.jit(lambda a, g, s, change=change: change(jax.numpy, a, g, s))
        for one, two in zip(compiled(arrays, g.numpy(), scalars), expected, strict=True):
            np.testing.assert_allclose(one, two, rtol=2e-5, atol=1e-6)


@gradtape_only
def test_a_process_that_was_forked_updates_large_variables(tf):
    code = """
import os, numpy as np, gradtape as tf
v, g = tf.Variable(np.zeros(10**6, "float32")), tf.constant(np.ones(10**6, "float32"))
optimizer = tf.optimizers.SGD(1.0)
optimizer.apply_gradients([(g, v)])  # starts the thread
child = os.fork() if hasattr(os, "fork") else None
optimizer.apply_gradients([(g, v)])
assert (v.numpy() == -2).all()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    environment = {k: x for k, x in os.environ.items() if k != "OMP_NUM_THREADS"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    assert subprocess.run(command, env=environment, timeout=60).returncode == 0


@gradtape_only
def test_a_plan_keeps_an_old_value_as_long_as_it_is_needed():
    from gradtape.train.optimizers.rules import Update

    def exchange(xp, w, g, one, two, *, factor):
        new_w = one * factor
        new_one = w + two
        new_two = w * g
        return new_w, {"one": new_one, "two": new_two}

    change = Update(exchange, (), ("one", "two"))
    arrays = [np.arange(1.0, 5.0) + 10 * i for i in range(3)]
    g, scalars = np.array([2.0, 3.0, 5.0, 7.0]), {"factor": np.array(100.0)}
    expected = change(np, [array.copy() for array in arrays], g, scalars)
    change.plan.run(arrays, g, scalars)
    for one, two in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(one, two)


@gradtape_only
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("name", [*RULES, "Adam, compiled", "Nadam, compiled"])
def test_dtypes(tf, name, dtype):
    """A step of any dtype is that of float32, as exact as the dtype is.

    In Keras, where bfloat16 has 1 for 0.999, Adam stays where it is and Nadam gives NaN.
    """
    kind, options = RULES[name.removesuffix(", compiled")]
    results = []
    for each in dtype, "float32":
        v = tf.Variable(tf.cast(tf.constant([1.0, -2.0]), each))
        optimizer = getattr(tf.optimizers, kind)(**({"learning_rate": 0.05} | options))

        def step(v=v, optimizer=optimizer, each=each):
            optimizer.apply_gradients([(tf.cast(tf.constant([0.5, 0.25]), each), v)])

        if name.endswith("compiled"):
            step = tf.function(step)
        step()
        step()
        assert {s.dtype for s in optimizer._updated[0]} == {getattr(tf, each)}
        results.append(tf.cast(v, tf.float64).numpy())
    moved = np.abs(results[1] - [1.0, -2.0])
    epsilon = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float64": 1e-6}[dtype]
    np.testing.assert_array_less(np.abs(results[0] - results[1]), 3 * epsilon + 0.1 * moved)


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


def test_an_optimizer_that_made_steps_can_be_given_a_dynamic_scale(tf):
    v = tf.Variable(1.0)
    inner = tf.optimizers.SGD(0.5, loss_scale_factor=2.0)
    inner.apply_gradients([(tf.constant(2.0), v)])
    optimizer = tf.optimizers.LossScaleOptimizer(inner, 4.0)
    optimizer.apply_gradients([(tf.constant(4.0), v)])
    assert v.numpy() == 0.0


# As plain values


def test_an_optimizer_as_plain_values(tf):
    schedule = tf.optimizers.schedules.ExponentialDecay(0.5, 10, 0.5)
    optimizer = tf.optimizers.SGD(schedule, momentum=0.5, clipnorm=1.0, name="mine")
    record = tf.optimizers.serialize(optimizer)
    assert record == {
        "module": "keras.optimizers",
        "class_name": "SGD",
        "registered_name": None,
        "config": {
            "name": "mine",
            "learning_rate": {
                "module": "keras.optimizers.schedules",
                "class_name": "ExponentialDecay",
                "registered_name": None,
                "config": {
                    "initial_learning_rate": 0.5,
                    "decay_steps": 10,
                    "decay_rate": 0.5,
                    "staircase": False,
                    "name": "ExponentialDecay",
                },
            },
            "weight_decay": None,
            "clipnorm": 1.0,
            "global_clipnorm": None,
            "clipvalue": None,
            "use_ema": False,
            "ema_momentum": 0.99,
            "ema_overwrite_frequency": None,
            "loss_scale_factor": None,
            "gradient_accumulation_steps": None,
            "momentum": 0.5,
            "nesterov": False,
        },
    }
    again = tf.optimizers.deserialize(record)
    assert type(again) is tf.optimizers.SGD
    assert again.get_config() == optimizer.get_config()


@pytest.mark.parametrize("name", RULES)
def test_get_config_makes_the_same_optimizer(tf, name):
    kind, options = RULES[name]
    optimizer = getattr(tf.optimizers, kind)(**(options | {"learning_rate": 0.5}))
    config = optimizer.get_config()
    assert (options | {"learning_rate": 0.5}).items() <= config.items()
    again = type(optimizer).from_config(config)
    assert again.get_config() == optimizer.get_config()


def test_optimizers_by_name(tf):
    for name in "adam", "Adam", "sgd", "RMSprop", "adamw", "ftrl", "lion":
        assert type(tf.optimizers.get(name)).__name__.lower() == name.lower()
    made = tf.optimizers.get({"class_name": "SGD", "config": {"learning_rate": 0.5}})
    assert made.learning_rate.numpy() == 0.5
    assert tf.optimizers.get(made) is made
    assert tf.optimizers.get(None) is None
    for wrong in "nothing", 3:
        with pytest.raises(ValueError):
            tf.optimizers.get(wrong)


@gradtape_only
def test_a_record_names_only_classes_that_are_given(tf):
    class Mine(tf.optimizers.SGD):
        pass

    record = tf.optimizers.serialize(Mine(0.5))
    assert record["class_name"] == "Mine"
    with pytest.raises(ValueError, match="'Mine' is not the name of an optimizer"):
        tf.optimizers.deserialize(record)
    assert type(tf.optimizers.deserialize(record, {"Mine": Mine})) is Mine


def test_names(tf):
    assert tf.optimizers.Adam(name="mine").name == "mine"
    one, two = tf.optimizers.RMSprop().name, tf.optimizers.RMSprop().name
    assert one != two
    assert one.startswith("rm_sprop") and two.startswith("rm_sprop")


# State


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
def test_an_optimizer_by_a_rule(tf):
    class Signed(tf.optimizers.Optimizer):
        def slot_groups(self):
            return [{"seen": 1.0}]

        def scalars(self, learning_rate, step):
            return {"rate": learning_rate * step}

        @staticmethod
        def rule(xp, w, g, seen, *, rate):
            return w - xp.sign(g) * rate, {"seen": seen + xp.abs(g)}

    v = tf.Variable([1.0, 2.0])
    optimizer = Signed(0.5)

    @tf.function
    def compiled():
        optimizer.apply_gradients([(tf.constant([3.0, -4.0]), v)])

    optimizer.apply_gradients([(tf.constant([3.0, -4.0]), v)])
    np.testing.assert_array_equal(v.numpy(), [0.5, 2.5])
    compiled()
    np.testing.assert_array_equal(v.numpy(), [-0.5, 3.5])
    np.testing.assert_array_equal(optimizer.variables[-1].numpy(), [7.0, 9.0])


@gradtape_only
@pytest.mark.parametrize("half", [lambda xp, g: 0.5 * g, lambda xp, g: xp.maximum(g, 0.5)])
def test_a_rule_with_a_number_in_it_is_explained(tf, half):
    class Half(tf.optimizers.Optimizer):
        @staticmethod
        def rule(xp, w, g):
            return w - half(xp, g), {}

    v = tf.Variable(1.0)
    with pytest.raises(TypeError, match=r"the number 0\.5 .* `scalars`"):
        Half(0.1).apply_gradients([(tf.constant(1.0), v)])
    assert v.numpy() == 1.0


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


# Loss scaling


def test_a_step_with_gradients_that_are_not_finite_is_left_out(tf):
    v = tf.Variable([1.0, 2.0])
    inner = tf.optimizers.SGD(0.5)
    optimizer = tf.optimizers.LossScaleOptimizer(inner, initial_scale=8.0, dynamic_growth_steps=2)
    assert optimizer.scale_loss(tf.constant(2.0)).numpy() == 16.0
    scales = []
    for g in [8.0, np.inf, np.nan, 2.0, 2.0, 4.0]:
        optimizer.apply_gradients([(tf.constant([0.0, g], tf.float32), v)])
        scales.append(float(optimizer.dynamic_scale.numpy()))
    assert scales == [8.0, 4.0, 2.0, 2.0, 4.0, 4.0]
    np.testing.assert_array_equal(v.numpy(), [1.0, 0.0])
    assert int(optimizer.iterations.numpy()) == 4
    assert optimizer.learning_rate.numpy() == 0.5
    optimizer.learning_rate = 0.25
    assert inner.learning_rate.numpy() == 0.25


@not_finite
@gradtape_only
def test_very_large_gradients_are_finite(tf):
    optimizer = tf.optimizers.LossScaleOptimizer(tf.optimizers.SGD(1.0), 1.0)
    assert optimizer.check_finite([tf.constant([3e38, 3e38])]).numpy()
    assert not optimizer.check_finite([tf.constant([3e38, np.inf], tf.float32)]).numpy()


@gradtape_only
def test_scaled_rows(tf):
    table = tf.Variable(np.zeros((3, 2), "float32"))
    optimizer = tf.optimizers.LossScaleOptimizer(tf.optimizers.SGD(1.0), 4.0)
    optimizer.apply_gradients([(slices(tf, [[4.0, 8.0]], [1], 3), table)])
    np.testing.assert_array_equal(table.numpy(), [[0, 0], [-1, -2], [0, 0]])


def test_a_loss_scale_as_plain_values(tf):
    optimizer = tf.optimizers.LossScaleOptimizer(tf.optimizers.Adam(0.5), 4.0, 7)
    again = tf.optimizers.deserialize(tf.optimizers.serialize(optimizer))
    assert again.initial_scale == 4.0 and again.dynamic_growth_steps == 7
    assert again.inner_optimizer.get_config() == optimizer.inner_optimizer.get_config()


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


@gradtape_only
def test_compiled_rows_that_repeat(tf):
    table = tf.Variable(np.zeros((3, 1), "float32"))
    optimizer = tf.optimizers.Adagrad(1.0, initial_accumulator_value=0.0, epsilon=0.0)

    @tf.function
    def step(indices):
        g = tf.IndexedSlices(tf.constant([[1.0], [2.0], [2.0]]), indices, tf.constant([3, 1]))
        optimizer.apply_gradients([(g, table)])

    step(tf.constant([2, 0, 2]))
    np.testing.assert_allclose(table.numpy(), [[-1.0], [0.0], [-1.0]])
    np.testing.assert_allclose(optimizer.variables[-1].numpy(), [[4.0], [0.0], [9.0]])
