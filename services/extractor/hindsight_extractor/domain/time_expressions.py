"""When something happened, as the speaker said it, resolved against the time of speaking.

Only plain Chinese and English expressions are read, never the wall clock. What is vague ("recently", 前几天),
recurring (every Friday, 每周三) or depends on another event gives nothing: no date is better than a wrong one.
Weeks begin on Monday; "last Friday" is the most recent one, "next Friday" that of the coming week.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from re import Match

from hindsight_common.domain.text import simplify
from hindsight_extractor.domain.times.calendar import Anchor, Granularity, Moment, TimeWords
from hindsight_extractor.domain.times.chinese import CHINESE
from hindsight_extractor.domain.times.english import ENGLISH

__all__ = ["Granularity", "TimeMention", "find_times", "resolve"]

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x2019: 0x27, 0x2018: 0x27, 0x3000: 0x20}
_HAN = re.compile(r"[\u3400-\u9fff]")
_ISO = re.compile(
    r"(?<![\d./-])((?:19|20)\d\d)([-/.])(0?[1-9]|1[0-2])\2(0?[1-9]|[12]\d|3[01])(?![\d-]|[./]\d)"
)
_ENGLISH_HINT = re.compile(
    r"\d|\b(?:to(?:day|night|nite|morrow)|yesterday|tmr?w?|tmrw|yday|night|morning|afternoon|evening|week|month|year|fortnight|ago|back|minute"
    r"|hour|hr|days?\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon\b|tues?\b|wed\b|thu|fri\b|sat\b|sun\b|jan|feb|mar(?:ch)?\b|apr|may\b|jun|jul"
    r"|aug|sep|oct|nov|dec|christmas|xmas|easter|new\s+year|boxing|halloween|valentine|bonfire|patrick|saints)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TimeMention:
    """`start` is aware, in the zone of the speaker: the first instant of a span of the given granularity.

    `words` are those of the text, found at `begin`–`end`.
    """

    start: datetime
    granularity: Granularity
    words: str
    begin: int
    end: int


def resolve(text: str, at: datetime) -> TimeMention | None:
    """The first time that a sentence names, or None; `at` is when it was said, in the speaker's zone."""
    return next(iter(find_times(text, at)), None)


def find_times(text: str, at: datetime) -> list[TimeMention]:
    """Every time that a sentence names, in order, none overlapping."""
    if at.tzinfo is None:
        raise ValueError("the time of speaking is aware")
    read = simplify(text).translate(_WIDE)
    candidates = sorted(_candidates(read, at), key=lambda c: (c[0].start(), -c[0].end()))
    mentions: list[TimeMention] = []
    taken_to = 0
    for found, moment in candidates:
        if found.start() < taken_to:
            continue
        taken_to = found.end()
        if moment is not None:
            words = text[found.start() : found.end()]
            mentions.append(TimeMention(moment.start, moment.granularity, words, found.start(), found.end()))
    return mentions


def _candidates(read: str, at: datetime) -> Iterator[tuple[Match[str], Moment | None]]:
    for found in _ISO.finditer(read):
        yield found, Anchor(at).day_in(int(found[1]), int(found[3]), int(found[4]))
    if _HAN.search(read):
        yield from _named(read, at, CHINESE)
    if _ENGLISH_HINT.search(read):
        yield from _named(read, at, ENGLISH)


def _named(read: str, at: datetime, words: TimeWords) -> Iterator[tuple[Match[str], Moment | None]]:
    for pattern, reading in words.readings:
        for found in pattern.finditer(read):
            before = read[max(0, found.start() - 24) : found.start()]
            if words.not_a_date_after.search(before):
                yield found, None
            else:
                yield found, reading(found, Anchor(at, words.tense_around(read, *found.span())))
