"""Types that only checkers and editors read: nothing imports this module at run time.

What may be something else is written `Tensor | Any`: a checker then knows the methods of a tensor,
finds a misspelt one, and asks for no cast and no `is not None` where the program knows better.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, MappingView
from typing import Any, ClassVar, Protocol, TypeAlias, overload

import numpy as np

from .cotangent import IndexedSlices
from .op import Op
from .tensor import Tensor


class HasArray(Protocol):
    """A tensor, a variable, an array of NumPy, JAX or pandas."""

    def __array__(self) -> Any: ...


class OfAttrs(Protocol):
    """An object of a class that the library attrs made."""

    __attrs_attrs__: ClassVar[Any]


class TakenApart(Protocol):
    """An object of a class with TensorFlow's protocol for nested structures."""

    def __tf_flatten__(self) -> Any: ...
    @property
    def __tf_unflatten__(self) -> Any: ...


# The elements of a list are not described: it may hold lists to any depth, and a type that says so
# would take a str, whose elements are strs, for one of them.
TensorLike: TypeAlias = HasArray | IndexedSlices | complex | list[Any] | tuple[Any, ...] | range
"""What becomes a tensor where a tensor is expected."""

Nest: TypeAlias = (
    list[Any]
    | tuple[Any, ...]
    | deque[Any]
    | Mapping[Any, Any]
    | MappingView
    | OfAttrs
    | TakenApart
)
"""Tensors or variables in lists, dicts and so on, to any depth."""

# Not `Callable[..., Any]`, from which pyright does not know what the arguments of a lambda are.
AnyFunction: TypeAlias = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any, Any], Any]
)
"""A function of the parts of an element, or of corresponding elements."""

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]] | Any
"""What `numpy()` gives: an array; for rank 0 a scalar, which has the methods of an array."""


class Operators:
    """The operators of Tensor and Variable, which `gradtape._src.heart` gives them."""

    def _unary(self) -> Tensor: ...
    def _binary(self, other: TensorLike, /) -> Tensor: ...
    def _add(self, other: TensorLike | str | bytes, /) -> Tensor: ...

    __neg__ = __pos__ = __abs__ = __invert__ = __round__ = _unary
    __add__ = __radd__ = _add
    __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = _binary
    __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _binary
    __pow__ = __matmul__ = __rpow__ = __rmatmul__ = _binary
    __and__ = __or__ = __xor__ = __rand__ = __ror__ = __rxor__ = _binary
    __lt__ = __le__ = __gt__ = __ge__ = _binary

    def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]


class Place(Protocol):
    """What `x.at[key]` gives."""

    def get(self) -> Tensor: ...
    def set(self, values: TensorLike, /) -> Tensor: ...
    def add(self, values: TensorLike, /) -> Tensor: ...
    def subtract(self, values: TensorLike, /) -> Tensor: ...
    def multiply(self, values: TensorLike, /) -> Tensor: ...
    def mul(self, values: TensorLike, /) -> Tensor: ...
    def divide(self, values: TensorLike, /) -> Tensor: ...
    def max(self, values: TensorLike, /) -> Tensor: ...
    def min(self, values: TensorLike, /) -> Tensor: ...


class Places(Protocol):
    """What `x.at` gives."""

    def __getitem__(self, key: Any, /) -> Place: ...


# What the declarators make of a kernel


class Declared(Protocol):
    """The callable of an op: tensors by position, static parameters by keyword."""

    op: Op

    def __call__(self, *tensors: Any, **params: Any) -> Any: ...
    def vjp(self, argument: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
    def batch(self, function: Callable[..., Any]) -> Callable[..., Any]: ...
    def spec(self, function: Callable[..., Any]) -> Callable[..., Any]: ...


class Unary(Declared, Protocol):
    """A function of one tensor, element by element."""

    def __call__(self, x: TensorLike, name: str | None = None) -> Tensor: ...


class Binary(Declared, Protocol):
    """A function of two tensors, element by element, that broadcast."""

    def __call__(self, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor: ...


class Reduction(Declared, Protocol):
    """A function that reduces axes."""

    def __call__(
        self,
        input_tensor: TensorLike,
        axis: Any = None,
        keepdims: bool = False,
        name: str | None = None,
    ) -> Tensor: ...


class Elementwise(Protocol):
    """`@elementwise(...)`: by the number of tensors that the kernel takes after `xp`.

    Ops with more tensors, or with static parameters, are called by public functions that stand
    below them, and are not described. (A third case, for any callable, would fit all kernels: mypy
    takes the result for Any where two cases fit what has no annotations.)
    """

    @overload
    def __call__(self, kernel: Callable[[Any, Any], Any], /) -> Unary: ...
    @overload
    def __call__(self, kernel: Callable[[Any, Any, Any], Any], /) -> Binary: ...
