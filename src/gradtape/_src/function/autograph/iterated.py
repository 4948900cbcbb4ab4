"""What AutoGraph's converted code iterates over, and the lists that its loops fill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import as_tensor, operand
from ...core.sizes import SizeTensor, is_open, sizes_as_tensor
from ...core.tensor import Tensor
from ...core.tracing import Stream, current_graph
from ...ops.array.cast import cast
from ...ops.array.creation import range as tensor_range
from ...ops.array.indexing import gather
from ...ops.array.joining import stack, unstack
from ...ops.array.shape import transpose
from ...ops.math.arithmetic import maximum
from ...ops.math.ordering import argsort, sort
from ...tape.batching import vectorized_map
from ...tape.control import forms
from ..streams import next_in_trace
from .operators import symbolic


class Elements:
    """The rows of tensors, side by side: a tensor, or `zip` and `enumerate` of tensors."""

    def __init__(self, tensors: Any) -> None:
        for x in nest.flatten(tensors):
            if not x.ndim:
                raise TypeError("A tensor of rank 0 cannot be iterated over.")
        self.tensors = tensors
        self.count = min(x._array.shape[0] for x in nest.flatten(tensors))

    def first(self, bound: int | None) -> Elements:
        """The first rows, at most `bound`, of all tensors."""
        count = self.count if bound is None else min(bound, self.count)
        if all(x._array.shape[0] == count for x in nest.flatten(self.tensors)):
            return self
        return Elements(nest.map_structure(lambda x: x[:count], self.tensors))

    def row(self, number: Any) -> Any:
        return nest.map_structure(lambda x: x[number], self.tensors)

    def rest(self) -> Elements:
        """All rows but the first."""
        return Elements(nest.map_structure(lambda x: x[1:], self.tensors))

    def __iter__(self) -> Iterator[Any]:
        columns = [unstack(x[: self.count]) for x in nest.flatten(self.tensors)]
        return (nest.pack_sequence_as(self.tensors, row) for row in zip(*columns, strict=True))


class TensorRange:
    """A range whose length only the program knows."""

    def __init__(self, start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> None:
        if limit is None:
            start, limit = 0, start
        bounds = [start, limit, delta]
        kind = next(x for x in map(symbolic, bounds) if x is not None)._array.dtype
        tensors = [
            as_tensor(x) if hasattr(x, "shape") else operand(x, kind, "range") for x in bounds
        ]
        if dtype is not None:
            tensors = [cast(x, dtype) for x in tensors]
        self.start, limit, self.delta = tensors
        rounds = -((self.start - limit) // self.delta)
        self.count = maximum(cast(rounds, "int32"), 0)

    def at(self, number: Tensor) -> Tensor:
        return self.start + cast(number, self.start.dtype) * self.delta


def is_dataset(value: Any) -> bool:
    """Whether it is a dataset, of the layer above."""
    return hasattr(value, "_iterator_in_trace") and current_graph() is not None


def range_(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`range(...)` or `tf.range(...)` as it stands in `for i in ...`."""
    known = function is range or function is tensor_range
    given = [x for x in (*args, *kwargs.values()) if type(x) is not SizeTensor]
    if known and any(symbolic(x) is not None for x in given):
        kwargs.pop("name", None)
        return TensorRange(*args, **kwargs)
    if known and len(given) < len(args) + len(kwargs):
        return tensor_range(*args, **kwargs)
    return function(*args, **kwargs)


def _columns(iterables: tuple[Any, ...]) -> list[Any] | None:
    """The tensors of `zip(*iterables)`, if these are tensors and a graph is being traced."""
    if current_graph() is None or not iterables:
        return None
    columns = [x.tensors if isinstance(x, Elements) else x for x in iterables]
    known = [type(x) is Tensor or isinstance(x, Elements) for x in iterables]
    return columns if all(known) else None


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """`zip`, which of tensors gives elements for a loop of the program."""
    if iterables and all(map(is_dataset, iterables)):
        return type(iterables[0]).zip(iterables)
    columns = _columns(iterables)
    return zip(*iterables, strict=strict) if columns is None else Elements(tuple(columns))


def enumerate_(iterable: Any, start: int = 0) -> Any:
    """`enumerate`, which of a tensor gives elements for a loop of the program."""
    if is_dataset(iterable):
        return iterable.enumerate(start)
    columns = _columns((iterable,))
    if columns is None:
        return enumerate(iterable, start)
    count = Elements(columns[0]).count
    stop = sizes_as_tensor(start + count, np.dtype(np.int32)) if is_open(count) else start + count
    return Elements((tensor_range(start, stop), columns[0]))


def sorted_(
    iterable: Any, /, *, key: Callable[[Any], Any] | None = None, reverse: bool = False
) -> Any:
    """`sorted`, which of a symbolic tensor gives a tensor, as `key` says of its rows."""
    tensor = symbolic(iterable)
    if tensor is None:
        return sorted(iterable, key=key, reverse=reverse)
    keys = tensor if key is None else as_tensor(vectorized_map(key, tensor))
    if keys.ndim != 1:
        raise TypeError(
            "sorted: to put a tensor in order, each row needs one key, and these have shape "
            f"{tuple(keys.shape[1:])}. Give a `key` that makes one number of a row."
        )
    direction = "DESCENDING" if reverse else "ASCENDING"
    return (
        sort(tensor, 0, direction) if key is None else gather(tensor, argsort(keys, 0, direction))
    )


def next_(iterator: Any, *default: Any) -> Any:
    """`next`; of an iterator of tf.data in a program, with a default for its end."""
    stream = iterator if isinstance(iterator, Stream) and current_graph() is not None else None
    if stream is None or stream.is_unrolled or not default:
        return next(iterator, *default)
    more, element = next_in_trace(stream, optional=True)
    try:
        end = nest.map_structure(lambda x, y: as_tensor(y, x.dtype, "next"), element, default[0])
    except (TypeError, ValueError) as error:
        raise type(error)(
            "next: only the run decides whether there is an element, so the default must be like "
            f"one, in structure and dtypes. {error} To have none, use get_next_as_optional()."
        ) from None
    return forms.get().cond(more, lambda: element, lambda: end)


# Lists


class TensorList(list[Any]):
    """A list of the rows of one tensor, of which `tf.stack` is that tensor."""

    def __init__(self, stacked: Tensor) -> None:
        super().__init__(unstack(stacked))
        self._stacked = stacked
        self._rows = list(self)

    def stacked(self) -> Tensor | None:
        """The tensor, unless the list was changed since."""
        same = len(self) == len(self._rows) and all(map(_identical, self, self._rows))
        return self._stacked if same else None


def _identical(a: Any, b: Any) -> bool:
    return a is b


def extended(values: list[Any], stacks: list[Any]) -> list[Any]:
    """A list with what the rounds of a loop appended to it."""
    if not values and len(stacks) == 1 and isinstance(stacks[0], Tensor):
        return TensorList(stacks[0])
    columns = [unstack(x) for x in nest.flatten(stacks)]
    for row in zip(*columns, strict=True):
        values += nest.pack_sequence_as(stacks, row)
    return values


def stack_(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """`tf.stack`, which knows the tensor of a list that a loop has made."""
    tensor = values.stacked() if isinstance(values, TensorList) else None
    if tensor is None or not isinstance(axis, int):
        return stack(values, axis, name)
    place = axis % tensor.ndim
    order = [*range(1, place + 1), 0, *range(place + 1, tensor.ndim)]
    return tensor if place == 0 else transpose(tensor, order)
