"""What to write instead: the usual causes of a lost gradient, by the op that loses it."""

from __future__ import annotations


def why_zero(name: str) -> tuple[str, str]:
    """What makes the gradient of an op zero everywhere, and what to do about it."""
    for names, what, advice in _ZEROS:
        if name in names:
            return f"{name} {what}", advice
    return (
        f"{name} has derivative zero here",
        "Look at the values that it is given: a factor of zero, an argument outside of its range.",
    )


SHOWN = {"cast_discrete": "cast"}
USES = {"numpy()": ".numpy()", "NumPy": "A function of NumPy"}

_ZEROS: list[tuple[set[str], str, str]] = [
    (
        {"relu", "relu6", "leaky_relu", "elu", "selu", "crelu", "relu_grad"},
        "is given negative numbers only: all its units are dead",
        "Smaller steps, other initial values, or leaky_relu keep units alive.",
    ),
    (
        {"sigmoid", "tanh", "softmax", "log_softmax", "softsign", "erf", "hard_sigmoid"},
        "is saturated: its argument is so large that the slope rounds to zero",
        "Scale what it is given, or compute the loss from the logits "
        "(sigmoid_cross_entropy_with_logits).",
    ),
    (
        {"maximum", "minimum", "clip_by_value", "clip"},
        "has cut all values off: they lie outside of its bounds",
        "Widen the bounds, or clip the gradient in place of the value.",
    ),
    (
        {"floor", "ceil", "round", "rint", "sign", "floordiv", "floormod", "floor_mod"},
        "is constant between its steps",
        "Use a smooth function in its place, or a straight-through gradient: "
        "tf.grad_pass_through(tf.round)(x).",
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
]

INSTEAD_OF = {
    "cast_discrete": "Leave out the cast to integers; if numbers must be whole, "
    "tf.grad_pass_through(tf.round)(x) has a gradient.",
    **dict.fromkeys(
        ["floor", "ceil", "rint", "floordiv", "truncatediv"],
        "It is constant between its steps. tf.grad_pass_through(tf.floor)(x) lets the gradient "
        "through as it is.",
    ),
    "argmax": "tf.nn.softmax(x / temperature) is the smooth form of argmax.",
    "argmin": "tf.nn.softmax(-x / temperature) is the smooth form of argmin.",
    "greater": "A comparison has no gradient: tf.sigmoid((x - y) * sharpness) is its smooth form.",
    "less": "A comparison has no gradient: tf.sigmoid((y - x) * sharpness) is its smooth form.",
    "equal": "A comparison has no gradient: compare outside of the loss, for the accuracy.",
}
