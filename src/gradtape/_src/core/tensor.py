"""Tensor: an immutable array with an identity."""

from __future__ import annotations

from _thread import allocate_lock  # `threading` itself takes a millisecond to import
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes
from .dtypes import DType
from .engine import engine_of
from .errors import SymbolicTensorError
from .late import late
from .placement import card_of, on_device, on_host, placement
from .shape import TensorShape
from .tracing import tracing

_ndarray = np.ndarray

if TYPE_CHECKING:
    from .annotations import Array, Operators as Operators, Places
else:
    Operators = object

new_key = count(1).__next__
"""The next number by which tapes know a tensor or a variable. Numbers grow with time."""


class Tensor(Operators):
    """An array of one engine, never written to after it was made.

    Tapes know tensors by number: `_key` is None until a tape tracks this one. An op whose inputs
    have no keys need not look for tapes at all. The operators are set by `gradtape._src.heart`.
    """

    # With a __dict__, because users and Keras hang notes on tensors: 3 ns, 9 on Python 3.12.
    __slots__ = ("__dict__", "__weakref__", "_array", "_key")

    _array: Any
    _key: int | None

    __array_priority__ = 100  # ndarray + Tensor is left to Tensor.__radd__

    _intercept: Any = None
    """`_intercept(op, inputs, params)` of a subclass runs the ops that meet a tensor of it in
    place of the kernels. Only what is not `Tensor` itself is asked: the usual call does not pay
    for it."""

    def __init__(self, array: Any, key: int | None = None) -> None:
        self._array = array
        self._key = key

    @property
    def dtype(self) -> DType:
        return dtypes.of_numpy(self._array.dtype)

    @property
    def shape(self) -> TensorShape:
        array = self._array
        sizes = array.shape
        if type(array) is not _ndarray and sizes:  # a size may be open, in a trace
            sizes = tuple([n if isinstance(n, int) else None for n in sizes])
        return TensorShape.of(sizes)

    @property
    def ndim(self) -> int:
        return len(self._array.shape)

    @property
    def name(self) -> str:
        return f"tensor_{id(self):x}:0"

    @property
    def nbytes(self) -> int:
        return int(self._array.nbytes)

    @property
    def device(self) -> str:
        array = self._array
        place = "CPU:0" if type(array) is _ndarray else _device_of(array)
        return f"/job:localhost/replica:0/task:0/device:{place}"

    def cpu(self) -> Tensor:
        """The tensor on the host: itself, if it is there."""
        return _moved(self, "CPU")

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """The tensor on the GPU: itself, if it is there."""
        return _moved(self, "GPU")

    def get_shape(self) -> TensorShape:
        return self.shape

    def set_shape(self, shape: Any) -> None:
        self.shape.assert_is_compatible_with(shape)

    def numpy(self) -> Array:
        """The values as a NumPy array of your own, or as a NumPy scalar for a tensor of rank 0."""
        array = self._values("numpy()")
        return array.copy() if array.ndim else array[()]

    def ref(self) -> Reference:
        """A hashable stand-in for this very tensor, for use in sets and as a key of dicts."""
        return Reference(self)

    def _values(self, use: str) -> Any:
        """The values as a NumPy array; a tensor of a function being traced has none."""
        tell_left(self, use)
        array = self._array
        if type(array) is _ndarray:
            return array
        try:
            return np.asarray(on_host(array))
        except TypeError as error:
            raise symbolic_error(self, use) from error

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self._values("NumPy")
        if copy or (dtype is not None and np.dtype(dtype) != array.dtype):
            return np.array(array, dtype=dtype)
        view = array.view()
        view.flags.writeable = False
        return view

    def __len__(self) -> int:
        if not self._array.shape:
            raise TypeError("A tensor of rank 0 has no len(). Its value is float(x) or x.numpy().")
        return int(self._array.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.shape:
            raise TypeError("A tensor of rank 0 cannot be iterated over.")
        return (self[i] for i in range(self._array.shape[0]))

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise ValueError(
                f"The truth value of a tensor of shape {self.shape} is ambiguous. Use "
                "reduce_any(x) or reduce_all(x)."
            )
        return bool(self._values("if, while, and, or, not: bool()"))

    def __float__(self) -> float:
        return float(self._scalar("float()"))

    def __int__(self) -> int:
        return int(self._scalar("int()"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex()"))

    def __index__(self) -> int:
        if self._array.dtype not in dtypes.INTEGER:
            raise TypeError(f"Only integer tensors can be used as an index, not {self.dtype.name}.")
        return int(self._scalar("An index"))

    def _scalar(self, use: str) -> Any:
        array = self._values(use)
        if array.size != 1:
            raise TypeError(
                f"{use} needs a tensor of one element, and this has shape {self.shape}."
            )
        return array.reshape(())[()]

    def __format__(self, spec: str) -> str:
        """The bare values, as in TensorFlow: `f"{loss}"` is a number, `f"{loss:.3f}"` too."""
        if is_symbolic(self._array):
            return format(repr(self), spec)
        if spec and self._array.shape:
            return format(str(self), spec)
        return format(self.numpy(), spec)

    def __repr__(self) -> str:
        what = f"shape={self.shape}, dtype={self.dtype.name}"
        if is_symbolic(self._array):
            return f"<tf.Tensor: {what}, symbolic>"
        return f"<tf.Tensor: {what}, numpy={numpy_text(self)}>"

    def _repr_html_(self) -> str:
        from .notebook import card

        symbolic = is_symbolic(self._array)
        values = "symbolic" if symbolic else np.array2string(np.asarray(self._values("str()")))
        return card("tf.Tensor", {"shape": self.shape, "dtype": self.dtype.name}, values)

    def __str__(self) -> str:
        if is_symbolic(self._array):
            return repr(self)
        values = np.array2string(self._values("str()")) if self._array.shape else str(self.numpy())
        values = f"\n{values}" if "\n" in values else values
        return f"tf.Tensor({values}, shape={self.shape}, dtype={self.dtype.name})"

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return Tensor(self._array)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._values("A pickle"),)

    if not TYPE_CHECKING:  # so that type checkers find it

        def __setitem__(self, key, value):
            raise TypeError(
                "'Tensor' object does not support item assignment: a tensor is immutable. Write "
                "x = x.at[i].set(value), which gives a new tensor (tf.tensor_scatter_nd_update is "
                "the same for many places); or let x be a tf.Variable, and write "
                "x[i].assign(value)."
            )

    def __hash__(self) -> int:
        raise TypeError(
            "Tensor is unhashable, because == compares element by element. Use x.ref() as the key."
        )

    @property
    def at(self) -> Places:
        """The places of the tensor: `x.at[i].set(v)` is a new tensor, with another value there."""
        return late.at(self)

    if TYPE_CHECKING:  # set by gradtape._src.heart, from ops/array/indexing.py

        def __getitem__(self, key: Any) -> Tensor: ...


_new = Tensor.__new__


class LateTensor(Tensor):
    """A tensor whose array is made when it is first looked at; from then on a plain Tensor.

    What a compiled function gives on a GPU: to hand the loss over to eager code takes 40 µs, of the
    140 that a small training step takes, and most steps do not look at theirs.
    """

    __slots__ = ()

    def __init__(self, make: Callable[[], Any]) -> None:
        self._key = None
        self.__dict__["_make"] = make

    @property
    def _array(self) -> Any:
        make = self.__dict__.get("_make")
        if make is None:  # another thread came first
            return _array_slot.__get__(self)
        array = make()
        _array_slot.__set__(self, array)
        self.__class__ = Tensor  # type: ignore[assignment]
        self.__dict__.pop("_make", None)
        return array


_array_slot: Any = Tensor.__dict__["_array"]


class Reference:
    """A hashable reference to a tensor or a variable: equal for the same object only."""

    __slots__ = ("_object",)

    def __init__(self, referred: Any) -> None:
        self._object = referred

    def deref(self) -> Any:
        return self._object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._object is other._object

    def __hash__(self) -> int:
        return id(self._object)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._object!r}>"


_naming = allocate_lock()


def tell_left(tensor: Tensor, use: str) -> None:
    """Let the witnesses know that the values of a tensor become those of something else."""
    for witness in tracing.witnesses:
        witness.left(tensor, use)


def tensors_of(arrays: Iterable[Any]) -> list[Tensor]:
    """A tensor of each array. (To call the class for each takes 0.06 µs more.)"""
    tensors = []
    for array in arrays:
        tensor = _new(Tensor)
        tensor._array = array
        tensor._key = None
        tensors.append(tensor)
    return tensors


def key_of(tensor: Tensor) -> int:
    """The number by which tapes know `tensor`; given to it on first use."""
    if tensor._key is None:
        with _naming:  # two threads may watch one tensor at the same time
            if tensor._key is None:
                tensor._key = new_key()
    return tensor._key


def is_inexact(tensor: Tensor) -> bool:
    """Whether gradients flow through `tensor`: its numbers are floating or complex."""
    return tensor._array.dtype in dtypes.INEXACT


def _device_of(array: Any) -> str:
    card = card_of(array)
    return "CPU:0" if card is None else card.device_of(array)


def _moved(tensor: Tensor, kind: str) -> Tensor:
    if kind == "GPU" and placement.card is None:
        raise RuntimeError(f"gpu(): there is no GPU in use: {placement.reason}.")
    array = tensor._array if is_symbolic(tensor._array) else on_device(tensor._array, kind)
    return tensor if array is tensor._array else Tensor(array, tensor._key)


def zeros_of(like: Any, shape: Any = None, beside: Any = None) -> Tensor:
    """Zeros of the dtype and shape (or another one) of a tensor, variable, array or Spec.

    They are where the array is; those of a Spec on the host, or where the tensor `beside` is.
    """
    like = getattr(like, "_array", like)
    dtype = getattr(like.dtype, "numpy_dtype", like.dtype)
    sizes = tuple(like.shape if shape is None else shape)
    try:
        card = card_of(beside._array if type(beside) is Tensor else like)
        if card is not None:
            return Tensor(card.zeros(sizes, dtype))
        return Tensor(np.zeros(sizes, dtype))
    except TypeError:  # a size is open, in a trace
        engine = engine_of(next(type(n) for n in sizes if not isinstance(n, int)))
        return Tensor(engine.zeros(sizes, dtype))


def is_symbolic(array: Any) -> bool:
    """Whether `array` has no values: it stands for those of every call of a traced function."""
    return hasattr(type(array), "_trace")  # of JAX, told apart without importing it


def symbolic_error(tensor: Tensor, use: str) -> SymbolicTensorError:
    """What to say where Python asks for the values of a symbolic tensor."""
    where = late.explain_symbolic(tensor._array) if is_symbolic(tensor._array) else ""
    error = SymbolicTensorError(
        f"{use} needs the values of a tensor ({tensor.dtype.name}, shape {tensor.shape}) that has "
        f"none: it is symbolic, made while @function traces. {where}"
    )
    if not tensor.ndim:  # a number, such as the end of a slice
        error.missed = tensor
    return error


def numpy_text(value: Any) -> str:
    """The values as `repr` shows them: NumPy's text, or a bare number for rank 0."""
    array = np.asarray(value)
    text = repr(array) if array.ndim else str(array[()])
    return f"\n{text}" if "\n" in text else text


def _restored(array: Any) -> Tensor:
    """A pickle names this function, not the class, whose public place changes with the alias."""
    return Tensor(array)
