"""What all derivatives share: checking the arguments and turning them into keys and cotangents.

A kind of derivative (the gradient, a Jacobian, per-example gradients) is a `Derivative`: a function
that its module makes of the checked arguments, and that the tape runs on its records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

import numpy as np

from ..core import nest
from ..core.composite import CompositeTensor
from ..core.convert import as_tensor
from ..core.cotangent import IndexedSlices
from ..core.engine import common_engine
from ..core.errors import ShapeError
from ..core.placement import card_of
from ..core.shape import broadcasts_to
from ..core.tensor import Tensor, is_inexact, is_symbolic, key_of
from ..ops.array.shape import _broadcast_to, _reshape
from .scopes import LimitedWarning
from .variable import Variable, variable_of

Derivative = Callable[[Iterable[Any], list[int]], list[Any]]
"""From the records, last first, and the keys of the sources: what each source gets, or None."""


class UnconnectedGradients(Enum):
    """What `gradient` gives for a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


def wants_zeros(unconnected_gradients: Any) -> bool:
    """Whether a source that the target does not depend on gets zeros."""
    if unconnected_gradients is UnconnectedGradients.NONE:
        return False
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(
            f"gradient: unknown value for `unconnected_gradients`: {unconnected_gradients!r}. It "
            "is 'none' or 'zero'."
        ) from None


def seeds_of(target: Any, output_gradients: Any) -> list[tuple[int, Tensor]]:
    """The cotangents of the targets to begin with: as given, else ones."""
    if type(target) is Tensor and output_gradients is None:  # as a loss is: 1.1 µs less
        return [(key_of(target), ones_of(target))] if is_inexact(target) else []
    if target is None:
        raise TypeError("gradient: `target` must be a tensor or a nest of tensors, and is None.")
    try:
        targets = [_differentiable(each) for each in _flat_tensors(target)]
    except RecursionError:
        raise nest.too_deep("gradient: `target`") from None
    if output_gradients is None:
        return [(key_of(t), ones_of(t)) for t in targets if t is not None]
    given = _flat_tensors(output_gradients)
    seeds = []
    for i, tensor in enumerate(targets):
        if i < len(given):
            if given[i] is None:
                raise ValueError("gradient: `output_gradients` must not hold None.")
            g = as_tensor(given[i], op="gradient")
            if tensor is not None:
                seeds.append((key_of(tensor), _fitting(g, tensor, i)))
        elif tensor is not None:
            seeds.append((key_of(tensor), ones_of(tensor)))
    return seeds


def _fitting(g: Tensor, target: Tensor, number: int) -> Tensor:
    """An output gradient in the shape of its target. (Rules rely on it: some would not notice.)"""
    shape, wanted = tuple(g.shape), tuple(target.shape)
    if shape == wanted or None in shape or None in wanted:  # or a size is open, in a trace
        return g
    if [n for n in shape if n != 1] == [n for n in wanted if n != 1]:
        return _reshape(g, shape=wanted)  # type: ignore[no-any-return]
    if not broadcasts_to(shape, wanted):
        raise ShapeError(
            "gradient: `output_gradients` must have the shapes of the targets, or broadcast "
            f"to them, and number {number} has shape {shape} where the target has {wanted}."
        )
    return _broadcast_to(g, shape=wanted)  # type: ignore[no-any-return]


def _flat_tensors(structure: Any) -> list[Any]:
    """The leaves of a structure, of a composite those by which it is differentiated."""
    leaves = nest.flatten(structure)
    if not any(is_composite_source(leaf) for leaf in leaves):
        return leaves
    return nest.flatten([components_of(leaf) for leaf in leaves])


def is_composite_source(value: Any) -> bool:
    """Whether gradients are by the parts of a value. (Rows, of a gradient, are their own part.)"""
    return isinstance(value, CompositeTensor) and not isinstance(value, IndexedSlices)


