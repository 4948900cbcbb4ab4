"""Characters: texts as code points and back, and from one encoding to another."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...core.convert import as_tensor
from ...core.dtypes import int32
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from .split import parts_of
from .text import as_text, choice, elementwise, is_ragged, text_tensor, values_of

_ERRORS = ("strict", "replace", "ignore")
_OUTPUTS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_REPLACEMENT = 0xFFFD


class _Decoder(NamedTuple):
    """How texts are read: see the arguments of `unicode_decode`."""

    op: str
    encoding: str
    errors: str
    replacement: int
    replace_controls: bool

    def __call__(self, text: bytes) -> tuple[list[int], list[int]]:
        """The code points of a text, and the byte at which each begins."""
        codes: list[int] = []
        offsets: list[int] = []
        start = 0
        while start < len(text):
            try:
                valid, end = text[start:].decode(self.encoding), None
            except UnicodeDecodeError as error:
                valid = text[start : start + error.start].decode(self.encoding)
                end = start + error.end
            sizes = list(map(self._size, valid))
            begins = start + np.cumsum([0, *sizes])
            codes += map(ord, valid)
            offsets += begins[:-1].tolist()
            if end is None:
                break
            codes.append(-1)
            offsets.append(int(begins[-1]))
            start = end
        return self._checked(codes, offsets)

    def _size(self, character: str) -> int:
        return len(character.encode(self.encoding))

    def _checked(self, codes: list[int], offsets: list[int]) -> tuple[list[int], list[int]]:
        """Without what is not to be there: what is no character, and control characters."""
        if self.errors == "strict" and -1 in codes:
            raise InvalidArgumentError(
                f"{self.op}: a text is not valid {self.encoding}. With errors='replace' or "
                "'ignore' it is taken all the same."
            )
        least = 32 if self.replace_controls else 0
        if min(codes, default=least) >= least:
            return codes, offsets
        if self.errors == "ignore":
            kept = [i for i, code in enumerate(codes) if code >= least]
            return [codes[i] for i in kept], [offsets[i] for i in kept]
        return [code if code >= least else self.replacement for code in codes], offsets


def _decoder(
    op: str, encoding: Any, errors: Any, replacement: int, replace_controls: bool
) -> _Decoder:
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise InvalidArgumentError(
            f"{op}: `input_encoding`={encoding!r} is no encoding that Python knows."
        ) from None
    return _Decoder(
        op, name, choice(errors, _ERRORS, op, "errors"), int(replacement), replace_controls
    )


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor | Any:
    """The code points of each text: a vector of int32 for one, a RaggedTensor for several.

    What is not valid is replaced, ignored, or an error ("strict").

    >>> unicode_decode("Göö", "UTF-8").numpy()
    array([ 71, 246, 246], dtype=int32)
    """
    decode = _decoder("unicode_decode", input_encoding, errors, replacement_char,
                      replace_control_characters)  # fmt: skip
    return parts_of(input, "unicode_decode", lambda text: decode(text)[:1], np.int32)[0]


def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The code points of each text as `unicode_decode` has them, and the byte where each begins."""
    op = "unicode_decode_with_offsets"
    decode = _decoder(op, input_encoding, errors, replacement_char, replace_control_characters)
    codes, offsets = parts_of(input, op, lambda text: decode(text), np.int32, np.int64)
    return codes, offsets


def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Tensor | Any:
    """The characters of each text, each a text: a vector for one, a RaggedTensor for several.

    >>> unicode_split("G😊", "UTF-8").numpy()
    array([b'G', b'\\xf0\\x9f\\x98\\x8a'], dtype=object)
    """
    op = "unicode_split"
    cut = _splitter(op, input_encoding, errors, replacement_char)
    return parts_of(input, op, lambda text: cut(text)[:1], object)[0]


def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The characters of each text as `unicode_split` has them, and the byte where each begins."""
    op = "unicode_split_with_offsets"
    cut = _splitter(op, input_encoding, errors, replacement_char)
    characters, offsets = parts_of(input, op, cut, object, np.int64)
    return characters, offsets


def _splitter(
    op: str, encoding: str, errors: str, replacement: int
) -> Callable[[bytes], tuple[list[bytes], list[int]]]:
    decode = _decoder(op, encoding, errors, replacement, False)
    name = choice(encoding, _OUTPUTS, op, "input_encoding")

    def cut(text: bytes) -> tuple[list[bytes], list[int]]:
        codes, offsets = decode(text)
        return [chr(code).encode(name, "surrogatepass") for code in codes], offsets

    return cut


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Tensor | Any:
    """The texts whose code points stand along the last axis of `input`, a tensor or ragged.

    >>> unicode_encode([72, 228, 116], "UTF-8").numpy().decode()
    'Hät'
    """
    op = "unicode_encode"
    choice(output_encoding, _OUTPUTS, op, "output_encoding")
    choice(errors, _ERRORS, op, "errors")

    def encode(codes: Any) -> bytes:
        return _encoded(codes.tolist(), output_encoding, errors, replacement_char)

    if is_ragged(input):
        return _encode_ragged(input, encode, op)
    codes = values_of(as_tensor(input, int32, op), op)
    if not codes.ndim:
        raise ValueError(f"{op}: `input` must have an axis of code points, and is a scalar.")
    return text_tensor(map(encode, _rows(codes)), codes.shape[:-1])


def _rows(codes: Any) -> Any:
    """The vectors along the last axis, also where that is empty."""
    return codes.reshape(int(np.prod(codes.shape[:-1])), codes.shape[-1])


def _encode_ragged(input: Any, encode: Callable[[Any], bytes], op: str) -> Any:
    if input.ragged_rank > 1:
        return input.with_values(_encode_ragged(input.values, encode, op))
    codes = values_of(input.values, op)
    if codes.ndim > 1:
        return input.with_values(text_tensor(map(encode, _rows(codes)), codes.shape[:-1]))
    splits = np.asarray(input.row_splits)
    rows = [encode(codes[start:end]) for start, end in pairwise(splits)]
    return text_tensor(rows, (len(rows),))


def _encoded(codes: list[int], encoding: str, errors: str, replacement: int) -> bytes:
    valid = [0 <= code < 0xD800 or 0xE000 <= code < 0x110000 for code in codes]
    if not all(valid):
        if errors == "strict":
            wrong = codes[valid.index(False)]
            raise InvalidArgumentError(
                f"unicode_encode: {wrong} is no code point of Unicode, or a surrogate. With "
                "errors='replace' or 'ignore' it is taken all the same."
            )
        if errors == "ignore":
            codes = [code for code, is_valid in zip(codes, valid, strict=True) if is_valid]
        else:
            pairs = zip(codes, valid, strict=True)
            codes = [code if is_valid else replacement for code, is_valid in pairs]
    return "".join(map(chr, codes)).encode(encoding, "surrogatepass")


@elementwise
def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Each text in another encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE"."""
    op = "unicode_transcode"
    array = as_text(input, op)
    decode = _decoder(op, input_encoding, errors, replacement_char, replace_control_characters)
    wanted = choice(output_encoding, _OUTPUTS, op, "output_encoding")
    texts = [
        "".join(map(chr, decode(text)[0])).encode(wanted, "surrogatepass") for text in array.flat
    ]
    return text_tensor(texts, array.shape)
