"""Signatures: the arguments of a call, and what of them decides which trace serves it.

Tensors count by dtype and shape, Python values by value, variables and other objects by identity.
The leaves of the arguments are tensors and variables: the inputs of the trace.
"""

from __future__ import annotations

import inspect
import weakref
from collections import defaultdict, deque
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import partial
from typing import Any, NamedTuple, TypedDict

import numpy as np

from ..core import nest
from ..core.composite import CompositeTensor, TypeSpec, components, is_composite, spec_of_composite
from ..core.convert import as_tensor
from ..core.errors import DTypeError
from ..core.sizes import SizesNeeded, SizeTensor
from ..core.spec import Spec, spec_of
from ..core.tensor import Tensor, is_symbolic
from ..core.tracing import Stream
from ..tape.type_specs import TensorSpec
from ..tape.variable import Variable

_KEPT = 256
"""So many traces of a function are kept. Each program of XLA takes 1.5 MB, whatever it does."""

_VALUES = (int, float, bool, complex, str, bytes, type(None), type(Ellipsis), slice)
_VIEWS = (KeysView, ValuesView, ItemsView)


class Identity:
    """The very object, as a key; it does not keep the object alive where that can be avoided."""

    def __init__(self, value: Any) -> None:
        self._hash = id(value)
        try:
            self._get: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self._get = lambda: value

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self._get() is other._get() is not None

    def __repr__(self) -> str:
        return f"the {type(self._get()).__name__} at {self._hash:#x}"


class Traced:
    """Base of the functions that were traced for one signature: known without JAX, unlike them."""


class Options(TypedDict, total=False):
    """What `@function` takes by keyword, for type checkers."""

    autograph: bool
    jit_compile: bool | None
    reduce_retracing: bool
    experimental_implements: Any
    experimental_autograph_options: Any
    experimental_attributes: Any
    experimental_relax_shapes: bool | None
    experimental_compile: bool | None
    experimental_follow_type_hints: bool | None
    name: str | None


class FunctionSpec(NamedTuple):
    """What is known of the parameters of a function: see `Function.function_spec`."""

    fullargspec: inspect.FullArgSpec
    input_signature: tuple[Any, ...] | None
    jit_compile: bool | None

    @property
    def arg_names(self) -> list[str]:
        return [*self.fullargspec.args, *self.fullargspec.kwonlyargs]

    @property
    def default_values(self) -> dict[str, Any]:
        defaults = self.fullargspec.defaults or ()
        names = self.fullargspec.args[len(self.fullargspec.args) - len(defaults) :]
        return dict(zip(names, defaults, strict=True)) | (self.fullargspec.kwonlydefaults or {})

    @property
    def flat_input_signature(self) -> tuple[Any, ...]:
        return tuple(nest.flatten(self.input_signature or ()))


