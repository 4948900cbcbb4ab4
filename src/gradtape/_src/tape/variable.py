"""Variable: a value that can be assigned to, and that tells the tapes when it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import add, sub
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.convert import as_tensor, holds_tensor, to_array
from ..core.cotangent import IndexedSlices
from ..core.dtypes import INEXACT, DType, as_dtype, of_numpy
from ..core.engine import common_engine
from ..core.errors import DTypeError, InvalidArgumentError, ShapeError, UnimplementedError
from ..core.placement import CPU, GPU, placement
from ..core.recorder import recorders
from ..core.shape import TensorShape
from ..core.stand_in import StandIn
from ..core.tensor import (
    Operators,
    Reference,
    Tensor,
    is_symbolic,
    new_key,
    numpy_text,
    symbolic_error,
)
from ..core.tracing import current_graph, tracing
from ..core.trackable import Trackable
from ..ops.array.cast import identity
from ..ops.array.indexing import gather, gather_nd
from .cell import Cell
from .scopes import device, name_prefix

if TYPE_CHECKING:
    from ..core.annotations import Array
    from .replicas import VariableAggregation, VariableSynchronization


class Variable(Trackable, Operators):
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
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if variable_def is not None:
            raise UnimplementedError(
                "Variable: `variable_def` is a message of TensorFlow's graphs. Give "
                "`initial_value`."
            )
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
        if trainable is None:
            trainable = synchronization is None or _is_trainable_if(synchronization)
        self._trainable = bool(trainable)
        self._is_inexact = array.dtype in INEXACT  # for tapes, at the first read
        self._name = f"{name_prefix()}{name or 'Variable'}"
        self.constraint = constraint
        self._synchronization = synchronization
        self._aggregation = aggregation
        graph = current_graph()
        first = array if graph is None else graph.create(self, array)
        self._cell = Cell(placement.new_variable(first), self._key)
        for witness in tracing.witnesses:
            witness.created(self, value)

    # What it is

    @property
    def name(self) -> str:
        return f"{self._name}:0"

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        """When its copies on several replicas are made equal; of one, never."""
        from .replicas import VariableSynchronization

        return self._synchronization or VariableSynchronization.AUTO

    @property
    def aggregation(self) -> VariableAggregation:
        """How what several replicas assign becomes one value."""
        from .replicas import VariableAggregation

        return self._aggregation or VariableAggregation.NONE

    @property
    def _unique_id(self) -> str:
        return f"{self._shared_name}_{self._key}"

    @property
    def _shared_name(self) -> str:
        return self._name

    @property
    def _in_graph_mode(self) -> bool:
        """Never: a variable has a value as soon as it is made."""
        return False

    @property
    def dtype(self) -> DType:
        return of_numpy(self._cell.array().dtype)

    @property
    def shape(self) -> TensorShape:
        if self._shape is None:
            return TensorShape.of(self._cell.array().shape)
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self._cell.array().shape)

    @property
    def device(self) -> str:
        return f"/job:localhost/replica:0/task:0/device:{self._kind}:0"

    @property
    def handle(self) -> Variable:
        """The variable itself. An object that stands for it has it as its `handle`."""
        return self

    def get_shape(self) -> TensorShape:
        return self.shape

    def ref(self) -> Reference:
        """A hashable stand-in for this very variable, for use in sets and as a key of dicts."""
        return Reference(self)

    # Reading

    def _as_tensor(self) -> Tensor:
        """The value as an op's input: known to tapes as the variable itself."""
        if self._trainable and recorders():
            self._tell_tapes()
        tensor = self._cell.host
        return self._peek() if tensor is None or tracing.noting else tensor

    def _tell_tapes(self) -> None:
        """Let the tapes watch the variable that is being used."""
        if self._trainable:
            for recorder in recorders():
                if recorder.watches_variables and self._key not in recorder.tracked:
                    recorder.watch_variable(self)

    def _peek(self) -> Tensor:
        """The value at this line, in the graph being traced or outside. No tape is told."""
        for witness in tracing.witnesses:
            witness.was_read(self)
        graph = current_graph()
        return self._cell.read() if graph is None else graph.read(self)

    def value(self) -> Tensor:
        """The value as a tensor; a recorded read."""
        return identity(self._as_tensor())

    read_value = value

    def numpy(self) -> Array:
        return self._as_tensor().numpy()

    def eval(self, session: Any = None) -> Array:
        """The value, as `numpy` gives it. There are no sessions, so that must be None."""
        if session is not None:
            raise UnimplementedError("Variable.eval: there are no sessions. Leave `session` out.")
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
        return len(Tensor(self._cell.array()))

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.value())

    def __getitem__(self, key: Any) -> VariablePart:
        part = self._as_tensor()[key]
        return VariablePart(part._array, part._key, self, key)

    # Assigning

    def assign(
        self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> Variable:
        """Store `value`, which must have the variable's shape and dtype. Returns the variable."""
        array = self._array_to_store(value, "assign")
        graph = current_graph()
        if graph is None:
            self._cell.assign(array)
        else:
            graph.write(self, array)
        return self

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> Variable:
        """Add `delta`, of the variable's shape, to the value. Returns the variable."""
        return self._update(add, self._array_to_store(delta, "assign_add"))

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> Variable:
        """Subtract `delta`, of the variable's shape, from the value. Returns the variable."""
        return self._update(sub, self._array_to_store(delta, "assign_sub"))

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

    def scatter_nd_max(self, indices: Any, updates: Any, name: Any = None) -> Variable:
        """Store the larger of what is at `indices` and `updates`. Returns the variable."""
        return self._scatter_nd("max", indices, updates, "scatter_nd_max")

    def scatter_nd_min(self, indices: Any, updates: Any, name: Any = None) -> Variable:
        """Store the smaller of what is at `indices` and `updates`. Returns the variable."""
        return self._scatter_nd("min", indices, updates, "scatter_nd_min")

    def scatter_nd_update(self, indices: Any, updates: Any, name: Any = None) -> Variable:
        """Store `updates` at `indices`, an index in each of their rows. Returns the variable."""
        return self._scatter_nd("set", indices, updates, "scatter_nd_update")

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`; its gradient is an IndexedSlices."""
        return gather(self, indices)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The parts at `indices`, an index in each of their rows."""
        return gather_nd(self, indices)

    if not TYPE_CHECKING:  # so that type checkers find it

        def __setitem__(self, key, value):
            raise TypeError(
                "'Variable' object does not support item assignment. Write v[i].assign(value), or "
                "v.scatter_nd_update(indices, values) for many places."
            )

    def _scatter(self, how: str, slices: Any, op: str) -> Variable:
        if not isinstance(slices, IndexedSlices):
            raise TypeError(
                f"{op}: `sparse_delta` must be an IndexedSlices, not {type(slices).__name__}."
            )
        places, updates = _integers(slices.indices, op), self._array_of(slices.values, op)
        shape = self._cell.array().shape
        if not shape:
            raise ShapeError(f"{op}: the variable {self.name!r} is a scalar and has no rows.")
        self._check_updates(updates, (*places.shape, *shape[1:]), op, or_a_scalar=True)
        places = common_engine([places]).valid_indices(places, shape[0], op)
        return self._write(how, places, updates, op)

    def _scatter_nd(self, how: str, indices: Any, updates: Any, op: str) -> Variable:
        places = _integers(indices, op)
        updates, shape = self._array_of(updates, op), self._cell.array().shape
        depth = places.shape[-1] if places.ndim else -1
        if not 0 <= depth <= len(shape):
            raise ShapeError(
                f"{op}: the last axis of `indices` must hold at most {len(shape)} coordinates of "
                f"the variable, which has shape {self.shape}. Received: {places!r:.100}."
            )
        self._check_updates(updates, (*places.shape[:-1], *shape[depth:]), op)
        engine = common_engine([places])
        key = [
            engine.valid_indices(places[..., i], size, op) for i, size in enumerate(shape[:depth])
        ]
        return self._write(how, tuple(key), updates, op)

    def _check_updates(self, updates: Any, wanted: Any, op: str, or_a_scalar: bool = False) -> None:
        if updates.shape != wanted and not (or_a_scalar and not updates.shape):
            raise ShapeError(
                f"{op}: for these indices and a variable of shape {self.shape} the updates must "
                f"have shape {wanted}{' or ()' if or_a_scalar else ''}, and have {updates.shape}."
            )

    def _write(self, how: str, places: Any, updates: Any, op: str) -> Variable:
        self._tell_tapes()

        def written(array: Any, updates: Any) -> Any:
            try:
                return common_engine([array, updates]).write_at(array, places, updates, how)
            except (IndexError, ValueError) as error:
                raise InvalidArgumentError(
                    f"{op}: {error} (the variable has shape {self.shape})."
                ) from None

        return self._update(written, updates)

    def _update(self, function: Callable[[Any, Any], Any], operand: Any) -> Variable:
        """Store `function(array, operand)` of the present array."""
        graph = current_graph()
        if graph is None:
            self._cell.update(function, operand)
        else:
            graph.write(self, function(graph.read(self)._array, operand))
        return self

    def _array_of(self, value: Any, op: str) -> Any:
        """The array of `value` in the variable's dtype; a tensor must have that dtype already."""
        if not isinstance(value, Tensor):
            if hasattr(value, "_as_tensor"):
                value = as_tensor(value, None, op)
            elif holds_tensor(value):
                value = as_tensor(value, self.dtype, op)
        for witness in tracing.witnesses:
            witness.assigned(self, value)
        if not isinstance(value, Tensor):
            return to_array(value, self.dtype, op)
        if value.dtype is not self.dtype:
            raise DTypeError(
                f"{op}: the variable {self.name!r} is {self.dtype.name}, and the value is "
                f"{value.dtype.name}. Cast it: tf.cast(value, tf.{self.dtype.name})."
            )
        return _one_array(value, op)

    def _array_to_store(self, value: Any, op: str) -> Any:
        """The same, of the variable's shape."""
        self._tell_tapes()
        array = self._array_of(value, op)
        fits = array.shape == self._cell.array().shape
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

    def _refuse_in_place(self, other: Any) -> Any:
        raise RuntimeError(
            "A variable is not changed by += and its like. Use v.assign_add(x), v.assign_sub(x) "
            "or v.assign(...); or write v = v + x to make a tensor."
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __ipow__ = _refuse_in_place

    def _repr_html_(self) -> str:
        from ..core.notebook import card

        value = self._peek()
        symbolic = is_symbolic(value._array)
        rows = {"shape": self.shape, "dtype": self.dtype.name, "trainable": self.trainable}
        text = "symbolic" if symbolic else np.array2string(np.asarray(value._values("str()")))
        return card(f"tf.Variable {self.name}", rows, text)

    def __repr__(self) -> str:
        value = self._peek()
        shown = "symbolic" if is_symbolic(value._array) else f"numpy={numpy_text(value)}"
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, {shown}>"

    # For checkpoints

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"VARIABLE_VALUE": self.value()}

    def _restore_from_tensors(self, restored_tensors: Mapping[str, Any]) -> Variable:
        return self.assign(restored_tensors["VARIABLE_VALUE"])

    def __reduce__(self) -> tuple[Any, ...]:
        """A variable that is read back from a file is another one, with a key of its own."""
        array = self._peek()._values("A pickle")
        own = (array, self._trainable, self._name, self.constraint, self._shape)
        return _unpickled, (*own, self._kind)

    def __copy__(self) -> Variable:
        return self  # as in TensorFlow, where a copy shares the value

    def __deepcopy__(self, memo: Any) -> Variable:
        with device(self._kind):
            copy = memo[id(self)] = Variable(
                self._peek(),
                trainable=self._trainable,
                name=self._name,
                constraint=self.constraint,
                shape=self._shape,
            )
        return copy

    @property
    def _kind(self) -> str:
        """The kind of device that it is on."""
        return CPU if self._cell.card is None else GPU

    def __hash__(self) -> int:
        raise TypeError(
            "Variable is unhashable, because == compares element by element. Use v.ref() as the "
            "key."
        )


def _is_trainable_if(synchronization: Any) -> bool:
    """Whether a variable with this synchronization is trainable unless the user says otherwise."""
    from .replicas import VariableSynchronization

    if not isinstance(synchronization, VariableSynchronization):
        raise ValueError(
            "Variable: `synchronization` must be a tf.VariableSynchronization, and is "
            f"{synchronization!r:.100}."
        )
    return synchronization is not VariableSynchronization.ON_READ


def _unpickled(
    array: Any, trainable: bool, name: str, constraint: Any, shape: Any, kind: str | None = None
) -> Variable:
    with device(kind if kind != GPU or placement.card is not None else CPU):
        variable = Variable(Tensor(array), trainable, constraint=constraint, shape=shape)
    variable._name = name  # without the name scope of the moment
    return variable


def variable_of(value: Any) -> Any:
    """The variable that an object of another library stands for; all else as it is."""
    return value.handle if isinstance(value, StandIn) and hasattr(value, "handle") else value


class VariablePart(Tensor):
    """What `v[key]` gives: a tensor, whose `assign` writes into the variable."""

    __slots__ = ("_place", "_variable")
    __module__ = Tensor.__module__  # wherever a tensor is said to be from

    def __init__(self, array: Any, key: int | None, variable: Variable, place: Any) -> None:
        super().__init__(array, key)
        self._variable = variable
        self._place = place

    def assign(self, value: Any, name: str | None = None) -> Variable:
        """Store `value` in this part of the variable. Returns the variable."""
        updates = self._variable._array_of(value, "assign")
        return self._variable._write("set", self._place, updates, "assign")


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
