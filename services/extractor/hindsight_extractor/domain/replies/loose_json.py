"""JSON as models write it: with bad escapes, raw newlines, trailing commas, other languages' words, or cut off."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

_STRICT: Final = json.JSONDecoder()
_DEEPEST: Final = 30
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[A-Za-z_]+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_KEY = re.compile(r"[A-Za-z_][\w-]*(?=\s*:)")
_WORDS: Final[dict[str, Any]] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "nan": None,
    "undefined": None,
}
_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "”": "”"}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")


@dataclass(frozen=True, slots=True)
class Found:
    """A value and where it ends. `is_cut` = the text ended first; then arrays hold only their finished elements."""

    value: Any
    end: int
    is_cut: bool = False


def read_value(text: str, begin: int) -> Found | None:
    """The object or array that begins there, or None if it is neither, in any reading."""
    try:
        value, end = _STRICT.raw_decode(text, begin)
    except (ValueError, RecursionError):
        return _Loose(text).read(begin)
    return Found(value, end)


class _NotJson(Exception):
    """Nothing that could be meant as JSON."""


class _Loose:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._is_cut = False

    def read(self, begin: int) -> Found | None:
        self._at = begin
        try:
            value = self._value(0)
        except _NotJson:
            return None
        return Found(value, self._at, self._is_cut)

    def _peek(self) -> str:
        """The next character that is no white space; empty at the end, which is then marked as a cut."""
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        if self._at >= len(self._text):
            self._is_cut = True
            return ""
        return self._text[self._at]

    def _value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _NotJson
        sign = self._peek()
        if sign == "{":
            return self._object(depth)
        if sign == "[":
            return self._array(depth)
        if sign in _QUOTES and sign:
            return self._string(sign)
        return self._scalar()

    def _object(self, depth: int) -> dict[str, Any]:
        self._at += 1
        read: dict[str, Any] = {}
        while not self._is_cut:
            sign = self._peek()
            if sign == "}":
                self._at += 1
                break
            if sign == ",":
                self._at += 1
                continue
            if not sign:
                break
            key = self._key(sign)
            if self._is_cut or self._peek() != ":":
                if self._is_cut:
                    break
                raise _NotJson
            self._at += 1
            value = self._value(depth + 1)
            # half a value says something else than the whole one; a list keeps what was finished in it
            if not self._is_cut or isinstance(value, list | dict):
                read[key] = value
            self._end_of_member("}")
        return read

    def _array(self, depth: int) -> list[Any]:
        self._at += 1
        read: list[Any] = []
        while not self._is_cut:
            sign = self._peek()
            if sign == "]":
                self._at += 1
                break
            if sign == ",":
                self._at += 1
                continue
            if not sign:
                break
            value = self._value(depth + 1)
            if not self._is_cut:
                read.append(value)
            self._end_of_member("]")
        return read

    def _end_of_member(self, closing: str) -> None:
        if not self._is_cut and (sign := self._peek()) and sign not in ("," + closing):
            raise _NotJson

    def _key(self, sign: str) -> str:
        if sign in _QUOTES:
            return self._string(sign)
        bare = _KEY.match(self._text, self._at)
        if bare is None:
            raise _NotJson
        self._at = bare.end()
        return bare[0]

    def _scalar(self) -> Any:
        if self._is_cut:
            return None
        number = _NUMBER.match(self._text, self._at)
        word = _WORD.match(self._text, self._at)
        if number:
            self._at = number.end()
        elif word and word[0].lower() in _WORDS:
            self._at = word.end()
        else:
            raise _NotJson
        if self._at >= len(self._text):
            self._is_cut = True  # a digit or a letter might have followed
        return float(number[0]) if number else _WORDS[word[0].lower()] if word else None

    def _string(self, opening: str) -> str:
        """Raw up to its closing quote; a quote inside that nothing of JSON follows belongs to the text."""
        closing, begin = _QUOTES[opening], self._at + 1
        at = begin
        while at < len(self._text):
            sign = self._text[at]
            if sign == "\\":
                at += 2
                continue
            if sign == closing and self._closes(at + 1):
                self._at = at + 1
                return unescaped(self._text[begin:at])
            at += 1
        self._at = len(self._text)
        self._is_cut = True
        return unescaped(self._text[begin:])

    def _closes(self, after: int) -> bool:
        follows = _SPACE.match(self._text, after)
        end = follows.end() if follows else after
        return end >= len(self._text) or self._text[end] in ",:}]"


def unescaped(raw: str) -> str:
    """What a string's raw characters mean. One bad escape in it, and no backslash of it was meant as one: such are
    paths and patterns, copied as they are.
    """
    if "\\" not in raw:
        return raw
    pieces: list[str] = []
    at = 0
    while at < len(raw):
        sign = raw[at]
        if sign != "\\":
            pieces.append(sign)
            at += 1
            continue
        escaped = raw[at + 1 : at + 2]
        if escaped == "u" and _HEX4.match(raw, at + 2):
            pieces.append(raw[at : at + 6])
            at += 6
        elif escaped in _ESCAPES:
            pieces.append(_ESCAPES[escaped])
            at += 2
        elif escaped == "'":
            pieces.append("'")
            at += 2
        else:
            return re.sub(r'\\(["\\])', r"\1", raw)
    return _decoded_units("".join(pieces))


def _decoded_units(text: str) -> str:
    """`\\uXXXX` to characters, pairs of surrogates joined, lone ones replaced."""
    if "\\u" not in text:
        return text
    units = re.sub(r"\\u([0-9a-fA-F]{4})", lambda unit: chr(int(unit[1], 16)), text)
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
