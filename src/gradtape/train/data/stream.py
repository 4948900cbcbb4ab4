"""What a dataset is: blocks of entries, how they become elements, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator as PythonIterator
from functools import cached_property
from typing import Any

import numpy as np

from ...core import nest
from ...core.dispatch import recorders
from ...core.errors import InvalidArgumentError, OutOfRangeError
from ...core.tensor import Tensor
from ...tape.sparse import _unheard
from .blocks import Block, Blocks
from .entries import Elements, Entries
from .options import Options
from .specs import spec_of, spec_of_results

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


class Iterator:
    """The elements of one pass through a dataset. What makes them is out of sight of all tapes."""

    def __init__(self, dataset: Stream) -> None:
        self._dataset = dataset
        self._elements = dataset._elements()

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        if recorders():
            with _unheard():
                return next(self._elements)
        return next(self._elements)

    def get_next(self, name: str | None = None) -> Any:
        """The next element; at the end an OutOfRangeError, where `next` raises StopIteration."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("get_next: this was the last element.") from None

    @property
    def element_spec(self) -> Any:
        return self._dataset.element_spec


class Stream:
    """Elements that can be iterated over again and again."""

    def __init__(
        self,
        blocks: Callable[[], Blocks],
        entries: Entries,
        spec: Callable[[], Any],
        cardinality: int,
    ) -> None:
        """`blocks()` begins an iteration, whose blocks hold what `entries` makes elements of."""
        self._blocks = blocks
        self._entries = entries
        self._spec = spec
        self._cardinality = cardinality
        self._options: Options | None = None

    @classmethod
    def _of_elements(
        cls, elements: Callable[[], PythonIterator[Any]], spec: Callable[[], Any], cardinality: int
    ) -> Dataset:
        """A dataset whose elements are made one by one."""
        return cls(lambda: ([e] for e in elements()), Elements(), spec, cardinality)

    def _ordered(self, blocks: Callable[[], Blocks], cardinality: int) -> Dataset:
        """A dataset of the same entries in another order, or of some of them."""
        return Dataset(blocks, self._entries, lambda: self.element_spec, cardinality)

    def _elements(self) -> PythonIterator[Any]:
        one = self._entries.one
        return (one(entry) for block in self._blocks() for entry in block)

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        if recorders():
            with _unheard():
                return next(self._elements)
        return next(self._elements)

    def get_next(self, name: str | None = None) -> Any:
        """The next element; at the end an OutOfRangeError, where `next` raises StopIteration."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("get_next: this was the last element.") from None

    @property
    def element_spec(self) -> Any:
        return self._dataset.element_spec


class Dataset:
    """A stream of elements: tensors, or tuples and dicts of them.

    >>> pairs = Dataset.from_tensor_slices(([1, 2, 3, 4], [True, False, True, False]))
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

    def __init__(
        self,
        blocks: Callable[[], Blocks],
        entries: Entries,
        spec: Callable[[], Any],
        cardinality: int,
    ) -> None:
        """`blocks()` begins an iteration, whose blocks hold what `entries` makes elements of."""
        self._blocks = blocks
        self._entries = entries
        self._spec = spec
        self._cardinality = cardinality
        self._options: Options | None = None

    @classmethod
    def _of_elements(
        cls, elements: Callable[[], PythonIterator[Any]], spec: Callable[[], Any], cardinality: int
    ) -> Dataset:
        """A dataset whose elements are made one by one."""
        return cls(lambda: ([e] for e in elements()), Elements(), spec, cardinality)

    def _ordered(self, blocks: Callable[[], Blocks], cardinality: int) -> Dataset:
        """A dataset of the same entries in another order, or of some of them."""
        return Dataset(blocks, self._entries, lambda: self.element_spec, cardinality)

    def _elements(self) -> PythonIterator[Any]:
        one = self._entries.one
        return (one(entry) for block in self._blocks() for entry in block)

    # Sources

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of `tensors` (slices along axis 0), which must be equally many in all of them.

        >>> Dataset.from_tensor_slices({"x": [1, 2], "y": [[3, 4], [5, 6]]}).element_spec["y"].shape
        TensorShape([2])
        """
        element = as_element(tensors, "Dataset.from_tensor_slices")
        rows = rows_of(element, "Dataset.from_tensor_slices")
        spec = unbatch_spec(spec_of(element))
        return Dataset(rows.in_order, rows, lambda: spec, len(rows))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element: `tensors`."""
        element = as_element(tensors, "Dataset.from_tensors")
        return Dataset._of_elements(lambda: iter([element]), lambda: spec_of(element), 1)

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

        `output_signature` says what comes: a TensorSpec, or a tuple or dict of them. (Older
        programs give dtypes and shapes apart.) What is yielded is converted to these dtypes.
        """
        if not callable(generator):
            raise TypeError(
                "Dataset.from_generator: `generator` must be a function that returns an iterable, "
                f"not {generator!r:.100}. Wrap what can be iterated over in a lambda."
            )
        spec = signature(output_signature, output_types, output_shapes)
        make = partial(generated, generator, args, spec)
        return Dataset._of_elements(make, lambda: spec, UNKNOWN_CARDINALITY)

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """The integers of Python's `range(*args)`, in int64 or the dtype `output_type`."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Dataset.range: takes 1 to 3 integers, and received {args!r}.")
        dtype = as_dtype(kwargs.pop("output_type", int64))
        kwargs.pop("name", None)
        if kwargs:
            raise TypeError(f"Dataset.range: there is no argument {next(iter(kwargs))!r}.")
        bounds = [static_int(arg, "Dataset.range", "args") for arg in args]
        if bounds[2:] == [0]:
            raise InvalidArgumentError("Dataset.range: the step must not be zero.")
        numbers = range(*bounds)
        return Dataset(
            lambda: iter([numbers]), Numbers(dtype), lambda: TensorSpec([], dtype), len(numbers)
        )

    @staticmethod
    def counter(start: int = 0, step: int = 1, dtype: Any = int64, name: Any = None) -> Dataset:
        """The integers from `start` on, `step` apart, without end."""
        dtype = as_dtype(dtype)
        bounds = [
            static_int(start, "Dataset.counter", "start"),
            static_int(step, "Dataset.counter", "step"),
        ]
        return Dataset(
            lambda: order.counting(*bounds),
            Numbers(dtype),
            lambda: TensorSpec([], dtype),
            INFINITE_CARDINALITY,
        )

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: bool = False, name: str | None = None
    ) -> Dataset:
        """Random integers from [0, 2**32), without end; the same ones in each iteration."""
        begin = _beginnings(seed, "Dataset.random", bool(rerandomize_each_iteration))

        def blocks() -> Blocks:
            random = begin()
            while True:
                yield random.integers(2**32, size=1024)

        return Dataset(blocks, Numbers(int64), lambda: TensorSpec([], int64), INFINITE_CARDINALITY)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, as many as the shortest has.

        `zip(a, b)` and `zip((a, b))` give pairs; a dict of datasets gives dicts.
        """
        if datasets is not None:
            args = (datasets,)
        if not args:
            raise TypeError("Dataset.zip: pass at least one dataset.")
        structure = args if len(args) > 1 else args[0]
        parts = nest.flatten(structure)
        if not parts or not all(map(is_dataset, parts)) or _holds_list(structure):
            raise TypeError(
                "Dataset.zip: expected datasets, in tuples or dicts (a list is not a structure "
                f"here). Received: {structure!r:.200}."
            )
        if all(isinstance(d._entries, Rows) and d._blocks == d._entries.in_order for d in parts):
            return _zipped_rows(structure, parts)
        return Dataset._of_elements(
            lambda: (
                nest.pack(structure, iter(elements))
                for elements in zip(*[d._elements() for d in parts], strict=False)
            ),
            lambda: nest.map_structure(lambda d: d.element_spec, structure),
            _least([d._cardinality for d in parts]),
        )

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """The next element of the one of `datasets` that each element of `choice_dataset` names."""
        parts = _several(datasets, "Dataset.choose_from_datasets")
        if choice_dataset.element_spec != TensorSpec([], int64):
            raise TypeError(
                "Dataset.choose_from_datasets: the elements of `choice_dataset` must be int64 "
                f"scalars, and are {choice_dataset.element_spec!r}."
            )
        return Dataset._chosen(
            parts, lambda: map(int, choice_dataset._elements()), stop_on_empty_dataset
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
        chances = np.ones(len(parts)) if weights is None else np.asarray(weights, np.float64)
        if chances.shape != (len(parts),) or (chances < 0).any() or not chances.any():
            raise ValueError(
                f"{op}: `weights` must be {len(parts)} numbers, one for each dataset, not negative "
                f"and not all zero. Received: {weights!r}."
            )
        parts = [part for part, chance in zip(parts, chances, strict=True) if chance]
        chances = chances[chances > 0]
        begin = _beginnings(seed, op, rerandomize_each_iteration is not False)
        return Dataset._chosen(parts, lambda: weighted(chances, begin), stop_on_empty_dataset)

    @staticmethod
    def _chosen(
        parts: list[Dataset], choices: Callable[[], PythonIterator[int]], stop_on_empty: bool
    ) -> Dataset:
        return Dataset._of_elements(
            lambda: chosen([d._elements() for d in parts], choices(), stop_on_empty),
            lambda: common_spec([d.element_spec for d in parts]),
            UNKNOWN_CARDINALITY,
        )

    # Choosing and ordering elements

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements in random order, each drawn from the next `buffer_size` ones.

        A buffer that holds all (`buffer_size=len(dataset)`) makes every order equally likely; a
        smaller one only moves an element forward by less than its size. Each iteration has
        another order, unless `reshuffle_each_iteration` is False; `seed` (or
        `tf.random.set_seed`) makes the sequence of orders the same in every run.
        """
        size = static_int(buffer_size, "Dataset.shuffle", "buffer_size")
        if size < 1 and size != UNKNOWN_CARDINALITY:
            raise InvalidArgumentError(
                f"Dataset.shuffle: `buffer_size` must be positive, or tf.data.UNKNOWN_CARDINALITY "
                f"to hold all elements. Received: {size}."
            )
        size = sys.maxsize if size == UNKNOWN_CARDINALITY else size
        begin = _beginnings(seed, "Dataset.shuffle", reshuffle_each_iteration is not False)
        return self._ordered(
            lambda: order.shuffled(self._blocks(), size, begin()), self._cardinality
        )

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """The dataset `count` times over; for ever if `count` is None or negative."""
        times = None if count is None else static_int(count, "Dataset.repeat", "count")
        times = None if times is not None and times < 0 else times
        n = self._cardinality
        if times == 0 or n == 0:
            n = 0
        elif times is None:
            n = INFINITE_CARDINALITY
        elif n > 0:
            n *= times
        return self._ordered(lambda: order.repeated(self._blocks, times), n)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first `count` elements; all of them if `count` is negative."""
        size = static_int(count, "Dataset.take", "count")
        if size < 0:
            return self
        n = self._cardinality
        n = size if n == INFINITE_CARDINALITY or size == 0 else min(n, size)
        return self._ordered(lambda: order.taken(self._blocks(), size), n)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """The elements after the first `count`; none if `count` is negative."""
        size = static_int(count, "Dataset.skip", "count")
        if size < 0:
            return self.take(0)
        return self._ordered(
            lambda: order.skipped(self._blocks(), size), self._counted(lambda n: max(0, n - size))
        )

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
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

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same elements, kept in memory by the first iteration that comes to its end."""
        if filename:
            raise UnimplementedError(
                "Dataset.cache: elements are cached in memory; leave `filename` out."
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

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, then those of another."""
        spec = common_spec([self.element_spec, dataset.element_spec])
        n = [self._cardinality, dataset._cardinality]
        total = sum(n) if min(n) >= 0 else INFINITE_CARDINALITY if -1 in n else UNKNOWN_CARDINALITY
        return Dataset._of_elements(
            lambda: chain(self._elements(), dataset._elements()), lambda: spec, total
        )

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of which `predicate` is true."""
        op = "Dataset.filter"
        _function(predicate, op, "predicate")
        return self._some_elements(
            lambda: (e for e in self._elements() if truth(called(predicate, e), op))
        )

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first of which `predicate` is false."""
        op = "Dataset.take_while"
        _function(predicate, op, "predicate")
        return self._some_elements(
            lambda: takewhile(lambda e: truth(called(predicate, e), op), self._elements())
        )

    def unique(self, name: str | None = None) -> Dataset:
        """The elements without those that came before: scalars, int32, int64 or strings."""
        spec = self.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype.name not in ("int32", "int64", "string"):
            raise DTypeError(
                "Dataset.unique: elements must be tensors of int32, int64 or string, and are "
                f"{spec!r}."
            )

        def elements() -> PythonIterator[Any]:
            seen = set()
            for element in self._elements():
                key = str(np.asarray(element._array).tolist())
                if key not in seen:
                    seen.add(key)
                    yield element

        return self._some_elements(elements)

    def _some_elements(self, elements: Callable[[], PythonIterator[Any]]) -> Dataset:
        return Dataset._of_elements(elements, lambda: self.element_spec, UNKNOWN_CARDINALITY)

    # Several elements in one

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """`batch_size` elements stacked into one along a new axis 0.

        The last batch is shorter where elements are left over, unless `drop_remainder`.
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
    ) -> Dataset:
        """`batch_size` elements in one, where the shorter ones are filled up to one shape.

        `padded_shapes` has a shape for each component, nested as the elements are, where None is
        the length of the longest element of the batch; without it all dimensions are. The filling
        is zeros (empty strings), or `padding_values`: one for all, or one for each component.
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
        joined: Callable[[Block], Any],
        spec: Callable[[], Any],
    ) -> Dataset:
        return Dataset._of_elements(
            lambda: map(joined, order.batched(self._blocks(), size, bool(drop_remainder))),
            spec,
            self._counted(lambda n: n // size if drop_remainder else -(-n // size)),
        )

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of the elements, one by one: the inverse of `batch`."""

        def elements() -> PythonIterator[Any]:
            for element in self._elements():
                rows = rows_of(element, "Dataset.unbatch")
                yield from map(rows.one, range(len(rows)))

        return Dataset._of_elements(
            elements, lambda: unbatch_spec(self.element_spec), UNKNOWN_CARDINALITY
        )

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: Any = None) -> Dataset:
        """Batches of another size."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Datasets of `size` elements each, `stride` apart, beginning every `shift` elements.

        Where elements have several components, each has its own dataset.

        >>> series = Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [w.numpy().tolist() for w in series.flat_map(lambda window: window.batch(3))]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        op = "Dataset.window"
        length, every = _positive(size, op, "size"), _positive(stride, op, "stride")
        step = length if shift is None else _positive(shift, op, "shift")
        reach = (length - 1) * every + 1

        def windows() -> PythonIterator[Any]:
            found = order.windows(self._blocks(), length, step, every, bool(drop_remainder))
            return map(self._window, found)

        return Dataset._of_elements(
            windows,
            lambda: nest.map_structure(DatasetSpec, self.element_spec),
            self._counted(
                lambda n: max(0, (n - reach) // step + 1) if drop_remainder else -(-n // step)
            ),
        )

    def _window(self, block: Block) -> Any:
        def one_component(entries: Entries, block: Block) -> Dataset:
            return Dataset(
                lambda: iter([block]), entries, lambda: spec_of(entries.one(block[0])), len(block)
            )

        return self._entries.components(block, one_component)

    # Functions of elements

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """What `map_func` makes of each element; a tuple is given as several arguments.

        The elements are mapped in order, one at a time, whatever `num_parallel_calls` says.
        """
        op = "Dataset.map"
        _function(map_func, op, "map_func")

        def result(element: Any) -> Any:
            return returned(called(map_func, element), op)

        return Dataset._of_elements(
            lambda: map(result, self._elements()),
            self._spec_of_results(result),
            self._cardinality,
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of all datasets that `map_func` makes of the elements, one by one."""
        return self._interleaved(map_func, 1, 1, "Dataset.flat_map")

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the datasets that `map_func` makes of the elements, some from each.

        `cycle_length` datasets (4, if it is not given) take turns of `block_length` elements (1).
        """
        op = "Dataset.interleave"
        automatic = cycle_length is None or cycle_length == AUTOTUNE
        cycle = _INTERLEAVED_BY_DEFAULT if automatic else _positive(cycle_length, op, "cycle_length")
        length = 1 if block_length is None else _positive(block_length, op, "block_length")
        return self._interleaved(map_func, cycle, length, op)

    def _interleaved(
        self, map_func: Callable[..., Any], cycle_length: int, block_length: int, op: str
    ) -> Dataset:
        _function(map_func, op, "map_func")

        def result(element: Any) -> Dataset:
            dataset = called(map_func, element)
            if not is_dataset(dataset):
                raise TypeError(
                    f"{op}: `map_func` must return a dataset, and returned {dataset!r:.100}."
                )
            return dataset

        return Dataset._of_elements(
            lambda: interleaved(
                (result(e)._elements() for e in self._elements()), cycle_length, block_length
            ),
            lambda: spec_of_results(result, self.element_spec).element_spec,
            UNKNOWN_CARDINALITY,
        )

    def scan(
        self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None
    ) -> Dataset:
        """What `scan_func(state, element)` returns besides the next state, for each element."""
        op = "Dataset.scan"
        _function(scan_func, op, "scan_func")
        initial = as_element(initial_state, op)

        def step(state: Any, element: Any) -> tuple[Any, Any]:
            pair = scan_func(state, element)
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(
                    f"{op}: `scan_func` must return a pair (new state, output), and returned "
                    f"{pair!r:.100}."
                )
            return _like(state, pair[0], op, "scan_func"), returned(pair[1], op)

        def elements() -> PythonIterator[Any]:
            state = initial
            for element in self._elements():
                state, output = step(state, element)
                yield output

        return Dataset._of_elements(
            elements,
            self._spec_of_results(lambda element: step(initial, element)[1]),
            self._cardinality,
        )

    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """The last state of `state = reduce_func(state, element)` over all elements."""
        op = "Dataset.reduce"
        _function(reduce_func, op, "reduce_func")
        state = as_element(initial_state, op)
        with _unheard():
            for element in self._elements():
                state = _like(state, reduce_func(state, element), op, "reduce_func")
        return state

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of a number, counted from `start` in int64, and an element."""
        first = static_int(start, "Dataset.enumerate", "start")
        return Dataset.zip(Dataset.counter(first), self)

    # Running

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements, up to `buffer_size` of them made ahead by a thread."""
        size = static_int(buffer_size, "Dataset.prefetch", "buffer_size")
        if size < 0 and size != AUTOTUNE:
            raise InvalidArgumentError(
                f"Dataset.prefetch: `buffer_size` must be >= 0 or tf.data.AUTOTUNE, not {size}."
            )
        ahead = _PREFETCHED_BY_DEFAULT if size == AUTOTUNE else size
        if not ahead:
            return self
        return Dataset._of_elements(
            lambda: prefetched(self._elements, ahead), lambda: self.element_spec, self._cardinality
        )

    def apply(self, transformation_func: Callable[[Dataset], Any], name: Any = None) -> Dataset:
        """`transformation_func(self)`, which must be a dataset."""
        dataset = transformation_func(self)
        if not is_dataset(dataset):
            raise TypeError(
                "Dataset.apply: `transformation_func` must return a dataset, and returned "
                f"{dataset!r:.100}."
            )
        return dataset

    def options(self) -> Options:
        return self._options or Options()

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same elements; see Options."""
        same = self._ordered(self._blocks, self._cardinality)
        same._options = options
        return same

    def __iter__(self) -> Iterator:
        return Iterator(self)

    def as_numpy_iterator(self) -> PythonIterator[Any]:
        """The elements as NumPy arrays and scalars."""
        return (nest.map_structure(lambda x: x.numpy(), element) for element in self)

    def get_single_element(self, name: str | None = None) -> Any:
        """The element of a dataset that has just one."""
        found = list(self.take(2))
        if len(found) != 1:
            raise InvalidArgumentError(
                "Dataset.get_single_element: there must be one element, and there "
                f"{'are more' if found else 'is none'}."
            )
        return found[0]

    def options(self) -> Options:
        return self._options or Options()

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same elements; see Options."""
        same = self._ordered(self._blocks, self._cardinality)
        same._options = options
        return same

    # What is known beforehand

    @cached_property
    def element_spec(self) -> Any:
        """The structure, shapes and dtypes of the elements, as TensorSpecs.

        To know what a function returns, it is run on zeros (on the first element, where it cannot
        take those).
        """
        return self._spec()

    def _spec_of_results(self, fn: Callable[[Any], Any]) -> Callable[[], Any]:
        """Finds the spec of `fn(element)` for the elements of this dataset."""

        def find() -> Any:
            try:
                return spec_of_results(fn, self.element_spec)
            except Exception:
                return spec_of(fn(next(self._elements())))

        return find

    def cardinality(self, name: str | None = None) -> Tensor:
        """The number of elements, or tf.data.INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        return Tensor(np.asarray(self._cardinality, np.int64))

    def __len__(self) -> int:
        if self._cardinality < 0:
            endless = self._cardinality == INFINITE_CARDINALITY
            raise TypeError(
                f"The dataset {'is infinite' if endless else 'length is unknown'}: it has no len()."
            )
        return self._cardinality

    def __bool__(self) -> bool:
        return True  # as in TensorFlow; not whether there are elements

    def _counted(self, size: Callable[[int], int]) -> int:
        """`size(cardinality)`, where the cardinality is known and finite."""
        return self._cardinality if self._cardinality < 0 else size(self._cardinality)

    def __repr__(self) -> str:
        return f"<Dataset element_spec={self.element_spec!r}>"


