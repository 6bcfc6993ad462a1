"""English clauses that leave out their subject, and of whom they speak."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from hindsight_extractor.domain.rules.fact_rules import compiled_pattern
from hindsight_extractor.domain.rules.subjects import Subject
from hindsight_extractor.domain.rules.word_lists import any_of, read_data, words_of

SPEAKER = Subject("speaker")
_BULLET = re.compile(r"\s*(?:[-*•·–+]|\d{1,2}[.)]\s)?\s*")
_NO_ANSWER = re.compile(
    r"\W*(?:no|none|nope|nil|n/?a|nothing|not (?:sure|really|any)|unknown|yes|yeah|yep"
    r"|ok(?:ay)?|sure|well|why|what|how|and|the|i|it|it's|that|that's|if|can|could|please|just)\b",
    re.IGNORECASE,
)
# "I like hiking, vegan food": what follows goes on with the list
_LISTS = re.compile(
    r"\b(?:likes?|loves?|hates?|enjoys?|prefers?|speaks?|eats?|drinks?|buys?|bought|sells?|sold|knows?|sees?|saw|met|meets?"
    r"|needs?|wants?|includ\w+|such\s+as|between|about|interviewed|hired|invited|like|e\.g\.?|including|dislikes?|detests?)\b",
    re.IGNORECASE,
)

# "I'm Jo, 34, divorced", "my gran, 93, lives alone": what commas set apart may say what somebody is
_IS = re.compile(r"\b(?:i'?m|am|is|are|be|was)\b|'s\b|^[^,]{2,30}$", re.IGNORECASE)
_NAMED_ALONE = re.compile(r"\W*(?:[\w'-]+\s+){0,3}[\w'-]+,")

Form = Literal["speaker", "other", "either"]


@dataclass(frozen=True, slots=True)
class _Gap:
    """`own` and `others` are the words between the subject and the clause, for the speaker and for somebody else."""

    whom: Form
    own: str
    others: str
    match: re.Pattern[str]
    apart: bool = False

    @property
    def names_what_one_is(self) -> bool:
        return self.own.startswith("'m")


@dataclass(frozen=True, slots=True)
class _Asked:
    """How a bare answer to a question, or what stands behind a label, goes on from `says`."""

    says: str
    question: re.Pattern[str]
    label: re.Pattern[str] | None
    words: int


@dataclass(frozen=True, slots=True)
class Filled:
    """The words to put before a clause from `begin` on, and where in them the subject ends; whose words it is."""

    words: str
    begin: int
    subject_end: int
    subject: Subject


@cache
def _gaps() -> tuple[_Gap, ...]:
    return tuple(map(_gap, read_data("gaps_en.toml")["gap"]))


def _gap(row: Mapping[str, Any]) -> _Gap:
    own, others = row["words"].split("|")
    return _Gap(row["whom"], own, others, compiled_pattern(row["match"], "en"), row.get("apart", False))


@cache
def _asked() -> tuple[_Asked, ...]:
    return tuple(
        _Asked(
            row["says"],
            compiled_pattern(row["question"], "en"),
            compiled_pattern(rf"\s*{row['label']}\s*$", "en") if "label" in row else None,
            row["words"],
        )
        for row in read_data("gaps_en.toml")["asked"]
    )


@cache
def _someone() -> re.Pattern[str]:
    words = words_of("en")
    near = (word for word, name in words.relations.items() if name not in ("acquaintance", "boss"))
    relations = [form for word in near for form in (word, f"{word}s")]
    return any_of((*relations, *words.kinds["someone"], *words.kinds["bare_relation"]), "en")


def asked_for(question: str) -> str | None:
    """What a bare answer to the last question of a text would go on from; None where it asks nothing of that kind."""
    sentences = re.split(r"(?<=[.!?\n])\s+", question.strip())
    last = next((sentence for sentence in reversed(sentences) if sentence.endswith("?")), None)
    if last is None:
        return None
    return next((each.says for each in _asked() if each.question.search(last)), None)


class Gaps:
    """Follows whom a speaker speaks of, to complete clauses that name nobody.

    In doubt nobody is meant: once others have come up, what could be true of both stays without a subject until the
    sentence after the next.
    """

    def __init__(self) -> None:
        self._answers: str | None = None
        self._others_before = False
        self._others = False
        self._here: Subject | None = None
        self._is_stranger = False
        self._lists = False
        self._may_say_what = True
        self._is_request = False

    def begin_message(self, question: str | None) -> None:
        """`question` is what the assistant said right before."""
        self._answers = asked_for(question) if question else None
        self._others_before = self._others = False

    def begin_sentence(self, *, is_request: bool) -> None:
        """A request may hold anybody's words: "write a short bio: nurse, 34"."""
        self._others_before, self._others = self._others, False
        self._here, self._is_stranger, self._lists = None, False, False
        self._may_say_what, self._is_request = True, is_request

    def end_sentence(self) -> None:
        self._answers = None

    def pass_clause(self, read: str, subject: Subject | None, *, is_heading: bool, is_filled: bool) -> None:
        """Notes what a clause, now read, means for those after it; a heading ends at a colon."""
        label = next((each.says for each in _asked() if each.label and each.label.match(read)), None)
        if label:
            self._answers = label
            return
        self._answers = None
        self._others = self._others or bool(_someone().search(read))
        self._others = self._others or (subject is not None and subject.person != "speaker")
        self._here, self._is_stranger = subject, subject is None and not is_heading
        self._lists = bool(_LISTS.search(read))
        alone = subject is not None and subject.person != "speaker" and bool(_NAMED_ALONE.match(read))
        self._may_say_what = is_filled or is_heading or alone or bool(_IS.search(read))

    def meant(self, before: str, form: Form, third: Subject | None) -> Subject | None:
        """Of whom a clause without a subject speaks, after `before` in its sentence; None if that is in doubt."""
        if self._is_request:
            return None
        if form == "other":
            return self._here if self._here and self._here.person != "speaker" else third
        if self._here is not None and self._here.person != "speaker":
            return None if form == "speaker" else self._here
        if form == "speaker":
            return SPEAKER
        if self._is_stranger or _someone().search(before):
            return None
        return SPEAKER if self._here is not None or not self._others_before else None

    def fill(
        self, read: str, begin: int, before: str, third: Subject | None, *, is_piece: bool
    ) -> Filled | None:
        """What completes the clause that begins there without a subject."""
        found = _BULLET.match(read, begin)
        begin = found.end() if found else begin
        answer = self._answer(read, begin)
        if answer is not None:
            return answer
        gap = next((g for g in _gaps() if (is_piece or not g.apart) and g.match.match(read, begin)), None)
        if gap is None or (is_piece and not self._may_follow(gap)):
            return None
        subject = self.meant(before, gap.whom, third)
        if subject is None:
            return None
        who, between = ("I", gap.own) if subject.person == "speaker" else ("she", gap.others)
        return Filled(f"{who}{between} ", begin, len(who), subject)

    def _may_follow(self, gap: _Gap) -> bool:
        """True if a part of a clause may be read so, and is not one more thing of a list."""
        return not gap.own or (not self._lists and (self._may_say_what or not gap.names_what_one_is))

    def _answer(self, read: str, begin: int) -> Filled | None:
        if self._answers is None or not read[begin:].strip() or _NO_ANSWER.match(read, begin):
            return None
        most = next(each.words for each in _asked() if each.says == self._answers)
        if len(read[begin:].split()) > most:
            return None
        end = 1 if self._answers.startswith("I") else 0
        return Filled(f"{self._answers} ", begin, end, SPEAKER)
