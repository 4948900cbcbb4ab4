"""The functions of tf.data.experimental."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.dtypes import int64
from ...core.tensor import Tensor
from ...ops.declare.static import static_int
from . import blocks
from .dataset import Dataset


def cardinality(dataset: Dataset) -> Tensor:
    """`dataset.cardinality()`."""
    return dataset.cardinality()


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[[Any], Any] | None = None,
) -> Callable[[Dataset], Dataset]:
    """For `apply`: `Dataset.group_by_window`."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64
) -> Callable[[Dataset], Dataset]:
    """For `apply`: `Dataset.ragged_batch`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def assert_cardinality(expected_cardinality: Any) -> Callable[[Dataset], Dataset]:
    """For `apply`: the same elements, known to be so many; an error if they turn out not to be."""
    expected = static_int(expected_cardinality, "assert_cardinality", "expected_cardinality")
    return lambda dataset: dataset._of_same_entries(
        lambda: blocks.check_count(dataset._blocks(), expected), expected
    )
