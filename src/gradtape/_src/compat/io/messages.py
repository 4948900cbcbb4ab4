"""tf.train.Example and its parts: protocol buffers, without the library for them.

A message declares its fields in a table. They behave as those of Google's library do: an absent
message is there when it is asked for, and counts as present once something is put into it; what is
assigned is checked; of the fields of a `oneof` the one that was set last is there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, NamedTuple, Self, SupportsIndex

import numpy as np

from ...core.errors import DataLossError
from ...train.summary.wire import BYTES, FIXED32, fields, floats, integers, message, packed


class Field(NamedTuple):
    """A field of a message: repeated numbers or bytes, a message, several, or a map to them."""

    number: int
    kind: str  # "bytes", "float", "int64", or "message", "messages", "map"
    type: type[Message] | None = None


class Message:
    """Base of the messages."""

    _fields: ClassVar[dict[str, Field]] = {}
    _oneof: ClassVar[str | None] = None  # its name, if the fields exclude each other

    def __init__(self, **values: Any) -> None:
        self._changed: Callable[[], None] = lambda: None  # tells the message around
        self._values: dict[str, Any] = {}
        self._present: set[str] = set()
        for name, value in values.items():
            if name not in self._fields:
                raise ValueError(
                    f"{type(self).__name__}: there is no field {name!r}. There are: "
                    f"{', '.join(self._fields)}."
                )
            if value is not None:
                self._set(name, value)

    # Fields

    def __getattr__(self, name: str) -> Any:
        field = self._fields.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}.")
        if name not in self._values:
            self._values[name] = self._new(field, lambda: self._note(name))
        return self._values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._fields:
            raise AttributeError(
                f"{type(self).__name__}.{name} cannot be assigned. Use extend, or CopyFrom of a "
                "message."
            )
        if not name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no field {name!r}.")
        super().__setattr__(name, value)

    @staticmethod
    def _new(field: Field, changed: Callable[[], None]) -> Any:
        if field.kind == "message":
            assert field.type is not None
            part = field.type()
            part._changed = changed
            return part
        if field.kind == "map":
            return MessageMap(field.type, changed)
        return Repeated(field, changed)

    def _set(self, name: str, value: Any) -> None:
        """Give the field a copy of `value`."""
        field, own = self._fields[name], getattr(self, name)
        if field.kind == "message":
            own.CopyFrom(field.type(**value) if isinstance(value, dict) else value)  # type: ignore[misc]
        elif field.kind == "map":
            for key, each in value.items():
                own[key].CopyFrom(each)
        else:
            own.extend(value)
        self._note(name)

    def _note(self, name: str) -> None:
        """Something was put into a field."""
        if self._oneof is not None and name not in self._present:
            for other in self._present:
                self._values.pop(other, None)
            self._present.clear()
        self._present.add(name)
        self._changed()

    def _given(self) -> list[tuple[str, Field, Any]]:
        """The fields that are there."""
        found = [(name, field, self._values.get(name)) for name, field in self._fields.items()]
        return [
            (name, field, value)
            for name, field, value in found
            if value is not None and (name in self._present if field.kind == "message" else value)
        ]

    # What Google's library has

    def HasField(self, field_name: str) -> bool:
        """Whether a field that is a message is set."""
        if self._fields[field_name].kind != "message":
            raise ValueError(f"HasField: {field_name!r} is repeated; ask for its length.")
        return field_name in self._present

    def WhichOneof(self, oneof_group: str) -> str | None:
        """The name of the field that is set, among those that exclude each other."""
        if oneof_group != self._oneof:
            raise ValueError(f"{type(self).__name__} has no oneof {oneof_group!r}.")
        return next(iter(self._present), None)

    def ListFields(self) -> list[tuple[Any, Any]]:
        """The fields that are set, each with its value."""
        return [(field, value) for _, field, value in self._given()]

    def Clear(self) -> None:
        self._values.clear()
        self._present.clear()

    def ClearField(self, field_name: str) -> None:
        self._values.pop(field_name, None)
        self._present.discard(field_name)

    def CopyFrom(self, other_msg: Message) -> None:
        """Be equal to another message."""
        if other_msg is not self:
            self.Clear()
            self.MergeFrom(other_msg)

    def MergeFrom(self, other_msg: Message) -> None:
        """Take over what another message has; repeated fields are appended."""
        if type(other_msg) is not type(self):
            raise TypeError(
                f"MergeFrom: a {type(self).__name__} is needed, not a {type(other_msg).__name__}."
            )
        for name, field, value in other_msg._given():
            if field.kind == "message":
                getattr(self, name).MergeFrom(value)
            elif field.kind == "map":
                for key, each in value.items():
                    getattr(self, name)[key].CopyFrom(each)
            else:
                getattr(self, name).extend(value)
            self._note(name)
        self._changed()

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:
        """The message as bytes, which every reader of TensorFlow's files understands."""
        return message(
            {
                field.number: _written(field, value, bool(deterministic))
                for _, field, value in self._given()
            }
        )

    SerializePartialToString = SerializeToString

    def ByteSize(self) -> int:
        return len(self.SerializeToString())

    def IsInitialized(self) -> bool:
        return True

    def ParseFromString(self, serialized: bytes) -> int:
        """Be the message that these bytes are."""
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized: bytes) -> int:
        """Take over the message that these bytes are."""
        if not isinstance(serialized, (bytes, bytearray, memoryview)):
            raise TypeError(f"ParseFromString: bytes are needed, not {serialized!r:.50}.")
        names = {field.number: name for name, field in self._fields.items()}
        for number, kind, value in fields(bytes(serialized)):
            if number in names:
                self._read(names[number], kind, value)
        return len(serialized)

    @classmethod
    def FromString(cls, s: bytes) -> Self:
        """The message that these bytes are."""
        parsed = cls()
        parsed.ParseFromString(s)
        return parsed

    def _read(self, name: str, kind: int, value: Any) -> None:
        field, own = self._fields[name], getattr(self, name)
        if field.kind == "int64":
            own.extend(integers(kind, value))
        elif kind not in (BYTES, FIXED32):
            raise DataLossError(f"{type(self).__name__}: the field {name} is damaged.")
        elif field.kind == "float":
            own.extend(floats(value))
        elif field.kind == "bytes":
            own.append(value)
        elif field.kind == "message":
            own.MergeFromString(value)
        elif field.kind == "messages":
            own.add().MergeFromString(value)
        else:
            key, text = "", b""
            for number, _, each in fields(value):
                key, text = (each.decode(), text) if number == 1 else (key, each)
            own[key].ParseFromString(text)
        self._note(name)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Message)
        ours, theirs = [{name: v for name, _, v in each._given()} for each in (self, other)]
        return ours == theirs

    __hash__ = None  # type: ignore[assignment]  # as it changes

    def __repr__(self) -> str:
        return "".join([f"{line}\n" for line in _lines(self)])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).FromString, (self.SerializeToString(),)

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self).FromString(self.SerializeToString())


