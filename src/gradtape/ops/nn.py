"""Activations, softmax, cross entropies, moments and normalisation, dropout."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from ..core import dtypes as dt
from ..core.convert import operand
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.spec import Spec, broadcast_shapes
from ..core.tensor import Tensor
from ._declare import op
from ._family import elementwise
from ._reduction import accumulator, kept
from ._static import static_axis, static_ints, to_tensor
from .arithmetic import abs as absolute
from .arithmetic import divide_no_nan, multiply_no_nan, reciprocal, rsqrt, square, squared_difference
from .creation import cast, ones_like, zeros_like
from .exponential import _wide, erfc, exp, log, sigmoid, softplus
from .indexing import one_hot
from .joining import concat
from .logic import where
from .norm import clip_by_norm, l2_loss as l2_loss, l2_normalize as l2_normalize
from .reduction import reduce_mean, reduce_sum, reduce_variance, zero_fraction as zero_fraction
from .shape import _broadcast_to, _reshape
from .trigonometric import tanh

# Activations. Their rules keep the output where it suffices: the next op keeps it anyway.


@elementwise(x=lambda g, out: _relu_grad(g, out), dtypes=dt.REAL)
def _relu(xp, x):
    return xp.relu(x)


@elementwise(dy=lambda g, y: _relu_grad(g, y), y=None)
def _relu_grad(xp, dy, y):
    """`dy` where `y` is positive, else 0."""
    return dy * (y > 0).astype(dy.dtype)


def relu(features: Any, name: str | None = None) -> Tensor:
    """`features` where positive, else 0. The gradient at 0 is 0."""
    return _relu(features)


@elementwise(x=lambda g, out: _relu6_grad(g, out), dtypes=dt.REAL, domain={"x": (-4.0, 8.0)})
def _relu6(xp, x):
    return xp.clip(x, 0, 6)


@elementwise(dy=lambda g, y: _relu6_grad(g, y), y=None)
def _relu6_grad(xp, dy, y):
    """`dy` where `y` lies between 0 and 6, else 0."""
    return dy * ((y > 0) & (y < 6)).astype(dy.dtype)


def relu6(features: Any, name: str | None = None) -> Tensor:
    """`features` limited to [0, 6]. The gradient at 0 and at 6 is 0."""
    return _relu6(features)


def _sloped_samples(r: np.random.Generator) -> list[Any]:
    return [([r.normal(size=s)], {"alpha": a}) for s, a in [((2, 3), 0.2), ((), 0.5), ((4,), 2.0)]]


@elementwise(
    x=lambda g, out, alpha: _leaky_relu_grad(g, out, alpha=alpha),
    dtypes=dt.FLOATING,
    samples=_sloped_samples,
)
def _leaky_relu(xp, x, *, alpha):
    # `alpha` is positive, so that the sign of the output is that of the input.
    return (xp.maximum if alpha <= 1 else xp.minimum)(x, alpha * x)


@elementwise(
    dy=lambda g, y, alpha: _leaky_relu_grad(g, y, alpha=alpha),
    y=None,
    samples=lambda r: [([r.normal(size=(2, 3)), r.normal(size=(2, 3))], {"alpha": 0.2})],
)
def _leaky_relu_grad(xp, dy, y, *, alpha):
    """`dy` where `y` is positive, else `alpha * dy`. By arithmetic: np.where takes three times as long."""
    positive = (y > 0).astype(dy.dtype)
    return dy * (positive + (1 - positive) * alpha)


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`features` where positive, else `alpha * features`. The gradient at 0 is `alpha`."""
    x = to_tensor(features, "leaky_relu")
    if x._array.dtype in dt.INTEGER:
        x = cast(x, dt.float32)
    alpha = float(alpha)
    return _leaky_relu(x, alpha=alpha) if alpha > 0 else where(x > 0, x, alpha * x)


_SELU_SCALE = 1.0507009873554805
_SELU_LEFT = 1.7580993408473768  # scale times alpha: how far below zero it goes


