"""Softmax, and the losses made of probabilities: cross entropies, the Poisson loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.convert import operand
from ...core.errors import DTypeError, NotATensorError, ShapeError
from ...core.pattern import across, leading
from ...core.spec import Spec, broadcast_shapes
from ...core.take_over import take_over
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.creation import zeros_like
from ..array.masks import one_hot
from ..array.shape import _broadcast_to, _reshape
from ..declare.elementwise import elementwise
from ..declare.op import op
from ..declare.reduction import in_float32, restore_axes
from ..declare.static import static_axis, to_tensor
from ..math.exponential import _wide, exp, log, sigmoid, softplus
from ..math.logic import where
from ..math.reduction import reduce_sum

# Softmax


def _softmax_samples(r: np.random.Generator) -> list[Any]:
    rows = [([r.normal(size=shape)], {"axis": 1}) for shape in [(2, 3), (3, 1), (0, 3), (2, 0)]]
    columns = ([r.normal(size=(3, 2))], {"axis": 0})
    return [
        *rows,
        columns,
        ([r.normal(size=(2, 3, 2))], {"axis": 1}),
        ([r.normal(size=4)], {"axis": 0}),
    ]


def _below_largest(xp: Any, x: Any, axis: int) -> Any:
    """`x` less its largest element along `axis`."""
    return x - xp.max(x, axis=axis, keepdims=True) if x.shape[axis] else x


@op(batch_axes="axis", pattern=across("axis"), dtypes=dt.FLOATING, samples=_softmax_samples)
def _softmax(xp, logits, *, axis):
    result = xp.softmax(logits, axis)
    return _softmax_by_steps(xp, logits, axis=axis) if result is None else result


@in_float32
def _softmax_by_steps(xp, logits, *, axis):
    exponentials = xp.exp(_below_largest(xp, logits, axis))
    total = xp.sum(exponentials, axis=axis, keepdims=True)
    # At least 1, or NaN beside an infinite logit, where the share of the others is 0 all the same.
    return exponentials / xp.fmax(total, 1)


@_softmax.vjp("logits")
def _softmax_vjp(g, out, *, axis):
    return (g - _dot(g, out, axis=axis)) * out


@op(batch_axes="axis", pattern=across("axis"), dtypes=dt.FLOATING, samples=_softmax_samples)
@in_float32
def _log_softmax(xp, logits, *, axis):
    below = _below_largest(xp, logits, axis)
    return below - xp.log(xp.sum(xp.exp(below), axis=axis, keepdims=True))


@_log_softmax.vjp("logits")
def _log_softmax_vjp(g, out, *, axis):
    return g - exp(out) * reduce_sum(g, axis, True)


@op(
    pattern=across("axis"),
    dtypes=dt.FLOATING,
    samples=lambda r: [
        ([r.normal(size=(2, 3)), r.normal(size=(2, 3))], {"axis": 1}),
        ([r.normal(size=(2, 3, 2)), r.normal(size=(2, 3, 2))], {"axis": 1}),
        ([r.normal(size=(2, 0)), r.normal(size=(2, 0))], {"axis": 1}),
    ],
)
def _dot(xp, x, y, *, axis):
    """The sum of `x * y` over `axis`, which stays with size 1: without the product in memory."""
    result = xp.dot_along(x, y, axis)
    return xp.expand_dims(_vecdot(xp, x, y, axis=axis) if result is None else result, axis)


@in_float32
def _vecdot(xp, x, y, *, axis):
    return xp.vecdot(x, y, axis=axis)


@_dot.vjp("x")
def _dot_vjp_x(g, y):
    return g * y


@_dot.vjp("y")
def _dot_vjp_y(g, x):
    return g * x


@_dot.batch
def _dot_batch(batched, x, y, *, axis):
    x, y = _all_batched(batched, x=x, y=y)
    return _dot(x, y, axis=axis + 1)


def _all_batched(batched: set[str], **tensors: Tensor) -> list[Tensor]:
    """The tensors, each with the batch axis."""
    size = next(x._array.shape[0] for name, x in tensors.items() if name in batched)
    return [
        x if name in batched else _broadcast_to(x, shape=(size, *x._array.shape))
        for name, x in tensors.items()
    ]


def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`exp(logits)` divided by its sum along `axis` (None: the last), without overflow.

    >>> softmax([0.0, 0.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.5, 0.5], dtype=float32)>
    """
    try:
        x = to_tensor(logits, "softmax")
    except NotATensorError as error:
        return take_over(error, softmax, logits, axis)
    return _softmax(x, axis=static_axis(-1 if axis is None else axis, x.ndim, "softmax"))