def _written(field: Field, value: Any, ordered: bool) -> Any:
    """The value of a field for `message`."""
    if field.kind == "float":
        return struct.pack(f"<{len(value)}f", *value)
    if field.kind == "int64":
        return packed(value)
    if field.kind == "bytes":
        return list(value)
    if field.kind == "message":
        return value.SerializeToString(ordered)
    if field.kind == "messages":
        return [each.SerializeToString(ordered) for each in value]
    return [
        message({1: key.encode(), 2: value[key].SerializeToString(ordered)})
        for key in (sorted(value) if ordered else value)
    ]


def _lines(value: Message) -> Iterator[str]:
    """The message as text, as protocol buffers are shown."""
    for name, field, content in value._given():
        parts: list[Any]
        if field.kind == "message":
            parts = [content]
        elif field.kind == "map":
            parts = [_Entry(key, content[key]) for key in sorted(content)]
        else:
            parts = list(content)
        for part in parts:
            if isinstance(part, (Message, _Entry)):
                inside = _lines(part) if isinstance(part, Message) else part.lines()
                yield from (f"{name} {{", *[f"  {line}" for line in inside], "}")
            else:
                yield f"{name}: {_shown(part)}"


class _Entry(NamedTuple):
    """An entry of a map, as it is shown."""

    key: str
    value: Message

    def lines(self) -> list[str]:
        inside = [f"  {line}" for line in _lines(self.value)]
        return [f"key: {_shown(self.key.encode())}", "value {", *inside, "}"]


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        escaped = "".join([_ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}")
                           for b in value])  # fmt: skip
        return f'"{escaped}"'
    return str(np.float32(value)).removesuffix(".0") if isinstance(value, float) else str(value)


_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


