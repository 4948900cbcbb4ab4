"""The arguments of a function as JSON: nests of TensorSpecs and plain values."""

from __future__ import annotations

from typing import Any

from ...core import nest
from ...core.errors import UnimplementedError
from ...tape.type_specs import TensorSpec

_PLAIN = (bool, int, float, str, type(None))


def packed(value: Any, where: str) -> Any:
    """An argument as JSON."""
    if isinstance(value, TensorSpec):
        shape = None if value.shape.rank is None else list(value.shape)
        return {"spec": [value.dtype.name, shape, value.name]}
    if isinstance(value, dict):
        return {"dict": [[key, packed(part, where)] for key, part in value.items()]}
    if nest.is_nested(value):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [packed(part, where) for part in nest.children(value)]}
    if isinstance(value, _PLAIN):
        return {"value": value}
    raise UnimplementedError(
        f"saved_model.save: {where} was traced for an argument that is a {type(value).__name__}, "
        "which a saved model cannot hold. Arguments are tensors, plain values, and nests of them."
    )


def unpacked(description: Any) -> Any:
    """The argument that `packed` described."""
    ((kind, content),) = description.items()
    if kind == "spec":
        dtype, shape, name = content
        return TensorSpec(shape, dtype, name)
    if kind == "value":
        return content
    if kind == "dict":
        return {key: unpacked(part) for key, part in content}
    parts = [unpacked(part) for part in content]
    return parts if kind == "list" else tuple(parts)