def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """The logarithm of `softmax`, exact where that is tiny."""
    try:
        x = to_tensor(logits, "log_softmax")
    except NotATensorError as error:
        return take_over(error, log_softmax, logits, axis)
    return _log_softmax(x, axis=static_axis(-1 if axis is None else axis, x.ndim, "log_softmax"))


# Cross entropies. The probabilities are an output of their own: computed on the way to the loss,
# they are all that its gradient needs.


def _cross_entropy_samples(r: np.random.Generator) -> list[Any]:
    rows = r.uniform(0.1, 1.0, size=(2, 3))
    labels = rows / rows.sum(1, keepdims=True)
    return [
        ([labels, r.normal(size=(2, 3))], {"axis": 1}),
        ([labels.T, r.normal(size=(3, 2))], {"axis": 0}),
        ([labels[0], r.normal(size=(3,))], {"axis": 0}),
        ([labels[:0], r.normal(size=(0, 3))], {"axis": 1}),
    ]


@op(pattern=across("axis"), dtypes=dt.FLOATING, fills_missing=False, samples=_cross_entropy_samples)
@in_float32
def _softmax_cross_entropy(xp, labels, logits, *, axis):
    below = _below_largest(xp, logits, axis)
    if not below.shape[axis]:
        return below.sum(axis=axis), logits
    exponentials = xp.exp(below)
    total = xp.sum(exponentials, axis=axis, keepdims=True)
    log_total = xp.squeeze(xp.log(total), axis)
    loss = log_total * labels.sum(axis=axis) - xp.vecdot(labels, below, axis=axis)
    return loss, exponentials / total


@_softmax_cross_entropy.vjp("labels")
def _softmax_cross_entropy_vjp_labels(g, logits, *, axis):
    if g[0] is None:
        return None
    return -restore_axes(g[0], (axis,), False) * _log_softmax(logits, axis=axis)


@_softmax_cross_entropy.vjp("logits")
def _softmax_cross_entropy_vjp_logits(g, out, labels, *, axis):
    probabilities = out[1]
    if g[0] is None:
        return _softmax_vjp(g[1], probabilities, axis=axis)
    direct = restore_axes(g[0], (axis,), False) * (probabilities - labels)
    return direct if g[1] is None else direct + _softmax_vjp(g[1], probabilities, axis=axis)


@_softmax_cross_entropy.batch
def _softmax_cross_entropy_batch(batched, labels, logits, *, axis):
    labels, logits = _all_batched(batched, labels=labels, logits=logits)
    return _softmax_cross_entropy(labels, logits, axis=axis + 1)


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: Any = -1, name: str | None = None
) -> Tensor:
    """`-sum(labels * log_softmax(logits))` along `axis`; `labels` and `logits` broadcast.

    The gradient by `logits` is softmax(logits) - labels: the labels are taken to be a distribution,
    with sum 1. The gradient by `labels` is -log_softmax(logits).
    """
    name = "softmax_cross_entropy_with_logits"
    x = to_tensor(logits, name)
    z = cast(to_tensor(labels, name), x.dtype)
    if z._array.shape != x._array.shape:
        shape = broadcast_shapes(name, labels=z._array.shape, logits=x._array.shape)
        z, x = _broadcast_to(z, shape=shape), _broadcast_to(x, shape=shape)
    return _softmax_cross_entropy(z, x, axis=static_axis(axis, x.ndim, name))[0]


