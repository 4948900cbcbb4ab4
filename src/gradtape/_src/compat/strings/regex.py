r"""Regular expressions of RE2, which TensorFlow uses, on Python's `re`.

A pattern is read once and written anew as Python's: what both have in common stays, what means
another thing there is replaced (`$` is the end; `\s`, `\d`, `\w` and `\b` are of ASCII), and what
RE2 does not have, `(?=` and `\1`, is an error here too. Characters are matched; a byte that is no
UTF-8 is none of them, and matches nothing. `\C`, a single byte of a character, is not there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError, UnimplementedError
from ...core.tensor import Tensor
from .scripts import ranges_of_script
from .text import as_text, elementwise, scalar_text, text_tensor

_SPACE = "\\t\\n\\f\\r "
_POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\\x00-\\x7f", "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~",
    "punct": "!-/:-@\\[-`{-~", "space": "\\t\\n\\v\\f\\r ", "upper": "A-Z", "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_PERL = {"d": "0-9", "s": _SPACE, "w": "0-9A-Za-z_"}
_CONTROLS = {"a": "\\a", "f": "\\f", "n": "\\n", "r": "\\r", "t": "\\t", "v": "\\v"}
_LAST = 0x10FFFF
_INVALID = "\\udc80-\\udcff"  # as what bytes come that are no UTF-8


@elementwise
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether each whole text matches a regular expression.

    >>> regex_full_match(["TF lib", "lib TF"], ".*lib$").numpy()
    array([ True, False])
    """
    op = "regex_full_match"
    array, match = as_text(input, op), compiled(scalar_text(pattern, op, "pattern"), op).fullmatch
    found = [match(_decoded(text)) is not None for text in array.flat]
    return Tensor(np.array(found, bool).reshape(array.shape))


@elementwise
def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Each text with what matches a regular expression replaced: all of it, or the first match.

    `\\1` to `\\9` in `rewrite` are what the groups matched, `\\0` is the whole match.

    >>> regex_replace("Text with tags.<br /><b>contains html</b>", "<[^>]+>", " ").numpy()
    b'Text with tags.  contains html '
    """
    op = "regex_replace"
    array, expression = as_text(input, op), compiled(scalar_text(pattern, op, "pattern"), op)
    write = _writer(scalar_text(rewrite, op, "rewrite"), expression, op)
    replace = _replace_all if replace_global else _replace_first
    texts = [_encoded(replace(expression, write, _decoded(text))) for text in array.flat]
    return text_tensor(texts, array.shape)


Write = str | Callable[[Any], str]


def _replace_first(expression: re.Pattern[str], write: Write, text: str) -> str:
    return expression.sub(write, text, count=1)


class _EmptyMatch(Exception):
    """After an empty match Python goes on otherwise than RE2."""


def _replace_all(expression: re.Pattern[str], write: Write, text: str) -> str:
    if isinstance(write, str):  # then no match is empty
        return expression.sub(write, text)

    def one(match: re.Match[str]) -> str:
        if match.start() == match.end():
            raise _EmptyMatch
        return write(match)

    try:
        return expression.sub(one, text)
    except _EmptyMatch:
        return _replace_by_hand(expression, write, text)


def _replace_by_hand(expression: re.Pattern[str], write: Callable[[Any], str], text: str) -> str:
    """RE2's way: an empty match right after another match does not count."""
    parts: list[str] = []
    position, last_end = 0, -1
    while position <= len(text):
        match = expression.search(text, position)
        if match is None:
            break
        parts.append(text[position : match.start()])
        if match.start() == match.end() == last_end:
            parts.append(text[last_end : last_end + 1])
            position = last_end + 1
        else:
            parts.append(write(match))
            position = last_end = match.end()
    return "".join(parts) + text[position:]


