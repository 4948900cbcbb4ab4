"""Dataset: the sources and stages of tf.data, each a method; see the package for the idea."""

from __future__ import annotations

from collections.abc import Callable, Iterator as PythonIterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import nest
from ...core.dtypes import as_dtype, int64
from ...core.errors import InvalidArgumentError, UnimplementedError
from ...core.tensor import Tensor
from ...ops.declare.static import static_int
from ...tape.type_specs import TensorSpec
from . import blocks
from .base import AUTOTUNE, BaseDataset, BaseDatasetSpec
from .batch import pad, padded_spec, rows_spec, stack_rows
from .blocks import Block, Blocks
from .buckets import Buckets
from .cardinality import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .element_spec import batch_spec, common_spec, spec_of, unbatch_spec
from .elements import (
    as_answer,
    as_element,
    as_integer,
    as_result,
    call,
    check_can_be_unique,
    check_dataset,
    check_datasets,
    check_function,
    holds_list,
    positive_int,
    scan,
    those,
    those_before,
    unique,
    window_sizes,
    without_failures,
)
from .entries import Entries, Numbers, Rows, rows_of, slices_of, unbatch
from .failures import attempting, made
from .files import paths_of
from .from_generator import generate, signature_of
from .interleave import as_chances, choose, draw_choices, group_by_key, interleave, side_by_side
from .seeds import Generators
from .shuffle import as_buffer_size, random_numbers, shuffle

if TYPE_CHECKING:
    from ...core.annotations import AnyFunction

_INTERLEAVED_BY_DEFAULT = 4


