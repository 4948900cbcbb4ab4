"""Dataset: where elements come from. What can be done with them is in stages.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ...core import nest
from ...core.dtypes import as_dtype, int64
from ...core.errors import InvalidArgumentError
from ...ops._static import static_int
from ...tape.type_specs import TensorSpec
from . import blocks as order
from .blocks import Blocks
from .elements import as_element, is_dataset
from .entries import Numbers, Rows, rows_of
from .generator import generated, signature
from .merging import chosen, weighted
from .seeds import generators
from .specs import common_spec, spec_of, unbatch_spec
from .stages import Stages
from .stream import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY


class Dataset(Stages):
    """A stream of elements: tensors, or tuples and dicts of them.

    >>> pairs = tf.data.Dataset.from_tensor_slices(([1, 2, 3, 4], [True, False, True, False]))
    >>> for x, y in pairs.map(lambda x, y: (10 * x, y)).batch(2):
    ...     print(x.numpy(), y.numpy())
    [10 20] [ True False]
    [30 40] [ True False]

    Each method gives a new dataset; nothing is computed before it is iterated over, and each
    iteration begins anew. Slices of arrays in memory stay numbers of rows through shuffle, repeat,
    take, skip and shard: `batch` then cuts out all rows of a batch at once. Functions run in the
    thread that iterates, one element after the other (`prefetch` gives them a thread), and are
    seen by no tape: elements are constants.
    """

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of `tensors` (slices along axis 0), equally many in all of them.

        >>> rows = tf.data.Dataset.from_tensor_slices({"x": [1, 2], "y": [[3, 4], [5, 6]]})
        >>> rows.element_spec["y"]
        TensorSpec(shape=(2,), dtype=tf.int32, name=None)
        """
        element = as_element(tensors, "Dataset.from_tensor_slices")
        return _in_memory(rows_of(element, "Dataset.from_tensor_slices"))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element: `tensors`."""
        element = as_element(tensors, "Dataset.from_tensors")
        return Dataset._of_elements(lambda: iter([element]), lambda: spec_of(element), 1, True)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What `generator(*args)` yields; it is called anew for each iteration.

        `output_signature` says what comes: a TensorSpec, or a tuple or dict of them; older
        programs give dtypes and shapes apart. What is yielded is converted to these dtypes.
        """
        if not callable(generator):
            raise TypeError(
                "Dataset.from_generator: `generator` must be a function that returns an iterable, "
                f"not {generator!r:.100}. Wrap it in a lambda."
            )
        spec = signature(output_signature, output_types, output_shapes)
        return Dataset._of_elements(
            partial(generated, generator, args, spec), lambda: spec, UNKNOWN_CARDINALITY
        )

    @staticmethod
    def range(*args: Any, output_type: Any = int64, name: str | None = None) -> Dataset:
        """The integers of Python's `range(*args)`, in the dtype `output_type`."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Dataset.range: takes 1 to 3 integers, and received {args!r}.")
        bounds = [static_int(arg, "Dataset.range", "args") for arg in args]
        if bounds[2:] == [0]:
            raise InvalidArgumentError("Dataset.range: the step must not be zero.")
        integers = range(*bounds)
        return _of_numbers(lambda: iter([integers]), output_type, len(integers))

    @staticmethod
    def counter(
        start: Any = 0, step: Any = 1, dtype: Any = int64, name: str | None = None
    ) -> Dataset:
        """The integers from `start` on, `step` apart, without end."""
        first = static_int(start, "Dataset.counter", "start")
        every = static_int(step, "Dataset.counter", "step")
        return _of_numbers(lambda: order.counting(first, every), dtype, INFINITE_CARDINALITY)

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Random integers from [0, 2**32), without end; the same ones in each iteration."""
        generator = generators(seed, "Dataset.random", anew=bool(rerandomize_each_iteration))

        def blocks() -> Blocks:
            random = generator()
            while True:
                yield random.integers(2**32, size=1024)

        return _of_numbers(blocks, int64, INFINITE_CARDINALITY)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, as many as the shortest has.

        `zip(a, b)` and `zip((a, b))` give pairs; a dict of datasets gives dicts.
        """
        structure = datasets if not args else args if len(args) > 1 else args[0]
        parts = nest.flatten(structure)
        if not parts or not all(map(is_dataset, parts)) or _holds_list(structure):
            raise TypeError(
                "Dataset.zip: expected datasets, one or in tuples and dicts (a list is not a "
                f"structure here). Received: {structure!r:.200}."
            )
        if all(isinstance(d._entries, Rows) and d._blocks == d._entries.in_order for d in parts):
            least = min(len(d._entries) for d in parts)
            arrays = (d._entries.first(least) for d in parts)
            return _in_memory(Rows(nest.pack(structure, arrays)))
        counts = [d._cardinality for d in parts if d._cardinality != INFINITE_CARDINALITY]
        return Dataset._of_elements(
            lambda: (
                nest.pack(structure, iter(elements))
                for elements in zip(*[d._elements() for d in parts], strict=False)
            ),
            lambda: nest.map_structure(lambda d: d.element_spec, structure),
            min(counts, default=INFINITE_CARDINALITY),
        )

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """The next element of the one of `datasets` that each element of `choice_dataset` names."""
        if choice_dataset.element_spec != TensorSpec([], int64):
            raise TypeError(
                "Dataset.choose_from_datasets: the elements of `choice_dataset` must be int64 "
                f"scalars, and are {choice_dataset.element_spec!r}."
            )
        return _chosen(
            _several(datasets, "Dataset.choose_from_datasets"),
            lambda: map(int, choice_dataset._elements()),
            stop_on_empty_dataset,
        )

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Each element the next one of a dataset drawn at random, with `weights` as chances."""
        op = "Dataset.sample_from_datasets"
        parts = _several(datasets, op)
        chances = np.asarray([1.0] * len(parts) if weights is None else weights, np.float64)
        if chances.shape != (len(parts),) or chances.min() < 0 or not chances.any():
            raise ValueError(
                f"{op}: `weights` must be {len(parts)} numbers, one for each dataset, not negative "
                f"and not all zero. Received: {weights!r}."
            )
        generator = generators(seed, op, anew=rerandomize_each_iteration is not False)
        possible = np.flatnonzero(chances)
        return _chosen(
            [parts[i] for i in possible],
            lambda: weighted(chances[possible] / chances.sum(), generator()),
            stop_on_empty_dataset,
        )