def _writer(rewrite: bytes, expression: re.Pattern[str], op: str) -> Write:
    """What writes the replacement of a match: a text for `re.sub`, or a function."""
    text = _decoded(rewrite)
    parts = re.split(r"\\(.)", text, flags=re.DOTALL)
    for escape in parts[1::2]:
        if escape != "\\" and not ("0" <= escape <= "9" and int(escape) <= expression.groups):
            raise InvalidArgumentError(
                f"{op}: `rewrite`={text!r} has \\{escape}, and the pattern {expression.groups} "
                "groups. Write \\0 to \\9 for groups and \\\\ for a backslash."
            )
    if len(parts) == 1 and expression in _never_empty:
        return text
    if len(parts) == 1:
        return lambda match: text

    def write(match: re.Match[str]) -> str:
        written = [parts[0]]
        for escape, plain in zip(parts[1::2], parts[2::2], strict=True):
            written += ["\\" if escape == "\\" else match[int(escape)] or "", plain]
        return "".join(written)

    return write


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


_never_empty: set[re.Pattern[str]] = set()
"""Patterns that surely do not match the empty text."""


@lru_cache(256)
def compiled(pattern: bytes, op: str) -> re.Pattern[str]:
    """RE2's `pattern` as a pattern of Python."""
    reader = _Reader(_decoded(pattern))
    try:
        written = reader.whole()
        expression = re.compile(written)
    except (_Refused, re.error, OverflowError) as error:
        raise InvalidArgumentError(
            f"{op}: the regular expression {_decoded(pattern)!r} is not one of RE2: {error}."
        ) from None
    if not reader.may_be_empty:
        _never_empty.add(expression)
    return expression


class _Refused(Exception):
    """RE2 does not take the pattern."""


