"""Losses over sampled classes: noise-contrastive estimation and sampled softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes as dt
from ...core.errors import DTypeError, ShapeError
from ...core.tensor import Tensor
from ..array.cast import cast
from ..array.joining import concat
from ..array.shape import _reshape, expand_dims
from ..declare.static import static_int, to_tensor
from ..linalg.matmul import matmul
from ..math.exponential import log
from ..math.logic import equal, select
from ..math.reduction import reduce_any, reduce_sum
from ..random.candidates import log_uniform_candidate_sampler
from .embedding import embedding_lookup
from .loss import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits


def _sampled_logits(
    op_name: str,
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: Any,
    num_classes: Any,
    num_true: Any,
    sampled_values: Any,
    remove_accidental_hits: bool,
    seed: Any = None,
) -> tuple[Tensor, Tensor]:
    """The logits of the true classes and, after them, of sampled ones; and the targets for both."""
    x = to_tensor(inputs, op_name)
    true = to_tensor(labels, op_name)
    per_example = static_int(num_true, op_name, "num_true")
    if true._array.dtype not in dt.INTEGER:
        raise DTypeError(f"{op_name}: `labels` must be integers, and are {true.dtype.name}.")
    if x.ndim != 2 or tuple(true.shape) != (x.shape[0], per_example):
        raise ShapeError(
            f"{op_name}: `inputs` must have shape [batch, dim] and `labels` [batch, num_true="
            f"{per_example}]. Received: {tuple(x.shape)} and {tuple(true.shape)}."
        )
    true = cast(true, dt.int64)
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            true, per_example, num_sampled, True, num_classes, seed
        )
    sampled, true_expected, sampled_expected = (to_tensor(v, op_name) for v in sampled_values)
    sampled = cast(sampled, dt.int64)
    batch, dim = x._array.shape
    every = concat([_reshape(true, shape=(batch * per_example,)), sampled], 0)
    rows = cast(embedding_lookup(weights, every), x.dtype)
    bias = cast(embedding_lookup(biases, every), x.dtype)
    count = batch * per_example
    true_rows = _reshape(rows[:count], shape=(batch, per_example, dim))
    true_logits = reduce_sum(expand_dims(x, 1) * true_rows, 2)
    true_logits = true_logits + _reshape(bias[:count], shape=(batch, per_example))
    sampled_logits = matmul(x, rows[count:], transpose_b=True) + bias[count:]
    if remove_accidental_hits:
        hit = reduce_any(equal(expand_dims(true, 2), sampled), 1)
        lowest = Tensor(np.asarray(np.finfo(np.float32).min, x._array.dtype))
        nothing = Tensor(np.zeros((), x._array.dtype))
        sampled_logits = sampled_logits + select(hit, lowest, nothing)
    true_logits = true_logits - log(cast(true_expected, x.dtype))
    sampled_logits = sampled_logits - log(cast(sampled_expected, x.dtype))
    targets = np.zeros((batch, per_example + sampled._array.shape[0]), x._array.dtype)
    targets[:, :per_example] = 1 / per_example
    return concat([true_logits, sampled_logits], 1), Tensor(targets)


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: Any,
    num_classes: Any,
    num_true: Any = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Tensor:
    """The noise-contrastive loss of each example: its `labels` against `num_sampled` other classes.

    Without `sampled_values` the classes come from `log_uniform_candidate_sampler`.
    """
    logits, targets = _sampled_logits(
        "nce_loss", weights, biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, remove_accidental_hits,
    )  # fmt: skip
    return reduce_sum(sigmoid_cross_entropy_with_logits(targets, logits), 1)


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: Any,
    num_classes: Any,
    num_true: Any = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: Any = None,
    name: str = "sampled_softmax_loss",
) -> Tensor:
    """The cross entropy of each example over its `labels` and `num_sampled` other classes only.

    Without `sampled_values` the classes come from `log_uniform_candidate_sampler`.
    """
    logits, targets = _sampled_logits(
        "sampled_softmax_loss", weights, biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, remove_accidental_hits, seed,
    )  # fmt: skip
    return softmax_cross_entropy_with_logits(targets, logits)
