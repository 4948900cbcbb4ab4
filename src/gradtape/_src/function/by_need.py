"""A concrete function of TensorSpecs with open sizes, where no one trace serves them all."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..core import nest
from ..core.shape import TensorShape
from ..core.sizes import SizesNeeded
from ..tape.type_specs import TensorSpec
from .signature import Open, blank

_PROBES = (60, 1, 12)
"""Sizes in place of open ones: to be divided by what people divide by, and to be one."""


class ByNeed:
    """In place of a trace: the trace with open sizes as long as it serves, then one by shape.

    `trace(leaves, example)` gives the trace for tensors, which may be but an example; `leaves` are
    those of the signature.
    """

    can_be_inside = False  # as no trace with open sizes can

    def __init__(self, with_open_sizes: Any, trace: Callable[..., Any], leaves: list[Any]) -> None:
        self.with_open_sizes = with_open_sizes  # None if there is none
        self._trace = trace
        self._leaves = leaves

    def call(self, leaves: list[Any]) -> Any:
        if self.with_open_sizes is not None:
            try:
                return self.with_open_sizes.call(leaves)
            except SizesNeeded as reason:  # before anything ran
                if not reason.only_now:
                    self.with_open_sizes = None
        return self._trace(leaves).call(leaves)

    # For inspection

    def __getattr__(self, name: str) -> Any:
        """What one trace has to say for all: the one with open sizes, or an example."""
        example = self.with_open_sizes
        if example is None:
            example = self.examples()[0]
        return getattr(example, name)

    @property
    def structured_outputs(self) -> Any:
        """The results, as TensorSpecs; a size is None if it differs between two examples."""
        if self.with_open_sizes is not None:
            return self.with_open_sizes.structured_outputs
        examples = [example.structured_outputs for example in self.examples()]
        if any(leaf.sizes is None for leaf in self._leaves if type(leaf) is Open):
            return nest.map_structure(lambda spec: TensorSpec(None, spec.dtype), examples[0])
        return nest.map_structure(_common, *examples)

    def examples(self) -> list[Any]:
        """Traces for some sizes; an error if there is none for any."""
        found, reasons = [], []

        def probe(size: int) -> None:
            try:
                found.append(self._trace([_of_size(leaf, size) for leaf in self._leaves], True))
            except Exception as error:
                reasons.append(error)

        for size in _PROBES:
            probe(size)
        if not found:
            for size in _named_by(reasons[0]):
                probe(size)
        if not found:
            raise reasons[0]
        return found


def _named_by(error: Exception) -> list[int]:
    """Numbers of which an error speaks: one may be the size that the function asks for."""
    return [int(n) for n in dict.fromkeys(re.findall(r"\b\d{1,6}\b", str(error)))][:8]


def _of_size(leaf: Any, size: int) -> Any:
    """A tensor in place of an open one, that takes no memory."""
    if type(leaf) is not Open:
        return leaf
    sizes = [size if n is None else n for n in leaf.sizes or ()]
    return blank(sizes, leaf.tensor._array.dtype)


def _common(*specs: Any) -> Any:
    """The TensorSpec of results that are alike but for sizes."""
    shapes = [spec.shape for spec in specs]
    if len({shape.rank for shape in shapes}) > 1:
        return TensorSpec(None, specs[0].dtype)
    sizes = [axis[0] if len(set(axis)) == 1 else None for axis in zip(*shapes, strict=True)]
    return TensorSpec(TensorShape(sizes), specs[0].dtype)