@elementwise(x=lambda g, out: g * _elu_slope(out, left=1.0, right=1.0), dtypes=dt.FLOATING)
def _elu(xp, x):
    return xp.expm1(xp.minimum(x, 0)) + xp.maximum(x, 0)


@elementwise(
    x=lambda g, out: g * _elu_slope(out, left=_SELU_LEFT, right=_SELU_SCALE), dtypes=dt.FLOATING
)
def _selu(xp, x):
    return _SELU_LEFT * xp.expm1(xp.minimum(x, 0)) + _SELU_SCALE * xp.maximum(x, 0)


@elementwise(
    y=lambda g, y: _relu_grad(g, -y),
    dtypes=dt.FLOATING,
    samples=lambda r: [([r.uniform(-1, 1, size=(2, 3))], {"left": 2.0, "right": 1.0})],
)
def _elu_slope(xp, y, *, left, right):
    """The slope of elu and selu from their value: `y + left` below 0, else `right`."""
    slope = xp.fmin(y, 0) + right
    return slope if left == right else slope + (y < 0).astype(y.dtype) * (left - right)


def elu(features: Any, name: str | None = None) -> Tensor:
    """`features` where positive, else `exp(features) - 1`. The gradient at 0 is 1."""
    return _elu(features)


def selu(features: Any, name: str | None = None) -> Tensor:
    """Scaled elu, which keeps mean 0 and variance 1. The gradient at 0 is the scale, 1.0507."""
    return _selu(features)


_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


def _gelu_slope(x: Tensor) -> Tensor:
    density = exp(square(x) * -0.5) * (_SQRT_2_OVER_PI / 2)
    return erfc(x * -_SQRT_HALF) * 0.5 + x * density


@elementwise(x=_gelu_slope, dtypes=dt.FLOATING)
def _gelu(xp, x):
    return _wide(lambda x: 0.5 * x * xp.special("erfc", -x * _SQRT_HALF), x)


def _gelu_tanh_slope(x: Tensor) -> Tensor:
    squares = square(x)
    t = tanh(x * (squares * _CUBIC + 1) * _SQRT_2_OVER_PI)
    inner_slope = (squares * (3 * _CUBIC) + 1) * _SQRT_2_OVER_PI
    return ((t + 1) + x * (1 - square(t)) * inner_slope) * 0.5


@elementwise(x=_gelu_tanh_slope, dtypes=dt.FLOATING)
def _gelu_tanh(xp, x):
    return _wide(lambda x: 0.5 * x * (1 + xp.tanh(_SQRT_2_OVER_PI * (x + _CUBIC * x * x * x))), x)


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """`features` times the probability that a standard normal number is below it.

    With `approximate` the probability comes from a tanh, to about 1e-3.
    """
    return (_gelu_tanh if approximate else _gelu)(features)


def _swish_slope(x: Tensor, beta: Tensor) -> Tensor:
    s = sigmoid(beta * x)
    return s * (1 + beta * x * (1 - s))


def _swish_slope_beta(x: Tensor, beta: Tensor) -> Tensor:
    s = sigmoid(beta * x)
    return square(x) * (s * (1 - s))


@elementwise(x=_swish_slope, beta=_swish_slope_beta, dtypes=dt.FLOATING)
def _swish(xp, x, beta):
    return _wide(lambda x, beta: x * xp.sigmoid(beta * x), x, beta)


def silu(features: Any, beta: Any = 1.0) -> Tensor:
    """`features * sigmoid(beta * features)`; also called swish. Differentiable by `beta` too."""
    x = to_tensor(features, "silu")
    if type(beta) is not float:
        beta = cast(to_tensor(beta, "silu"), x.dtype)
    return _swish(x, beta)


swish = silu


@elementwise(x=lambda g, x: g / square(absolute(x) + 1), dtypes=dt.FLOATING)
def _softsign(xp, x):
    return x / (xp.abs(x) + 1)


def softsign(features: Any, name: str | None = None) -> Tensor:
    """`features / (1 + |features|)`."""
    return _softsign(features)


