"""Logs of conversations inside a message: lines that begin with who says them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hindsight_extractor.domain.testimony.plain_signs import in_plain_signs
from hindsight_extractor.domain.testimony.signs import signs_alone

Span = tuple[int, int]

_LABELLED: Final = re.compile(
    r"^[ \t]*(?:[-*•][ \t]*)?(?:\[?[\d:./, -]{4,24}(?:[AaPp][Mm])?\]?[ \t]*[-–—]?[ \t]*)?(?:\*\*|\[|<|【)?"
    r"(?P<who>[^\W\d][^\n:：\]>】*]{0,23}?)(?:\*\*|\]|>|】)?[ \t]*"
    r"(?:[(（][^)）\n]{1,24}[)）][ \t]*)?[:：][ \t]*(?:\*\*)?[ \t]*(?=\S).*$",
    re.MULTILINE,
)
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")


def dialogues_in(text: str) -> Iterator[Span]:
    """From the first labelled line of each paragraph to its end, where the lines are those of a log: some label is of
    a program or a role, or the same two take turns. One line alone with somebody's name is no log.
    """
    text = in_plain_signs(text)
    if ":" not in text:
        return
    lines = [found for found in _LABELLED.finditer(text) if not signs_alone("fields").fullmatch(found["who"])]
    if not _is_log([found["who"].strip().casefold() for found in lines]):
        return
    past = 0
    for found in lines:
        if found.start() >= past:
            blank = _BLANK_LINE.search(text, found.end())
            past = blank.start() if blank else len(text)
            yield found.start(), past


def _is_log(labels: list[str]) -> bool:
    others = sum(bool(signs_alone("other_roles").fullmatch(label)) for label in labels)
    own = sum(bool(signs_alone("own_roles").fullmatch(label)) for label in labels)
    if others or own >= 2:
        return len(labels) >= 2 or others > 0
    repeated = any(label in labels[i + 2 :] and labels[i + 1] != label for i, label in enumerate(labels[:40]))
    return repeated and len(set(labels)) >= 2
