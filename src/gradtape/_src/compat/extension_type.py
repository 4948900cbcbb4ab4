"""ExtensionType: classes of the user's own that are made of tensors, declared by annotations.

An annotation says what a field holds; `_converted` makes it of what is given, or refuses. Tensors,
and what is made of tensors, are the components of a value, wherever they are in its fields. All
else is part of its Spec, in which each component is replaced by the spec of it.
"""

from __future__ import annotations

import types
from abc import ABCMeta
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, get_annotations
from typing import Any, ClassVar, Union, get_args, get_origin

from ..core import nest
from ..core.composite import CompositeTensor, TypeSpec, spec_of_composite
from ..core.convert import as_tensor
from ..core.dtypes import DType, as_dtype
from ..core.shape import TensorShape
from ..core.tensor import Tensor
from ..ops.math.logic import equal
from ..ops.math.reduction import reduce_all
from ..tape.type_specs import TensorSpec
from .internals import type_spec_registry

_RESERVED = ("self", "Spec", "_type_spec")
_PLAIN = (int, float, str, bytes, bool)


class _Sealing(ABCMeta):
    """The metaclass of classes whose objects are sealed once their constructor has run."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        made._complete()
        vars(made)["_sealed"] = True
        return made


class _Sealed(metaclass=_Sealing):
    """Fields that the constructor sets, and nothing afterwards."""

    _annotated: ClassVar[dict[str, Any]] = {}
    """The annotations of the fields, by name."""

    _signature: ClassVar[Signature] = Signature()
    """That of the constructor, unless a class has one of its own."""

    _holds_specs: ClassVar[bool]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__qualname__}: {error}.") from None
        bound.apply_defaults()
        vars(self).update(bound.arguments)

    def _complete(self) -> None:
        kind, given = type(self).__qualname__, vars(self)
        missing = [name for name in self._annotated if name not in given]
        unknown = [name for name in given if name not in self._annotated]
        if missing or unknown:
            which = f"left out {missing}" if missing else f"set {unknown}, which are no fields"
            raise AttributeError(
                f"{kind}: the constructor {which}. It sets each annotated field, and no others."
            )
        for name, wanted in self._annotated.items():
            where = f"{kind}: field {name!r}"
            given[name] = _converted(given[name], wanted, where, self._holds_specs)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_sealed" in vars(self):
            raise AttributeError(
                f"{type(self).__qualname__}: `{name}` cannot be changed: the fields are set in the "
                "constructor only. Make another value."
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__qualname__}: `{name}` cannot be deleted.")

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in as_dict(self).items())
        return f"{type(self).__qualname__}({fields})"


class ExtensionTypeSpec(_Sealed, TypeSpec):
    """What the values of an ExtensionType have in common: specs in place of what is of tensors."""

    _holds_specs = True
    _value_type: ClassVar[Any]

    @property
    def value_type(self) -> Any:
        return self._value_type

    def _serialize(self) -> tuple[Any, ...]:
        return tuple(as_dict(self).items())

    @classmethod
    def _deserialize(cls, serialization: Any) -> Any:
        return _made(cls, dict(serialization))

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return tuple(part for part in _parts(self) if isinstance(part, TypeSpec))

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        pairs = zip(_parts(self), _parts(value), strict=True)
        return tuple(part for spec, part in pairs if isinstance(spec, TypeSpec))

    def _from_components(self, components: Any) -> Any:
        parts = iter(components)
        return _mapped(
            lambda part: next(parts) if isinstance(part, TypeSpec) else part, self, self.value_type
        )


class ExtensionType(_Sealed, CompositeTensor):
    """Base of classes whose fields hold tensors and other values, used as one value.

    Functions take and return such values, and so do `tf.cond`, `tf.while_loop` and `tf.nest`. The
    constructor takes the fields in their order; `__validate__`, if a class has it, is called at its
    end. Fields do not change.

        class MaskedTensor(tf.experimental.ExtensionType):
            values: tf.Tensor
            mask: tf.Tensor

        masked = MaskedTensor([1, 2], [True, False])
        tf.function(lambda m: tf.where(m.mask, m.values, 0))(masked)  # [1, 0]
    """

    _holds_specs = False
    _to_make_tensors = "Give it one of its fields that are tensors."

    Spec: ClassVar[Any] = ExtensionTypeSpec

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = get_annotations(cls, eval_str=True)
        for name, wanted in own.items():
            where = f"{cls.__qualname__}: field {name!r}"
            if name in _RESERVED:
                raise ValueError(f"{where}: this name is reserved.")
            _check_annotation(wanted, where)
        cls._annotated = {**cls._annotated, **own}
        cls._signature = _signature_of(cls)
        body = (cls.__dict__["Spec"],) if "Spec" in cls.__dict__ else ()
        parts = {
            "__module__": cls.__module__,
            "__qualname__": f"{cls.__qualname__}.Spec",
            "_annotated": cls._annotated,
            "_signature": cls._signature,
            "_value_type": cls,
        }
        cls.Spec = _Sealing("Spec", (*body, ExtensionTypeSpec), parts)
        if "__name__" in cls.__dict__:  # files know the class by it
            type_spec_registry.register(f"{cls.__dict__['__name__']}.Spec")(cls.Spec)

    def _complete(self) -> None:
        super()._complete()
        self.__validate__()

    def __validate__(self) -> None:
        """For classes that check their fields, which are converted by now."""

    @property
    def _type_spec(self) -> Any:
        return _mapped(_spec_of, self, type(self).Spec)

    def __eq__(self, other: object) -> Any:
        """Whether all is equal: False, or a tensor where that depends on the values."""
        if type(other) is not type(self) or other._type_spec != self._type_spec:
            return False
        own, others = (nest.flatten(value, expand_composites=True) for value in (self, other))
        same = [reduce_all(equal(a, b)) for a, b in zip(own, others, strict=True)]
        return reduce_all(same) if same else True

    def __ne__(self, other: object) -> Any:
        same = self == other
        return not same if isinstance(same, bool) else ~same

    __hash__ = None  # type: ignore[assignment]  # as it is for tensors


def as_dict(value: Any) -> dict[str, Any]:
    """The fields of an ExtensionType, or of its Spec, by name."""
    return {name: vars(value)[name] for name in value._annotated}


def _made(kind: Any, fields: dict[str, Any]) -> Any:
    """An object of fields that are what they have to be, or stand for that."""
    made = kind.__new__(kind)
    vars(made).update(fields, _sealed=True)
    return made


def _parts(value: Any) -> list[Any]:
    """What the fields hold, in their order."""
    return nest.flatten(tuple(as_dict(value).values()))


def _mapped(function: Callable[[Any], Any], value: Any, kind: Any) -> Any:
    """An object of what `function` makes of the parts of a value."""
    fields = as_dict(value)
    return _made(kind, {name: nest.map_structure(function, fields[name]) for name in fields})


def _spec_of(part: Any) -> Any:
    if isinstance(part, Tensor):
        return TensorSpec.from_tensor(part)
    return spec_of_composite(part) if isinstance(part, CompositeTensor) else part


def _signature_of(cls: type[ExtensionType]) -> Signature:
    """Fields by position and name; by name only, those without a default after one that has it."""
    kind: Any = Parameter.POSITIONAL_OR_KEYWORD
    parameters: list[Parameter] = []
    for name in cls._annotated:
        default = getattr(cls, name, Parameter.empty)
        if default is Parameter.empty and any(p.default is not p.empty for p in parameters):
            kind = Parameter.KEYWORD_ONLY
        parameters.append(Parameter(name, kind, default=default))
    return Signature(parameters)


# Annotations


def _check_annotation(wanted: Any, where: str) -> None:
    origin, parts = get_origin(wanted), get_args(wanted)
    if wanted in (None, type(None), Tensor, TensorShape, DType, *_PLAIN):
        return
    if origin in (Union, types.UnionType, tuple, dict, Mapping):
        for part in parts:
            if part is not ...:
                _check_annotation(part, where)
    elif not isinstance(wanted, type) or not issubclass(wanted, CompositeTensor):
        raise TypeError(
            f"{where}: {wanted!r} is no type of a field. Fields hold tf.Tensor, composites, int, "
            "float, str, bytes, bool, None, tf.DType, tf.TensorShape, and Union, tuple and Mapping "
            "of them. (What a tensor has to be, `__validate__` can check.)"
        )


def _converted(value: Any, wanted: Any, where: str, as_spec: bool) -> Any:
    """The value, or the spec of one, that a field of this annotation holds."""
    origin = get_origin(wanted)
    convert = _CONVERSIONS.get(origin)
    if convert is not None:
        return convert(value, get_args(wanted), where, as_spec)
    if wanted in (TensorShape, DType):
        return TensorShape(value) if wanted is TensorShape else as_dtype(value)
    if wanted in (None, type(None)):
        return _checked(value, value is None, "None", where)
    if wanted in _PLAIN:
        return _checked(value, isinstance(value, wanted), wanted.__name__, where)
    if as_spec:
        is_one = isinstance(value, TypeSpec) and issubclass(value.value_type, wanted)
        return _checked(value, is_one, f"the spec of a {wanted.__qualname__}", where)
    if wanted is Tensor:
        return as_tensor(value, op=where)
    return _checked(value, isinstance(value, wanted), wanted.__qualname__, where)


def _checked(value: Any, is_right: bool, wanted: str, where: str) -> Any:
    if not is_right:
        raise TypeError(f"{where}: expected {wanted}, and received {value!r:.100}.")
    return value


def _one_of(value: Any, kinds: tuple[Any, ...], where: str, as_spec: bool) -> Any:
    """The value as the first of `kinds` that it is; else as the first that it can become."""
    is_one = [isinstance(kind, type) and isinstance(value, kind) for kind in kinds]
    for kind in sorted(kinds, key=lambda kind: not is_one[kinds.index(kind)]):
        try:
            return _converted(value, kind, where, as_spec)
        except (TypeError, ValueError):
            pass
    return _checked(value, False, " or ".join(map(_name_of, kinds)), where)


def _tuple_of(value: Any, kinds: tuple[Any, ...], where: str, as_spec: bool) -> Any:
    _checked(value, isinstance(value, (tuple, list)), "a tuple", where)
    if kinds[1:] == (...,):
        kinds = kinds[:1] * len(value)
    _checked(value, len(value) == len(kinds), f"a tuple of {len(kinds)}", where)
    pairs = zip(value, kinds, strict=True)
    return tuple(_converted(part, kind, where, as_spec) for part, kind in pairs)


def _mapping_of(value: Any, kinds: tuple[Any, ...], where: str, as_spec: bool) -> Any:
    _checked(value, isinstance(value, Mapping), "a mapping", where)
    key, kind = kinds
    return {
        _converted(name, key, where, as_spec): _converted(part, kind, where, as_spec)
        for name, part in value.items()
    }


def _name_of(kind: Any) -> str:
    return kind.__qualname__ if isinstance(kind, type) else repr(kind)


_CONVERSIONS: dict[Any, Callable[..., Any]] = {
    Union: _one_of,
    types.UnionType: _one_of,
    tuple: _tuple_of,
    dict: _mapping_of,
    Mapping: _mapping_of,
}
