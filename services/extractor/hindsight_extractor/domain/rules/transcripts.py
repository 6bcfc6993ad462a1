"""Lines of a message that repeat what others said: "Mark: I can't eat nuts"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hindsight_extractor.domain.rules import chinese_names
from hindsight_extractor.domain.rules.word_lists import words_of

Span = tuple[int, int]

_LABELLED = re.compile(
    r"^[ \t]*(?:\[?[\d:./ -]{4,20}\]?[ \t]+)?"
    r"(?P<who>[^\W\d_][\w'-]{0,14}(?: [A-Z][\w'-]{0,14})?)[ \t]*:[ \t]*(?=\S).*$",
    re.MULTILINE,
)
_LATIN = re.compile(r"[A-Z][\w'-]*(?: [A-Z][\w'-]*)?")


def lines_of_others(read: str) -> Iterator[Span]:
    """Where in a text, its signs half-width, stand lines that begin with somebody's name and a colon."""
    if ":" not in read:
        return
    for found in _LABELLED.finditer(read):
        if _is_someone(found["who"]):
            yield found.span()


def _is_someone(label: str) -> bool:
    if _LATIN.fullmatch(label):
        first = label.split(maxsplit=1)[0].lower()
        return first not in _labels() and first not in words_of("en")["not_names"]
    return chinese_names.is_name(label) or label in words_of("zh").relations


@cache
def _labels() -> frozenset[str]:
    """What else stands before a colon: "Update: I moved"."""
    return frozenset(words_of("en")["labels"])
