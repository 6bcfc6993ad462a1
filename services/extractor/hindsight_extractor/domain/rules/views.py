"""A clause as the rules read it: without its times and, in Chinese, without white space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_extractor.domain.rules.clauses import Clause
from hindsight_extractor.domain.rules.prose import Sentence
from hindsight_extractor.domain.time_expressions import TimeMention


@dataclass(frozen=True, slots=True)
class View:
    """`positions[i]` is where in the sentence the character `read[i]` stands."""

    read: str
    positions: Sequence[int]

    def original(self, span: tuple[int, int]) -> tuple[int, int]:
        """The span in the sentence of a span (not empty) of the view."""
        return self.positions[span[0]], self.positions[span[1] - 1] + 1

    def text(self, sentence: Sentence, span: tuple[int, int]) -> str:
        begin, end = self.original(span)
        return sentence.text[begin:end]

    def with_times(self, sentence: Sentence, clause: Clause) -> View:
        """The same clause with its times left in."""
        return view_of(sentence, clause, ())

    def same_place(self, other: View, place: int) -> int:
        """The place in this view that corresponds to one in the other."""
        if self is other or place >= len(other.positions):
            return place if self is other else len(self.read)
        target = other.positions[place]
        return next((i for i, position in enumerate(self.positions) if position >= target), len(self.read))


def view_of(sentence: Sentence, clause: Clause, times: Sequence[TimeMention]) -> View:
    """English keeps its length, times become spaces; in Chinese times and spaces are left out."""
    hidden = {i for mention in times for i in range(mention.begin, mention.end)}
    if sentence.language == "en":
        read = "".join(" " if i in hidden else sentence.read[i] for i in range(clause.begin, clause.end))
        return View(read, range(clause.begin, clause.end))
    kept = [i for i in range(clause.begin, clause.end) if i not in hidden and not sentence.read[i].isspace()]
    return View("".join(sentence.read[i] for i in kept), kept)
