"""Texts that encode something: base64, raw numbers, compressed bytes, CSV, tensors."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import as_dtype, float32, float64, int32, int64, string
from ...core.errors import DataLossError, DTypeError, InvalidArgumentError, ShapeError
from ...core.tensor import Tensor
from ...ops.declare.static import static_int
from ...train.summary.event_file import tensor_message
from ...train.summary.tensor_proto import TensorProto, make_ndarray
from ..strings.basic import to_number
from ..strings.text import as_text, choice, elementwise, scalar_text, text_tensor, values_of

_WEB_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=")


@elementwise
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Each text in the web-safe base64; with `pad` filled up by = to a multiple of four."""
    array = as_text(input, "encode_base64")
    texts = [base64.urlsafe_b64encode(text) for text in array.flat]
    return text_tensor(texts if pad else [t.rstrip(b"=") for t in texts], array.shape)


@elementwise
def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """What each text in the web-safe base64, padded or not, encodes."""
    array = as_text(input, "decode_base64")
    return text_tensor([_from_base64(text) for text in array.flat], array.shape)


def _from_base64(text: bytes) -> bytes:
    try:
        if _WEB_SAFE.issuperset(text):
            return base64.urlsafe_b64decode(
                text.rstrip(b"=") + b"=" * (-len(text.rstrip(b"=")) % 4)
            )
    except binascii.Error:
        pass
    raise InvalidArgumentError(
        f"decode_base64: {text!r:.100} is not web-safe base64, which has - and _ for + and /."
    )


@elementwise
def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """Each text decompressed, by "ZLIB" or "GZIP"; "" leaves it as it is."""
    op = "decode_compressed"
    array = as_text(bytes, op, "bytes")
    kind = choice(compression_type, ("", "ZLIB", "GZIP"), op, "compression_type")
    return text_tensor([_decompressed(text, kind, op) for text in array.flat], array.shape)


