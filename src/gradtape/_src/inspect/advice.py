"""What to write instead: the usual causes of a lost gradient, by the op that loses it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.recorder import Record
from ..core.tensor import Tensor, is_symbolic
from ..tape.explanation import Cause


def shown(name: str) -> str:
    """An op as its users call it."""
    return _SHOWN.get(name, name)


_SHOWN = {
    "cast_discrete": "cast",
    "rint": "round",
    "bins": "histogram_fixed_width",
    "drop": "dropout",
    "getitem": "indexing",
    "select": "where",
}

LOST = {
    "where": (
        Cause.INTEGER,
        "tf.where with one argument gives places here, int64: no gradient goes through it.",
        "tf.boolean_mask(x, mask) and tf.gather_nd(x, places) give values, which have one; "
        "tf.where(condition, a, b) too.",
    ),
    "categorical": (
        Cause.INTEGER,
        "random.categorical draws classes here: no gradient goes through a draw.",
        "Weigh the logarithm of its probability (REINFORCE), or draw a Gumbel softmax: "
        "tf.nn.softmax((logits - tf.math.log(-tf.math.log(u))) / temperature), u uniform.",
    ),
}
"""Functions of tf that take values out: the cause, what it does, what to write."""

_USES = {"numpy()": ".numpy()", "NumPy": "A function of NumPy"}


def user_of(use: str) -> str:
    """Who took values out, as a title."""
    return _USES.get(use, use)


def why_left(use: str) -> tuple[Cause, str, str]:
    """The cause, what has happened, and what to write, of values that were taken out for a use."""
    if use in LOST:
        return LOST[use]
    if use in _USES or not use.isidentifier():  # as no function of tf is called
        return (
            Cause.LEFT_TAPE,
            f"{user_of(use)} took the value out here: a tape sees ops on tensors only.",
            "Use tf's function of the same name on the tensor itself (tf.square for np.square), "
            "or leave .numpy() out.",
        )
    return (
        Cause.LEFT_TAPE,
        f"{use} looks at the values here, and makes its result without an op: no gradient goes "
        "through it.",
        "Stay with tf's functions that have a gradient on the way from the source to the target.",
    )


CANCELS = (
    "what comes back to it on several ways cancels out",
    "The target does not change with it, as x - x or the sum of a softmax does not; if it should, "
    "look at the signs.",
)


def why_zero(record: Record) -> tuple[str, str]:
    """What makes the gradient of an op zero everywhere, and what to do about it."""
    name = record.op.name
    saved = [each._array for each in record.saved if isinstance(each, Tensor)]
    arrays = [np.asarray(array) for array in saved if not is_symbolic(array)]
    if name in _ACTIVATIONS:
        above = any((array > 0).any() for array in arrays if array.dtype.kind == "f")
        return f"{name} {_ABOVE if above else _NEGATIVE}", _DEAD
    if name in ("softmax", "log_softmax"):
        if not arrays or any(map(_is_one_hot, arrays)):
            return f"{name} {_SATURATED}", _SCALE
        return f"{name} {_ADDS_UP}", _PICK
    for names, what, advice in _ZEROS:
        if name in names:
            return f"{shown(name)} {what}", advice
    if any(not array.any() for array in arrays):
        return f"{shown(name)} {_AT_ZERO}", _BEGIN_ELSEWHERE
    if not isinstance(getattr(record.op, "static", None), tuple):
        return f"the derivative of {name} is zero here", _EAGERLY
    return (
        f"{shown(name)} has derivative zero here",
        "Look at the values that it is given: a factor of zero, an argument outside of its range.",
    )


def _is_one_hot(array: Any) -> bool:
    return bool(array.size and np.all(np.isin(array, (0, 1)) | (array < -80)))


_ACTIVATIONS = {"relu", "relu6", "leaky_relu", "elu", "selu", "crelu", "gelu", "silu", "softplus",
                "hard_sigmoid", "hard_swish"}  # fmt: skip
_NEGATIVE = "is given negative numbers only: all its units are dead"
_ABOVE = "is flat at all that it is given: its units are dead, or at their bound"
_DEAD = "Smaller steps, other initial values, or leaky_relu keep units alive."
_SATURATED = "is saturated: its argument is so large that the slope rounds to zero"
_SCALE = (
    "Scale what it is given, or compute the loss from the logits "
    "(sigmoid_cross_entropy_with_logits)."
)
_ADDS_UP = "gives numbers whose sum is always 1, and that sum is all that is used of it"
_PICK = "Use the probability of a class, or a cross entropy: their sum does not change."
_AT_ZERO = "is flat where it is: what it is given is zero everywhere"
_BEGIN_ELSEWHERE = (
    "If the loss has reached its minimum, all is well; else begin with other values than zero."
)
_EAGERLY = (
    "With tf.config.run_functions_eagerly(True) it runs line by line, and the op inside is found."
)

_ZEROS: list[tuple[set[str], str, str]] = [
    ({"sigmoid", "tanh", "softsign", "erf"}, _SATURATED, _SCALE),
    (
        {"exp", "exp2", "expm1"},
        "is given numbers so far below zero that its slope rounds to zero",
        "Scale what it is given, or stay with the logarithm (tf.reduce_logsumexp).",
    ),
    (
        {"maximum", "minimum", "clip_by_value", "clip"},
        "has cut all values off: they lie outside of its bounds",
        "Widen the bounds, or clip the gradient in place of the value. (A hinge loss that is met "
        "everywhere has nothing to learn.)",
    ),
    (
        {"floor", "ceil", "round", "rint", "sign", "floordiv", "floormod", "floor_mod"},
        "is constant between its steps",
        "Use a smooth function in its place, or a straight-through gradient: "
        "tf.grad_pass_through(f)(x).",
    ),
    (
        {"multiply", "matmul", "mul"},
        "is given zeros as its other factor",
        "Weights that begin as zeros, or a mask, let nothing back.",
    ),
    (
        {"select", "where", "select_v2"},
        "takes the other branch everywhere",
        "No element comes from this branch: look at the condition.",
    ),
    (
        {"square", "pow", "abs"},
        _AT_ZERO,
        _BEGIN_ELSEWHERE,
    ),
    (
        {"cond", "case", "switch_case"},
        "took another branch",
        "Nothing of it was computed: look at the condition.",
    ),
    (
        {"drop"},
        "has dropped everything",
        "A smaller rate; and training=False where nothing is to be dropped.",
    ),
    (
        {"getitem", "gather", "reduce_sum", "reduce_mean", "slice", "boolean_mask"},
        "takes no element of it",
        "Look at the indices and the mask: nothing of the source is used.",
    ),
]

INSTEAD_OF = {
    "cast_discrete": "Leave out the cast to integers; if numbers must be whole, "
    "tf.grad_pass_through(tf.round)(x) has a gradient.",
    **dict.fromkeys(
        ["floor", "ceil", "rint", "floordiv", "truncatediv"],
        "It is constant between its steps. tf.grad_pass_through(tf.round)(x) lets the gradient "
        "through as it is.",
    ),
    "argmax": "tf.nn.softmax(x / temperature) is the smooth form of argmax.",
    "argmin": "tf.nn.softmax(-x / temperature) is the smooth form of argmin.",
    **dict.fromkeys(
        ["argsort", "top_k"],
        "Places have no gradient; the values that stand there have: tf.sort(x), "
        "tf.math.top_k(x).values.",
    ),
    **dict.fromkeys(
        ["greater", "greater_equal"],
        "A comparison has no gradient: tf.sigmoid((x - y) * sharpness) is its smooth form.",
    ),
    **dict.fromkeys(
        ["less", "less_equal"],
        "A comparison has no gradient: tf.sigmoid((y - x) * sharpness) is its smooth form.",
    ),
    **dict.fromkeys(
        ["equal", "not_equal"],
        "A comparison has no gradient: compare outside of the loss, for the accuracy.",
    ),
}


def no_rule(name: str) -> tuple[str, str]:
    """What there is to say of an op from which no gradient comes back."""
    if name.startswith("custom_gradient"):
        return (
            f"The {name} gives None as the gradient of what it is given here.",
            "Let the function of the gradient that is given to custom_gradient return a tensor "
            "for it: tf.zeros_like(x), if it is zero.",
        )
    return (
        f"{shown(name)} has no gradient with respect to what it is given here.",
        INSTEAD_OF.get(
            name, "Compute with an op that has one, or give it your own with tf.custom_gradient."
        ),
    )
