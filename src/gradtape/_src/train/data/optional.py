"""Optional: a value that may be missing, as the next element of an iterator at its end."""

from __future__ import annotations

from typing import Any

from ...core.composite import CompositeTensor, TypeSpec
from ...core.convert import as_tensor
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...ops.effects.run_time import at_run_time, waits_for_run_time
from ...tape.type_specs import NoneTensorSpec, TensorSpec, zeros_of_spec
from .element_spec import spec_of
from .elements import as_element


class Optional(CompositeTensor):
    """A value, or none. Inside `@function` the run knows which. Functions take and return it.

    >>> next_element = iter(tf.data.Dataset.range(1)).get_next_as_optional()
    >>> bool(next_element.has_value()), int(next_element.get_value())
    (True, 0)
    """

    def __init__(self, has_value: Any, value: Any, element_spec: Any) -> None:
        """Called by `from_value`, `empty` and iterators, which make one."""
        self._has_value = as_tensor(has_value)
        self._value = value
        self._element_spec = element_spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An Optional with this value, a tensor or a nest of them."""
        element = as_element(value, "Optional.from_value", is_constant=False)
        return Optional(True, element, spec_of(element))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An Optional without a value, which would have this spec."""
        return Optional(False, None, element_spec)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value, as a tensor."""
        return self._has_value

    def get_value(self, name: str | None = None) -> Any:
        """The value; if there is none, an InvalidArgumentError."""

        def check(has_value: Any) -> None:
            if not has_value:
                raise InvalidArgumentError(
                    "Optional.get_value: the optional has no value. Ask has_value() first."
                )

        if self._value is None or not waits_for_run_time(self._has_value):
            check(self._value is not None and bool(self._has_value))
        else:
            at_run_time(check, self._has_value._array)
        return self._value

    @property
    def element_spec(self) -> Any:
        """The structure, shapes and dtypes of the value, as TensorSpecs."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)

    def __repr__(self) -> str:
        return f"<Optional element_spec={self._element_spec!r}>"


class OptionalSpec(TypeSpec):
    """What is known of an Optional: the spec of the value that it has, if it has one.

    It consists of a bool and the value. Where there is none, zeros are in its place (and nothing
    where a size is not known), so that a compiled program has the same tensors in either case.
    """

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def _is_known(self) -> bool:
        return self._element_spec is not None

    @property
    def value_type(self) -> type:
        return Optional

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @staticmethod
    def from_value(value: Optional) -> OptionalSpec:
        return value._type_spec

    def _to_components(self, value: Optional) -> tuple[Any, Any]:
        if value._value is None and self._is_known:
            if value._learn is None:
                return value._has_value, zeros_of_spec(self._element_spec, 0)
            value._value = value._learn(self)._value
        return value._has_value, value._value

    def _from_components(self, components: Any) -> Optional:
        has_value, value = components
        return Optional(has_value, value, self._element_spec)

    @property
    def _component_specs(self) -> tuple[Any, Any]:
        return TensorSpec([], "bool"), self._element_spec if self._is_known else NoneTensorSpec()


def get_next_as_optional(iterator: Any) -> Optional:
    """The next element of an iterator as an Optional, which has no value at the end."""
    optional: Optional = iterator.get_next_as_optional()
    return optional