def crelu(features: Any, axis: Any = -1, name: str | None = None) -> Tensor:
    """`relu` of `features` and of `-features`, joined along `axis`."""
    x = to_tensor(features, "crelu")
    return relu(concat([x, -x], axis))


# Softmax


def _softmax_samples(r: np.random.Generator) -> list[Any]:
    shapes = [((2, 3), 1), ((3, 2), 0), ((2, 3, 2), 1), ((4,), 0), ((3, 1), 1), ((0, 3), 1), ((2, 0), 1)]
    return [([r.normal(size=shape)], {"axis": axis}) for shape, axis in shapes]


def _below_largest(x: Any, axis: int) -> Any:
    """`x` less its largest element along `axis`."""
    return x - x.max(axis=axis, keepdims=True) if x.shape[axis] else x


@op(dtypes=dt.FLOATING, samples=_softmax_samples)
def _softmax(xp, logits, *, axis):
    exponentials = xp.exp(_below_largest(logits.astype(accumulator(logits.dtype)), axis))
    return (exponentials / exponentials.sum(axis=axis, keepdims=True)).astype(logits.dtype)


@_softmax.vjp("logits")
def _softmax_vjp(g, out, *, axis):
    return (g - _dot(g, out, axis=axis)) * out


@_softmax.batch
def _softmax_batch(batched, logits, *, axis):
    return _softmax(logits, axis=axis + 1)


@op(dtypes=dt.FLOATING, samples=_softmax_samples)
def _log_softmax(xp, logits, *, axis):
    below = _below_largest(logits.astype(accumulator(logits.dtype)), axis)
    return (below - xp.log(xp.exp(below).sum(axis=axis, keepdims=True))).astype(logits.dtype)


@_log_softmax.vjp("logits")
def _log_softmax_vjp(g, out, *, axis):
    return g - exp(out) * reduce_sum(g, axis, True)


@_log_softmax.batch
def _log_softmax_batch(batched, logits, *, axis):
    return _log_softmax(logits, axis=axis + 1)


@op(
    dtypes=dt.FLOATING,
    samples=lambda r: [
        ([r.normal(size=(2, 3)), r.normal(size=(2, 3))], {"axis": 1}),
        ([r.normal(size=(2, 3, 2)), r.normal(size=(2, 3, 2))], {"axis": 1}),
        ([r.normal(size=(2, 0)), r.normal(size=(2, 0))], {"axis": 1}),
    ],
)
def _dot(xp, x, y, *, axis):
    """The sum of `x * y` over `axis`, which stays with size 1: without the product in memory."""
    wide = accumulator(x.dtype)
    total = xp.vecdot(x.astype(wide, copy=False), y.astype(wide, copy=False), axis=axis)
    return xp.expand_dims(total, axis).astype(x.dtype)


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
    x = to_tensor(logits, "softmax")
    return _softmax(x, axis=static_axis(-1 if axis is None else axis, x.ndim, "softmax"))


def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """The logarithm of `softmax`, exact where that is tiny."""
    x = to_tensor(logits, "log_softmax")
    return _log_softmax(x, axis=static_axis(-1 if axis is None else axis, x.ndim, "log_softmax"))


# Cross entropies. The probabilities are an output of their own: computed on the way to the loss, they
# are all that its gradient needs.


def _cross_entropy_samples(r: np.random.Generator) -> list[Any]:
    rows = r.uniform(0.1, 1.0, size=(2, 3))
    labels = rows / rows.sum(1, keepdims=True)
    return [
        ([labels, r.normal(size=(2, 3))], {"axis": 1}),
        ([labels.T, r.normal(size=(3, 2))], {"axis": 0}),
        ([labels[0], r.normal(size=(3,))], {"axis": 0}),
        ([labels[:0], r.normal(size=(0, 3))], {"axis": 1}),
    ]


