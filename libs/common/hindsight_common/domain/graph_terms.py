"""The words by which a node is found when only a part of its name is known; the same for every store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from hindsight_common.domain.text import fold_text, normal_key

# an event's name is a sentence; what follows in a longer text is not looked up
MOST_TERMS: Final = 64

_HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_PIECES: Final = re.compile(rf"[{_HAN}]+|[^\W{_HAN}_]+")
_SPACED: Final = re.compile(rf"[^\s{_HAN}]+")


def name_terms(text: str) -> tuple[str, ...]:
    """Distinct folded terms in order: words and numbers, identifiers also whole, Chinese in pairs of characters.

    No term holds white space; one of an identifier may hold any sign.
    """
    folded = fold_text(text)
    return tuple(islice(dict.fromkeys(_terms(folded)), MOST_TERMS))


def shared_weight(terms: frozenset[str], name: str) -> int:
    """How much of some terms a name holds: their characters, so that a long term counts for more."""
    return sum(len(term) for term in terms.intersection(name_terms(name)))


def _terms(folded: str) -> Iterator[str]:
    for piece in _PIECES.findall(folded):
        if re.match(f"[{_HAN}]", piece):
            yield from _pairs(piece)
        else:
            yield piece
    for token in _SPACED.findall(folded):
        whole = normal_key(token)
        if any(character.isalnum() for character in whole) and not whole.isalnum():
            yield whole


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for start in range(len(run) - 1):
        yield run[start : start + 2]