def _in_memory(rows: Rows) -> Dataset:
    spec = unbatch_spec(nest.map_structure(TensorSpec.from_tensor, rows.arrays))
    return Dataset(rows.in_order, rows, lambda: spec, len(rows), at_hand=True)


def _of_numbers(blocks: Callable[[], Blocks], dtype: Any, cardinality: int) -> Dataset:
    wanted = as_dtype(dtype)
    spec = TensorSpec([], wanted)
    return Dataset(blocks, Numbers(wanted), lambda: spec, cardinality, at_hand=True)


def _chosen(
    datasets: list[Dataset], choices: Callable[[], Iterator[int]], stop_on_empty: bool
) -> Dataset:
    return Dataset._of_elements(
        lambda: chosen([d._elements() for d in datasets], choices(), stop_on_empty),
        lambda: common_spec([d.element_spec for d in datasets]),
        UNKNOWN_CARDINALITY,
    )


def _several(datasets: Any, op: str) -> list[Dataset]:
    found = list(datasets)
    if not found or not all(map(is_dataset, found)):
        raise ValueError(
            f"{op}: `datasets` must be a list of datasets. Received: {datasets!r:.200}."
        )
    return found


def _holds_list(structure: Any) -> bool:
    if isinstance(structure, Mapping):
        structure = tuple(structure.values())
    return isinstance(structure, list) or (
        isinstance(structure, tuple) and any(map(_holds_list, structure))
    )