class Repeated(list[Any]):
    """The values of a repeated field: a list that takes values of one kind."""

    def __init__(self, field: Field, changed: Callable[[], None]) -> None:
        super().__init__()
        self._field = field
        self._changed = changed

    def _checked(self, value: Any) -> Any:
        kind = self._field.kind
        if kind == "messages":
            assert self._field.type is not None
            copy = self._field.type()
            copy.CopyFrom(value)
            return copy
        if kind == "bytes":
            if not isinstance(value, bytes):
                raise TypeError(f"{value!r:.50} is no bytes. Encode text: text.encode().")
            return value
        if kind == "float":
            if isinstance(value, (str, bytes)):
                raise TypeError(f"{value!r:.50} is no number.")
            return struct.unpack("<f", struct.pack("<f", float(value)))[0]
        try:
            number = int(value.__index__())
        except (AttributeError, TypeError):
            raise TypeError(f"{value!r:.50} is no integer.") from None
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"{number} does not fit into 64 bits.")
        return number

    def add(self, **values: Any) -> Any:
        """A new message at the end."""
        assert self._field.type is not None
        super().append(self._field.type(**values))
        self._changed()
        return self[-1]

    def append(self, value: Any) -> None:
        super().append(self._checked(value))
        self._changed()

    def extend(self, values: Iterable[Any]) -> None:
        super().extend([self._checked(value) for value in values])
        self._changed()

    def insert(self, index: SupportsIndex, value: Any) -> None:
        super().insert(index, self._checked(value))
        self._changed()

    def __setitem__(self, index: Any, value: Any) -> None:
        checked = self._checked
        super().__setitem__(
            index, list(map(checked, value)) if isinstance(index, slice) else checked(value)
        )
        self._changed()

    def MergeFrom(self, other: Iterable[Any]) -> None:
        self.extend(other)

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class MessageMap(dict[str, Any]):
    """A field that maps texts to messages. Asking for a message makes it."""

    def __init__(self, kind: type[Message] | None, changed: Callable[[], None]) -> None:
        super().__init__()
        assert kind is not None
        self._kind = kind
        self._note = changed

    def __missing__(self, key: str) -> Message:
        if not isinstance(key, str):
            raise TypeError(f"{key!r:.50} is no str.")
        made = self._kind()
        made._changed = self._note
        super().__setitem__(key, made)
        self._note()
        return made

    def get_or_create(self, key: str) -> Any:
        return self[key]

    def __setitem__(self, key: str, value: Any) -> None:
        raise ValueError("An entry cannot be assigned. Write feature[key].CopyFrom(value).")

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


# The messages


class BytesList(Message):
    """Texts: `BytesList(value=[b"a", b"b"])`."""

    _fields: ClassVar = {"value": Field(1, "bytes")}


class FloatList(Message):
    """Numbers of float32: `FloatList(value=[1.5])`."""

    _fields: ClassVar = {"value": Field(1, "float")}


class Int64List(Message):
    """Integers: `Int64List(value=[1, 2])`."""

    _fields: ClassVar = {"value": Field(1, "int64")}


class Feature(Message):
    """One of a BytesList, a FloatList and an Int64List."""

    _fields: ClassVar = {
        "bytes_list": Field(1, "message", BytesList),
        "float_list": Field(2, "message", FloatList),
        "int64_list": Field(3, "message", Int64List),
    }
    _oneof: ClassVar = "kind"


class Features(Message):
    """Features by their names."""

    _fields: ClassVar = {"feature": Field(1, "map", Feature)}


class FeatureList(Message):
    """Features one after the other."""

    _fields: ClassVar = {"feature": Field(1, "messages", Feature)}


class FeatureLists(Message):
    """Lists of features by their names."""

    _fields: ClassVar = {"feature_list": Field(1, "map", FeatureList)}


class Example(Message):
    """A record of named features, as TFRecord files hold them.

    >>> example = tf.train.Example(features=tf.train.Features(feature={
    ...     "age": tf.train.Feature(int64_list=tf.train.Int64List(value=[29]))}))
    >>> example.features.feature["age"].int64_list.value
    [29]
    >>> tf.train.Example.FromString(example.SerializeToString()) == example
    True
    """

    _fields: ClassVar = {"features": Field(1, "message", Features)}


class SequenceExample(Message):
    """A record of features (`context`), and of lists of features (`feature_lists`)."""

    _fields: ClassVar = {
        "context": Field(1, "message", Features),
        "feature_lists": Field(2, "message", FeatureLists),
    }
