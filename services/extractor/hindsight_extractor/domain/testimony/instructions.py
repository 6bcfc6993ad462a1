"""Text that tries to instruct the memory, or whoever reads it, instead of telling something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hindsight_common.domain.text import fold_text
from hindsight_extractor.domain.testimony.signs import any_sign, table

# What is to be kept and the power that it gives stand close together
_BEFORE: Final = 20
_REACH: Final = 160
_SPACED_LETTERS: Final = re.compile(r"(?<!\w)(?:\w[ \t._*|·-]){4,}\w(?!\w)")
_SPACED_HAN: Final = re.compile(r"(?:[\u4e00-\u9fff][ \t._*|·-]){3,}[\u4e00-\u9fff]")
_BETWEEN: Final = re.compile(r"[ \t._*|·-]")
_MIXED: Final = re.compile(r"(?<!\w)(?=\w*[a-z$@])(?=[a-z]*[013457@$])[a-z013457@$]{3,}(?!\w)")
_LONGEST_PASSAGE: Final = 400
_SENTENCE_ENDS: Final = re.compile(r"(?<=[。!?！？])|(?<=\.)\s+|\n+")


def instructs(content: str) -> bool:
    """True if some part of the text wants the memory to obey it: override what is there, or keep something that gives
    power or holds for others than the speaker. Whoever asks to be remembered as they are, or to be called by another
    name, does not.
    """
    return any(_obeys_me(view) for view in _views(content))


def instructing_passage(content: str) -> str:
    """The sentence that instructs, for a person who has to judge it; the beginning of the text if none does alone."""
    for sentence in _SENTENCE_ENDS.split(content):
        if instructs(sentence):
            return sentence.strip()[:_LONGEST_PASSAGE]
    return content.strip()[:_LONGEST_PASSAGE]


def _obeys_me(folded: str) -> bool:
    decisive, keeping, power = _signs()
    if decisive.search(folded):
        return True
    return any(power.search(folded, begin, end) for begin, end in _around(keeping.finditer(folded)))


def _around(kept: Iterator[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Where the words stand that are close to one of the matches, each place once."""
    begin = end = -1
    for found in kept:
        if found.start() - _BEFORE > end:
            if end >= 0:
                yield begin, end
            begin = max(0, found.start() - _BEFORE)
        end = found.end() + _REACH
    if end >= 0:
        yield begin, end


def _views(content: str) -> Iterator[str]:
    """The text as a reader sees it past tricks with letters: folded, and what was spaced out drawn together."""
    folded = "\n".join(fold_text(line) for line in content.splitlines())
    plain = folded if folded.isascii() else folded.translate(_letters()[0])
    yield plain
    joined = _SPACED_HAN.sub(_drawn_together, _SPACED_LETTERS.sub(_drawn_together, plain))
    spelt = _MIXED.sub(lambda word: word[0].translate(_letters()[1]), joined)
    if spelt != plain:
        yield spelt
        if joined != plain:
            # letters that were spaced out one by one leave no spaces between words
            yield re.sub(r"(?<=[a-z])\s+(?=[a-z])", " ", joined)


def _drawn_together(found: re.Match[str]) -> str:
    return _BETWEEN.sub("", found[0])


@cache
def _signs() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    lists = table("instructions")
    return any_sign(lists["decisive"]), any_sign(lists["keeping"]), any_sign(lists["power"])


@cache
def _letters() -> tuple[dict[int, int], dict[int, int]]:
    lists = table("instructions")
    return (
        str.maketrans(lists["look_alikes"], lists["latin"]),
        str.maketrans(lists["leet"], lists["letters"]),
    )
