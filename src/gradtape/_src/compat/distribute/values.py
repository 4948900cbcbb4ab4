"""Values of several replicas, and datasets of several: what they count as."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ...core.tracing import current_graph
from ...train.data.iterator import Iterator


class ReduceOp(Enum):
    """How the values of the replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"


class DistributedValues:
    """Base of values that each replica has one of. With one replica values are plain, not these."""


class DistributedIterator(Iterator):
    """The elements of one pass through a dataset of a strategy."""


class DistributedDataset:
    """A dataset of a strategy: each replica gets its part of every element, one replica all."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __iter__(self) -> Iterator:
        if current_graph() is not None:
            return iter(self._dataset)  # type: ignore[no-any-return]
        return DistributedIterator(self._dataset._elements, lambda: self.element_spec)

    @property
    def element_spec(self) -> Any:
        return self._dataset.element_spec

    def cardinality(self) -> Any:
        """How many elements there are, as `Dataset.cardinality` says it."""
        return self._dataset.cardinality()