@op(dtypes=dt.FLOATING, fills_missing=False, samples=_cross_entropy_samples)
def _softmax_cross_entropy(xp, labels, logits, *, axis):
    dtype = logits.dtype
    wide = accumulator(dtype)
    labels = labels.astype(wide, copy=False)
    below = _below_largest(logits.astype(wide, copy=False), axis)
    if not below.shape[axis]:
        return below.sum(axis=axis).astype(dtype), logits
    exponentials = xp.exp(below)
    total = exponentials.sum(axis=axis, keepdims=True)
    log_total = xp.squeeze(xp.log(total), axis)
    loss = log_total * labels.sum(axis=axis) - xp.vecdot(labels, below, axis=axis)
    return loss.astype(dtype), (exponentials / total).astype(dtype)


@_softmax_cross_entropy.vjp("labels")
def _softmax_cross_entropy_vjp_labels(g, logits, *, axis):
    if g[0] is None:
        return None
    return -kept(g[0], (axis,), False) * _log_softmax(logits, axis=axis)


@_softmax_cross_entropy.vjp("logits")
def _softmax_cross_entropy_vjp_logits(g, out, labels, *, axis):
    probabilities = out[1]
    if g[0] is None:
        return _softmax_vjp(g[1], probabilities, axis=axis)
    direct = kept(g[0], (axis,), False) * (probabilities - labels)
    return direct if g[1] is None else direct + _softmax_vjp(g[1], probabilities, axis=axis)


@_softmax_cross_entropy.batch
def _softmax_cross_entropy_batch(batched, labels, logits, *, axis):
    labels, logits = _all_batched(batched, labels=labels, logits=logits)
    return _softmax_cross_entropy(labels, logits, axis=axis + 1)


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: Any = -1, name: str | None = None
) -> Tensor:
    """`-sum(labels * log_softmax(logits))` along `axis`; `labels` and `logits` broadcast.

    The gradient by `logits` is softmax(logits) - labels: the labels are taken to be a distribution, with
    sum 1. The gradient by `labels` is -log_softmax(logits).
    """
    name = "softmax_cross_entropy_with_logits"
    x = to_tensor(logits, name)
    z = cast(to_tensor(labels, name), x.dtype)
    if z._array.shape != x._array.shape:
        shape = broadcast_shapes(name, labels=z._array.shape, logits=x._array.shape)
        z, x = _broadcast_to(z, shape=shape), _broadcast_to(x, shape=shape)
    return _softmax_cross_entropy(z, x, axis=static_axis(axis, x.ndim, name))[0]


