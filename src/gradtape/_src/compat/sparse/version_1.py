"""What has other parameters in tf.compat.v1."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int64
from ...core.errors import UnimplementedError
from ...core.tensor import Tensor
from ...ops.array.creation import ones_like
from ...ops.math.segment import unsorted_segment_sum
from ...ops.nn.ctc import ctc_loss as dense_ctc_loss
from .ctc import beam_search
from .layout import concat
from .making import to_dense
from .sparse_tensor import SparseTensor, as_sparse


def sparse_concat(
    axis: Any,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """tf.sparse.concat; `concat_dim` and `expand_nonconcat_dim` are older names."""
    expands = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    return concat(axis if concat_dim is None else concat_dim, sp_inputs, bool(expands))


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Tensor:
    """tf.nn.ctc_loss of sparse `labels`; the blank is the last class."""
    if preprocess_collapse_repeated or not ctc_merge_repeated:
        raise UnimplementedError(
            "ctc_loss: `preprocess_collapse_repeated` and ctc_merge_repeated=False are not there. "
            "Repeated labels stay, and equal ones in a row of frames count as one."
        )
    wanted = as_sparse(labels, "ctc_loss", "labels")
    rows = wanted.dense_shape[0]
    ones = ones_like(wanted.values, int64)
    lengths = unsorted_segment_sum(ones, wanted.indices[:, 0], rows)
    scores = inputs if logits is None else logits
    return dense_ctc_loss(
        to_dense(wanted), scores, lengths, sequence_length, time_major, blank_index=-1
    )


def ctc_beam_search_decoder(
    inputs: Any,
    sequence_length: Any,
    beam_width: Any = 100,
    top_paths: Any = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """tf.nn.ctc_beam_search_decoder; with `merge_repeated`, equal labels in a row become one."""
    return beam_search(inputs, sequence_length, beam_width, top_paths, merge_repeated)
