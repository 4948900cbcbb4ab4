"""TensorArray: a list of tensors of one dtype, written and read by index."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..core.convert import as_tensor, operand
from ..core.dtypes import DType, as_dtype
from ..core.errors import (
    DTypeError,
    DynamicSizeError,
    InvalidArgumentError,
    OutOfRangeError,
    ShapeError,
    UnimplementedError,
)
from ..core.shape import TensorShape
from ..core.sizes import is_open, sizes_as_tensor
from ..core.spec import Spec
from ..core.tensor import Tensor, is_symbolic, zeros_of
from ..core.tracing import current_graph
from ..ops.array.at import row_set
from ..ops.array.indexing import gather
from ..ops.array.joining import concat, split, stack, unstack
from ..ops.declare.static import static_int, static_ints

_CLEARED = object()


class TensorArray:
    """A list of tensors of one dtype, filled and emptied in loops; gradients pass through it.

    >>> squares = tf.TensorArray(tf.float32, size=3)
    >>> for i in range(3):
    ...     squares = squares.write(i, float(i) ** 2)
    >>> squares.stack()
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([0., 1., 4.], dtype=float32)>

    Methods that write return the array: go on with what they return. A place that was never
    written holds zeros. Reading a place empties it, unless `clear_after_read` is False. With
    `dynamic_size` the array grows as it is written. All elements have one shape, unless
    `infer_shape` is False.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None:
            raise UnimplementedError(
                "TensorArray: `handle` names an array of TensorFlow's graphs; there are none here. "
                "Give `size`, and go on with the array that `write` returns."
            )
        if size is None:
            raise InvalidArgumentError(
                "TensorArray: `size` is needed; with dynamic_size=True it may be 0."
            )
        self._dtype = as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        self._clears = clear_after_read is None or bool(clear_after_read)
        self._infers = bool(infer_shape)
        self._shape = TensorShape(element_shape)
        count = static_int(size, "TensorArray", "size")
        self._open_size = count if is_open(count) else None  # then all elements are in one tensor
        self._elements: list[Any] = [] if is_open(count) else [None] * max(count, 0)
        self._whole: Tensor | None = None  # in a compiled loop: all elements in one tensor
        self._begin: Any = None  # gives it, from the first element, where that says the shape

    # What it is

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        return self._dynamic

    @property
    def infers_shape(self) -> bool:
        return self._infers

    @property
    def element_shape(self) -> TensorShape:
        """The shape of an element, as far as it is known."""
        return self._shape

    @property
    def flow(self) -> Tensor:
        """TensorFlow's thread from one write to the next; eagerly it means nothing."""
        return Tensor(np.int32(0))

    @property
    def handle(self) -> None:
        return None

    def size(self, name: str | None = None) -> Tensor:
        """The number of places."""
        if self._open_size is not None:
            return sizes_as_tensor(self._open_size, np.dtype(np.int32))
        if self._dynamic and self._begin is not None:
            raise DynamicSizeError(
                "TensorArray.size: an array with dynamic_size=True grows in a loop, and how large "
                "it is there is not known while the function is traced."
            )
        return Tensor(np.int32(len(self._elements)))

    def __repr__(self) -> str:
        return (
            f"<TensorArray: size={self._open_size or len(self._elements)}, "
            f"dtype={self._dtype.name}, "
            f"element_shape={self._shape}>"
        )

    # One element

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Put `value` at `index`. Returns the array; while a function is traced, another one."""
        self = self._writable()
        if self._is_whole(index):
            if self._dynamic:
                raise DynamicSizeError(
                    "TensorArray.write: an array with dynamic_size=True is as large as the largest "
                    "index, which is not known while the function is traced."
                )
            tensor = self._of_one_shape(self._tensor(value, "write"), "write")
            self._whole = row_set(self._together(), tensor, index)
            return self
        self._put(static_int(index, "TensorArray.write", "index"), value, "write")
        return self

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The tensor at `index`, which then is empty (see `clear_after_read`)."""
        if self._is_whole(index):
            return gather(self._together(), index)
        i = static_int(index, "TensorArray.read", "index")
        tensor = self._at(i, "read")
        if self._clears:
            self._elements[i] = _CLEARED
        return tensor

    # All of them

    def stack(self, name: str | None = None) -> Tensor:
        """All elements along a new axis 0."""
        if self._whole is not None or self._open_size is not None:
            return self._together()
        return self._stacked(range(len(self._elements)), "stack")

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices`, a list or vector, along a new axis 0."""
        self._apart()
        return self._stacked(_indices(indices, "gather"), "gather")

    def concat(self, name: str | None = None) -> Tensor:
        """All elements joined along their first axis."""
        self._apart()
        elements = [self._at(i, "concat") for i in range(len(self._elements))]
        if not elements:
            return self._none_stacked()
        for i, x in enumerate(elements):
            if not x.ndim:
                raise InvalidArgumentError(
                    f"TensorArray.concat: the element at {i} is a scalar, and has no axis to join "
                    "along. Use stack()."
                )
        return concat(elements, 0)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Make the rows of `value` the elements of the array. Returns the array."""
        self = self._writable()
        value = self._tensor(value, "unstack")
        if not value.ndim:
            raise ShapeError("TensorArray.unstack: `value` is a scalar, and has no rows.")
        if self._open_size is not None and self._open_size == value._array.shape[0]:
            self._whole = value
            self._shape = TensorShape(value.shape[1:])
            return self
        if len(value) > len(self._elements) and not self._dynamic:
            raise InvalidArgumentError(
                f"TensorArray.unstack: `value` has {len(value)} rows, and the array has "
                f"{len(self._elements)} places and no dynamic_size."
            )
        self._replace(unstack(value), "unstack")
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Put the rows of `value` at `indices`. Returns the array."""
        self = self._writable()
        value = self._tensor(value, "scatter")
        self._apart()
        places = _indices(indices, "scatter")
        if not value.ndim or len(value) < len(places):
            raise ShapeError(
                f"TensorArray.scatter: there are {len(places)} indices, and `value` of shape "
                f"{value.shape} has fewer rows."
            )
        for i, row in zip(places, unstack(value), strict=False):
            self._put(i, row, "scatter")
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Cut `value` along axis 0 into pieces of `lengths`, one for each place; the array."""
        self = self._writable()
        value = self._tensor(value, "split")
        sizes = static_ints(lengths, "TensorArray.split", "lengths")
        if not value.ndim or sum(sizes) != len(value):
            raise InvalidArgumentError(
                f"TensorArray.split: `lengths` sum up to {sum(sizes)}, and `value` has shape "
                f"{value.shape}."
            )
        if len(sizes) != len(self._elements) and not self._dynamic:
            raise InvalidArgumentError(
                f"TensorArray.split: there are {len(sizes)} `lengths`, and the array has "
                f"{len(self._elements)} places and no dynamic_size."
            )
        self._replace(split(value, list(sizes)) if sizes else [], "split")
        return self

    def identity(self) -> TensorArray:
        """The array itself."""
        return self

    def close(self, name: str | None = None) -> None:
        """Let go of all elements."""
        self._elements = []

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> NoReturn:
        raise NotImplementedError("TensorArray.grad belongs to graphs; a tape needs no such array.")

    # In compiled loops, where the index is not known

    def _is_whole(self, index: Any) -> bool:
        if self._whole is not None or self._open_size is not None or self._begin is not None:
            return True
        tensor = index._as_tensor() if hasattr(index, "_as_tensor") else index
        return isinstance(tensor, Tensor) and is_symbolic(tensor._array)

    def _together(self) -> Tensor:
        """All elements in one tensor, from here on; those never written are zeros."""
        if self._whole is None:
            if self._begin is not None:
                self._whole = self._begin(self)
            elif self._open_size is not None and self._shape.is_fully_defined():
                self._whole = self._zeros()
            elif not self._elements and self._dynamic:
                raise DynamicSizeError(
                    "TensorArray: an array with dynamic_size=True grows in a loop, and how large "
                    "it will be is not known while the function is traced."
                )
            elif not self._elements:
                raise InvalidArgumentError(
                    "TensorArray: in a compiled function an array that is written or read at an "
                    "index computed there needs its `size` from the beginning."
                )
            else:
                self._whole = self._stacked(range(len(self._elements)), "write")
        return self._whole

    def _apart(self) -> None:
        """Hold all elements one by one again, not as one tensor."""
        if self._whole is not None:
            self._elements = list(unstack(self._whole))
            self._whole = None

    def _with(self, whole: Tensor | None, begin: Any = None) -> TensorArray:
        """Another array like this one, with these elements."""
        size = len(self._elements) if self._open_size is None else self._open_size
        other = TensorArray(
            self._dtype, size, self._dynamic, self._clears,
            infer_shape=self._infers, element_shape=self._shape,
        )  # fmt: skip
        other._whole, other._begin = whole, begin
        return other

    def _writable(self) -> TensorArray:
        """What a write changes: the array itself; in a trace, another one with these elements.

        So the other branch of a `cond` sees the array as it was.
        """
        if current_graph() is None:
            return self
        other = self._with(self._whole, self._begin)
        other._elements = self._elements.copy()
        return other

    def _zeros(self) -> Tensor:
        """All elements in one tensor, before any is written."""
        size = len(self._elements) if self._open_size is None else self._open_size
        like = Spec((size, *self._shape), self._dtype.numpy_dtype)
        return zeros_of(like)

    # Behind them

    def _put(self, i: int, value: Any, method: str) -> None:
        size = len(self._elements)
        if i < 0 or (i >= size and not self._dynamic):
            raise OutOfRangeError(
                f"TensorArray.{method}: there is no place {i} in an array of size {size}"
                f"{'' if i < 0 else '; with dynamic_size=True it would grow'}."
            )
        tensor = self._of_one_shape(self._tensor(value, method), method)
        if i >= size:
            self._elements.extend([None] * (i + 1 - size))
        self._elements[i] = tensor

    def _replace(self, values: list[Tensor], method: str) -> None:
        self._whole = None
        self._elements = [self._of_one_shape(x, method) for x in values]

    def _tensor(self, value: Any, method: str) -> Tensor:
        """`value` as a tensor of the array's dtype."""
        op = f"TensorArray.{method}"
        known = isinstance(value, (Tensor, np.ndarray)) or hasattr(value, "_as_tensor")
        tensor = as_tensor(value, op=op) if known else operand(value, self._dtype.numpy_dtype, op)
        if tensor.dtype is not self._dtype:
            raise DTypeError(
                f"{op}: the array holds {self._dtype.name}, and `value` is {tensor.dtype.name}. "
                "Cast it with tf.cast."
            )
        return tensor

    def _of_one_shape(self, tensor: Tensor, method: str) -> Tensor:
        """`tensor`, if its shape is that of the elements; the first one says what that is."""
        if not self._shape.is_compatible_with(tensor.shape):
            raise ShapeError(
                f"TensorArray.{method}: an element of shape {tensor.shape} does not fit an array "
                "of elements "
                f"of shape {self._shape}. For elements of different shapes, use infer_shape=False."
            )
        if self._infers:
            self._shape = tensor.shape
        return tensor

    def _at(self, i: int, method: str) -> Tensor:
        if not 0 <= i < len(self._elements):
            raise OutOfRangeError(
                f"TensorArray.{method}: there is no element {i} in an array of size "
                f"{len(self._elements)}."
            )
        element = self._elements[i]
        if element is _CLEARED:
            raise InvalidArgumentError(
                f"TensorArray.{method}: element {i} was read before, and reading empties a place. "
                "Use clear_after_read=False to read it again."
            )
        if element is None:
            if not self._shape.is_fully_defined():
                raise InvalidArgumentError(
                    f"TensorArray.{method}: element {i} was never written, and the shape of its "
                    "zeros is not known. Give `element_shape`."
                )
            return Tensor(np.zeros(tuple(self._shape), self._dtype.numpy_dtype))
        return element  # type: ignore[no-any-return]

    def _stacked(self, indices: Any, method: str) -> Tensor:
        elements = [self._at(i, method) for i in indices]
        if not elements:
            return self._none_stacked()
        shapes = sorted({x._array.shape for x in elements})
        if len(shapes) > 1:
            raise ShapeError(
                f"TensorArray.{method}: elements of different shapes cannot be stacked: {shapes}."
            )
        return stack(elements)

    def _none_stacked(self) -> Tensor:
        shape = tuple(self._shape) if self._shape.is_fully_defined() else ()
        return Tensor(np.zeros((0, *shape), self._dtype.numpy_dtype))


def _indices(indices: Any, method: str) -> tuple[int, ...]:
    if isinstance(indices, (list, tuple)) and not indices:
        return ()
    return static_ints(indices, f"TensorArray.{method}", "indices")
