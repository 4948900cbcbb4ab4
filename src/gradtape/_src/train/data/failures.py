"""Failures: elements that could not be made. The error of one travels in its place.

A generator that raises is at its end, and with it all that stand on it. The iterators of TensorFlow
go on with the next element; so stages hand on a Failure, and the Iterator raises its error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import InvalidArgumentError


class Failure:
    """Stands for an element, or for a block of one."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        if isinstance(error, StopIteration):  # would be taken for the end
            told = InvalidArgumentError("A function of the dataset raised StopIteration.")
            told.__cause__, error = error, told
        self.error = error


def attempt(fn: Callable[..., Any], *args: Any) -> Any:
    """`fn(*args)`, or its Failure; the Failure among `args`, if there is one."""
    for arg in args:
        if type(arg) is Failure:
            return arg
    try:
        return fn(*args)
    except Exception as error:
        return Failure(error)


def attempting(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`attempt(fn, element)` as a function of the element: 0.2 µs less than a partial of it."""

    def attempted(element: Any) -> Any:
        if type(element) is Failure:
            return element
        try:
            return fn(element)
        except Exception as error:
            return Failure(error)

    return attempted


def made(element: Any) -> Any:
    """The element, if it could be made."""
    if type(element) is Failure:
        raise element.error
    return element
