"""The methods that make a dataset of a dataset."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import chain, takewhile
from typing import Any, Self

import numpy as np

from ...core import nest
from ...core.errors import DTypeError, InvalidArgumentError, UnimplementedError
from ...core.tensor import Tensor
from ...ops._static import static_int
from ...core.dispatch import heard_by
from ...tape.type_specs import TensorSpec
from . import blocks as order
from .blocks import Block, Blocks
from .elements import as_element, called, is_dataset, like, returned, truth
from .entries import Entries, rows_of
from .merging import interleaved
from .padding import padded, padded_spec
from .prefetch import prefetched
from .seeds import generators
from .specs import DatasetSpec, batch_spec, common_spec, spec_of, unbatch_spec
from .stream import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Stream

AUTOTUNE = -1
_PREFETCHED_BY_DEFAULT = 2
_INTERLEAVED_BY_DEFAULT = 4


class Stages(Stream):
    """A stream with the methods of tf.data.Dataset."""

    # Choosing and ordering

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """The elements in random order, each drawn from the next `buffer_size` ones.

        A buffer that holds all (`buffer_size=len(dataset)`) makes every order equally likely; a
        smaller one moves an element forward by less than its size. Each iteration has another
        order, unless `reshuffle_each_iteration` is False; `seed`, or `tf.random.set_seed`, makes
        the sequence of orders the same in every run.
        """
        size = static_int(buffer_size, "Dataset.shuffle", "buffer_size")
        if size == UNKNOWN_CARDINALITY:
            size = sys.maxsize
        if size < 1:
            raise InvalidArgumentError(
                "Dataset.shuffle: `buffer_size` must be positive, or tf.data.UNKNOWN_CARDINALITY "
                f"to hold all elements. Received: {size}."
            )
        generator = generators(seed, "Dataset.shuffle", anew=reshuffle_each_iteration is not False)
        return self._ordered(
            lambda: order.shuffled(self._blocks(), size, generator()), self._cardinality
        )

    def repeat(self, count: Any = None, name: str | None = None) -> Self:
        """The dataset `count` times over; for ever if `count` is None or negative."""
        times = -1 if count is None else static_int(count, "Dataset.repeat", "count")
        if not times or not self._cardinality:
            cardinality = 0
        elif times < 0:
            cardinality = INFINITE_CARDINALITY
        else:
            cardinality = self._counted(lambda n: n * times)
        return self._ordered(
            lambda: order.repeated(self._blocks, None if times < 0 else times), cardinality
        )

    def take(self, count: Any, name: str | None = None) -> Self:
        """The first `count` elements; all of them if `count` is negative."""
        size = static_int(count, "Dataset.take", "count")
        if size < 0:
            return self
        endless = self._cardinality == INFINITE_CARDINALITY
        return self._ordered(
            lambda: order.taken(self._blocks(), size),
            size if endless else self._counted(lambda n: min(n, size)),
        )

    def skip(self, count: Any, name: str | None = None) -> Self:
        """The elements after the first `count`; none if `count` is negative."""
        size = static_int(count, "Dataset.skip", "count")
        if size < 0:
            return self.take(0)
        return self._ordered(
            lambda: order.skipped(self._blocks(), size), self._counted(lambda n: max(0, n - size))
        )

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Self:
        """Every `num_shards`-th element, from element `index` on."""
        shards = _positive(num_shards, "Dataset.shard", "num_shards")
        first = static_int(index, "Dataset.shard", "index")
        if not 0 <= first < shards:
            raise InvalidArgumentError(
                f"Dataset.shard: `index` must be from 0 to {shards - 1}. Received: {first}."
            )
        return self._ordered(
            lambda: order.sharded(self._blocks(), shards, first),
            self._counted(lambda n: len(range(first, n, shards))),
        )

    def cache(self, filename: str = "", name: str | None = None) -> Self:
        """The same elements, kept in memory by the first iteration that comes to its end."""
        if filename:
            raise UnimplementedError(
                "Dataset.cache: elements are kept in memory only; leave `filename` out."
            )
        kept: list[Block] = []

        def blocks() -> Blocks:
            if kept:
                yield from kept
                return
            passed = []
            for block in self._blocks():
                passed.append(block)
                yield block
            kept[:] = [order.joined(passed)]

        return self._ordered(blocks, self._cardinality)

    def concatenate(self, dataset: Stages, name: str | None = None) -> Self:
        """The elements of this dataset, then those of another."""
        if not is_dataset(dataset):
            raise TypeError(f"Dataset.concatenate: expected a dataset, not {dataset!r:.100}.")
        spec = common_spec([self.element_spec, dataset.element_spec])
        counts = {self._cardinality, dataset._cardinality}
        if INFINITE_CARDINALITY in counts:
            cardinality = INFINITE_CARDINALITY
        elif UNKNOWN_CARDINALITY in counts:
            cardinality = UNKNOWN_CARDINALITY
        else:
            cardinality = self._cardinality + dataset._cardinality
        return self._of_elements(
            lambda: chain(self._elements(), dataset._elements()), lambda: spec, cardinality
        )

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """The elements of which `predicate` is true."""
        op = "Dataset.filter"
        _check_function(predicate, op, "predicate")
        return self._some(lambda: (e for e in self._elements() if truth(called(predicate, e), op)))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """The elements before the first of which `predicate` is false."""
        op = "Dataset.take_while"
        _check_function(predicate, op, "predicate")
        return self._some(
            lambda: takewhile(lambda e: truth(called(predicate, e), op), self._elements())
        )

    def unique(self, name: str | None = None) -> Self:
        """Each element where it first comes. They must be tensors of int32, int64 or string."""
        spec = self.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype.name not in ("int32", "int64", "string"):
            raise DTypeError(
                "Dataset.unique: elements must be tensors of int32, int64 or string, and are "
                f"{spec!r}."
            )

        def elements() -> Iterator[Any]:
            seen = set()
            for element in self._elements():
                values = repr(np.asarray(element._array).tolist())
                if values not in seen:
                    seen.add(values)
                    yield element

        return self._some(elements)

    def _some(self, elements: Callable[[], Iterator[Any]]) -> Self:
        return self._of_elements(elements, lambda: self.element_spec, UNKNOWN_CARDINALITY)

    # Several elements in one

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """`batch_size` elements stacked into one along a new axis 0.

        The last batch is shorter where elements are left over; `drop_remainder` leaves it out.
        """
        size = _positive(batch_size, "Dataset.batch", "batch_size")
        return self._batches(
            size,
            drop_remainder,
            self._entries.many,
            lambda: batch_spec(self.element_spec, size if drop_remainder else None),
        )

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """`batch_size` elements in one, the shorter ones filled up to one shape.

        `padded_shapes` has a shape for each component, nested as the elements are, in which None
        is the length of the longest element of the batch; without it all dimensions are. The
        filling is zeros (empty strings), or `padding_values`: one for all, or one for each
        component.
        """
        size = _positive(batch_size, "Dataset.padded_batch", "batch_size")
        one = self._entries.one
        return self._batches(
            size,
            drop_remainder,
            lambda block: padded([one(entry) for entry in block], padded_shapes, padding_values),
            lambda: padded_spec(self.element_spec, padded_shapes, size if drop_remainder else None),
        )

    def _batches(
        self,
        size: int,
        drop_remainder: bool,
        stacked: Callable[[Block], Any],
        spec: Callable[[], Any],
    ) -> Self:
        return self._of_elements(
            lambda: map(stacked, order.batched(self._blocks(), size, drop_remainder)),
            spec,
            self._counted(lambda n: n // size if drop_remainder else -(-n // size)),
            self._at_hand,
        )

    def unbatch(self, name: str | None = None) -> Self:
        """The rows of the elements, one by one: the inverse of `batch`."""

        def elements() -> Iterator[Any]:
            for element in self._elements():
                rows = rows_of(element, "Dataset.unbatch")
                yield from map(rows.one, range(len(rows)))

        return self._of_elements(
            elements, lambda: unbatch_spec(self.element_spec), UNKNOWN_CARDINALITY
        )

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: Any = None) -> Self:
        """The rows of the elements in batches of another size."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Datasets of `size` elements each, `stride` apart, one beginning every `shift` elements.

        Where elements have several components, each has a dataset of its own.

        >>> series = tf.data.Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [w.numpy().tolist() for w in series.flat_map(lambda window: window.batch(3))]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        op = "Dataset.window"
        length, every = _positive(size, op, "size"), _positive(stride, op, "stride")
        step = length if shift is None else _positive(shift, op, "shift")
        reach = (length - 1) * every + 1

        def component(entries: Entries, block: Block) -> Self:
            spec = lambda: spec_of(entries.one(block[0]))  # noqa: E731
            return type(self)(lambda: iter([block]), entries, spec, len(block), at_hand=True)

        def windows() -> Iterator[Any]:
            for block in order.windows(self._blocks(), length, step, every, drop_remainder):
                yield self._entries.components(block, component)

        return self._of_elements(
            windows,
            lambda: nest.map_structure(DatasetSpec, self.element_spec),
            self._counted(
                lambda n: max(0, (n - reach) // step + 1) if drop_remainder else -(-n // step)
            ),
        )

    # Functions of elements

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Self:
        """What `map_func` makes of each element; a tuple is given as several arguments.

        It runs for one element after the other, whatever `num_parallel_calls` says.
        """
        op = "Dataset.map"
        _check_function(map_func, op, "map_func")

        def result(element: Any) -> Any:
            return returned(called(map_func, element), op)

        return self._of_elements(
            lambda: map(result, self._elements()),
            lambda: self._spec_of_results(result),
            self._cardinality,
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Self:
        """The elements of all the datasets that `map_func` makes of the elements, in order."""
        return self._interleaved(map_func, 1, 1, "Dataset.flat_map")

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """The elements of the datasets that `map_func` makes of the elements, in turns.

        `cycle_length` datasets (4 by default) take turns of `block_length` elements (1).
        """
        op = "Dataset.interleave"
        if cycle_length is None or cycle_length == AUTOTUNE:
            cycle_length = _INTERLEAVED_BY_DEFAULT
        cycle = _positive(cycle_length, op, "cycle_length")
        length = 1 if block_length is None else _positive(block_length, op, "block_length")
        return self._interleaved(map_func, cycle, length, op)

    def _interleaved(self, map_func: Any, cycle_length: int, block_length: int, op: str) -> Self:
        _check_function(map_func, op, "map_func")

        def result(element: Any) -> Self:
            return _check_dataset(called(map_func, element), op, "map_func")

        def elements() -> Iterator[Any]:
            streams = (result(element)._elements() for element in self._elements())
            return interleaved(streams, cycle_length, block_length)

        return self._of_elements(
            elements, lambda: self._spec_of_results(result).element_spec, UNKNOWN_CARDINALITY
        )

    def scan(
        self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None
    ) -> Self:
        """The outputs of `state, output = scan_func(state, element)` along the elements."""
        op = "Dataset.scan"
        _check_function(scan_func, op, "scan_func")
        initial = as_element(initial_state, op)

        def step(state: Any, element: Any) -> tuple[Any, Any]:
            pair = scan_func(state, element)
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(
                    f"{op}: `scan_func` must return a pair (new state, output), and returned "
                    f"{pair!r:.100}."
                )
            return like(state, pair[0], op), returned(pair[1], op)

        def outputs() -> Iterator[Any]:
            state = initial
            for element in self._elements():
                state, output = step(state, element)
                yield output

        return self._of_elements(
            outputs,
            lambda: self._spec_of_results(lambda element: step(initial, element)[1]),
            self._cardinality,
        )

    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """The last state of `state = reduce_func(state, element)` along the elements."""
        op = "Dataset.reduce"
        _check_function(reduce_func, op, "reduce_func")
        state = as_element(initial_state, op)
        with heard_by([]):
            for element in self._elements():
                state = like(state, reduce_func(state, element), op)
        return state

    def enumerate(self, start: Any = 0, name: str | None = None) -> Self:
        """Pairs of a number, counted from `start` in int64, and an element."""
        first = static_int(start, "Dataset.enumerate", "start")
        return self._of_elements(
            lambda: ((_int64(n), element) for n, element in enumerate(self._elements(), first)),
            lambda: (spec_of(_int64(0)), self.element_spec),
            self._cardinality,
        )

    # Running

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Self:
        """The same elements, up to `buffer_size` of them made ahead by a thread.

        AUTOTUNE makes two ahead, and none where rows in memory only have to be cut out: that takes
        less time than to hand them from thread to thread.
        """
        ahead = static_int(buffer_size, "Dataset.prefetch", "buffer_size")
        if ahead == AUTOTUNE:
            ahead = 0 if self._at_hand else _PREFETCHED_BY_DEFAULT
        if ahead < 0:
            raise InvalidArgumentError(
                f"Dataset.prefetch: `buffer_size` must be >= 0 or tf.data.AUTOTUNE, not {ahead}."
            )
        if not ahead:
            return self
        return self._of_elements(
            lambda: prefetched(self._elements, ahead), lambda: self.element_spec, self._cardinality
        )

    def apply(self, transformation_func: Callable[[Self], Any], name: Any = None) -> Self:
        """`transformation_func(self)`, which must be a dataset."""
        return _check_dataset(transformation_func(self), "Dataset.apply", "transformation_func")


def cardinality(dataset: Stages) -> Tensor:
    """`dataset.cardinality()`."""
    return dataset.cardinality()


def assert_cardinality(expected_cardinality: Any) -> Callable[[Stages], Stages]:
    """For `apply`: the same elements, known to be so many; an error if they turn out not to be."""
    expected = static_int(expected_cardinality, "assert_cardinality", "expected_cardinality")
    return lambda dataset: dataset._ordered(
        lambda: order.exactly(dataset._blocks(), expected), expected
    )


def _int64(value: int) -> Tensor:
    return Tensor(np.asarray(value, np.int64))


def _positive(value: Any, op: str, name: str) -> int:
    number = static_int(value, op, name)
    if number < 1:
        raise InvalidArgumentError(f"{op}: `{name}` must be greater than zero. Received: {number}.")
    return number


def _check_function(fn: Any, op: str, name: str) -> None:
    if not callable(fn):
        raise DTypeError(f"{op}: `{name}` must be a function, not {fn!r:.100}.")


def _check_dataset(value: Any, op: str, fn: str) -> Any:
    if not is_dataset(value):
        raise TypeError(f"{op}: `{fn}` must return a dataset, and returned {value!r:.100}.")
    return value
