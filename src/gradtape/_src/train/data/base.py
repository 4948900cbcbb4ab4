"""What every dataset is: how it is iterated over, and what is known of it beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator as PythonIterator
from functools import cached_property, partial, reduce
from typing import Any, Self, TypeVar

import numpy as np

from ...core import nest
from ...core.errors import DTypeError, InvalidArgumentError
from ...core.recorder import heard_by
from ...core.shape import TensorShape
from ...core.tensor import Tensor, is_symbolic
from ...core.tracing import current_graph, tracing
from ...function.streams import reduce_in_trace
from ...ops.declare.static import static_int
from ...tape.type_specs import TypeSpec, zeros_of_spec
from .blocks import Blocks
from .cardinality import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .element_spec import spec_of_results
from .elements import DatasetBase, as_element, as_state, call, check_dataset, check_function
from .entries import Elements, Entries, blocks_of, elements_of
from .iterator import Iterator, TracedIterator, UnrolledIterator, single_element
from .options import Options
from .prefetch import prefetch, prefetch_if_slow

T = TypeVar("T")

AUTOTUNE = -1
_PREFETCHED_BY_DEFAULT = 2


class BaseDataset(DatasetBase):
    """Blocks and the entries they consist of: see the package."""

    def __init__(
        self,
        make_blocks: Callable[[], Blocks],
        entries: Entries,
        make_spec: Callable[[], Any],
        cardinality: int,
        in_memory: bool,
        make_elements: Callable[[], PythonIterator[Any]] | None = None,
    ) -> None:
        """Each call of `make_blocks` begins an iteration.

        `entries` makes elements of what the blocks hold, unless `make_elements` gives them more
        directly; `cardinality` may be a constant of cardinality.py; `in_memory` says that no
        function of the user's has to run.
        """
        self._blocks = make_blocks
        self._entries = entries
        self._make_spec = make_spec
        self._cardinality = cardinality
        self._in_memory = in_memory
        self._make_elements = make_elements
        self._options: Options | None = None

    @classmethod
    def _of_elements(
        cls,
        make_elements: Callable[[], PythonIterator[Any]],
        make_spec: Callable[[], Any],
        cardinality: int,
        in_memory: bool = False,
    ) -> Self:
        """Elements that are made one by one."""
        return cls(
            lambda: blocks_of(make_elements()),
            Elements(),
            make_spec,
            cardinality,
            in_memory,
            make_elements,  # without the detour by blocks, which takes 0.3 µs for each
        )

    def _of_same_entries(self, make_blocks: Callable[[], Blocks], cardinality: int) -> Self:
        """The same entries in another order, or some of them."""
        spec = lambda: self.element_spec  # noqa: E731
        return type(self)(make_blocks, self._entries, spec, cardinality, self._in_memory)

    # Iterating

    def _elements(self) -> PythonIterator[Any]:
        if self._make_elements is not None:
            return self._make_elements()
        return elements_of(self._blocks(), self._entries)

    def __iter__(self) -> Iterator:
        if tracing.threads and current_graph() is not None:
            return self._iterator_in_trace()
        return self._iterator()

    def _iterator(self) -> Iterator:
        begun: Iterator | None = vars(self).pop("_begun", None)  # one thread gets it
        return begun or Iterator(self._elements, lambda: self.element_spec)

    def _leave(self, iterator: Any) -> None:
        """Let the next iteration be this one, whose first elements were put back."""
        self._begun: Any = iterator

    def _iterator_in_trace(self) -> Iterator:
        """The iterator of a function that is being traced: each call makes it anew.

        To see whether the elements depend on what the function computes, the first one is made;
        the next iteration begins with it. Those that do are made now.
        """
        spec = lambda: self.element_spec  # noqa: E731
        try:
            with current_graph().outside(), heard_by([]):
                iterator = self._iterator()
                first = next(iterator, None)
            if not any(is_symbolic(getattr(x, "_array", x)) for x in nest.flatten(first)):
                if first is not None:
                    iterator.put_back(first)
                self._leave(iterator)
                return TracedIterator(self._iterator, spec, self._leave)
        except Exception:
            pass  # of a user's function: it is raised again where the elements are made, below
        return UnrolledIterator(self._elements, spec)

    def as_numpy_iterator(self) -> PythonIterator[Any]:
        """The elements as NumPy arrays and scalars."""
        return map(partial(nest.map_structure, _numpy), self._iterator())

    def get_single_element(self, name: str | None = None) -> Any:
        """The element of a dataset that has just one."""
        return single_element(self._elements())

    def reduce(
        self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None
    ) -> Tensor | Any:
        """The last state of `state = reduce_func(state, element)` along the elements."""
        op = "Dataset.reduce"
        check_function(reduce_func, op, "reduce_func")
        state = as_element(initial_state, op)

        def after(state: Any, element: Any) -> Any:
            return as_state(call(reduce_func, (state, element)), state, op)

        iterator = iter(self)
        with heard_by([]):
            if isinstance(iterator, TracedIterator):
                return reduce_in_trace(iterator, state, after)
            return reduce(after, iterator, state)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Self:
        """The same elements, up to `buffer_size` of them made ahead by a thread.

        AUTOTUNE makes two ahead once they are seen to take long, more than some milliseconds each:
        a quick one takes less time than to hand it from thread to thread.
        """
        ahead = static_int(buffer_size, "Dataset.prefetch", "buffer_size")
        if ahead == AUTOTUNE:
            if self._in_memory:
                return self
            return self._ahead(partial(prefetch_if_slow, self._elements, _PREFETCHED_BY_DEFAULT))
        if ahead < 0:
            raise InvalidArgumentError(
                f"Dataset.prefetch: `buffer_size` must be >= 0 or tf.data.AUTOTUNE, not {ahead}."
            )
        if not ahead or self._cardinality in (0, 1):  # there is nothing to make ahead
            return self
        return self._ahead(partial(prefetch, self._elements, ahead))

    def _ahead(self, elements: Callable[[], PythonIterator[Any]]) -> Self:
        return self._of_elements(elements, lambda: self.element_spec, self._cardinality)

    # What is known beforehand

    @cached_property
    def element_spec(self) -> Any:
        """The structure, shapes and dtypes of the elements, as TensorSpecs.

        To see what a function returns, it is run on zeros; on the first element, where it cannot
        take those.
        """
        return self._make_spec()

    def _spec_of_results(self, fn: Callable[[Any], Any]) -> Any:
        """The spec of `fn(element)` for the elements of this dataset."""
        return spec_of_results(fn, self.element_spec, self._elements)

    def cardinality(self, name: str | None = None) -> Tensor:
        """The number of elements, or tf.data.INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        return Tensor(np.asarray(self._cardinality, np.int64))

    def _cardinality_by(self, size: Callable[[int], int]) -> int:
        """`size(cardinality)`, where the cardinality is known and finite."""
        return self._cardinality if self._cardinality < 0 else size(self._cardinality)

    def __len__(self) -> int:
        if self._cardinality == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite, and has no len(). take(n) ends it.")
        if self._cardinality == UNKNOWN_CARDINALITY:
            raise TypeError(
                "The dataset length is unknown before it is iterated over. If you know it, say so: "
                "dataset.apply(tf.data.experimental.assert_cardinality(n))."
            )
        return self._cardinality

    def __bool__(self) -> bool:
        return True  # as in TensorFlow: not whether there are elements

    def apply(self, transformation_func: Callable[[Self], T], name: Any = None) -> T:
        """`transformation_func(self)`, which must be a dataset."""
        result = transformation_func(self)
        return check_dataset(result, "Dataset.apply", "transformation_func")

    def options(self) -> Options:
        return self._options or Options()

    def with_options(self, options: Options, name: str | None = None) -> Self:
        """The same elements; see Options."""
        spec = lambda: self.element_spec  # noqa: E731
        of = (self._blocks, self._entries, spec, self._cardinality, self._in_memory)
        same = type(self)(*of, self._make_elements)
        same._options = options
        return same

    def __repr__(self) -> str:
        try:
            spec = repr(self.element_spec)
        except Exception as error:  # of a user's function
            spec = f"unknown: {error!r}"
        return f"<Dataset element_spec={spec}>"


class BaseDatasetSpec(TypeSpec):
    """What is known of a dataset; the subclass says of which kind."""

    _is_composite = False

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @property
    def element_spec(self) -> Any:
        return self._element_spec

    def _zeros(self, size: int) -> Any:
        return self.value_type.from_tensors(zeros_of_spec(self.element_spec, size))

    def _stack(self, values: Any) -> Any:
        raise DTypeError(
            "Dataset.batch: the elements hold datasets, which cannot be stacked. Turn each into "
            "elements with flat_map first, e.g. flat_map(lambda window: window.batch(size))."
        )

    def _batch(self, batch_size: int | None) -> TypeSpec:
        return self._stack([])  # type: ignore[no-any-return]

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape


def _numpy(part: Any) -> Any:
    if part is None:
        return None
    return part._numpy() if hasattr(part, "_numpy") else part.numpy()
