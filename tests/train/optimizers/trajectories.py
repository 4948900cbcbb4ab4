"""Trajectories of optimizers: the cases, how they run, and Keras' numbers for them.

To remake recorded/trajectories.npz after a change of the cases:

    TENSORFLOW_PYTHON tests/train/optimizers/trajectories.py
"""

import warnings
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parent / "recorded" / "trajectories.npz"
STEPS = 100
SEEN = [1, 2, 3, 5, 10, 20, 50, 100]  # the steps after which the variables are compared


def schedules(s):
    return {
        "exponential": s.ExponentialDecay(0.1, 30, 0.5),
        "exponential in steps": s.ExponentialDecay(0.1, 30, 0.5, staircase=True),
        "inverse time": s.InverseTimeDecay(0.1, 20, 0.7),
        "inverse time in steps": s.InverseTimeDecay(0.1, 20, 0.7, staircase=True),
        "piecewise": s.PiecewiseConstantDecay([3, 20, 70], [0.1, 0.05, 0.02, 0.01]),
        "polynomial": s.PolynomialDecay(0.1, 60, 0.01, power=2.0),
        "polynomial, cycle": s.PolynomialDecay(0.1, 30, 0.01, power=0.5, cycle=True),
        "cosine": s.CosineDecay(0.1, 70, alpha=0.1),
        "cosine, warm-up": s.CosineDecay(0.01, 60, warmup_target=0.1, warmup_steps=20),
        "restarts": s.CosineDecayRestarts(0.1, 15, t_mul=1.5, m_mul=0.8, alpha=0.05),
        "restarts of one length": s.CosineDecayRestarts(0.1, 15, t_mul=1.0, m_mul=0.9),
    }


