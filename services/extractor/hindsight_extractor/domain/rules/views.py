"""A clause as the rules read it: without its times and, in Chinese, without white space."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_extractor.domain.rules.clauses import Clause
from hindsight_extractor.domain.rules.prose import Sentence
from hindsight_extractor.domain.time_expressions import TimeMention

_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class View:
    """`positions[i]` is where in the sentence the character `read[i]` stands.

    `begun_with` are words at the beginning that are not in the sentence; they count as where it goes on.
    """

    read: str
    positions: Sequence[int]
    begun_with: str = ""

    def original(self, span: tuple[int, int]) -> tuple[int, int]:
        """The span in the sentence of a span (not empty) of the view."""
        return self.positions[span[0]], self.positions[span[1] - 1] + 1

    def text(self, sentence: Sentence, span: tuple[int, int]) -> str:
        begin, end = self.original(span)
        return sentence.text[begin:end]

    def with_times(self, sentence: Sentence, clause: Clause) -> View:
        """The same clause with its times left in."""
        whole = view_of(sentence, clause, ())
        if not self.begun_with:
            return whole
        first = self.positions[0]
        begin = next((i for i, position in enumerate(whole.positions) if position >= first), len(whole.read))
        return whole.beginning(self.begun_with, begin)

    def beginning(self, words: str, at: int) -> View:
        """What is read from `at` on (before the end), completed by words that its speaker left out."""
        place = self.positions[at]
        return View(words + self.read[at:], [place] * len(words) + list(self.positions[at:]), words)

    def same_place(self, other: View, place: int) -> int:
        """The place in this view that corresponds to one in the other."""
        if self is other or place >= len(other.positions):
            return place if self is other else len(self.read)
        if other.begun_with and place < len(other.begun_with):
            return place
        target = other.positions[place]
        return next((i for i, position in enumerate(self.positions) if position >= target), len(self.read))


def view_of(sentence: Sentence, clause: Clause, times: Sequence[TimeMention]) -> View:
    """English keeps its length, times become spaces; in Chinese times and spaces are left out."""
    begin, end = clause.begin, clause.end
    read = sentence.read[begin:end]
    hidden = {i for mention in times for i in range(max(mention.begin, begin), min(mention.end, end))}
    if sentence.language == "en":
        if hidden:
            read = "".join(" " if i in hidden else sign for i, sign in enumerate(read, begin))
        return View(read, range(begin, end))
    if not hidden and not _SPACE.search(read):
        return View(read, range(begin, end))
    kept = [i for i, sign in enumerate(read, begin) if i not in hidden and not sign.isspace()]
    return View("".join(sentence.read[i] for i in kept), kept)
