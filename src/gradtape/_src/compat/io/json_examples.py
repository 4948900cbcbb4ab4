"""Examples in JSON, as protocol buffers are written in it."""

from __future__ import annotations

import base64
import json
from typing import Any

from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ..strings.text import as_text, elementwise, text_tensor
from .messages import BytesList, Example, Feature, Features, FloatList, Int64List

_LISTS: dict[str, tuple[str, Any, Any]] = {
    "int64List": ("int64_list", Int64List, int),
    "floatList": ("float_list", FloatList, float),
    "bytesList": ("bytes_list", BytesList, lambda text: base64.b64decode(text, validate=True)),
}
_LISTS |= {snake: (snake, kind, read) for snake, kind, read in list(_LISTS.values())}


@elementwise
def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Each text, a tf.train.Example in JSON, as a serialized one for `parse_example`."""
    array = as_text(json_examples, "decode_json_example", "json_examples")
    texts = [_example(text).SerializeToString() for text in array.flat]
    return text_tensor(texts, array.shape)


def _example(text: bytes) -> Example:
    try:
        features = _only(json.loads(text), "features").get("feature", {})
        return Example(features=Features(feature={k: _feature(v) for k, v in features.items()}))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidArgumentError(
            f"decode_json_example: {text!r:.100} is no tf.train.Example: {error}."
        ) from None


def _only(value: dict[str, Any], name: str) -> Any:
    """The only entry that this object may have, `{}` if it is absent."""
    if set(value) - {name}:
        raise ValueError(f"unknown names: {sorted(set(value) - {name})}")
    return value.get(name, {})


def _feature(value: dict[str, Any]) -> Feature:
    made = {}
    for key, content in value.items():
        name, kind, read = _LISTS[key]
        made[name] = kind(value=[read(each) for each in _only(content, "value")])
    return Feature(**made)
