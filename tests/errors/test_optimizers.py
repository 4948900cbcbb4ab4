"""The messages of optimizers and learning rate schedules, by their text."""

import pytest

pytestmark = pytest.mark.gradtape_only


def variable(tf, value=(1.0, 2.0)):
    return tf.Variable(value, name="w")


def step(tf, g, v=None, optimizer=None):
    """A step with one gradient."""
    v = variable(tf) if v is None else v
    return (optimizer or tf.optimizers.SGD(0.5)).apply_gradients([(g, v)])


def built(tf, kind="SGD", **options):
    optimizer = getattr(tf.optimizers, kind)(**options)
    optimizer.build([variable(tf)])
    return optimizer


def set_rate(tf, rate):
    optimizer = tf.optimizers.SGD(tf.optimizers.schedules.ExponentialDecay(0.5, 10, 0.5))
    optimizer.learning_rate = rate


def rule_with_a_number(tf):
    class Half(tf.optimizers.Optimizer):
        @staticmethod
        def rule(xp, w, g):
            return w - 0.5 * g, {}

    return step(tf, [1.0, 1.0], optimizer=Half(0.1))


def without_rule(tf):
    class Nothing(tf.optimizers.Optimizer):
        pass

    return step(tf, [1.0, 1.0], optimizer=Nothing(0.1))


def rows(tf, values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant([2]))


def batched_gradient(tf):
    v, optimizer = variable(tf), tf.optimizers.SGD()
    tf.vectorized_map(lambda g: optimizer.apply([g], [v]), tf.ones([3, 2]))