@op(
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
def _sparse_softmax_cross_entropy(xp, labels, logits):
    dtype = logits.dtype
    classes = logits.shape[-1]
    x = logits.reshape(math.prod(logits.shape[:-1]), classes).astype(accumulator(dtype), copy=False)
    chosen = xp.checked(labels.reshape(-1), classes, "sparse_softmax_cross_entropy_with_logits")
    largest = x.max(axis=1, keepdims=True)
    exponentials = xp.exp(x - largest)
    total = exponentials.sum(axis=1, keepdims=True)
    loss = xp.log(total[:, 0]) - (x[xp.arange(x.shape[0]), chosen] - largest[:, 0])
    probabilities = exponentials / total
    return loss.reshape(labels.shape).astype(dtype), probabilities.reshape(logits.shape).astype(dtype)


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
def _sparse_cross_entropy_grad(xp, g, probabilities, labels):
    """`g` times (probabilities less one at the label)."""
    rows = math.prod(labels.shape)
    g = g.reshape(rows)
    result = probabilities.reshape(rows, -1 if rows else probabilities.shape[-1]) * g[:, None]
    result = xp.add_into(result, (xp.arange(rows), labels.reshape(rows)), -g)
    return result.reshape(probabilities.shape)


@_sparse_cross_entropy_grad.vjp("g")
def _sparse_cross_entropy_grad_vjp_g(g, probabilities, labels):
    ones = one_hot(labels, probabilities._array.shape[-1], dtype=probabilities.dtype)
    return reduce_sum(g * (probabilities - ones), -1)


@_sparse_cross_entropy_grad.vjp("probabilities")
def _sparse_cross_entropy_grad_vjp_probabilities(g, probabilities: Spec):
    raise NotImplementedError


@_sparse_cross_entropy_grad.batch
def _sparse_cross_entropy_grad_batch(batched, g, probabilities, labels):
    return _sparse_cross_entropy_grad(
        *_all_batched(batched, g=g, probabilities=probabilities, labels=labels)
    )


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Tensor:
    """`-log_softmax(logits)` at the class `labels`, for each label.

    `labels` are integers in [0, classes), of the shape of `logits` without its last axis, the classes.

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
            f"Received: labels.shape={z._array.shape}, logits.shape={x._array.shape}. For labels that "
            "are probabilities use softmax_cross_entropy_with_logits."
        )
    return _sparse_softmax_cross_entropy(z, x)[0]


@elementwise(
    labels=lambda g, logits: -g * logits,
    logits=lambda g, labels, logits: g * (sigmoid(logits) - labels),
    dtypes=dt.FLOATING,
)
def _sigmoid_cross_entropy(xp, labels, logits):
    def loss(z, x):
        return xp.maximum(x, 0) - x * z + xp.log1p(xp.exp(-xp.abs(x)))

    return _wide(loss, labels, logits)


def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """The cross entropy of probabilities `labels` with `sigmoid(logits)`, elementwise, without overflow."""
    return _sigmoid_cross_entropy(*_pair("sigmoid_cross_entropy_with_logits", labels=labels, logits=logits))


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
    """`exp(log_input) - log_input * targets`: the loss of counts `targets` under rates `exp(log_input)`.

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
    """The sum of the losses (each times its weight), divided by `global_batch_size` (None: their number)."""
    losses = to_tensor(per_example_loss, "compute_average_loss")
    if global_batch_size is None:
        global_batch_size = losses._array.shape[0] if losses.ndim else 1
    if sample_weight is not None:
        weights = cast(to_tensor(sample_weight, "compute_average_loss"), losses.dtype)
        if weights.ndim == losses.ndim - 1 and weights.ndim:
            weights = _reshape(weights, shape=(*weights._array.shape, 1))
        losses = losses * weights
    return reduce_sum(losses) / cast(to_tensor(global_batch_size, "compute_average_loss"), losses.dtype)


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of the regularisation losses, for one replica."""
    return reduce_sum(regularization_loss)


# Bias, moments, normalisation


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """`value` plus the vector `bias` along the channels: the last axis, or axis 1 for "NC..." formats."""
    if data_format is not None and not data_format.startswith("N"):
        raise ValueError(f"bias_add: `data_format` must be 'N...C' or 'NC...', not {data_format!r}.")
    x = to_tensor(value, "bias_add")
    b = bias if type(bias) is Tensor else operand(bias, x._array.dtype, "bias_add")
    axis = 1 if data_format is not None and data_format.startswith("NC") else -1
    shape = x._array.shape
    if len(shape) < 2 or b._array.shape != (shape[axis],):
        raise ShapeError(
            "bias_add: `bias` must be a vector with one number for each channel of `value`, which has rank "
            f"2 at least. Received: value.shape={shape}, bias.shape={b._array.shape}."
        )
    return x + (b if axis == -1 else _reshape(b, shape=(-1, *(1,) * (len(shape) - 2))))


def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`. (`shift` is not used, as in TensorFlow.)"""
    x = to_tensor(x, "moments")
    mean = reduce_mean(x, axes, keepdims)
    if x._array.dtype in dt.FLOATING:
        return mean, reduce_variance(x, axes, keepdims)
    away = squared_difference(x, reduce_mean(x, axes, True))
    return mean, reduce_mean(away, axes, keepdims)


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`, each element counted `frequency_weights` times."""
    x = to_tensor(x, "weighted_moments")
    weights = cast(to_tensor(frequency_weights, "weighted_moments"), x.dtype)
    count = reduce_sum(weights + zeros_like(x), axes, True)
    mean = divide_no_nan(reduce_sum(weights * x, axes, True), count)
    spread = reduce_sum(weights * squared_difference(x, mean), axes, True)
    variance = divide_no_nan(spread, count)
    if keepdims:
        return mean, variance
    return reduce_sum(mean, axes), reduce_sum(variance, axes)


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance from the number of elements, their sum and the sum of their squares.

    The sums are those of the elements less `shift`, unless it is None.
    """
    share = reciprocal(to_tensor(counts, "normalize_moments"))
    shifted = mean_ss * share
    variance = variance_ss * share - square(shifted)
    return (shifted if shift is None else shifted + shift), variance


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`; both may be None."""
    x = to_tensor(x, "batch_normalization")
    factor = rsqrt(to_tensor(variance, "batch_normalization") + variance_epsilon)
    if scale is not None:
        factor = factor * scale
    moved = -mean * factor if offset is None else offset - mean * factor
    return x * cast(factor, x.dtype) + cast(moved, x.dtype)


# Dropout and embeddings


@op(
    nondiff="mask",
    dtypes=dt.FLOATING,
    samples=lambda r: [
        ([r.normal(size=(2, 3)), r.normal(size=(2, 3)) > 0], {"scale": 2.0}),
        ([r.normal(size=(2, 3)), r.normal(size=(2, 1)) > 0], {"scale": 1.5}),
    ],
)
def _drop(xp, x, mask, *, scale):
    """`x * scale` where `mask`, else 0."""
    return xp.masked(x * xp.asarray(scale, x.dtype), mask)


@_drop.vjp("x")
def _drop_vjp(g, mask, *, scale):
    return _drop(g, mask, scale=scale)


@_drop.batch
def _drop_batch(batched, x, mask, *, scale):
    return _drop(*_all_batched(batched, x=x, mask=mask), scale=scale)


def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None) -> Tensor:
    """`x` with each element set to 0 with probability `rate`, and the others divided by `1 - rate`.

    Elements along an axis that is 1 in `noise_shape` are dropped or kept together.
    """
    from .random import uniform

    x = to_tensor(x, "dropout")
    if x._array.dtype not in dt.FLOATING:
        raise ValueError(f"dropout: `x` must be floating, since it is scaled, and is {x.dtype.name}.")
    fixed = isinstance(rate, numbers.Real)
    if not (fixed or isinstance(rate, Tensor) or hasattr(rate, "_as_tensor")):
        raise ValueError(f"dropout: `rate` must be a number or a scalar tensor, not {rate!r}.")
    if fixed and not 0 <= rate < 1:
        raise ValueError(f"dropout: `rate` must lie in [0, 1), and is {rate}.")
    if fixed and rate == 0:
        return x
    shape = x._array.shape
    if noise_shape is not None:
        given = list(noise_shape)
        if len(given) == len(shape):
            given = [own if n is None else n for n, own in zip(given, shape, strict=True)]
        broadcast_shapes("dropout", x=shape, noise_shape=tuple(static_ints(given, "dropout", "noise_shape")))
        shape = static_ints(given, "dropout", "noise_shape")
    drawn = uniform(shape, dtype=dt.of_numpy(accumulator(x._array.dtype)), seed=seed)
    if fixed:
        return _drop(x, drawn >= float(rate), scale=1 / (1 - float(rate)))
    rate = cast(rate, x.dtype)
    return _drop(x / (ones_like(rate) - rate), drawn >= cast(rate, drawn.dtype), scale=1.0)


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Tensor:
    """The rows of `params` at the integers `ids`, each clipped to the norm `max_norm` unless that is None.

    A list of several `params` counts as one table, its parts one below the other. The gradient by
    `params` is an IndexedSlices.
    """
    from .indexing import gather

    if isinstance(params, (list, tuple)) and all(isinstance(p, Tensor) or hasattr(p, "_as_tensor") for p in params):
        if not params:
            raise ValueError("embedding_lookup: `params` is empty; it needs one table at least.")
        params = params[0] if len(params) == 1 else concat(params, 0)
    ids = to_tensor(ids, "embedding_lookup")
    rows = gather(params, ids)
    return rows if max_norm is None else clip_by_norm(rows, max_norm, axes=list(range(ids.ndim, rows.ndim)))
