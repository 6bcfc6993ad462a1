"""The parts of an English clause that commas and brackets set apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hindsight_extractor.domain.rules.clauses import Clause
from hindsight_extractor.domain.rules.prose import Sentence

_APART = re.compile(r"\s*[,(]\s*(?:(?:and|but|so|plus)\s+)?|\)\s*,?\s*|\s+(?=no\s+[a-z])", re.IGNORECASE)
_MOST = 12


def pieces_of(clause: Clause, sentence: Sentence) -> Iterator[Clause]:
    """What follows each comma of a clause, up to the next, as clauses of the same stance."""
    if sentence.language != "en":
        return
    read = sentence.read[clause.begin : clause.end]
    breaks = list(_APART.finditer(read))[:_MOST]
    ends = [found.start() for found in breaks[1:]] + [len(read)]
    for found, end in zip(breaks, ends, strict=False):
        if found.start() and read[found.end() : end].strip():
            yield replace(clause, begin=clause.begin + found.end(), end=clause.begin + end)
