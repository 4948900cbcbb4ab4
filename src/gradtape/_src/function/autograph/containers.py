"""Lists, dicts and sets that a branch or the body of a loop of the program changes.

Such a block is traced once, so it changes them once, however often the program runs it. Where it is
traced only as a trial, its changes are undone. The tensors that it puts there, or removes, are of
no use after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import BuiltinMethodType
from typing import Any

from ...core import nest
from ...core.tensor import Tensor, is_symbolic
from ..lines import user_line

_KINDS = (list, dict, set, deque)
_READERS = {"copy", "count", "get", "index", "items", "keys", "values"}
_MISSING = object()


class Unknown:
    """What a container has or not, as the program decides: of no use to anybody."""

    def __init__(self, what: str, advice: str) -> None:
        self._text = f"<{what}: {user_line()}. {advice}>"

    def __repr__(self) -> str:
        return self._text

    def _refuse(self, *others: Any, **options: Any) -> Any:
        raise TypeError(f"{user_line()}: {self._text}")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _refuse
    __rtruediv__ = __matmul__ = __pow__ = __neg__ = __getitem__ = __float__ = __bool__ = _refuse
    __array__ = _refuse  # which every op asks for


class Changes:
    """The containers that a block has changed so far, and what was in them before."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[Any, Any]] = {}

    def __bool__(self) -> bool:
        return bool(self._before)

    def note(self, container: Any) -> None:
        if id(container) not in self._before:
            self._before[id(container)] = container, _contents(container)

    def undo(self) -> None:
        for container, before in self._before.values():
            _fill(container, before)

    def spoil(self) -> None:
        """Make tensors that have a value, and so seem to be of use after the block, raise if used.

        (One that has none says itself that it is of a block.)
        """
        for container, before in self._before.values():
            if isinstance(container, dict):
                for key in [*before, *(key for key in container if key not in before)]:
                    a, b = before.get(key, _MISSING), container.get(key, _MISSING)
                    if a is not b and (_has_value(a) or _has_value(b)):
                        container[key] = _unknown("dict")
            elif not isinstance(container, set):
                after = list(container)
                old, new = set(map(id, before)), set(map(id, after))
                changed = [x for x in before if id(x) not in new]
                changed += [x for x in after if id(x) not in old]
                if any(map(_has_value, changed)) or (
                    len(before) != len(after) and any(map(_has_value, after))
                ):
                    _fill(container, [*before, _unknown("list")])


_open: ContextVar[tuple[Changes, ...]] = ContextVar("changes", default=())


@contextmanager
def noted() -> Iterator[Changes]:
    """A block whose changes are noted, also by the blocks around it."""
    changes = Changes()
    token = _open.set((*_open.get(), changes))
    try:
        yield changes
    finally:
        _open.reset(token)


def changing(container: Any) -> Any:
    """The container, which is about to be changed."""
    blocks = _open.get()
    if blocks and isinstance(container, _KINDS):
        for changes in blocks:
            changes.note(container)
    return container


def calling(f: Any) -> None:
    """Note the container that a call of `f` may change, if it is a method of one."""
    if type(f) is BuiltinMethodType and f.__name__ not in _READERS:
        changing(f.__self__)


def apart(values: Any) -> Any:
    """The same values in containers of their own."""
    return nest.map_structure(lambda leaf: leaf, values)


def _contents(container: Any) -> Any:
    return dict(container) if isinstance(container, dict) else list(container)


def _fill(container: Any, contents: Any) -> None:
    container.clear()
    (container.extend if isinstance(container, (list, deque)) else container.update)(contents)


def _has_value(x: Any) -> bool:
    return isinstance(x, Unknown) or (isinstance(x, Tensor) and not is_symbolic(x._array))


def _unknown(kind: str) -> Unknown:
    return Unknown(
        f"an element of a {kind} that is changed by a loop or a branch of the program, which is "
        "traced once however often it runs",
        "Assign to variables, to elements or attributes by a name known before, or use a "
        "tf.TensorArray",
    )