class Dataset(BaseDataset):
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

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    # Sources

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of `tensors` (slices along axis 0), equally many in all of them.

        >>> rows = tf.data.Dataset.from_tensor_slices({"x": [1, 2], "y": [[3, 4], [5, 6]]})
        >>> rows.element_spec["y"]
        TensorSpec(shape=(2,), dtype=tf.int32, name=None)
        """
        op = "Dataset.from_tensor_slices"
        element = as_element(tensors, op)
        slices = slices_of(element, op)
        if slices is None:
            return _of_rows(rows_of(element, op))
        spec = lambda: unbatch_spec(spec_of(element))  # noqa: E731
        return Dataset._of_elements(lambda: iter(slices), spec, len(slices), in_memory=True)

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
        spec = signature_of(output_signature, output_types, output_shapes)
        return Dataset._of_elements(
            partial(generate, generator, args, spec), lambda: spec, UNKNOWN_CARDINALITY
        )

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Dataset:
        """The paths that match a pattern, or one of several; in random order, unless not wanted.

        They are looked for now, and an order is drawn for each iteration.
        """
        files = Dataset.from_tensor_slices(paths_of(as_element(file_pattern, "Dataset.list_files")))
        return files if shuffle is False else files.shuffle(len(files), seed)

    @staticmethod
    def range(*args: Any, output_type: Any = int64, name: str | None = None) -> Dataset:
        """The integers of Python's `range(*args)`, in the dtype `output_type`."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Dataset.range: takes 1 to 3 integers, and received {args!r}.")
        bounds = [static_int(arg, "Dataset.range", "args") for arg in args]
        if bounds[2:] == [0]:
            raise InvalidArgumentError(
                f"Dataset.range: the step must not be zero. Received: {tuple(bounds)}."
            )
        integers = range(*bounds)
        return _of_numbers(lambda: iter([integers]), output_type, len(integers))

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = int64, name: Any = None) -> Dataset:
        """The integers from `start` on, `step` apart, without end."""
        first = static_int(start, "Dataset.counter", "start")
        every = static_int(step, "Dataset.counter", "step")
        return _of_numbers(lambda: blocks.count_up(first, every), dtype, INFINITE_CARDINALITY)

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Random integers from [0, 2**32), without end; the same ones in each iteration."""
        generator = Generators(seed, "Dataset.random", anew=bool(rerandomize_each_iteration))

        return _of_numbers(lambda: random_numbers(generator()), int64, INFINITE_CARDINALITY)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, as many as the shortest has.

        `zip(a, b)` and `zip((a, b))` give pairs; a dict of datasets gives dicts.
        """
        structure = datasets if not args else args if len(args) > 1 else args[0]
        parts = nest.flatten(structure)
        if not parts or not all(isinstance(d, Dataset) for d in parts) or holds_list(structure):
            raise TypeError(
                "Dataset.zip: expected datasets, one or in tuples and dicts (a list is not a "
                f"structure here). Received: {structure!r:.200}."
            )
        if all(isinstance(d._entries, Rows) and d._blocks == d._entries.in_order for d in parts):
            least = min(len(d._entries) for d in parts)
            arrays = (d._entries.first(least) for d in parts)
            return _of_rows(Rows(nest.pack(structure, arrays)))
        counts = [d._cardinality for d in parts if d._cardinality != INFINITE_CARDINALITY]
        return Dataset._of_elements(
            lambda: map(
                attempting(lambda row: nest.pack(structure, iter(row))),
                side_by_side([d._elements() for d in parts]),
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
                f"scalars, and are {choice_dataset.element_spec!r}. Cast them with map."
            )
        return _choose_from(
            check_datasets(datasets, "Dataset.choose_from_datasets"),
            lambda: map(attempting(int), choice_dataset._elements()),
            stop_on_empty_dataset,
            choice_dataset._cardinality == INFINITE_CARDINALITY,
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
        parts = check_datasets(datasets, op)
        chances = as_chances(weights, len(parts), op)
        generator = Generators(seed, op, anew=rerandomize_each_iteration is not False)
        possible = np.flatnonzero(chances)
        return _choose_from(
            [parts[i] for i in possible],
            lambda: draw_choices(chances[possible], generator()),
            stop_on_empty_dataset,
        )

    # Choosing and ordering

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """The elements in random order, each drawn from the next `buffer_size` ones.

        A buffer that holds all (`buffer_size=len(dataset)`) makes every order equally likely; a
        smaller one moves an element forward by less than its size. Each iteration has another
        order, unless `reshuffle_each_iteration` is False; `seed`, or `tf.random.set_seed`, makes
        the sequence of orders the same in every run.
        """
        size = as_buffer_size(buffer_size)
        generator = Generators(seed, "Dataset.shuffle", anew=reshuffle_each_iteration is not False)
        return self._of_same_entries(
            lambda: shuffle(self._blocks(), size, generator()), self._cardinality
        )

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """The dataset `count` times over; for ever if `count` is None or negative."""
        times = -1 if count is None else static_int(count, "Dataset.repeat", "count")
        if not times or not self._cardinality:
            cardinality = 0
        elif times < 0:
            cardinality = INFINITE_CARDINALITY
        else:
            cardinality = self._cardinality_by(lambda n: n * times)
        return self._of_same_entries(
            lambda: blocks.repeat(self._blocks, None if times < 0 else times), cardinality
        )

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first `count` elements; all of them if `count` is negative."""
        size = static_int(count, "Dataset.take", "count")
        if size < 0:
            return self
        endless = self._cardinality == INFINITE_CARDINALITY
        return self._of_same_entries(
            lambda: blocks.take(self._blocks(), size),
            size if endless else self._cardinality_by(lambda n: min(n, size)),
        )

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """The elements after the first `count`; none if `count` is negative."""
        size = static_int(count, "Dataset.skip", "count")
        if size < 0:
            return self.take(0)
        return self._of_same_entries(
            lambda: blocks.skip(self._blocks(), size),
            self._cardinality_by(lambda n: max(0, n - size)),
        )

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from element `index` on."""
        shards = positive_int(num_shards, "Dataset.shard", "num_shards")
        first = static_int(index, "Dataset.shard", "index")
        if not 0 <= first < shards:
            raise InvalidArgumentError(
                f"Dataset.shard: `index` must be from 0 to {shards - 1}. Received: {first}."
            )
        return self._of_same_entries(
            lambda: blocks.shard(self._blocks(), shards, first),
            self._cardinality_by(lambda n: len(range(first, n, shards))),
        )

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same elements, kept in memory by the first iteration that comes to its end."""
        if filename:
            raise UnimplementedError(
                "Dataset.cache: elements are kept in memory only; leave `filename` out. Received: "
                f"{filename!r}."
            )
        stored: list[Block] = []
        return self._of_same_entries(lambda: blocks.cache(self._blocks, stored), self._cardinality)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, then those of another."""
        (dataset,) = check_datasets([dataset], "Dataset.concatenate")
        spec = common_spec([self.element_spec, dataset.element_spec])
        counts = (self._cardinality, dataset._cardinality)  # infinite, if only one is so
        return self._of_elements(
            lambda: chain(self._elements(), dataset._elements()),
            lambda: spec,
            max([n for n in counts if n < 0], default=sum(counts)),
        )

    def filter(self, predicate: AnyFunction, name: str | None = None) -> Dataset:
        """The elements of which `predicate` is true."""
        op = "Dataset.filter"
        check_function(predicate, op, "predicate")
        return self._some(
            lambda: those(self._elements(), lambda e: as_answer(call(predicate, e), op))
        )

    def take_while(self, predicate: AnyFunction, name: str | None = None) -> Dataset:
        """The elements before the first of which `predicate` is false."""
        op = "Dataset.take_while"
        check_function(predicate, op, "predicate")
        return self._some(
            lambda: those_before(self._elements(), lambda e: not as_answer(call(predicate, e), op))
        )

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements without those that are errors; these are logged, if wanted.

        >>> [x.numpy() for x in tf.data.Dataset.from_tensor_slices([1.0, 0.0]).map(
        ...     lambda x: tf.debugging.check_numerics(1 / x, "")).ignore_errors()]
        [np.float32(1.0)]
        """
        return self._some(lambda: without_failures(self._elements(), log_warning))

    def unique(self, name: str | None = None) -> Dataset:
        """Each element where it first comes. They must be tensors of int32, int64 or string."""
        check_can_be_unique(self.element_spec)
        return self._some(lambda: unique(self._elements()))

    def _some(self, elements: Callable[[], PythonIterator[Any]]) -> Dataset:
        return self._of_elements(elements, lambda: self.element_spec, UNKNOWN_CARDINALITY)

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

        The last batch is shorter where elements are left over; `drop_remainder` leaves it out.
        """
        size = positive_int(batch_size, "Dataset.batch", "batch_size")
        return self._batches(
            size,
            drop_remainder,
            self._entries.batch,
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
        """`batch_size` elements in one, the shorter ones filled up to one shape.

        `padded_shapes` has a shape for each component, nested as the elements are, in which None
        is the length of the longest element of the batch; without it all dimensions are. The
        filling is zeros (empty strings), or `padding_values`: one for all, or one for each
        component.
        """
        size = positive_int(batch_size, "Dataset.padded_batch", "batch_size")
        element = self._entries.element
        return self._batches(
            size,
            drop_remainder,
            lambda block: pad([element(e) for e in block], padded_shapes, padding_values),
            lambda: padded_spec(self.element_spec, padded_shapes, size if drop_remainder else None),
            past_failures=False,
        )

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = int64,
        name: str | None = None,
    ) -> Dataset:
        """`batch_size` elements in one: a RaggedTensor where their shapes differ.

        Which sizes may differ is what `element_spec` says: those that are None.

        >>> ranges = tf.data.Dataset.range(1, 4).map(lambda n: tf.range(n))
        >>> next(iter(ranges.ragged_batch(3)))
        <tf.RaggedTensor [[0], [0, 1], [0, 1, 2]]>
        """
        size = positive_int(batch_size, "Dataset.ragged_batch", "batch_size")
        element = self._entries.element

        def batch(block: Any) -> Any:
            return stack_rows([element(e) for e in block], self.element_spec, row_splits_dtype)

        def spec() -> Any:
            rows = rows_spec(self.element_spec, row_splits_dtype)
            return batch_spec(rows, size if drop_remainder else None)

        return self._batches(size, drop_remainder, batch, spec)

    def _batches(
        self,
        size: int,
        drop_remainder: bool,
        batch: Callable[[Any], Any],
        spec: Callable[[], Any],
        past_failures: bool = True,
    ) -> Dataset:
        return self._of_elements(
            lambda: map(
                attempting(batch),
                blocks.cut(self._blocks(), size, drop_remainder, past_failures),
            ),
            spec,
            self._cardinality_by(lambda n: n // size if drop_remainder else -(-n // size)),
            self._in_memory,
        )

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of the elements, one by one: the inverse of `batch`."""
        return self._of_elements(
            lambda: unbatch(self._elements()),
            lambda: unbatch_spec(self.element_spec),
            UNKNOWN_CARDINALITY,
        )

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: Any = None) -> Dataset:
        """The rows of the elements in batches of another size."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Datasets of `size` elements each, `stride` apart, one beginning every `shift` elements.

        Where elements have several components, each has a dataset of its own.

        >>> series = tf.data.Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [w.numpy().tolist() for w in series.flat_map(lambda window: window.batch(3))]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        op = "Dataset.window"
        length, every = positive_int(size, op, "size"), positive_int(stride, op, "stride")
        step = length if shift is None else positive_int(shift, op, "shift")
        reach = (length - 1) * every + 1

        def component(entries: Entries, block: Block) -> Dataset:
            spec = lambda: spec_of(entries.element(block[0]))  # noqa: E731
            return Dataset(lambda: iter([block]), entries, spec, len(block), in_memory=True)

        components = attempting(lambda block: self._entries.components(block, component))
        return self._of_elements(
            lambda: map(
                components, blocks.window(self._blocks(), length, step, every, drop_remainder)
            ),
            lambda: nest.map_structure(DatasetSpec, self.element_spec),
            self._cardinality_by(
                lambda n: max(0, (n - reach) // step + 1) if drop_remainder else -(-n // step)
            ),
        )

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Dataset], Any],
        window_size: Any = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of `reduce_func(key, dataset)` for each window of elements with one key.

        A window is full with `window_size` elements, or with `window_size_func(key)`; those that
        are not full in the end come last, by their keys.

        >>> parities = tf.data.Dataset.range(7).group_by_window(
        ...     lambda x: x % 2, lambda key, window: window.batch(2), window_size=2)
        >>> [batch.numpy().tolist() for batch in parities]
        [[0, 2], [1, 3], [4, 6], [5]]
        """
        op = "Dataset.group_by_window"
        size_of = window_sizes(window_size, window_size_func, op)
        check_function(key_func, op, "key_func")
        check_function(reduce_func, op, "reduce_func")

        def key_of(element: Any) -> Tensor:
            return as_integer(call(key_func, element), op, "key_func")

        def reduced(key: Tensor, window: list[Any]) -> Any:
            elements = Dataset._of_elements(
                lambda: iter(window), lambda: self.element_spec, len(window), in_memory=True
            )
            return check_dataset(reduce_func(key, elements), op, "reduce_func")

        def elements() -> PythonIterator[Any]:
            groups = group_by_key(self._elements(), key_of, size_of)
            made_of = attempting(lambda group: reduced(*group)._elements())
            return interleave(map(made_of, groups), 1, 1)

        return self._of_elements(
            elements,
            lambda: self._spec_of_results(lambda e: reduced(key_of(e), [e])).element_spec,
            UNKNOWN_CARDINALITY,
        )

    def bucket_by_sequence_length(
        self,
        element_length_func: AnyFunction,
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of elements of about one length, which need little padding.

        Those shorter than the first of `bucket_boundaries` go together, then those shorter than
        the second; each bucket has its size of batches. They are padded as `padded_batch` does it,
        or, with `pad_to_bucket_boundary`, to the greatest length of the bucket.

        >>> words = tf.data.Dataset.range(1, 5).map(lambda n: tf.range(n))
        >>> for batch in words.bucket_by_sequence_length(tf.size, [3], [2, 2]):
        ...     print(batch.numpy().tolist())
        [[0, 0], [0, 1]]
        [[0, 1, 2, 0], [0, 1, 2, 3]]
        """
        buckets = Buckets(
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            pad_to_bucket_boundary,
        )

        def batches(bucket: Any, elements: Dataset) -> Dataset:
            size = buckets.batch_size(bucket)
            if no_padding:
                return elements.batch(size, drop_remainder)
            shapes = buckets.padded_shapes(bucket, self.element_spec)
            return elements.padded_batch(size, shapes, padding_values, drop_remainder)

        grouped = self.group_by_window(
            buckets.bucket_of, batches, window_size_func=buckets.batch_size
        )
        shapes = None if no_padding else padded_shapes
        return self._of_elements(
            grouped._elements,
            lambda: padded_spec(self.element_spec, shapes, None),
            UNKNOWN_CARDINALITY,
        )

    # Functions of elements

    def map(
        self,
        map_func: AnyFunction,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """What `map_func` makes of each element; a tuple is given as several arguments.

        It runs for one element after the other, whatever `num_parallel_calls` says.
        """
        op = "Dataset.map"
        check_function(map_func, op, "map_func")

        def result(element: Any) -> Any:
            return as_result(call(map_func, element), op)

        return self._of_elements(
            lambda: map(attempting(result), self._elements()),
            lambda: self._spec_of_results(result),
            self._cardinality,
        )

    def flat_map(self, map_func: AnyFunction, name: str | None = None) -> Dataset:
        """The elements of all the datasets that `map_func` makes of the elements, in order."""
        return self._interleaved(map_func, 1, 1, "Dataset.flat_map")

    def interleave(
        self,
        map_func: AnyFunction,
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the datasets that `map_func` makes of the elements, in turns.

        `cycle_length` datasets (4 by default) take turns of `block_length` elements (1).
        """
        op = "Dataset.interleave"
        if cycle_length is None or cycle_length == AUTOTUNE:
            cycle_length = _INTERLEAVED_BY_DEFAULT
        cycle = positive_int(cycle_length, op, "cycle_length")
        length = 1 if block_length is None else positive_int(block_length, op, "block_length")
        return self._interleaved(map_func, cycle, length, op)

    def _interleaved(self, map_func: Any, cycle_length: int, block_length: int, op: str) -> Dataset:
        check_function(map_func, op, "map_func")

        def result(element: Any) -> Any:
            return check_dataset(call(map_func, element), op, "map_func")

        def elements() -> PythonIterator[Any]:
            made_of = attempting(lambda element: result(element)._elements())
            return interleave(map(made_of, self._elements()), cycle_length, block_length)

        return self._of_elements(
            elements, lambda: self._spec_of_results(result).element_spec, UNKNOWN_CARDINALITY
        )

    def scan(
        self, initial_state: Any, scan_func: Callable[[Any, Any], Any], name: Any = None
    ) -> Dataset:
        """The outputs of `state, output = scan_func(state, element)` along the elements."""
        op = "Dataset.scan"
        check_function(scan_func, op, "scan_func")
        initial = as_element(initial_state, op)

        return self._of_elements(
            lambda: scan(scan_func, initial, self._elements(), op),
            lambda: self._spec_of_results(
                lambda e: made(next(scan(scan_func, initial, iter([e]), op)))
            ),
            self._cardinality,
        )

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of a number, counted from `start` in int64, and an element."""
        first = static_int(start, "Dataset.enumerate", "start")
        return Dataset.zip(Dataset.counter(first), self)


def _of_rows(rows: Rows) -> Dataset:
    spec = unbatch_spec(nest.map_structure(TensorSpec.from_tensor, rows.arrays))
    return Dataset(rows.in_order, rows, lambda: spec, len(rows), in_memory=True)


def _of_numbers(make_blocks: Callable[[], Blocks], dtype: Any, cardinality: int) -> Dataset:
    wanted = as_dtype(dtype)
    spec = TensorSpec([], wanted)
    return Dataset(make_blocks, Numbers(wanted), lambda: spec, cardinality, in_memory=True)


def _choose_from(
    datasets: list[Dataset], choices: Callable[[], Any], stop_on_empty: bool, endless: bool = True
) -> Dataset:
    endless = endless and all(d._cardinality == INFINITE_CARDINALITY for d in datasets)
    return Dataset._of_elements(
        lambda: choose([d._elements() for d in datasets], choices(), stop_on_empty),
        lambda: common_spec([d.element_spec for d in datasets]),
        INFINITE_CARDINALITY if endless else UNKNOWN_CARDINALITY,
    )


class DatasetSpec(BaseDatasetSpec):
    """What is known of a dataset that is an element of another, or a part of one."""

    @property
    def value_type(self) -> type[Dataset]:
        return Dataset