def components_of(source: Any) -> Any:
    """The tensors, as a nest, by which a source or target is differentiated."""
    if not is_composite_source(source):
        return source
    how = getattr(source, "__composite_gradient__", None)
    if how is None:
        raise ValueError(
            f"gradient: the type {type(source).__name__} is not supported as a gradient source or "
            "gradient target. Pass the tensors that it is made of, such as its `values`."
        )
    return nest.map_structure(components_of, how.get_gradient_components(source))


def gradient_like(source: Any, gradients: Any) -> Any:
    """The gradient by `source`, made of the gradients by `components_of(source)`."""
    if not is_composite_source(source):
        return gradients
    how = source.__composite_gradient__
    parts = how.get_gradient_components(source)
    if not nest.is_nested(parts):
        found = gradient_like(parts, gradients)
    else:
        each = zip(nest.children(parts), nest.children(gradients), strict=True)
        found = nest.pack(parts, iter([gradient_like(part, g) for part, g in each]))
    return None if found is None else how.replace_gradient_components(source, found)


def _differentiable(target: Any) -> Tensor | None:
    """The tensor of a target; None if it has no gradient (integers, strings)."""
    if type(target) is Tensor:
        return target if is_inexact(target) else None
    if isinstance(target, IndexedSlices):
        raise TypeError(
            "gradient: an IndexedSlices cannot be a target. Make it dense: "
            "tf.convert_to_tensor(slices)."
        )
    target = variable_of(target)
    if not isinstance(target, (Tensor, Variable)):
        raise TypeError(
            f"gradient: `target` must consist of tensors, and holds {target!r:.100} of type "
            f"{type(target).__name__}."
        )
    tensor = target._peek() if isinstance(target, Variable) else target
    return tensor if is_inexact(tensor) else None


def single_target(target: Any, name: str, argument: str = "target") -> Tensor | None:
    """The tensor, with a key, of what must be one target; None if it has no gradient."""
    tensor = _differentiable(require_single(target, argument, name))
    if tensor is not None:
        key_of(tensor)
    return tensor


def require_single(value: Any, argument: str, name: str) -> Any:
    """`value`, or the variable that it stands for; an error unless it is one tensor or variable."""
    value = variable_of(value)
    if not isinstance(value, (Tensor, Variable)):
        raise TypeError(
            f"{name}: `{argument}` must be one tensor, and is a {type(value).__name__}: "
            f"{value!r:.100}."
        )
    return value


class CompositeSources(Exception):
    """Composites are among the sources."""


def source_keys(sources: list[Any]) -> list[int]:
    """The keys by which the records know the sources."""
    try:
        return [source._key or key_of(source) for source in sources]
    except AttributeError:
        if any(map(is_composite_source, sources)):
            raise CompositeSources from None
        from dataclasses import is_dataclass  # here: 0.5 ms that importing gradtape need not take

        wrong = next(s for s in sources if not isinstance(variable_of(s), (Tensor, Variable)))
        advice = ""
        if is_dataclass(wrong):
            advice = (
                " A dataclass is looked into if it says how, with __tf_flatten__ and "
                "__tf_unflatten__; or pass vars(x), its fields as a dict."
            )
        elif isinstance(wrong, (int, float, np.ndarray, np.generic)):
            advice = (
                " The gradient is by a tensor that the tape watched: x = tf.constant(...), "
                "tape.watch(x)."
            )
        raise TypeError(
            f"gradient: `sources` must consist of tensors and variables, and hold {wrong!r:.100} "
            f"of type {type(wrong).__name__}.{advice}"
        ) from None


def ones_of(target: Tensor) -> Tensor:
    """Ones of the shape and dtype of a tensor: the cotangent that a gradient begins with."""
    array = target._array
    if not array.shape and isinstance(array, (np.ndarray, np.generic)):
        return Tensor(array.dtype.type(1))
    if is_symbolic(array):  # no constant of NumPy: it would be folded, and stored in the program
        return Tensor(common_engine([array]).ones_like(array))
    card = card_of(array)
    if card is not None:
        return Tensor(card.ones(array.shape, array.dtype))
    return Tensor(np.ones(array.shape, array.dtype))


not_floating = LimitedWarning(
    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r: its gradient is "
    "None.",
    5,
)