CALLS = {
    # Arguments
    "SGD: only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be given. Received: "
    "{'clipnorm': 1.0, 'clipvalue': 2.0, 'global_clipnorm': None}.": (
        ValueError,
        lambda tf: tf.optimizers.SGD(clipnorm=1.0, clipvalue=2.0),
    ),
    "SGD: `gradient_accumulation_steps` must be an integer of at least 2, or None. Received: 1.": (
        ValueError,
        lambda tf: tf.optimizers.SGD(gradient_accumulation_steps=1),
    ),
    "SGD: `ema_momentum` must be in [0, 1]. Received: 1.5.": (
        ValueError,
        lambda tf: tf.optimizers.SGD(use_ema=True, ema_momentum=1.5),
    ),
    "SGD: `ema_overwrite_frequency` must be an integer of at least 1, or None. Received: 0.": (
        ValueError,
        lambda tf: tf.optimizers.SGD(use_ema=True, ema_overwrite_frequency=0),
    ),
    "SGD: `learning_rate` must be a number, a LearningRateSchedule or a function without "
    "arguments. Received: 'fast'.": (
        ValueError,
        lambda tf: tf.optimizers.SGD("fast"),
    ),
    "SGD: `learning_rate` must be a number, a LearningRateSchedule or a function without "
    "arguments. Received: [0.1, 0.2].": (
        ValueError,
        lambda tf: tf.optimizers.SGD([0.1, 0.2]),
    ),
    "SGD: the learning rate is a schedule or a function, and cannot be set to 0.25. Make the "
    "optimizer with a number, or set a schedule.": (
        TypeError,
        lambda tf: set_rate(tf, 0.25),
    ),
    "SGD: `momentum` must be a number in [0, 1]. Received: 2.": (
        ValueError,
        lambda tf: tf.optimizers.SGD(momentum=2),
    ),
    "Lion: `beta_1` must be in (0, 1]. Received: 0.0.": (
        ValueError,
        lambda tf: tf.optimizers.Lion(beta_1=0.0),
    ),
    "AdamW: `weight_decay` must be a number. Without it, use Adam.": (
        ValueError,
        lambda tf: tf.optimizers.AdamW(weight_decay=None),
    ),
    "Ftrl: `learning_rate_power` must be negative or zero. Received: 0.5.": (
        ValueError,
        lambda tf: tf.optimizers.Ftrl(learning_rate_power=0.5),
    ),
    "Ftrl: `l1_regularization_strength` must be positive or zero. Received: -1.0.": (
        ValueError,
        lambda tf: tf.optimizers.Ftrl(l1_regularization_strength=-1.0),
    ),
    "LossScaleOptimizer: `inner_optimizer` must be an optimizer, not a str. Make it first, e.g. "
    "tf.optimizers.Adam().": (
        TypeError,
        lambda tf: tf.optimizers.LossScaleOptimizer("adam"),
    ),
    "LossScaleOptimizer.apply: without `trainable_variables` the optimizer must be built. Call "
    "optimizer.build(variables) first, or give the variables.": (
        ValueError,
        lambda tf: tf.optimizers.LossScaleOptimizer(tf.optimizers.SGD()).apply([1.0]),
    ),
    # Steps
    "SGD.apply_gradients: `grads_and_vars` is empty. Expected pairs (gradient, variable), such "
    "as zip(gradients, variables); an iterator can be used once only.": (
        ValueError,
        lambda tf: tf.optimizers.SGD().apply_gradients([]),
    ),
    "SGD.apply: without `trainable_variables` the optimizer must be built. Call "
    "optimizer.build(variables) first, or give the variables.": (
        ValueError,
        lambda tf: tf.optimizers.SGD().apply([[1.0, 1.0]]),
    ),
    "SGD.apply: there are 1 gradients for 2 variables. Give one, or None, for each.": (
        ValueError,
        lambda tf: tf.optimizers.SGD().apply([[1.0, 1.0]], [variable(tf), variable(tf)]),
    ),
    "SGD: only variables can be updated, and number 0 is a Tensor: <tf.Tensor: shape=(), "
    "dtype=float32, numpy=1.0>. Make it a tf.Variable. In a pair the gradient comes first: "
    "(gradient, variable).": (
        TypeError,
        lambda tf: tf.optimizers.SGD().build([tf.constant(1.0)]),
    ),
    "No gradients provided for any variable. SGD got None for all of ['w:0']: the loss does not "
    "depend on them, or was not computed inside the tape's block. `gradtape run --explain`, or "
    "tf.debugging.explain_gradients(), says why and where.": (
        ValueError,
        lambda tf: step(tf, None),
    ),
    "SGD: the optimizer was built without the variable 'w:0'. Give build() all variables, or "
    "make an optimizer for the others.": (
        ValueError,
        lambda tf: step(tf, [1.0, 1.0], optimizer=built(tf)),
    ),
    "SGD: the variable 'w:0' is given twice, and a step takes one gradient of each. If it stands "
    "twice in your list of variables (as part of two layers, say), tape.gradient gives its whole "
    "gradient at both places: list it once. The gradients of two losses have to be added.": (
        ValueError,
        lambda tf: tf.optimizers.SGD().apply([[1.0, 1.0]] * 2, [variable(tf)] * 2),
    ),
    "SGD.apply_gradients: `grads_and_vars` holds a Tensor in the place of a pair: <tf.Tensor: "
    "shape=(3,), dtype=float32, numpy=array([1., 1., 1.], dtype=float32)>. Expected pairs "
    "(gradient, variable), such as zip(gradients, variables).": (
        TypeError,
        lambda tf: tf.optimizers.SGD().apply_gradients((tf.ones([3]), variable(tf))),
    ),
    "SGD: the variable 'w:0' has shape (2,), and its gradient (3,). Are gradients and variables "
    "in the same order?": (
        ValueError,
        lambda tf: step(tf, [1.0, 1.0, 1.0]),
    ),
    "SGD: the variable 'w:0' is int32, and only floating variables can be updated by a "
    "gradient. Leave it out.": (
        TypeError,
        lambda tf: step(tf, [1, 2], tf.Variable([1, 2], name="w")),
    ),
    "SGD: the variable 'w:0' has shape (2,), and the rows of its gradient (1, 1), with indices "
    "(1,). There must be one index for each row.": (
        ValueError,
        lambda tf: step(tf, rows(tf, [[1.0]], [0])),
    ),
    "SGD: a gradient: indices[0] = 7 is not in [0, 2).": (
        ValueError,
        lambda tf: step(tf, rows(tf, [1.0], [7])),
    ),
    "SGD: inside vectorized_map a gradient has a value for each element, and the variable 'w:0' "
    "has one. Update it outside.": (
        ValueError,
        lambda tf: batched_gradient(tf),
    ),
    "compute_gradients: `loss` is a tensor, so `tape` is needed: the GradientTape that recorded "
    "it. Or let `loss` be a function that computes it.": (
        ValueError,
        lambda tf: tf.optimizers.SGD().compute_gradients(tf.constant(1.0), [variable(tf)]),
    ),
    "SGD: exclude_from_weight_decay() must be called before the first step, when the optimizer "
    "is built.": (
        ValueError,
        lambda tf: built(tf).exclude_from_weight_decay(var_names=["bias"]),
    ),
    # Rules
    "A rule has the number 0.5 in it. Give it a name in `scalars`, and take it from there: a "
    "rule works on arrays and scalars of their dtype.": (
        TypeError,
        lambda tf: rule_with_a_number(tf),
    ),
    "Override `rule`, or `update_step`, in a subclass of Optimizer.": (
        NotImplementedError,
        lambda tf: without_rule(tf),
    ),
    # State
    "SGD.set_weights: the optimizer is not built and has no state yet. Call "
    "optimizer.build(variables) first.": (
        ValueError,
        lambda tf: tf.optimizers.SGD().set_weights([1]),
    ),
    "SGD: the state has 2 variables, and 1 values are given. Build the optimizer with the "
    "variables that it had.": (
        ValueError,
        lambda tf: built(tf).load_own_variables({"0": 1}),
    ),
    "Adam: the state 'adam/w_0_momentum:0' has shape (2,), and its value (1,). Build the "
    "optimizer with the variables that it had.": (
        ValueError,
        lambda tf: built(tf, "Adam", name="adam").set_weights([0, 0.1, [0.0], [0.0, 0.0]]),
    ),
    # Schedules
    "ExponentialDecay: `decay_steps` must be above 0. Received: 0.": (
        ValueError,
        lambda tf: tf.optimizers.schedules.ExponentialDecay(0.1, 0, 0.5),
    ),
    "PiecewiseConstantDecay: there must be one more of `values` than of `boundaries`. Received: "
    "2 values and 2 boundaries.": (
        ValueError,
        lambda tf: tf.optimizers.schedules.PiecewiseConstantDecay([1, 2], [0.1, 0.2]),
    ),
    "LearningRateSchedule: override `__call__(self, step)`, which gives the learning rate.": (
        NotImplementedError,
        lambda tf: tf.optimizers.schedules.LearningRateSchedule()(0),
    ),
    "LearningRateSchedule: override `get_config()`, the arguments of the constructor as a dict, "
    "so that the schedule can be saved.": (
        NotImplementedError,
        lambda tf: tf.optimizers.schedules.LearningRateSchedule().get_config(),
    ),
    # Names
    "deserialize: 'adamm' is not the name of an optimizer. There are: SGD, Adam, AdamW, "
    "RMSprop, Adagrad, Adadelta, Adamax, Nadam, Lion, Ftrl, LossScaleOptimizer. A class of your "
    "own must be given: custom_objects={'Name': Name}.": (
        ValueError,
        lambda tf: tf.optimizers.get("adamm"),
    ),
    "optimizers.get: expected the name of an optimizer, such as 'adam', a configuration or an "
    "optimizer. Received: 3.": (
        ValueError,
        lambda tf: tf.optimizers.get(3),
    ),
    "deserialize: 'Adam' is not the name of a learning rate schedule. There are: "
    "ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay, CosineDecay, "
    "CosineDecayRestarts. A class of your own must be given: custom_objects={'Name': Name}.": (
        ValueError,
        lambda tf: tf.optimizers.schedules.deserialize({"class_name": "Adam"}),
    ),
}


@pytest.mark.parametrize("message", CALLS)
def test_message(tf, message):
    kind, call = CALLS[message]
    with pytest.raises(kind) as error:
        call(tf)
    assert str(error.value) == message


def test_a_missing_gradient_is_warned_of(tf):
    v, w = variable(tf), tf.Variable(1.0, name="v")
    with pytest.warns(UserWarning) as warnings:
        tf.optimizers.SGD(0.5).apply_gradients([([1.0, 1.0], v), (None, w)])
    assert [str(each.message) for each in warnings] == [
        "Gradients do not exist for variables ['v:0'] when minimizing the loss: they are left as "
        "they are. `gradtape run --explain`, or tf.debugging.explain_gradients(), says why and "
        "where."
    ]
