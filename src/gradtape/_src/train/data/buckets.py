"""Buckets: elements of about one length, so that a batch of them needs little padding."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from ...core import nest
from ...core.errors import InvalidArgumentError
from ...ops.declare.static import static_int, static_ints
from .batch import padded_shapes_of
from .elements import call, check_function

_OP = "Dataset.bucket_by_sequence_length"


class Buckets:
    """The lengths at which buckets begin, the sizes of their batches, and how these are padded."""

    def __init__(
        self,
        length_of: Callable[..., Any],
        boundaries: Any,
        batch_sizes: Any,
        padded_shapes: Any,
        pad_to_boundary: bool,
    ) -> None:
        check_function(length_of, _OP, "element_length_func")
        self._length_of = length_of
        self._boundaries = static_ints(boundaries, _OP, "bucket_boundaries")
        self._batch_sizes = static_ints(batch_sizes, _OP, "bucket_batch_sizes")
        self._padded_shapes = padded_shapes
        self._pads_to_boundary = pad_to_boundary
        if len(self._batch_sizes) != len(self._boundaries) + 1:
            raise ValueError(
                f"{_OP}: `bucket_batch_sizes` must have one entry more than `bucket_boundaries`, "
                "for what is longer than all of them. Received: "
                f"{list(self._batch_sizes)} and {list(self._boundaries)}."
            )

    def bucket_of(self, *element: Any) -> int:
        length = static_int(call(self._length_of, element), _OP, "element_length_func")
        return bisect_right(self._boundaries, length)

    def batch_size(self, bucket: Any) -> int:
        return self._batch_sizes[int(bucket)]

    def padded_shapes(self, bucket: Any, spec: Any) -> Any:
        """What elements of `spec` are padded to in this bucket; None stands for the longest one."""
        if not self._pads_to_boundary:
            return self._padded_shapes
        wanted = self._padded_shapes
        if wanted is None:
            wanted = nest.map_structure(lambda part: part.shape, spec)
        longest = self._longest(int(bucket))
        shapes = (
            [longest if dim is None else dim for dim in shape]
            for shape in padded_shapes_of(spec, wanted)
        )
        return nest.pack(spec, shapes)

    def _longest(self, bucket: int) -> int:
        if bucket == len(self._boundaries):
            raise InvalidArgumentError(
                f"{_OP}: with pad_to_bucket_boundary=True elements must be shorter than the "
                f"greatest of `bucket_boundaries`, {list(self._boundaries)}, and one is not. Add "
                "a boundary, or leave such elements out with filter."
            )
        return self._boundaries[bucket] - 1
