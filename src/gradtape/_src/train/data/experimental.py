"""The functions of tf.data.experimental."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...core import nest
from ...core.dtypes import int64
from ...core.placement import CPU, GPU, on_host, placement
from ...core.tensor import Tensor
from ...ops.declare.static import static_int
from ...tape.scopes import device_kind, parse_device
from . import blocks
from .dataset import Dataset
from .failures import attempting
from .prefetch import prefetch


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


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Any,
    bucket_batch_sizes: Any,
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Callable[[Dataset], Dataset]:
    """For `apply`: `Dataset.bucket_by_sequence_length`."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


def ignore_errors(log_warning: bool = False) -> Callable[[Dataset], Dataset]:
    """For `apply`: `Dataset.ignore_errors`."""
    return lambda dataset: dataset.ignore_errors(log_warning)


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


def copy_to_device(
    target_device: Any, source_device: Any = "/cpu:0"
) -> Callable[[Dataset], Dataset]:
    """For `apply`: the same elements, on this device."""
    parse_device(source_device, "copy_to_device")  # wherever the elements are, they are moved
    kind = device_kind(target_device)
    mover = attempting(_mover(kind))
    return lambda dataset: dataset._ahead(lambda: map(mover, dataset._elements()))


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Callable[[Dataset], Dataset]:
    """For `apply`: the same elements on this device, brought there ahead by a thread.

    To a GPU they go through memory that the card reads by itself, while it computes.
    """
    kind = device_kind(device)
    ahead = 2 if buffer_size is None else static_int(buffer_size, "prefetch_to_device", "size")

    def moved(dataset: Dataset) -> Dataset:
        make = partial(map, attempting(_mover(kind)))
        return dataset._ahead(lambda: prefetch(lambda: make(dataset._elements()), max(ahead, 1)))

    return moved


def _mover(kind: str | None) -> Callable[[Any], Any]:
    """A function that brings an element to a device of this kind."""
    if kind is None or (kind == GPU and placement.card is None):
        return lambda element: element
    if kind == CPU:
        return partial(nest.map_structure, lambda x: _moved(x, on_host))
    bring = placement.card.upload  # type: ignore[union-attr]
    return partial(nest.map_structure, lambda x: _moved(x, bring))


def _moved(x: Any, bring: Callable[[Any], Any]) -> Any:
    if type(x) is not Tensor or x._array.dtype == object:
        return x
    return Tensor(bring(x._array))
