"""Functions of `tf.compat.v1` whose parameters are others, or in another order, in version 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.convert import as_tensor
from ...core.dtypes import bool_, float32
from ...core.errors import DTypeError, ShapeError
from ...core.tensor import Tensor
from ...function.symbolic import gradients as gradients_by
from ...ops.array import indexing, masks, pad as padding_ops
from ...ops.array.shape import reshape
from ...ops.math import logic, ordering
from ...ops.random import initializers
from ...tape import control
from ...tape.derivative import UnconnectedGradients
from ...tape.variable import Variable


def assign(
    ref: Variable,
    value: Any,
    validate_shape: Any = None,
    use_locking: Any = None,
    name: str | None = None,
) -> Any:
    """Store `value` in a variable. Returns the variable."""
    return _variable(ref, "assign").assign(value)


def assign_add(ref: Variable, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Add `value` to a variable. Returns the variable."""
    return _variable(ref, "assign_add").assign_add(value)


def assign_sub(ref: Variable, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Subtract `value` from a variable. Returns the variable."""
    return _variable(ref, "assign_sub").assign_sub(value)


def _variable(ref: Any, op: str) -> Any:
    if not hasattr(ref, "assign"):
        raise TypeError(f"{op}: `ref` must be a variable, not {type(ref).__name__}.")
    return ref


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Tensor:
    """The parts of a tensor where a mask is true: tf.boolean_mask."""
    return masks.boolean_mask(tensor, mask, axis)


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """tf.cond; a list or tuple of one element is that element, unless `strict`."""
    result = control.cond(pred, true_fn or fn1, false_fn or fn2)
    if not strict and isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: Any = 0,
) -> Tensor:
    """tf.gather."""
    return indexing.gather(params, indices, None, axis, batch_dims)


def gather_nd(
    params: Any,
    indices: Any,
    name: str | None = None,
    batch_dims: Any = 0,
    bad_indices_policy: str = "",
) -> Tensor:
    """tf.gather_nd."""
    return indexing.gather_nd(params, indices, batch_dims, name, bad_indices_policy)


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """tf.gradients: inside tf.function only."""
    return gradients_by(
        ys,
        xs,
        grad_ys,
        stop_gradients=stop_gradients,
        unconnected_gradients=unconnected_gradients,
    )


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """tf.math.in_top_k, which takes the targets first."""
    return ordering.in_top_k(targets, predictions, k)


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Any = 0,
) -> Tensor:
    """tf.pad."""
    return padding_ops.pad(tensor, paddings, mode, constant_values)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """The elements of `x` where `condition` is true, of `y` elsewhere.

    Nothing is broadcast: all three have one shape, or `condition` has an element for each row.
    Without `x` and `y` the places where it is true.
    """
    if x is None and y is None:
        return logic.where(condition)
    chosen, first = as_tensor(condition), as_tensor(x)
    if chosen.dtype is not bool_:
        raise DTypeError(f"where: `condition` must be bool, and is {chosen.dtype.name}.")
    second = as_tensor(y, first.dtype if not isinstance(y, Tensor) else None)
    if first.shape != second.shape or (
        chosen.shape != first.shape and list(chosen.shape) not in ([], list(first.shape[:1]))
    ):
        raise ShapeError(
            "where: `x` and `y` must have one shape, and `condition` that shape too, or an element "
            f"for each row of theirs. Received: condition.shape={chosen.shape}, "
            f"x.shape={first.shape}, y.shape={second.shape}. tf.where broadcasts."
        )
    if chosen.ndim == 1 and first.ndim > 1:
        chosen = reshape(chosen, [-1, *[1] * (first.ndim - 1)])
    return logic.where(chosen, first, second)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """tf.while_loop; of one loop variable it gives that one, unless `return_same_structure`."""
    result = control.while_loop(
        cond,
        body,
        loop_vars,
        shape_invariants,
        back_prop=back_prop,
        maximum_iterations=maximum_iterations,
    )
    return result[0] if len(result) == 1 and not return_same_structure else result


class random_normal_initializer(initializers.random_normal_initializer):
    """Draws from a normal distribution, of standard deviation 1 if none is given."""

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: Any = None, dtype: Any = float32
    ) -> None:
        super().__init__(mean, stddev, seed)
        self._default = dtype

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        return super().__call__(shape, dtype or self._default)


class random_uniform_initializer(initializers.random_uniform_initializer):
    """Draws from a uniform distribution, up to 1 if no end is given."""

    def __init__(
        self, minval: float = 0.0, maxval: Any = None, seed: Any = None, dtype: Any = float32
    ) -> None:
        super().__init__(minval, 1.0 if maxval is None else maxval, seed)
        self._default = dtype

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        return super().__call__(shape, dtype or self._default)
