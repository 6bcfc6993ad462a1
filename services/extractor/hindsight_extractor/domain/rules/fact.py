"""What the rules found a sentence to state."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_extractor.domain.time_expressions import TimeMention


@dataclass(frozen=True, slots=True)
class Fact:
    """One stated fact. `begin`–`end` is what of the sentence it says.

    `begins` = a time in its clause is when it began, `mention` that time; `people` the names it holds.
    """

    subject: str
    predicate: str
    object: str
    negated: bool
    content: str
    importance: float
    confidence: float
    begin: int
    end: int
    people: tuple[str, ...] = ()
    mention: TimeMention | None = None
    begins: bool = False