RULES = {
    "SGD": ("SGD", {}),
    "SGD, momentum": ("SGD", {"momentum": 0.9}),
    "SGD, Nesterov": ("SGD", {"momentum": 0.8, "nesterov": True}),
    "Adam": ("Adam", {}),
    "Adam, other betas": ("Adam", {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3}),
    "Adam, amsgrad": ("Adam", {"amsgrad": True}),
    "AdamW": ("AdamW", {"weight_decay": 0.05}),
    "AdamW, amsgrad": ("AdamW", {"amsgrad": True}),
    "RMSprop": ("RMSprop", {}),
    "RMSprop, momentum": ("RMSprop", {"momentum": 0.5, "rho": 0.8}),
    "RMSprop, centered": ("RMSprop", {"centered": True}),
    "RMSprop, both": ("RMSprop", {"momentum": 0.5, "centered": True}),
    "Adagrad": ("Adagrad", {}),
    "Adagrad, from 1": ("Adagrad", {"initial_accumulator_value": 1.0, "epsilon": 1e-2}),
    "Adadelta": ("Adadelta", {"learning_rate": 1.0}),
    "Adamax": ("Adamax", {}),
    "Nadam": ("Nadam", {}),
    "Lion": ("Lion", {"learning_rate": 0.01}),
    "Ftrl": ("Ftrl", {}),
    "Ftrl, all": (
        "Ftrl",
        {
            "learning_rate_power": -0.3,
            "l1_regularization_strength": 0.01,
            "l2_regularization_strength": 0.02,
            "l2_shrinkage_regularization_strength": 0.03,
            "beta": 0.1,
        },
    ),
}
OPTIONS = {
    "weight decay": {"weight_decay": 0.1},
    "clipnorm": {"clipnorm": 0.3},
    "clipvalue": {"clipvalue": 0.2},
    "global clipnorm": {"global_clipnorm": 0.5},
    "average": {"use_ema": True, "ema_momentum": 0.9},
    "average, taken": {"use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 7},
    "accumulation": {"gradient_accumulation_steps": 3},
    "loss scale": {"loss_scale_factor": 8.0},
    "all together": {
        "weight_decay": 0.02,
        "global_clipnorm": 0.4,
        "use_ema": True,
        "ema_overwrite_frequency": 4,
        "gradient_accumulation_steps": 2,
        "loss_scale_factor": 4.0,
    },
}


def cases():
    """(class, arguments, what is special about the run) by name."""
    table = {name: (kind, options, {}) for name, (kind, options) in RULES.items()}
    for option, arguments in OPTIONS.items():
        table |= {f"{name}, {option}": (name, arguments, {}) for name in ("SGD", "Adam", "RMSprop")}
    table |= {f"SGD, {name}": ("SGD", {}, {"schedule": name}) for name in _schedule_names()}
    table |= {f"Adam, {name}": ("Adam", {}, {"schedule": name}) for name in ("cosine", "piecewise")}
    for name in RULES:
        kind, options = RULES[name]
        table[f"{name}, rows"] = (kind, options, {"rows": True})
    table |= {
        # Keras rounds 0.9 and 0.999 to float32 even so; these it cannot.
        "Adam, float64": ("Adam", {"beta_1": 7 / 8, "beta_2": 127 / 128}, {"dtype": "float64"}),
        "SGD, rows, weight decay": ("SGD", {"weight_decay": 0.1}, {"rows": True}),
        "Adagrad, rows, clipnorm": ("Adagrad", {"clipnorm": 0.3}, {"rows": True}),
        "SGD, a function as rate": ("SGD", {}, {"function": True}),
        "Adam, rate set later": ("Adam", {}, {"rate_at": {40: 0.01}}),
        "AdamW, some not decayed": ("AdamW", {"weight_decay": 0.1}, {"undecayed": ["second"]}),
        "Adam, some without gradient": ("Adam", {}, {"missing": range(10, 30)}),
        "Adam, constraint": ("Adam", {}, {"constraint": True}),
        "Adam, finalized": ("Adam", {"use_ema": True}, {"finalize": True}),
        "dynamic scale": ("Adam", {}, {"dynamic": {}}),
        "dynamic scale, growing": ("SGD", {}, {"dynamic": {"dynamic_growth_steps": 9}}),
    }
    return table


def _schedule_names():
    class Names:
        def __getattr__(self, name):
            return lambda *args, **kwargs: None

    return schedules(Names())


def make(tf, kind, options, special):
    options = {"learning_rate": 0.05} | options
    if "schedule" in special:
        options["learning_rate"] = schedules(tf.optimizers.schedules)[special["schedule"]]
    if "function" in special:
        options["learning_rate"] = lambda: 0.03
    optimizer = getattr(tf.optimizers, kind)(**options)
    if "undecayed" in special:
        optimizer.exclude_from_weight_decay(var_names=special["undecayed"])
    if "dynamic" in special:
        optimizer = tf.optimizers.LossScaleOptimizer(optimizer, 2.0**10, **special["dynamic"])
    return optimizer


def trajectory(tf, kind, options, special, compiled=False):
    """The variables after the steps SEEN, in rows, and the state at the end.

    The gradients are those of a sum of squares, with noise, so that what is rounded differently
    does not grow.
    """
    random = np.random.default_rng(7)
    dtype = special.get("dtype", "float32")
    shapes = [(4, 3), (5,)]
    goals = [random.normal(size=shape) for shape in shapes]
    stiffness = [random.uniform(0.2, 2, size=shape) for shape in shapes]
    nonnegative = (lambda w: tf.maximum(w, 0.0)) if "constraint" in special else None
    variables = [
        tf.Variable(random.normal(size=shape).astype(dtype), name=name, constraint=nonnegative)
        for shape, name in zip(shapes, ["first", "second"], strict=True)
    ]
    optimizer = make(tf, kind, options, special)

    def apply(first, second, rows):
        if "rows" in special:
            first = tf.IndexedSlices(tf.gather(first, rows), rows, tf.constant([4, 3]))
        optimizer.apply_gradients(zip([first, second], variables, strict=True))

    if compiled:
        apply = tf.function(apply)
    seen = []
    for step in range(1, STEPS + 1):
        if step in special.get("rate_at", {}):
            optimizer.learning_rate = special["rate_at"][step]
        scale = optimizer.scale_loss(tf.constant(1, dtype)).numpy()
        grads = []
        for variable, goal, k in zip(variables, goals, stiffness, strict=True):
            g = k * (variable.numpy() - goal) + 0.3 * random.normal(size=goal.shape)
            grads.append(g.astype(dtype) * scale)
        if "dynamic" in special and step in (4, 5, 60):
            grads[0][1, 1] = np.inf if step == 4 else np.nan
        first, second = map(tf.constant, grads)
        missing = step in special.get("missing", ())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            apply(first, None if missing else second, tf.constant(random.permutation(4)[:2]))
        if "finalize" in special and step == STEPS:
            optimizer.finalize_variable_values(variables)
        if step in SEEN:
            seen.append(flat(variables))
    return {"variables": np.stack(seen), "state": flat(optimizer.variables)}


def flat(variables):
    return np.concatenate([np.ravel(v.numpy()) for v in variables], dtype="float64")


def main():
    import tensorflow as tf

    results = {
        f"{name}/{key}": value
        for name, case in cases().items()
        for key, value in trajectory(tf, *case).items()
    }
    RECORDED.parent.mkdir(exist_ok=True)
    np.savez_compressed(RECORDED, **results)
    print(f"{len(cases())} trajectories in {RECORDED}")


if __name__ == "__main__":
    main()
