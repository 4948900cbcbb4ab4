"""CompositeTensor: a value made of several tensors that is used as one, such as a SparseTensor.

What it is made of says its `_type_spec`, a TypeSpec, by the protocol that TensorFlow has for it:
`spec._to_components(value)` gives the tensors, as a nest, and `spec._from_components(nest)` a value
of other ones. To `nest` it is a leaf, unless composites are to be expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Self

from .errors import DTypeError
from .shape import TensorShape
from .take_over import TakesOver

new_classes: list[Callable[[type], None]] = []
"""Each is called with every class of composites and of specs when it is made.

Their modules are imported when an op first gives such a value, which has to say its public place.
"""


class _Announced:
    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for tell in new_classes:
            tell(cls)


class TypeSpec(_Announced):
    """Base of the descriptions of values: equal if they say the same, and hashable.

    A class of one's own gives `value_type`, `_serialize` (the arguments of its constructor, as a
    tuple), `_component_specs`, `_to_components` and `_from_components`; from the first two comes
    what compares specs.
    """

    _is_composite = True
    """Whether the values are made of others, which `nest` can expand; not so for a TensorSpec."""

    @property
    def _is_known(self) -> bool:
        """Whether it says what a value is made of; not so for an Optional that never had one."""
        return True

    @property
    def value_type(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no `value_type`.")

    def _serialize(self) -> tuple[Any, ...]:
        """What the constructor is given: shapes, dtypes, specs, Python values, nests of them."""
        raise NotImplementedError(f"{type(self).__name__} has no `_serialize`.")

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Self:
        return cls(*serialization)

    # What values are made of

    def _to_components(self, value: Any) -> Any:
        """The tensors that a composite value consists of, as a nest."""
        raise NotImplementedError(f"{type(self).__name__} describes no composite value.")

    def _from_components(self, components: Any) -> Any:
        """The composite value of these tensors."""
        raise NotImplementedError(f"{type(self).__name__} describes no composite value.")

    @property
    def _component_specs(self) -> Any:
        """The TypeSpecs of the tensors that a composite value consists of, nested alike."""
        raise NotImplementedError(f"{type(self).__name__} describes no composite value.")

    def _sketch(self, graph: Any) -> Any:
        """What stands for such a value in a `graph` that only learns shapes."""
        return self._from_components(graph.sketches_of(self._component_specs))

    # Rows of values, along axis 0: what tf.data and map_fn go by

    def _batch(self, batch_size: int | None) -> TypeSpec:
        """The spec of so many such values stacked."""
        raise DTypeError(f"A {_name(self)} cannot be stacked into a batch.")

    def _unbatch(self) -> TypeSpec:
        """The spec of the rows of such a value."""
        raise DTypeError(f"A {_name(self)} has no rows.")

    def _of_any_size(self) -> TypeSpec:
        """The spec of such values of other sizes too."""
        return self

    def _stack(self, values: Sequence[Any]) -> Any:
        """One value with `values`, which are of this spec, as its rows."""
        raise DTypeError(f"A {_name(self)} cannot be stacked into a batch.")

    def _unstack(self, value: Any) -> list[Any]:
        """The rows of a value."""
        raise DTypeError(f"A {_name(self)} has no rows.")

    # Comparing

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether some value fits both."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            other = getattr(other, "_type_spec", None)
        return type(other) is type(self) and _compatible(self._serialize(), other._serialize())

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every value that fits this fits `other`."""
        return type(other) is type(self) and _within(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Self | None:
        """The narrowest description that this and all `others` fit; None if there is none."""
        try:
            return reduce(lambda a, b: a.most_specific_compatible_type(b), others, self)
        except (TypeError, ValueError):
            return None

    def most_specific_compatible_type(self, other: Any) -> Self:
        """The narrowest description that this and `other` both fit."""
        if type(other) is type(self):
            try:
                return self._deserialize(_common(self._serialize(), other._serialize()))
            except (TypeError, ValueError):
                pass
        raise ValueError(f"No type is common to {self} and {other}.")

    def _parts(self) -> Any:
        """A hashable value that differs between specs of this class that are not equal."""
        return _hashable(self._serialize())

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool(self._parts() == other._parts())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), self._parts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


class CompositeTensor(TakesOver, _Announced):
    """Base of the values that are made of tensors: sparse, ragged, or a user's own."""

    _is_tensor = False
    """Whether tf.is_tensor says so, as it does of those that stand for one tensor."""

    _learn: Any = None
    """Of one that a loop carries before its spec is known: gives, once it is, the value it has."""

    @property
    def _type_spec(self) -> Any:
        """The TypeSpec of the value, which takes it apart and puts it together again."""
        raise NotImplementedError(f"{type(self).__name__} has no `_type_spec`.")


class CompositeTensorGradient:
    """How a composite is the source or the target of a gradient: its `__composite_gradient__`."""

    def get_gradient_components(self, value: Any) -> Any:
        """The tensors, or composites, of `value` by which to differentiate, as a nest."""
        raise NotImplementedError

    def replace_gradient_components(self, value: Any, component_grads: Any) -> Any:
        """What the gradient by `value` is: a composite like it of the gradients by those."""
        raise NotImplementedError


class WithValuesCompositeTensorGradient(CompositeTensorGradient):
    """By `value.values`; what comes of it is `value.with_values(gradient)`."""

    def get_gradient_components(self, value: Any) -> Any:
        return value.values

    def replace_gradient_components(self, value: Any, component_grads: Any) -> Any:
        return value.with_values(component_grads)


def is_composite(value: Any) -> bool:
    """Whether `value` is made of tensors; or is a spec, made of theirs."""
    return isinstance(value, CompositeTensor) or (
        isinstance(value, TypeSpec) and value._is_composite
    )


def spec_of_composite(value: Any) -> Any:
    """The TypeSpec of a composite, or the one that `value` is."""
    return value if isinstance(value, TypeSpec) else value._type_spec


def components(value: Any) -> Any:
    """The tensors of a composite as a nest; those of a spec are specs."""
    if isinstance(value, TypeSpec):
        return value._component_specs
    return value._type_spec._to_components(value)


def _name(spec: TypeSpec) -> str:
    return getattr(spec.value_type, "__name__", type(spec).__name__)


# Serializations of specs, side by side


def _compatible(a: Any, b: Any) -> bool:
    if isinstance(a, (TensorShape, TypeSpec)):
        return a.is_compatible_with(b)
    return _alike(a, b, _compatible)


def _within(a: Any, b: Any) -> bool:
    if isinstance(a, (TensorShape, TypeSpec)):
        return a.is_subtype_of(b)
    return _alike(a, b, _within)


def _alike(a: Any, b: Any, compare: Any) -> bool:
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(compare, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(compare(a[k], b[k]) for k in a)
    return bool(a == b)


def _common(a: Any, b: Any) -> Any:
    if isinstance(a, TensorShape):
        return a.most_specific_compatible_shape(b)
    if isinstance(a, TypeSpec):
        return a.most_specific_compatible_type(b)
    if isinstance(a, (tuple, list)) and type(a) is type(b) and len(a) == len(b):
        parts = [_common(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return {key: _common(a[key], b[key]) for key in a}
    if a != b:
        raise ValueError(f"{a!r} and {b!r} differ.")
    return a


def _hashable(value: Any) -> Any:
    if isinstance(value, TensorShape):
        return None if value.rank is None else tuple(value)
    if isinstance(value, (tuple, list)):
        return (type(value), *map(_hashable, value))
    if isinstance(value, dict):
        return tuple([(key, _hashable(value[key])) for key in sorted(value)])
    return value
