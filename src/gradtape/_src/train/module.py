"""Module: an object that finds the variables in its attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from itertools import count
from typing import Any

from ..core import nest
from ..core.notebook import card
from ..core.trackable import AutoTrackable
from ..tape.scopes import name_prefix, name_scope
from ..tape.variable import Variable

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")


def snake_case(name: str) -> str:
    """The name of a class as that of an object: `HTTPServer` is an `http_server`."""
    return _WORD.sub(r"_\1", name).lower()


class Module(AutoTrackable):
    """Base of models and their parts: knows the variables and modules that its attributes hold.

    >>> class Dense(tf.Module):
    ...     def __init__(self, inputs, outputs, name=None):
    ...         super().__init__(name)
    ...         self.w = tf.Variable(tf.zeros([inputs, outputs]), name="w")
    ...         self.b = tf.Variable(tf.zeros([outputs]), name="b")
    >>> Dense(3, 2)
    dense: Dense                    8
    ├── b         (2,)    float32   2
    └── w         (3, 2)  float32   6
    total                 32 bytes  8

    They are found in attributes and in lists, tuples and dicts there, to any depth: first the
    module's own, by the names of the attributes in alphabetical order, then those of its modules.
    """

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = snake_case(type(self).__name__)
        if not isinstance(name, str):
            raise TypeError(f"Module: `name` must be a string, not {name!r}.")
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"Module: {name!r} is not a valid module name. Use letters, digits and "
                "underscores, as in a Python name, or leave it out."
            )
        self._name = name
        self._name_scope = name_scope(f"{name_prefix()}{name}/")

    @property
    def name(self) -> str:
        """The name given, or that of the class in snake case."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """A scope for `with`, in which the names of new variables begin with the module's name."""
        return self._name_scope

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables of this module and of those in it, each once."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that tapes watch by themselves."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def trainable_weights(self) -> tuple[Variable, ...]:
        """The `trainable_variables`, by the name that Keras' layers have for them."""
        return self.trainable_variables

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules inside of this one, each once."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """The leaves of the attributes that satisfy `predicate`, each once; or (path, leaf)."""
        found = _walk(self, recursive, predicate, attribute_traversal_key, (), {id(self)})
        for path, leaf in found:
            yield (path, leaf) if with_path else leaf

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A decorator: the method runs inside the module's name scope.

        >>> class Lazy(tf.Module):
        ...     @tf.Module.with_name_scope
        ...     def __call__(self, x):
        ...         if not hasattr(self, "w"):
        ...             self.w = tf.Variable(2.0, name="w")
        ...         return self.w * x
        >>> lazy = Lazy()
        >>> lazy(3.0)
        <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
        >>> lazy.w.name
        'lazy/w:0'
        """

        @wraps(method)
        def inside(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return inside

    def _repr_html_(self) -> str:
        return card(type(self).__name__, {}, repr(self))

    def __repr__(self) -> str:
        """A tree of the variables and modules inside, with shapes, dtypes and sizes."""
        variables = self.variables
        total = ("total", "", _memory(variables), _size(variables))
        return _table(
            [
                _line(getattr(self, "_name", type(self).__name__), self),
                *_tree(self, {id(self)}),
                total,
            ]
        )


def _is_variable(leaf: Any) -> bool:
    return isinstance(leaf, Variable)


def _is_module(leaf: Any) -> bool:
    return isinstance(leaf, Module)


def _walk(
    module: Module,
    recursive: bool,
    predicate: Callable[[Any], bool] | None,
    order: Callable[[str], Any] | None,
    path: tuple[Any, ...],
    seen: set[int],
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    inside = []
    for place, leaf in _leaves_of(module, path, order):
        if id(leaf) in seen:
            continue
        matches = predicate is None or predicate(leaf)
        if matches or _is_module(leaf):
            seen.add(id(leaf))
        if matches:
            yield place, leaf
        if recursive and _is_module(leaf):
            inside.append((place, leaf))
    for place, leaf in inside:
        yield from _walk(leaf, recursive, predicate, order, place, seen)


def _leaves_of(
    module: Module, path: tuple[Any, ...] = (), order: Callable[[str], Any] | None = None
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """What the attributes hold, and the lists, tuples and dicts there, with the way to it."""
    attributes = vars(module)
    names = [name for name in attributes if not name.startswith("_self_")]
    for name in sorted(names, key=order):
        yield from _leaves(attributes[name], (*path, name))


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if not nest.is_nested(value):
        yield path, value
    else:
        for key, child in _items(value):
            yield from _leaves(child, (*path, key))


def _items(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return zip(getattr(value, "_fields", count()), nest.children(value))  # noqa: B905, count() has no end
    try:
        return [(key, value[key]) for key in sorted(value)]
    except TypeError:  # keys that cannot be compared: in the order of the dict
        return value.items()


# As a tree


def _line(label: str, leaf: Any) -> tuple[str, ...]:
    """The columns of a line: what it is called, its shape, dtype and size."""
    if _is_module(leaf):
        return (f"{label}: {type(leaf).__name__}", "", "", _size(leaf.variables))
    kind = leaf.dtype.name + ("" if leaf.trainable else ", not trainable")
    return (label, str(leaf.shape), kind, _size([leaf]))


def _tree(module: Module, seen: set[int]) -> Iterator[tuple[str, ...]]:
    """The lines below that of the module itself."""
    entries = [
        (path[0] + "".join(f"[{key!r}]" for key in path[1:]), leaf)
        for path, leaf in _leaves_of(module)
        if _is_variable(leaf) or _is_module(leaf)
    ]
    for label, leaf in entries:
        last = leaf is entries[-1][1] and label == entries[-1][0]
        branch, below = ("└── ", "    ") if last else ("├── ", "│   ")
        if id(leaf) in seen:
            yield branch + label, "(shown above)", "", ""
            continue
        seen.add(id(leaf))
        first, *rest = _line(label, leaf)
        yield branch + first, *rest
        if _is_module(leaf):
            yield from ((below + first, *rest) for first, *rest in _tree(leaf, seen))


def _memory(variables: Any) -> str:
    size = float(sum(v.shape.num_elements() * v.dtype.size for v in variables))
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.4g} {unit}"


def _size(variables: Any) -> str:
    return f"{sum(v.shape.num_elements() for v in variables):,}"


def _table(rows: list[tuple[str, ...]]) -> str:
    """The rows as text, the columns aligned, the last one to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for *cells, number in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
        lines.append("  ".join([*padded, number.rjust(widths[-1])]).rstrip())
    return "\n".join(lines)