class Parameters:
    """The parameters of a function: how the arguments of a call become one value for each.

    `specs` is its `input_signature`, which makes the first of them tensors.
    """

    def __init__(
        self, name: str, signature: inspect.Signature | None, specs: tuple[Any, ...] | None
    ) -> None:
        self.name = name
        self.specs = specs
        self.signature = signature  # None of some builtins
        self._instance = ""  # of a method: what the Python function calls its `self`
        self.names = [] if signature is None else list(signature.parameters)
        # Whether sizes that `specs` leaves open stay open in a trace.
        self.leave_sizes_open = any(map(_has_open_sizes, nest.flatten(specs)))

    @classmethod
    def of(
        cls, python_function: Callable[..., Any], name: str, specs: tuple[Any, ...] | None
    ) -> Parameters:
        try:
            signature = inspect.signature(python_function)
        except (TypeError, ValueError):
            signature = None
        return cls(name, signature, specs)

    def of_method(self) -> Parameters:
        """All but the first, which is the instance."""
        if not self.names:
            return self
        assert self.signature is not None
        others = list(self.signature.parameters.values())[1:]
        method = Parameters(self.name, self.signature.replace(parameters=others), self.specs)
        method._instance = self.names[0]
        return method

    @property
    def plain(self) -> int:
        """The number of arguments of a call that needs no binding; -1 if every call needs it."""
        if self.signature is None or self.specs is not None:
            return -1
        plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        kinds = [parameter.kind for parameter in self.signature.parameters.values()]
        return len(kinds) if all(kind in plain for kind in kinds) else -1

    def bind(self, args: Any, kwargs: Any) -> tuple[Any, ...]:
        """All arguments by position, defaults filled in; the last two are *args and **kwargs."""
        if self.signature is None:
            return (*args, kwargs)
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            advice = ""
            if self._instance not in ("", "self", "cls"):
                advice = (
                    f" As a method it gets the instance as `{self._instance}`: is `self` missing?"
                )
            raise TypeError(
                f"{self.name}: {error}. It is {self.name}{self.signature}.{advice}"
            ) from None
        bound.apply_defaults()
        values = tuple(bound.arguments.values())
        return values if self.specs is None else self._by_specs(self.specs, values)

    def _by_specs(self, specs: tuple[Any, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
        kinds = [parameter.kind for parameter in self.signature.parameters.values()]  # type: ignore[union-attr]
        if inspect.Parameter.VAR_POSITIONAL in kinds:  # those that are left over are for *args
            place = kinds.index(inspect.Parameter.VAR_POSITIONAL)
            if len(specs) > place:
                self._check_count(len(specs), place + len(values[place]))
                specs = (*specs[:place], tuple(specs[place:]))
        self._check_count(len(specs), len(values))
        fitted = [
            self._fit(i, spec, value)
            if isinstance(spec, TypeSpec)
            else nest.map_structure(partial(self._fit, i), spec, value)
            for i, (spec, value) in enumerate(zip(specs, values, strict=False))
        ]
        return (*fitted, *values[len(specs) :])

    def _check_count(self, wanted: int, given: int) -> None:
        if given < wanted:
            raise TypeError(
                f"{self.name}: takes {wanted} arguments by its `input_signature`, and got {given}."
            )

    def _fit(self, position: int, spec: Any, value: Any) -> Any:
        """An argument as a tensor, if it is one that `spec` describes."""
        if isinstance(value, TypeSpec) or not isinstance(spec, TypeSpec):
            return value
        if not isinstance(spec, TensorSpec):
            if not spec.is_compatible_with(value):
                raise TypeError(
                    f"{self.name}: argument {position} must be a {spec} by its `input_signature`, "
                    f"and is {value!r:.200}."
                )
            return value
        try:
            tensor = as_tensor(
                value, None if isinstance(value, (Tensor, Variable)) else spec.dtype, self.name
            )
        except (DTypeError, ValueError) as error:
            raise TypeError(f"{self.name}: argument {position} must be a {spec}. {error}") from None
        if not spec.is_compatible_with(tensor):
            raise TypeError(
                f"{self.name}: argument {position} must be a {spec} by its `input_signature`, and "
                f"is {tensor.dtype.name} of shape {tensor.shape}."
            )
        if self.leave_sizes_open and _has_open_sizes(spec):
            return Open(tensor, tuple(spec.shape))
        return Tensor(tensor._array, tensor._key)

    def named(self, values: Any) -> list[tuple[str, Any]]:
        """All arguments with their names; those of *args are numbered."""
        if self.signature is None:
            *values, kwargs = values
            return [*[(f"args_{i}", value) for i, value in enumerate(values)], *kwargs.items()]
        named: list[tuple[str, Any]] = []
        for parameter, value in zip(self.signature.parameters.values(), values, strict=True):
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                named += [(f"{parameter.name}_{i}", v) for i, v in enumerate(value)]
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                named += value.items()
            else:
                named.append((parameter.name, value))
        return named

    def call(
        self, python: Callable[..., Any], instance: Any, values: Any, leaves: Iterator[Any]
    ) -> Any:
        """Call the Python function with the values that `bind` gave, their leaves from `leaves`."""
        values = [with_leaves(value, leaves) for value in values]
        if self.signature is None:
            return python(*instance, *values[:-1], **values[-1])
        arguments = dict(zip(self.names, values, strict=False))
        bound = inspect.BoundArguments(self.signature, arguments)
        return python(*instance, *bound.args, **bound.kwargs)


def _has_open_sizes(spec: Any) -> bool:
    return (
        isinstance(spec, TensorSpec) and bool(spec.shape.rank) and not spec.shape.is_fully_defined()
    )


class Recent:
    """A cache of the entries that were used last, in two generations.

    When the young one is full it becomes the old one, and what was old is forgotten. What is used
    again moves to the young one. So a look into it is a look into a dict, which notes nothing.
    """

    def __init__(self, most: int = _KEPT) -> None:
        self.young: dict[Any, Any] = {}
        self._old: dict[Any, Any] = {}
        self._half = most // 2

    def recall(self, key: Any) -> Any:
        """The entry, if it is not forgotten; else None."""
        found = self.young.get(key)
        if found is None:
            found = self._old.pop(key, None)
            if found is not None:
                self.keep(key, found)
        return found

    def keep(self, key: Any, value: Any) -> None:
        if len(self.young) >= self._half and key not in self.young:
            self._old = self.young.copy()
            self.young.clear()
        self.young[key] = value

    def replace(self, value: Any, new: Any) -> None:
        for entries in (self.young, self._old):
            entries.update({key: new for key, each in [*entries.items()] if each is value})

    def forget(self, is_unwanted: Callable[[Any], bool]) -> None:
        for entries in (self.young, self._old):
            for key in [key for key, value in entries.items() if is_unwanted(value)]:
                del entries[key]

    def __iter__(self) -> Iterator[Any]:
        return iter([*self._old.values(), *self.young.values()])

    def __len__(self) -> int:
        return len(self._old) + len(self.young)


def tensor_of_array(value: Any) -> Any:
    """A NumPy array as the tensor that a function takes it for; anything else as it is."""
    return as_tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


class Open:
    """A tensor some of whose sizes do not belong to the signature: one trace serves them all."""

    def __init__(
        self,
        tensor: Tensor,
        sizes: tuple[int | None, ...] | None,
        is_spec: bool = False,
        number: int | None = None,
    ) -> None:
        self.tensor = tensor
        self.sizes = sizes  # None if not even the rank is known
        self.is_spec = is_spec  # made of a TensorSpec: there are no sizes to fall back upon
        self.number = number  # sizes but the first are its own, not those of others of that axis


def closed(value: Any) -> Any:
    """The tensor, all of whose sizes belong to the signature."""
    return value.tensor if type(value) is Open else value


def describe(value: Any, leaves: list[Any]) -> Any:
    """What of an argument belongs to the signature; its tensors and variables go to `leaves`."""
    kind = type(value)
    if kind is Tensor:
        leaves.append(value)
        return (value._array.dtype, value._array.shape)
    if kind is Open:
        leaves.append(value)
        return (value.tensor._array.dtype, value.sizes)
    if _is_value(value):
        # 1, 1.0 and True are equal, and so are 0.0 and -0.0: the type and the text tell them apart.
        return (kind, repr(value)) if kind in (float, complex, slice) else (kind, value)
    if isinstance(value, Variable):
        leaves.append(value)
        # The very variable: the function may see it by closure too, and then it is the same one.
        return (Identity(value), value._cell.array().shape)
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        tensor = as_tensor(value, op="@function")
        return describe(Tensor(tensor._array, tensor._key), leaves)
    if isinstance(value, TensorSpec):
        return describe(placeholder(value), leaves)
    if isinstance(value, Stream):
        leaves.append(value)
        first = next(i for i, leaf in enumerate(leaves) if leaf is value)
        return (Stream, first, *describe_spec(value))
    if isinstance(value, (list, tuple, deque, *_VIEWS)):
        return (kind, *(describe(v, leaves) for v in value))
    if isinstance(value, Mapping):
        return (kind, *((key, describe(v, leaves)) for key, v in value.items()))
    if is_composite(value):
        # The spec has what a trace may know: of an IndexedSlices, the shape.
        return (CompositeTensor, spec_of_composite(value), describe(components(value), leaves))
    if isinstance(value, (type, np.dtype, range, frozenset)):
        return value
    if nest.is_nested(value):
        known = describe(nest.metadata(value), [])
        return (kind, known, *(describe(v, leaves) for v in nest.children(value)))
    return Identity(value)


def _is_value(value: Any) -> bool:
    """Whether it is a value of Python; numbers of NumPy are tensors, also where they are both."""
    return isinstance(value, _VALUES) and not isinstance(value, np.number)


def describe_spec(stream: Stream) -> tuple[Any, ...]:
    """What of an iterator belongs to the signature: the spec of its elements, if there is one."""
    if stream.described is None:
        try:
            spec = stream.element_spec
            structure = repr(nest.map_structure(lambda _: None, spec))
            stream.described = (_known_elements(tuple(nest.flatten(spec)), structure),)
        except Exception:  # of a function that makes the elements
            stream.described = (Identity(stream),)
    return stream.described


class _Elements:
    """What of the elements of an iterator belongs to a signature: one object for equal specs.

    So a call compares no specs, which takes 25 µs for a pair of tensors.
    """

    def __init__(self, specs: tuple[Any, ...], structure: str) -> None:
        self.specs = specs
        self.structure = structure

    def __repr__(self) -> str:
        return f"elements of {', '.join(map(repr, self.specs))}"


_elements: weakref.WeakValueDictionary[Any, _Elements] = weakref.WeakValueDictionary()


def _known_elements(*parts: Any) -> _Elements:
    return _elements.setdefault(parts, _Elements(*parts))


def without_sizes(key: Any) -> Any:
    """A signature in which tensors count by dtype and rank only."""
    if not isinstance(key, tuple):
        return key
    if len(key) == 2 and isinstance(key[0], np.dtype):
        return key[0], len(key[1])
    return tuple([without_sizes(part) for part in key])


def has_open_composites(args: Any) -> bool:
    """Whether a composite is among the arguments whose spec leaves sizes of its tensors open.

    A ragged tensor is such: how many values its rows have differs from one to the next.
    """
    specs = nest.flatten([spec._component_specs for spec in nest.composites(args)], True)
    return any(spec.shape.rank and not spec.shape.is_fully_defined() for spec in specs)


def placeholder(spec: TensorSpec) -> Any:
    """A tensor of this shape and dtype, for tracing; it takes no memory."""
    if spec.shape.rank is None:
        return Open(blank((), spec.dtype.numpy_dtype), None, is_spec=True)
    sizes = tuple(spec.shape)
    zeros = blank([1 if n is None else n for n in sizes], spec.dtype.numpy_dtype)
    return Open(zeros, sizes, is_spec=True) if None in sizes else zeros


def blank(sizes: Any, dtype: np.dtype[Any]) -> Tensor:
    """A tensor of zeros, or of empty texts, that takes no memory."""
    value = np.array(b"", object) if dtype.kind == "O" else np.zeros((), dtype)
    return Tensor(np.broadcast_to(value, sizes))


def specs_of(leaves: list[Any]) -> tuple[list[Spec | None], dict[Any, tuple[int, int]]]:
    """Shape and dtype of each argument, None of a variable; and the open sizes among them.

    They are symbols of JAX, each with a place where it is found: the number of an argument and of
    an axis. Sizes of one axis that are equal (for a TensorSpec, all of an axis, if they are not
    tried `apart`) share a symbol: the examples of a batch and their labels are equally many. A call
    in which they differ is traced for its own sizes.
    """
    from jax.export import symbolic_shape

    names: dict[Any, str] = {}
    open_leaves = [leaf for leaf in leaves if type(leaf) is Open]
    for leaf in open_leaves:
        if leaf.sizes is None:
            raise SizesNeeded("a tensor of unknown rank")
        for tie in _ties(leaf):
            names.setdefault(tie, f"size_{len(names)}")
    symbols = dict(zip(names, symbolic_shape(", ".join(names.values())), strict=True))
    places: dict[Any, tuple[int, int]] = {}

    def spec(number: int, leaf: Any) -> Spec | None:
        if isinstance(leaf, (Variable, Stream)):
            return None
        if type(leaf) is not Open:
            return spec_of(leaf._array)
        sizes: Any = tuple([symbols[n] if type(n) is tuple else n for n in _ties_and_sizes(leaf)])
        for axis, n in enumerate(leaf.sizes or ()):
            if n is None:
                places.setdefault(sizes[axis], (number, axis))
        return Spec(sizes, leaf.tensor._array.dtype)

    return [spec(i, leaf) for i, leaf in enumerate(leaves)], places


def _ties_and_sizes(leaf: Open) -> list[Any]:
    """The sizes of a tensor, an open one as what it shares with other tensors."""
    found = zip(leaf.sizes or (), leaf.tensor._array.shape, strict=True)
    return [
        (((axis, leaf.number) if axis else (0,)) if leaf.is_spec else (axis, size))
        if n is None
        else n
        for axis, (n, size) in enumerate(found)
    ]


def apart(leaves: list[Any]) -> list[Any]:
    """The leaves, each TensorSpec with open sizes of its own but for the first, a batch's.

    (A program that is saved is not traced again for two sequences that are not equally long.)
    """
    specs = [leaf for leaf in leaves if type(leaf) is Open and leaf.is_spec]
    if sum([None in (leaf.sizes or ())[1:] for leaf in specs]) < 2:
        return leaves
    return [
        Open(leaf.tensor, leaf.sizes, True, number) if leaf in specs else leaf
        for number, leaf in enumerate(leaves)
    ]


def _ties(leaf: Open) -> list[Any]:
    return [n for n in _ties_and_sizes(leaf) if type(n) is tuple]


def fits(found: Any, expected: Any) -> bool:
    """Whether the signature `found` is covered by `expected`, in which sizes may be open."""
    if isinstance(expected, TypeSpec):
        return expected.is_compatible_with(found)
    if not isinstance(expected, tuple):
        return bool(found == expected)
    if not isinstance(found, tuple) or len(found) != len(expected):
        return False
    if len(expected) == 2 and isinstance(expected[0], np.dtype):
        (dtype, sizes), (wanted, wanted_sizes) = found, expected
        return dtype == wanted and (
            wanted_sizes is None
            or (
                len(sizes) == len(wanted_sizes)
                and all(m in (None, n) for n, m in zip(sizes, wanted_sizes, strict=True))
            )
        )
    return all(map(fits, found, expected))


def with_leaves(value: Any, leaves: Any) -> Any:
    """The argument with its tensors and variables taken from the iterator `leaves`."""
    if _is_value(value):
        return value
    if isinstance(value, (Tensor, Variable, Open, np.ndarray, np.generic, TensorSpec, Stream)):
        return next(leaves)
    if isinstance(value, (list, tuple)):
        parts = [with_leaves(v, leaves) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, _VIEWS):
        return [with_leaves(v, leaves) for v in value]
    if isinstance(value, deque):
        return deque([with_leaves(v, leaves) for v in value], value.maxlen)
    if isinstance(value, Mapping):
        items = {key: with_leaves(v, leaves) for key, v in value.items()}
        if isinstance(value, defaultdict):
            return type(value)(value.default_factory, items)
        return type(value)(items)  # type: ignore[call-arg]
    if is_composite(value):
        made_of = with_leaves(components(value), leaves)
        return spec_of_composite(value)._from_components(made_of)
    if nest.is_nested(value):
        return nest.remade(value, [with_leaves(v, leaves) for v in nest.children(value)])
    return value


def given_specs(input_signature: Any) -> tuple[Any, ...] | None:
    """An `input_signature` as a tuple; None if none is given."""
    if input_signature is None:
        return None
    if not isinstance(input_signature, (list, tuple)):
        raise TypeError(
            "function: `input_signature` must be a list or tuple with a TensorSpec, or a nest of "
            f"them, for each argument, not {input_signature!r:.100}."
        )
    return tuple(input_signature)


def shown(part: Any) -> str:
    """A part of a signature, for people."""
    if isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], tuple):
        return f"{part[0]}{list(part[1])}"
    return repr(part[1]) if isinstance(part, tuple) and len(part) == 2 else f"{part!r:.60}"


def may_be_symbols(tensors: list[Any]) -> bool:
    """Whether a function may be traced on symbols in place of these; not if all are known."""
    from ..tape.batching import innermost

    arrays = [x._array for x in tensors]
    return (
        innermost(tensors) is None
        and not any([type(x) is SizeTensor for x in tensors])
        and all([isinstance(n, int) for array in arrays for n in array.shape])
        and (not arrays or any(map(is_symbolic, arrays)))
    )