def _decompressed(text: bytes, kind: str, op: str) -> bytes:
    if not kind:
        return text
    try:
        return zlib.decompress(text, zlib.MAX_WBITS | (16 if kind == "GZIP" else 0))
    except zlib.error as error:
        raise DataLossError(f"{op}: a text is not {kind}: {error}.") from None


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: Any = None,
    name: str | None = None,
) -> Tensor:
    """The bytes of each text as numbers along a new last axis.

    All texts must be equally long, unless `fixed_length` says to how many bytes they are cut or
    filled up with zeros.

    >>> decode_raw(["1234"], tf.uint8).numpy()
    array([[49, 50, 51, 52]], dtype=uint8)
    """
    op = "decode_raw"
    array, wanted = as_text(input_bytes, op, "input_bytes"), as_dtype(out_type)
    if wanted is string:
        raise DTypeError(f"{op}: `out_type` must be a dtype of numbers.")
    texts = array.reshape(-1).tolist()
    if fixed_length is not None:
        length = static_int(fixed_length, op, "fixed_length")
        if length <= 0 or length % wanted.size:
            raise InvalidArgumentError(
                f"{op}: `fixed_length`={length} must be a multiple of {wanted.size}, the size of "
                f"{wanted.name}."
            )
        texts = [text[:length].ljust(length, b"\0") for text in texts]
    sizes = set(map(len, texts))
    if len(sizes) > 1:
        raise InvalidArgumentError(
            f"{op}: all texts must be equally long, and have {sorted(sizes)[:5]} bytes. Give "
            "`fixed_length`, or decode them one by one."
        )
    size = sizes.pop() if sizes else 0
    if size % wanted.size:
        raise InvalidArgumentError(
            f"{op}: a text has {size} bytes, not a multiple of {wanted.size}, the size of "
            f"{wanted.name}."
        )
    dtype = wanted.numpy_dtype.newbyteorder("<" if little_endian else ">")
    numbers = np.frombuffer(b"".join(texts), dtype).astype(wanted.numpy_dtype)
    return Tensor(numbers.reshape(*array.shape, size // wanted.size))


# CSV

_CSV_DTYPES = (float32, float64, int32, int64, string)


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    name: str | None = None,
) -> list[Tensor]:
    """The columns of lines of CSV (RFC 4180, without line ends), a tensor for each.

    `record_defaults` has a default for each column, which gives its dtype too; an empty tensor
    says that a field must not be empty. `select_cols` are the numbers of the columns to take.

    >>> [column.numpy() for column in decode_csv("1,b", [[0], ["a"]])]
    [np.int32(1), b'b']
    """
    op = "decode_csv"
    array = as_text(records, op, "records")
    defaults = [_csv_default(value, i, op) for i, value in enumerate(record_defaults)]
    chosen = (
        None if select_cols is None else [static_int(c, op, "select_cols") for c in select_cols]
    )
    if len(field_delim) != 1:
        raise ValueError(f"{op}: `field_delim` must be one character, not {field_delim!r}.")
    if chosen is not None and (chosen != sorted(set(chosen)) or len(chosen) != len(defaults)):
        raise ValueError(
            f"{op}: `select_cols` must be increasing and as many as `record_defaults`, not "
            f"{select_cols!r}."
        )
    rows = []
    for number, line in enumerate(array.flat):
        fields = _csv_fields(line, field_delim.encode(), use_quote_delim, op)
        if chosen is not None:
            fields = [fields[i] for i in chosen if i < len(fields)]
        if len(fields) != len(defaults):
            raise InvalidArgumentError(
                f"{op}: there are {len(defaults)} `record_defaults`, and record {number} has "
                f"{len(fields)} fields: {line!r:.100}."
            )
        rows.append(fields)
    missing = {b"", na_value.encode()}
    columns = zip(*rows, strict=True) if rows else [()] * len(defaults)
    return [
        _csv_column(texts, default, i, missing, array.shape, op)
        for i, (texts, default) in enumerate(zip(columns, defaults, strict=True))
    ]


def _csv_default(value: Any, column: int, op: str) -> Tensor:
    default = as_tensor(value, op=op)
    if default.dtype not in _CSV_DTYPES or default._array.size > 1:
        raise InvalidArgumentError(
            f"{op}: `record_defaults`[{column}] must be one value, or none, of "
            f"{', '.join(d.name for d in _CSV_DTYPES)}. Received: {value!r:.100}."
        )
    return default


def _csv_fields(line: bytes, delimiter: bytes, quotes: bool, op: str) -> list[bytes]:
    if not quotes or (b'"' not in line and b"\n" not in line and b"\r" not in line):
        return line.split(delimiter)
    fields: list[bytes] = []
    at = 0
    while True:
        if line[at : at + 1] == b'"':
            field, at = _quoted_field(line, at + 1, delimiter, op)
        else:
            end = line.find(delimiter, at)
            end = len(line) if end < 0 else end
            field, at = line[at:end], end
            if b'"' in field or b"\n" in field or b"\r" in field:
                raise InvalidArgumentError(
                    f"{op}: a field without quotes has quotes or line ends inside: {field!r:.100}."
                )
        fields.append(field)
        if at >= len(line):
            return fields
        at += 1
        if at == len(line):
            return [*fields, b""]


def _quoted_field(line: bytes, at: int, delimiter: bytes, op: str) -> tuple[bytes, int]:
    """The field whose quotes open before `at`, and the place of what comes after it."""
    field = b""
    while True:
        end = line.find(b'"', at)
        if end < 0:
            raise InvalidArgumentError(f"{op}: a quoted field does not end: {line!r:.100}.")
        field += line[at:end]
        after = line[end + 1 : end + 2]
        if after == b'"':
            field, at = field + b'"', end + 2
        elif after in (delimiter, b""):
            return field, end + 1
        else:
            raise InvalidArgumentError(
                f"{op}: a quote inside of a quoted field must be doubled: {line!r:.100}."
            )


def _csv_column(
    texts: Any, default: Tensor, column: int, missing: set[bytes], shape: Any, op: str
) -> Tensor:
    value = default._array.reshape(-1)
    absent = [text in missing for text in texts]
    if any(absent) and not len(value):
        raise InvalidArgumentError(
            f"{op}: field {column} of record {absent.index(True)} is required, and is empty."
        )
    if default.dtype is string:
        return text_tensor(
            [value[0] if gone else t for t, gone in zip(texts, absent, strict=True)], shape
        )
    result = np.empty(len(absent), value.dtype)
    given = [text for text, gone in zip(texts, absent, strict=True) if not gone]
    try:
        result[~np.array(absent, bool)] = to_number(
            text_tensor(given, (len(given),)), default.dtype
        ).numpy()
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{op}: field {column}: {error}") from None
    result[np.array(absent, bool)] = value[0] if any(absent) else 0
    return Tensor(result.reshape(shape))


# Tensors


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A tensor as one text: a TensorProto, which `parse_tensor` reads, here and in TensorFlow."""
    array = values_of(tensor, "serialize_tensor", "tensor")
    return text_tensor([tensor_message(array)], ())


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor that `serialize_tensor` made a text of; `out_type` must be its dtype."""
    op = "parse_tensor"
    text = scalar_text(serialized, op, "serialized")
    try:
        array = make_ndarray(TensorProto.FromString(text))
    except (DataLossError, ShapeError, ValueError, TypeError) as error:
        raise InvalidArgumentError(f"{op}: `serialized` is no TensorProto: {error}") from None
    wanted = as_dtype(out_type)
    tensor = Tensor(array)
    if tensor.dtype is not wanted:
        raise InvalidArgumentError(
            f"{op}: the tensor is {tensor.dtype.name}, and `out_type` is {wanted.name}."
        )
    return tensor