@op(
    pattern=leading(1),
    nondiff="labels",
    dtypes=dt.FLOATING,
    fills_missing=False,
    samples=lambda r: [
        ([np.array([2, 0]), r.normal(size=(2, 3))], {}),
        ([np.array([[1, 0], [2, 2]], np.int32), r.normal(size=(2, 2, 3))], {}),
        ([np.array(1), r.normal(size=(3,))], {}),
        ([np.zeros((0,), np.int32), r.normal(size=(0, 3))], {}),
    ],
)
@in_float32
def _sparse_softmax_cross_entropy(xp, labels, logits):
    if logits.ndim == 2:
        return xp.sparse_cross_entropy(logits, labels)
    rows = logits.reshape(math.prod(logits.shape[:-1]), logits.shape[-1])
    loss, probabilities = xp.sparse_cross_entropy(rows, labels.reshape(-1))
    return loss.reshape(labels.shape), probabilities.reshape(logits.shape)


@_sparse_softmax_cross_entropy.vjp("logits")
def _sparse_softmax_cross_entropy_vjp(g, out, labels):
    probabilities = out[1]
    if g[0] is None:
        return _softmax_vjp(g[1], probabilities, axis=probabilities.ndim - 1)
    direct = _sparse_cross_entropy_grad(g[0], probabilities, labels)
    if g[1] is None:
        return direct
    return direct + _softmax_vjp(g[1], probabilities, axis=probabilities.ndim - 1)


@_sparse_softmax_cross_entropy.batch
def _sparse_softmax_cross_entropy_batch(batched, labels, logits):
    return _sparse_softmax_cross_entropy(*_all_batched(batched, labels=labels, logits=logits))


@_sparse_softmax_cross_entropy.spec
def _sparse_softmax_cross_entropy_spec(labels, logits):
    if logits.ndim and not logits.shape[-1]:
        raise ShapeError(
            "sparse_softmax_cross_entropy_with_logits: there must be at least one class, and "
            f"logits.shape={logits.shape}."
        )
    return Spec(labels.shape, logits.dtype), Spec(logits.shape, logits.dtype)


@op(
    nondiff="labels",
    dtypes=dt.FLOATING,
    samples=lambda r: [
        ([r.normal(size=(2,)), r.uniform(size=(2, 3)), np.array([2, 0])], {}),
        ([r.normal(size=()), r.uniform(size=(3,)), np.array(1)], {}),
    ],
)
def _sparse_cross_entropy_grad(xp, dy, probabilities, labels):
    """`dy` times (probabilities, less 1 at the label)."""
    if probabilities.ndim == 2:
        return xp.sparse_cross_entropy_grad(dy, probabilities, labels)
    rows = math.prod(labels.shape)
    flat = probabilities.reshape(rows, probabilities.shape[-1])
    result = xp.sparse_cross_entropy_grad(dy.reshape(rows), flat, labels.reshape(rows))
    return result.reshape(probabilities.shape)


@_sparse_cross_entropy_grad.vjp("dy")
def _sparse_cross_entropy_grad_vjp_dy(g, probabilities, labels):
    ones = one_hot(labels, probabilities._array.shape[-1], dtype=probabilities.dtype)
    return reduce_sum(g * (probabilities - ones), -1)


@_sparse_cross_entropy_grad.vjp("probabilities")
def _sparse_cross_entropy_grad_vjp_probabilities(g, dy):
    return g * restore_axes(dy, (dy.ndim,), False)


@_sparse_cross_entropy_grad.batch
def _sparse_cross_entropy_grad_batch(batched, dy, probabilities, labels):
    return _sparse_cross_entropy_grad(
        *_all_batched(batched, dy=dy, probabilities=probabilities, labels=labels)
    )


