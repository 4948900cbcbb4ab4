"""Variable: a cell that holds a tensor, can be assigned to, and tells the tapes when it is read."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from ..core.convert import as_tensor, to_array
from ..core.cotangent import IndexedSlices
from ..core.dispatch import recorders
from ..core.dtypes import DType, as_dtype
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError
from ..core.shape import TensorShape
from ..core.tensor import Reference, Tensor, new_key, numpy_text
from ..engines.numpy import engine as numpy_engine
from ..ops import operators as operators  # installs the operators of Tensor, copied below
from ..ops.creation import identity
from ..ops.indexing import gather, gather_nd
from .scopes import get_current_name_scope


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
        self._tensor = Tensor(array, self._key)
        # Held while a new value is made of the present one; not by `with`, which takes 0.2 µs.
        self._lock = Lock()
        self._trainable = True if trainable is None else bool(trainable)
        self._name = "/".join(filter(None, [get_current_name_scope(), name or "Variable"]))
        self.constraint = constraint

    # What it is

    @property
    def name(self) -> str:
        return f"{self._name}:0"

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def dtype(self) -> DType:
        return self._tensor.dtype

    @property
    def shape(self) -> TensorShape:
        return self._tensor.shape if self._shape is None else self._shape

    @property
    def ndim(self) -> int:
        return self._tensor.ndim

    @property
    def device(self) -> str:
        return self._tensor.device

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
        return self._tensor

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
        return len(self._tensor)

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
        self._lock.acquire()
        try:
            return self._store(array)
        finally:
            self._lock.release()

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable:
        """Add `delta`, of the variable's shape, to the value. Returns the variable."""
        array = self._fitting(delta, "assign_add")
        self._lock.acquire()
        try:
            return self._store(self._tensor._array + array)
        finally:
            self._lock.release()

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable:
        """Subtract `delta`, of the variable's shape, from the value. Returns the variable."""
        array = self._fitting(delta, "assign_sub")
        self._lock.acquire()
        try:
            return self._store(self._tensor._array - array)
        finally:
            self._lock.release()

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Add the rows of an IndexedSlices, repeated rows adding up. Returns the variable."""
        return self._scatter(np.add.at, sparse_delta, "scatter_add")

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Subtract the rows of an IndexedSlices, repeated rows adding up. Returns the variable."""
        return self._scatter(np.subtract.at, sparse_delta, "scatter_sub")

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Multiply by the rows of an IndexedSlices. Returns the variable."""
        return self._scatter(np.multiply.at, sparse_delta, "scatter_mul")

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Divide by the rows of an IndexedSlices. Returns the variable."""
        return self._scatter(np.divide.at, sparse_delta, "scatter_div")

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Store the larger of present and given rows. Returns the variable."""
        return self._scatter(np.maximum.at, sparse_delta, "scatter_max")

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Store the smaller of present and given rows. Returns the variable."""
        return self._scatter(np.minimum.at, sparse_delta, "scatter_min")

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: Any = None
    ) -> Variable:
        """Store the rows of an IndexedSlices. Returns the variable."""
        return self._scatter(np.ndarray.__setitem__, sparse_delta, "scatter_update")

    def scatter_nd_add(self, indices: Any, updates: Any, name: Any = None) -> Variable:
        """Add `updates` at `indices`, an index in each of their rows. Returns the variable."""
        return self._scatter_nd(np.add.at, indices, updates, "scatter_nd_add")

    def scatter_nd_sub(self, indices: Any, updates: Any, name: Any = None) -> Variable:
        """Subtract `updates` at `indices`, an index in each of their rows. Returns the variable."""
        return self._scatter_nd(np.subtract.at, indices, updates, "scatter_nd_sub")

    def scatter_nd_update(self, indices: Any, updates: Any, name: Any = None) -> Variable:
        """Store `updates` at `indices`, an index in each of their rows. Returns the variable."""
        return self._scatter_nd(np.ndarray.__setitem__, indices, updates, "scatter_nd_update")

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`; its gradient is an IndexedSlices."""
        return gather(self, indices)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The parts at `indices`, an index in each of their rows."""
        return gather_nd(self, indices)

    def _scatter(self, write: Any, slices: Any, op: str) -> Variable:
        if not isinstance(slices, IndexedSlices):
            raise TypeError(
                f"{op}: `sparse_delta` must be an IndexedSlices, not {type(slices).__name__}."
            )
        places, updates = _integers(slices.indices, op), self._converted(slices.values, op)
        shape = self._tensor._array.shape
        if not shape:
            raise ShapeError(f"{op}: the variable {self.name!r} is a scalar and has no rows.")
        self._check_updates(updates, (*places.shape, *shape[1:]), op, or_a_scalar=True)
        return self._write(write, numpy_engine.checked(places, shape[0], op), updates, op)

    def _scatter_nd(self, write: Any, indices: Any, updates: Any, op: str) -> Variable:
        places = _integers(indices, op)
        updates, shape = self._converted(updates, op), self._tensor._array.shape
        depth = places.shape[-1] if places.ndim else -1
        if not 0 <= depth <= len(shape):
            raise ShapeError(
                f"{op}: the last axis of `indices` must hold at most {len(shape)} coordinates of "
                f"the variable, which has shape {self.shape}. Received: {places!r:.100}."
            )
        self._check_updates(updates, (*places.shape[:-1], *shape[depth:]), op)
        key = [
            numpy_engine.checked(column, size, op)
            for column, size in zip(np.moveaxis(places, -1, 0), shape, strict=False)
        ]
        return self._write(write, tuple(key), updates, op)

    def _check_updates(self, updates: Any, wanted: Any, op: str, or_a_scalar: bool = False) -> None:
        if updates.shape != wanted and not (or_a_scalar and not updates.shape):
            raise ShapeError(
                f"{op}: for these indices and a variable of shape {self.shape} the updates must "
                f"have shape {wanted}{' or ()' if or_a_scalar else ''}, and have {updates.shape}."
            )

    def _write(self, write: Any, places: Any, updates: Any, op: str) -> Variable:
        self._as_tensor()
        with self._lock:
            array = np.array(self._tensor._array)  # tensors that were read before keep their value
            try:
                write(array, places, updates)
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
        fits = array.shape == self._tensor._array.shape
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
        self._tensor = Tensor(array, self._key)
        return self

    def _refuse_in_place(self, other: Any) -> Any:
        raise RuntimeError(
            "A variable is not changed by += and its like. Use v.assign_add(x), v.assign_sub(x) "
            "or v.assign(...); or write v = v + x to make a tensor."
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __ipow__ = _refuse_in_place

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, "
            f"numpy={numpy_text(self._tensor)}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """A variable that is read back from a file is another one, with a key of its own."""
        array = np.asarray(self._tensor._array)
        return _restored, (array, self._trainable, self._name, self.constraint, self._shape)

    def __copy__(self) -> Variable:
        return self  # as in TensorFlow, where a copy shares the value

    def __deepcopy__(self, memo: Any) -> Variable:
        copy = Variable(
            self._tensor,
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
        return self._variable._write(np.ndarray.__setitem__, self._place, updates, "assign")


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


def _integers(indices: Any, op: str) -> Any:
    array = np.asarray(as_tensor(indices, op=op))
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
    return tensor._array


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
