"""What is left of version 1's graphs where there are no sessions."""

from __future__ import annotations

from typing import Any

from ...core.tracing import current_graph


def reset_default_graph() -> None:
    """Begin with an empty graph: here every function has its own, and nothing is left over."""
    if current_graph() is not None:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs.")


def executing_eagerly_outside_functions() -> bool:
    """Whether code outside of functions runs at once. It does."""
    return True


class Dimension:
    """The size of an axis as version 1 has it: an object with a `value`."""

    def __init__(self, value: Any) -> None:
        self._value = None if value is None else int(getattr(value, "value", value))

    @property
    def value(self) -> int | None:
        return self._value

    def __eq__(self, other: object) -> bool | Any:
        other_value = getattr(other, "value", other)
        if self._value is None or other_value is None:
            return None
        return self._value == other_value

    def __hash__(self) -> int:
        return hash(self._value)

    def __int__(self) -> Any:
        return self._value

    __index__ = __int__

    def is_compatible_with(self, other: Any) -> bool:
        """Whether the sizes may be equal."""
        other_value = getattr(other, "value", other)
        return None in (self._value, other_value) or self._value == other_value

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)
