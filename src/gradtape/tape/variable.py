"""Variable: a cell that holds a tensor, can be assigned to, and tells the tapes when it is read."""

from __future__ import annotations

from sys import getrefcount
from threading import RLock
from typing import Any

import numpy as np

from ..core.convert import as_tensor, to_array
from ..core.cotangent import IndexedSlices
from ..core.dispatch import recorders
from ..core.dtypes import DType, as_dtype, of_numpy
from ..core.engine import common_engine
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.shape import TensorShape
from ..core.tensor import Reference, Tensor, is_symbolic, new_key, numpy_text, symbolic_error
from ..core.tracing import current_graph, tracing
from ..ops import operators as operators  # installs the operators of Tensor, copied below
from ..ops.creation import identity
from ..ops.indexing import gather, gather_nd
from .scopes import get_current_name_scope

held_lock = RLock()
"""Held while the value of a variable changes, or changes hands: eager code makes a new value of the
present one, or fetches what a compiled program left; a program takes arrays over and leaves others.
(Acquired and released by name where time counts: `with` takes 0.2 µs.)"""


class Variable:
    """A value that changes: weights, statistics, counters.

    >>> w = tf.Variable([1.0, 2.0], name="w")
    >>> w.assign_sub([0.5, 0.5])
    <tf.Variable 'w:0' shape=(2,) dtype=float32, numpy=array([0.5, 1.5], dtype=float32)>

    Tapes see a variable, not the tensors it held: its gradient is the sum over all reads, each with
    the value of its moment. Assigning cuts the chain: the new value has no history.
    """

    __array_priority__ = 100

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if initial_value is None:
            raise ValueError(
                "Variable: `initial_value` is needed: a number, a list, an array or a tensor."
            )
        value = initial_value() if callable(initial_value) else initial_value
        array = _own_array(value, dtype)
        self._shape = None if shape is None else TensorShape(shape)
        if self._shape is not None and not self._shape.is_compatible_with(array.shape):
            raise ShapeError(
                f"Variable: shape={self._shape} does not fit a value of shape {array.shape}."
            )
        self._key = new_key()
        self._tensor: Tensor | None = None
        self._held: Any = None  # the value as an array of JAX, if a compiled program has it
        self._passed = 0  # the id of the array of NumPy that was passed to a program last
        self._trainable = True if trainable is None else bool(trainable)
        self._name = "/".join(filter(None, [get_current_name_scope(), name or "Variable"]))
        self.constraint = constraint
        graph = current_graph()
        self._store_outside(array if graph is None else graph.create(self, array))

    # What it is

    @property
    def name(self) -> str:
        return f"{self._name}:0"

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def dtype(self) -> DType:
        return of_numpy(self._array_outside().dtype)

    @property
    def shape(self) -> TensorShape:
        if self._shape is None:
            return TensorShape.of(self._array_outside().shape)
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self._array_outside().shape)

    @property
    def device(self) -> str:
        return Tensor(self._array_outside()).device

    def get_shape(self) -> TensorShape:
        return self.shape

    def ref(self) -> Reference:
        """A hashable stand-in for this very variable, for use in sets and as a key of dicts."""
        return Reference(self)

    # Reading

    def _as_tensor(self) -> Tensor:
        """The value as an op's input: known to tapes as the variable itself."""
        if self._trainable:
            for recorder in recorders():
                if recorder.watches_variables and self._key not in recorder.tracked:
                    recorder.watch_variable(self)
        tensor = self._tensor
        return self._now() if tensor is None or tracing.threads else tensor

    def _now(self) -> Tensor:
        """The value at this line: of the graph being traced, else the one that eager code sees."""
        graph = current_graph()
        if graph is not None:
            return graph.read(self)  # type: ignore[no-any-return]
        tensor = self._tensor
        return self._fetched() if tensor is None else tensor

    def _fetched(self) -> Tensor:
        """What a compiled program left, for eager code."""
        with held_lock:
            if self._tensor is None:
                self._tensor = Tensor(np.asarray(self._held), self._key)
            return self._tensor

    def _array_outside(self) -> Any:
        """The array outside of any trace, for its shape and dtype."""
        tensor = self._tensor
        return self._held if tensor is None else tensor._array

    def _writable(self) -> Any:
        """The NumPy array of the value, for an update in place: no tensor shares it.

        A tensor that was read before keeps its value: then this is a copy, the variable's own.
        """
        tensor = self._tensor
        if tensor is None or tracing.threads:
            tensor = self._now()
        array = tensor._array
        if (
            type(array) is not np.ndarray
            or not _owns(array)
            or not array.flags.writeable
            or getrefcount(tensor) > _ALONE[0]
            or getrefcount(array) > _ALONE[1]
        ):
            array = np.array(array)
            self._store_outside(array)
        self._held = None
        self._passed = 0
        return array

    def value(self) -> Tensor:
        """The value as a tensor; a recorded read."""
        return identity(self._as_tensor())

    read_value = value

    def numpy(self) -> Any:
        return self._as_tensor().numpy()

    def eval(self) -> Any:
        return self.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._as_tensor().__array__(dtype, copy)

    def __float__(self) -> float:
        return float(self._as_tensor())

    def __int__(self) -> int:
        return int(self._as_tensor())

    def __complex__(self) -> complex:
        return complex(self._as_tensor())

    def __index__(self) -> int:
        return self._as_tensor().__index__()

    def __bool__(self) -> bool:
        return bool(self._as_tensor())

    def __len__(self) -> int:
        return len(Tensor(self._array_outside()))

    def __iter__(self) -> Any:
        return iter(self.value())

    def __getitem__(self, key: Any) -> VariablePart:
        part = self._as_tensor()[key]
        return VariablePart(part._array, part._key, self, key)

    # Assigning

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable:
        """Store `value`, which must have the variable's shape and dtype. Returns the variable."""
        array = self._fitting(value, "assign")
        held_lock.acquire()
        try:
            return self._store(array)
        finally:
            held_lock.release()

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable:
        """Add `delta`, of the variable's shape, to the value. Returns the variable."""
        array = self._fitting(delta, "assign_add")
        held_lock.acquire()
        try:
            return self._store(self._now()._array + array)
        finally:
            held_lock.release()

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable:
        """Subtract `delta`, of the variable's shape, from the value. Returns the variable."""
        array = self._fitting(delta, "assign_sub")
        held_lock.acquire()
        try:
            return self._store(self._now()._array - array)
        finally:
            held_lock.release()

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Add the rows of an IndexedSlices, repeated rows adding up. Returns the variable."""
        return self._scatter("add", sparse_delta, "scatter_add")

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Subtract the rows of an IndexedSlices, repeated rows adding up. Returns the variable."""
        return self._scatter("subtract", sparse_delta, "scatter_sub")

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Multiply by the rows of an IndexedSlices. Returns the variable."""
        return self._scatter("multiply", sparse_delta, "scatter_mul")

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Divide by the rows of an IndexedSlices. Returns the variable."""
        return self._scatter("divide", sparse_delta, "scatter_div")

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Store the larger of present and given rows. Returns the variable."""
        return self._scatter("max", sparse_delta, "scatter_max")

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Store the smaller of present and given rows. Returns the variable."""
        return self._scatter("min", sparse_delta, "scatter_min")

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Store the rows of an IndexedSlices. Returns the variable."""
        return self._scatter("set", sparse_delta, "scatter_update")

    def scatter_nd_add(self, indices: Any, updates: Any, name: Any = None) -> Variable:
        """Add `updates` at `indices`, an index in each of their rows. Returns the variable."""
        return self._scatter_nd("add", indices, updates, "scatter_nd_add")

    def scatter_nd_sub(self, indices: Any, updates: Any, name: Any = None) -> Variable:
        """Subtract `updates` at `indices`, an index in each of their rows. Returns the variable."""
        return self._scatter_nd("subtract", indices, updates, "scatter_nd_sub")

    def scatter_nd_update(self, indices: Any, updates: Any, name: Any = None) -> Variable:
        """Store `updates` at `indices`, an index in each of their rows. Returns the variable."""
        return self._scatter_nd("set", indices, updates, "scatter_nd_update")

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`; its gradient is an IndexedSlices."""
        return gather(self, indices)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The parts at `indices`, an index in each of their rows."""
        return gather_nd(self, indices)

    def _scatter(self, how: str, slices: Any, op: str) -> Variable:
        if not isinstance(slices, IndexedSlices):
            raise TypeError(
                f"{op}: `sparse_delta` must be an IndexedSlices, not {type(slices).__name__}."
            )
        places, updates = _integers(slices.indices, op), self._converted(slices.values, op)
        shape = self._array_outside().shape
        if not shape:
            raise ShapeError(f"{op}: the variable {self.name!r} is a scalar and has no rows.")
        self._check_updates(updates, (*places.shape, *shape[1:]), op, or_a_scalar=True)
        places = common_engine([places]).checked(places, shape[0], op)
        return self._write(how, places, updates, op)

    def _scatter_nd(self, how: str, indices: Any, updates: Any, op: str) -> Variable:
        places = _integers(indices, op)
        updates, shape = self._converted(updates, op), self._array_outside().shape
        depth = places.shape[-1] if places.ndim else -1
        if not 0 <= depth <= len(shape):
            raise ShapeError(
                f"{op}: the last axis of `indices` must hold at most {len(shape)} coordinates of "
                f"the variable, which has shape {self.shape}. Received: {places!r:.100}."
            )
        self._check_updates(updates, (*places.shape[:-1], *shape[depth:]), op)
        engine = common_engine([places])
        key = [engine.checked(places[..., i], size, op) for i, size in enumerate(shape[:depth])]
        return self._write(how, tuple(key), updates, op)

    def _check_updates(self, updates: Any, wanted: Any, op: str, or_a_scalar: bool = False) -> None:
        if updates.shape != wanted and not (or_a_scalar and not updates.shape):
            raise ShapeError(
                f"{op}: for these indices and a variable of shape {self.shape} the updates must "
                f"have shape {wanted}{' or ()' if or_a_scalar else ''}, and have {updates.shape}."
            )

    def _write(self, how: str, places: Any, updates: Any, op: str) -> Variable:
        self._as_tensor()
        with held_lock:
            before = self._now()._array
            try:
                array = common_engine([before, updates]).written(before, places, updates, how)
            except (IndexError, ValueError) as error:
                raise InvalidArgumentError(
                    f"{op}: {error} (the variable has shape {self.shape})."
                ) from None
            return self._store(array)

    def _converted(self, value: Any, op: str) -> Any:
        """The array of `value` in the variable's dtype; a tensor must have that dtype already."""
        if not isinstance(value, Tensor):
            if not hasattr(value, "_as_tensor"):
                return to_array(value, self.dtype, op)
            value = value._as_tensor()
        if value.dtype is not self.dtype:
            raise DTypeError(
                f"{op}: the variable {self.name!r} is {self.dtype.name}, and the value is "
                f"{value.dtype.name}. Cast it: tf.cast(value, tf.{self.dtype.name})."
            )
        return _one_array(value, op)

    def _fitting(self, value: Any, op: str) -> Any:
        self._as_tensor()
        array = self._converted(value, op)
        fits = array.shape == self._array_outside().shape
        if not fits and not (
            op == "assign"
            and self._shape is not None
            and self._shape.is_compatible_with(array.shape)
        ):
            raise ShapeError(
                f"{op}: the variable {self.name!r} has shape {self.shape}, and the value has shape "
                f"{array.shape}. They must be equal; nothing is broadcast."
            )
        return array

    def _store(self, array: Any) -> Variable:
        graph = current_graph()
        if graph is None:
            self._store_outside(array)
        else:
            graph.write(self, array)
        return self

    def _store_outside(self, array: Any) -> None:
        self._tensor = Tensor(array, self._key)
        self._held = None

    def _refuse_in_place(self, other: Any) -> Any:
        raise RuntimeError(
            "A variable is not changed by += and its like. Use v.assign_add(x), v.assign_sub(x) "
            "or v.assign(...); or write v = v + x to make a tensor."
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __ipow__ = _refuse_in_place

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, "
            f"{_shown(self._now())}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """A variable that is read back from a file is another one, with a key of its own."""
        array = np.asarray(self._now()._array)
        return _restored, (array, self._trainable, self._name, self.constraint, self._shape)

    def __copy__(self) -> Variable:
        return self  # as in TensorFlow, where a copy shares the value

    def __deepcopy__(self, memo: Any) -> Variable:
        copy = Variable(
            self._now(),
            trainable=self._trainable,
            name=self._name,
            constraint=self.constraint,
            shape=self._shape,
        )
        memo[id(self)] = copy
        return copy

    def __hash__(self) -> int:
        raise TypeError(
            "Variable is unhashable, because == compares element by element. Use v.ref() as the "
            "key."
        )


def _restored(array: Any, trainable: bool, name: str, constraint: Any, shape: Any) -> Variable:
    variable = Variable(Tensor(array), trainable, constraint=constraint, shape=shape)
    variable._name = name  # without the name scope of the moment
    return variable


class VariablePart(Tensor):
    """What `v[key]` gives: a tensor, whose `assign` writes into the variable."""

    __slots__ = ("_place", "_variable")

    def __init__(self, array: Any, key: int | None, variable: Variable, place: Any) -> None:
        super().__init__(array, key)
        self._variable = variable
        self._place = place

    def assign(self, value: Any, name: str | None = None) -> Variable:
        """Store `value` in this part of the variable. Returns the variable."""
        updates = self._variable._converted(value, "assign")
        return self._variable._write("set", self._place, updates, "assign")


for _operator in [
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "pow",
    "rpow",
    "matmul",
    "rmatmul",
    "and",
    "rand",
    "or",
    "ror",
    "xor",
    "rxor",
    "neg",
    "pos",
    "abs",
    "invert",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "round",
]:
    setattr(Variable, f"__{_operator}__", getattr(Tensor, f"__{_operator}__"))


def _shown(tensor: Tensor) -> str:
    return "symbolic" if is_symbolic(tensor._array) else f"numpy={numpy_text(tensor)}"


def _owns(array: Any) -> bool:
    """Whether no other array has its memory: it is its own, or a buffer that nothing else holds."""
    base = array.base
    return base is None or (type(base) is np.ndarray and getrefcount(base) <= _ALONE[0])


def _references() -> tuple[int, int]:
    """What `getrefcount` says in `_writable` of a tensor, and of its array, that nothing shares."""
    holder = [Tensor(np.zeros(1))]
    tensor = holder[0]
    array = tensor._array
    return getrefcount(tensor), getrefcount(array)


_ALONE = _references()


def _integers(indices: Any, op: str) -> Any:
    array = as_tensor(indices, op=op)._array
    if array.size and array.dtype.kind not in "iu":
        raise DTypeError(f"{op}: `indices` must be integers, and are {array.dtype.name}.")
    return array


def _one_array(tensor: Tensor, op: str) -> Any:
    """The array of `tensor`, which must have one: a variable has no element for each of a batch."""
    if tensor._intercept is not None:
        raise InvalidArgumentError(
            f"{op}: a variable holds one value, and inside vectorized_map this tensor has one for "
            "each element. Return it from the function, and assign the result."
        )
    array = tensor._array
    if type(array) is not np.ndarray and is_symbolic(array) and current_graph() is None:
        raise symbolic_error(tensor, op)
    return array


def _own_array(value: Any, dtype: Any) -> Any:
    """The array of an initial value: no one else writes to it."""
    if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
        tensor = as_tensor(value)
        if dtype is not None and tensor.dtype is not as_dtype(dtype):
            raise DTypeError(
                f"Variable: the initial value is {tensor.dtype.name}, and "
                f"dtype={as_dtype(dtype).name} was asked for. Cast it with tf.cast."
            )
        return _one_array(tensor, "Variable")
    return as_tensor(value, dtype, "Variable")._array