class _Reader:
    """Reads a pattern of RE2 from left to right and writes Python's."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.may_be_empty = not pattern
        self.flags = ""  # of RE2 at this place: some of "imsU"

    def whole(self) -> str:
        written = self._alternatives()
        if self.at < len(self.text):
            raise _Refused(f"unexpected ): {self.text}")
        return written

    def _alternatives(self) -> str:
        """Up to the closing parenthesis or the end."""
        around = self.flags
        parts: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != ")":
            parts.append(self._piece())
        self.flags = around
        if not parts:
            self.may_be_empty = True
        return "".join(parts)

    def _piece(self) -> str:
        """A thing and how often it comes."""
        start = self.at
        character = self._next()
        if character == "|":
            self.may_be_empty = True  # if one side is; it is not worth a look
            return "|"
        if character in "*+?":
            raise _Refused(f"no argument for repetition operator: {character}")
        thing = self._thing(character)
        repeat = self._repetition()
        if not repeat:
            return thing
        again = self._repetition()
        if again:
            raise _Refused(f"bad repetition operator: {self.text[start : self.at]}")
        return f"(?:{thing}){repeat}" if thing else thing

    def _repetition(self) -> str:
        match = re.compile(r"[*+?]|\{(\d+)(,?)(\d*)\}").match(self.text, self.at)
        if not match:
            return ""
        self.at = match.end()
        least = match[0]
        if least[0] == "{":
            low, high = match[1], match[3]
            if max(int(low), int(high or 0)) > 1000 or (high and int(high) < int(low)):
                raise _Refused(f"bad repetition operator: {least}")
            least = f"{{{low}}}" if not match[2] else f"{{{low},{high}}}"
            self.may_be_empty = self.may_be_empty or int(low) == 0
        elif least in "*?":
            self.may_be_empty = True
        lazy = self.at < len(self.text) and self.text[self.at] == "?"
        self.at += lazy
        return least + ("?" if lazy != ("U" in self.flags) else "")

    def _thing(self, character: str) -> str:
        if character == "(":
            return self._group()
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        if character == ".":
            return f"[^{_INVALID}]" if "s" in self.flags else f"[^\\n{_INVALID}]"
        if character in "^$":
            self.may_be_empty = True
            if "m" in self.flags:
                return f"(?m:{character})"
            return "\\A" if character == "^" else "\\Z"
        return self._literal(re.escape(character))

    def _literal(self, written: str) -> str:
        return f"(?i:{written})" if "i" in self.flags else written

    def _group(self) -> str:
        start = self.at - 1
        if self._take("?"):
            match = re.compile(r"P<(\w+)>").match(self.text, self.at)
            if match:
                self.at = match.end()
                opening = f"(?P<{match[1]}>"
            else:
                match = re.compile(r"([imsU]*)(?:-([imsU]+))?([:)])").match(self.text, self.at)
                if not match:
                    raise _Refused(f"invalid perl operator: {self.text[start : self.at + 1]}")
                self.at = match.end()
                flags = "".join(set(self.flags + match[1]) - set(match[2] or ""))
                if match[3] == ")":  # from here to the end of the group around
                    self.flags = flags
                    return ""
                around, self.flags = self.flags, flags
                inside = self._alternatives()
                self.flags = around
                self._close(start)
                return f"(?:{inside})"
        else:
            opening = "("
        inside = self._alternatives()
        self._close(start)
        return f"{opening}{inside})"

    def _close(self, start: int) -> None:
        if not self._take(")"):
            raise _Refused(f"missing ): {self.text[start:]}")

    def _escape(self) -> str:
        if self.at >= len(self.text):
            raise _Refused("trailing \\")
        character = self._next()
        if character == "Q":
            end = self.text.find("\\E", self.at)
            quoted = self.text[self.at : end if end >= 0 else None]
            self.at = len(self.text) if end < 0 else end + 2
            return self._literal(re.escape(quoted))
        if character in "AzbB":
            self.may_be_empty = True
            return {"A": "\\A", "z": "\\Z", "b": "(?a:\\b)", "B": "(?a:\\B)"}[character]
        if character == "C":
            raise UnimplementedError(
                "regex: \\C, one byte of a character, is not there. Use . for a character."
            )
        if character.lower() in _PERL or character in "pP":
            items = self._set(character)
            return self._literal(f"[{items}]")
        return self._literal(self._character(character))

    def _character(self, character: str) -> str:
        """An escape that stands for one character, inside of a class or not."""
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "x":
            match = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(self.text, self.at)
            if match:
                code = int(match[1] or match[2], 16)
                if code <= _LAST:
                    self.at = match.end()
                    return _code(code)
        if "0" <= character <= "7":
            match = re.compile(r"[0-7]{0,2}").match(self.text, self.at)
            digits = character + (match[0] if match else "")
            if len(digits) > 1 or character == "0":
                self.at += len(digits) - 1
                return _code(int(digits, 8))
        if character.isascii() and not character.isalnum() and character != "_":
            return re.escape(character)
        raise _Refused(f"invalid escape sequence: \\{character}")

    def _set(self, character: str) -> str:
        """The ranges of an escape that stands for several characters."""
        if character in "pP":
            name = self._property_name()
            negated = (character == "P") != name.startswith("^")
            return _ranges_of_property(name.lstrip("^"), negated)
        items = _PERL[character.lower()]
        return items if character.islower() else _complement(items)

    def _property_name(self) -> str:
        match = re.compile(r"\{(\^?\w+)\}|(\w)").match(self.text, self.at)
        if not match:
            raise _Refused(f"invalid character class range: {self.text[self.at - 2 : self.at + 1]}")
        self.at = match.end()
        return match[1] or match[2]

    def _class(self) -> str:
        """A class in brackets."""
        start = self.at - 1
        negated = self._take("^")
        items: list[str] = []
        while not items or self.text[self.at : self.at + 1] != "]":
            if self.at >= len(self.text):
                raise _Refused(f"missing ]: {self.text[start:]}")
            posix = re.compile(r"\[:(\^?)(\w+):\]").match(self.text, self.at)
            if posix:
                if posix[2] not in _POSIX:
                    raise _Refused(f"invalid character class range: {posix[0]}")
                self.at = posix.end()
                named = _POSIX[posix[2]]
                items.append(_complement(named) if posix[1] else named)
                continue
            items.append(self._class_item())
        self.at += 1
        if negated:
            items.append(_INVALID)
        return self._literal(f"[{'^' if negated else ''}{''.join(items)}]")

    def _class_item(self) -> str:
        start = self.at
        low = self._class_character(may_be_set=True)
        rest = self.text[self.at : self.at + 2]
        if low[0] == "[" or rest[:1] != "-" or rest[1:] in ("]", ""):
            return low.removeprefix("[")
        self.at += 1
        high = self._class_character(may_be_set=False)
        if _value(low) > _value(high):
            raise _Refused(f"invalid character class range: {self.text[start : self.at]}")
        return f"{low}-{high}"

    def _class_character(self, may_be_set: bool) -> str:
        """One character of a class, or (after "[") the ranges of several."""
        character = self._next()
        if character != "\\":
            return re.escape(character) if character != "[" else "\\["
        if self.at >= len(self.text):
            raise _Refused("missing ]")
        character = self._next()
        if character.lower() in _PERL or character in "pP":
            if not may_be_set:
                raise _Refused(f"invalid escape sequence: \\{character}")
            return "[" + self._set(character)
        return self._character(character)

    def _next(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def _take(self, character: str) -> bool:
        found = self.text[self.at : self.at + 1] == character
        self.at += found
        return found


def _code(code: int) -> str:
    return f"\\U{code:08x}"


def _value(written: str) -> int:
    """The code point of one written character."""
    if written.startswith("\\U"):
        return int(written[2:], 16)
    plain = {v: k for k, v in _CONTROLS.items()}.get(written)
    return ord({"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}[plain]
               if plain else written[-1])  # fmt: skip


def _written(ranges: list[tuple[int, int]]) -> str:
    """Ranges of characters as they stand in a class, without what stands for invalid bytes."""
    parts = [
        part
        for low, high in ranges
        for part in ((low, min(high, 0xDC7F)), (max(low, 0xDD00), high))
        if part[0] <= part[1]
    ]
    return "".join([f"{_code(low)}-{_code(high)}" for low, high in parts])


def _complement(items: str) -> str:
    """The ranges of what is in none of these, written as they are in a class."""
    inside = re.compile(f"[{items}]")
    outside, start = [], 0
    for code in range(129):
        if code == 128 or inside.match(chr(code)):
            if start < code:
                outside.append((start, code - 1))
            start = code + 1
    if outside and outside[-1][1] == 127:
        outside[-1] = (outside[-1][0], _LAST)
    else:
        outside.append((128, _LAST))
    return _written(outside)


@cache
def _ranges_of_property(name: str, negated: bool) -> str:
    """The ranges of a category of Unicode ("L", "Lu"), a script ("Greek"), or "Any"."""
    if name == "Any":
        ranges: list[tuple[int, int]] = [(0, _LAST)]
    else:
        found = ranges_of_script(name) if len(name) > 2 else _ranges_of_category(name)
        if not found:
            raise _Refused(f"invalid character class range: \\p{{{name}}}")
        ranges = found
    return _written(_others(ranges) if negated else ranges) or "^\\s\\S"


def _ranges_of_category(name: str) -> list[tuple[int, int]]:
    category = unicodedata.category
    member = np.fromiter(
        (category(chr(code)).startswith(name) for code in range(_LAST + 1)), bool, _LAST + 1
    )
    edges = np.flatnonzero(np.diff(member, prepend=False, append=False)).tolist()
    return [(low, high - 1) for low, high in zip(edges[::2], edges[1::2], strict=True)]


def _others(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    lows = [0, *[high + 1 for _, high in ranges]]
    highs = [*[low - 1 for low, _ in ranges], _LAST]
    return [(low, high) for low, high in zip(lows, highs, strict=True) if low <= high]