def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Tensor:
    """`-log_softmax(logits)` at the class `labels`, for each label.

    `labels` are integers in [0, classes), in the shape of `logits` without the last axis, the
    classes.

    >>> sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]])
    <tf.Tensor: shape=(1,), dtype=float32, numpy=array([0.6931472], dtype=float32)>
    """
    name = "sparse_softmax_cross_entropy_with_logits"
    x, z = to_tensor(logits, name), to_tensor(labels, name)
    if z._array.dtype not in dt.INTEGER:
        raise DTypeError(f"{name}: `labels` must be integers, not {z.dtype.name}.")
    if not x.ndim or z._array.shape != x._array.shape[:-1]:
        raise ShapeError(
            f"{name}: `labels` must have the shape of `logits` without its last axis, the classes. "
            f"Received: labels.shape={z._array.shape}, logits.shape={x._array.shape}. For labels "
            "that are probabilities use softmax_cross_entropy_with_logits."
        )
    return _sparse_softmax_cross_entropy(z, x)[0]


@elementwise(
    labels=lambda g, logits: -g * logits,
    logits=lambda g, labels, logits: g * (sigmoid(logits) - labels),
    dtypes=dt.FLOATING,
)
def _sigmoid_cross_entropy(xp, labels, logits):
    return _wide(lambda z, x: xp.maximum(x, 0) - x * z + xp.log1p_exp(-xp.abs(x)), labels, logits)


def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """The cross entropy of probabilities `labels` with `sigmoid(logits)`, elementwise."""
    try:
        pair = _pair("sigmoid_cross_entropy_with_logits", labels=labels, logits=logits)
    except NotATensorError as error:
        return take_over(error, sigmoid_cross_entropy_with_logits, labels, logits)
    return _sigmoid_cross_entropy(*pair)


def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Tensor:
    """`sigmoid_cross_entropy_with_logits` with the term of the positive labels times `pos_weight`.

    Smooth, also where a logit is 0 (there TensorFlow's gradient is off by half the weight).
    """
    z, x = _pair("weighted_cross_entropy_with_logits", labels=labels, logits=logits)
    return (1 - z) * x + (1 + (pos_weight - 1) * z) * softplus(-x)


def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """`exp(log_input) - log_input * targets`: of counts `targets` at the rates `exp(log_input)`.

    With `compute_full_loss` Stirling's approximation of log(targets!) is added where targets > 1.
    """
    z, x = _pair("log_poisson_loss", targets=targets, log_input=log_input)
    result = exp(x) - x * z
    if not compute_full_loss:
        return result
    stirling = z * log(z) - z + 0.5 * log(z * (2 * math.pi))
    return result + where((z >= 0) & (z <= 1), zeros_like(z), stirling)


def _pair(op_name: str, **named: Any) -> tuple[Tensor, Tensor]:
    """Labels and logits as tensors of one shape, plain labels in the dtype of the logits."""
    (first, labels), (second, logits) = named.items()
    if labels is None or logits is None:
        raise ValueError(f"{op_name}: both `{first}` and `{second}` must be given.")
    x = to_tensor(logits, op_name)
    z = labels if type(labels) is Tensor else operand(labels, x._array.dtype, op_name)
    if z._array.shape != x._array.shape:
        raise ShapeError(
            f"{op_name}: `{first}` and `{second}` must have the same shape. Received: "
            f"{first}.shape={z._array.shape}, {second}.shape={x._array.shape}."
        )
    return z, x


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """The sum of the (weighted) losses, divided by `global_batch_size` (None: their number)."""
    losses = to_tensor(per_example_loss, "compute_average_loss")
    if global_batch_size is None:
        global_batch_size = losses._array.shape[0] if losses.ndim else 1
    if sample_weight is not None:
        weights = cast(to_tensor(sample_weight, "compute_average_loss"), losses.dtype)
        if weights.ndim == losses.ndim - 1 and weights.ndim:
            weights = _reshape(weights, shape=(*weights._array.shape, 1))
        losses = losses * weights
    return reduce_sum(losses) / cast(
        to_tensor(global_batch_size, "compute_average_loss"), losses.dtype
    )


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of the regularisation losses, for one replica."""
    return reduce_sum(regularization_loss)
