"""What a speaker tells beyond facts, as one event in their own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from hindsight_common.domain.predicates import predicate as declared
from hindsight_extractor.domain.rules import stance
from hindsight_extractor.domain.rules.clauses import Parsed
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.people import people_in
from hindsight_extractor.domain.rules.word_lists import Language, words_of
from hindsight_extractor.domain.time_expressions import TimeMention

# A summary keeps at most so many characters: several windows of an embedder. Sentences that weigh more come first.
LONGEST_SUMMARY = 4000
_PLAIN = 0.35
_QUESTION = 0.25
_REMEMBER = 0.8
_SHORT_CLAUSE = 1.5


@dataclass(frozen=True, slots=True)
class Telling:
    """A sentence worth keeping, without the greetings it began with."""

    text: str
    language: Language
    importance: float
    is_tentative: bool
    mention: TimeMention | None
    people: tuple[str, ...]
    is_question: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """The tellings of one speaker in one turn, joined. `mention` is the first time they name."""

    content: str
    language: Language
    importance: float
    confidence: float
    people: tuple[str, ...]
    mention: TimeMention | None


def telling_of(said: Parsed, facts: Sequence[Fact], at: datetime) -> Telling | None:
    """What of a sentence is worth keeping once its facts are kept; None for greetings, questions and requests."""
    sentence, language = said.sentence, said.sentence.language
    remember = stance.asked_to_remember(sentence.read, language)
    start = remember or stance.opener_length(sentence.read, language)
    read = sentence.read[start:]
    if not remember and (_only_asks(said, start) or stance.requests(read, language)):
        return None
    covered = [(fact.begin, fact.end) for fact in facts]
    covered += [(fact.mention.begin, fact.mention.end) for fact in facts if fact.mention]
    rest = _without(sentence.read, [(0, start), *covered])
    only_names = all(declared(fact.predicate).value == "person" for fact in facts)
    tells = _tells_more(rest, language, only_names=only_names) if covered else stance.tells(rest, language)
    if not tells and not _has_clause_beside(said, covered):
        return None
    return _telling(said, start, at, remembered=bool(remember))


def _has_clause_beside(said: Parsed, covered: Sequence[tuple[int, int]]) -> bool:
    """True if a clause that no fact touches tells something; a short one may, in Chinese: 屏幕碎了."""
    if not covered or said.sentence.language != "zh":
        return False
    return any(
        not clause.is_asking
        and not any(begin < clause.end and clause.begin < end for begin, end in covered)
        and stance.content_weight(said.sentence.read[clause.begin : clause.end], "zh")[0] >= _SHORT_CLAUSE
        for clause in said.clauses
    )


def _tells_more(rest: str, language: Language, *, only_names: bool) -> bool:
    """True if what facts left of a sentence is worth an event of its own.

    `only_names` = the facts name people and say nothing else; the rest is then what was told of them.
    """
    weight, is_own = stance.content_weight(rest, language)
    if weight >= 1 and stance.names_something(rest, language):
        return True
    least = 1.0 if only_names else _SHORT_CLAUSE if is_own else 2.0
    return weight >= (least if language == "zh" else 2.0)


def question_told(said: Parsed, at: datetime) -> Telling | None:
    """A question or request that also says something of who asks; for turns from which nothing else remains."""
    sentence = said.sentence
    start = stance.opener_length(sentence.read, sentence.language)
    read = sentence.read[start:]
    if not stance.speaks_of_oneself(read, sentence.language) or not stance.tells(read, sentence.language):
        return None
    return _telling(said, start, at, asked=True)


def _telling(
    said: Parsed, start: int, at: datetime, *, remembered: bool = False, asked: bool = False
) -> Telling:
    sentence = said.sentence
    text = sentence.text[start:].strip()
    mention = next(iter(said.mentions), None)
    importance = _QUESTION if asked else _weight(sentence.read, sentence.language, mention, at)
    return Telling(
        text=text,
        language=sentence.language,
        importance=max(importance, _REMEMBER) if remembered else importance,
        is_tentative=stance.is_tentative(sentence.read, sentence.language)
        or stance.supposes(sentence.read, sentence.language),
        mention=mention,
        people=people_in(sentence, start),
        is_question=asked,
    )


def _only_asks(said: Parsed, start: int) -> bool:
    """True if no clause of the sentence tells anything that is not asked."""
    sentence = said.sentence
    told = (c for c in said.clauses if not c.is_asking and c.end > start)
    return any(c.is_asking for c in said.clauses) and not any(
        stance.tells(sentence.read[max(c.begin, start) : c.end], sentence.language) for c in told
    )


def _without(read: str, spans: Iterable[tuple[int, int]]) -> str:
    hidden = {i for begin, end in spans for i in range(begin, end)}
    return "".join(" " if i in hidden else sign for i, sign in enumerate(read)) if hidden else read


def _weight(read: str, language: Language, mention: TimeMention | None, at: datetime) -> float:
    importance = _PLAIN
    for weight in words_of(language).weights:
        if weight.pattern.search(read):
            importance = weight.importance
            break
    if mention is not None:
        importance = max(importance + 0.05, 0.6 if mention.start > at else 0.0)
    carried, _ = stance.content_weight(read, language)
    return round(min(importance + min(carried, 20) * 0.005, 0.9), 3)


def event_of(tellings: Sequence[Telling]) -> Event | None:
    """The one event that the tellings of a speaker make."""
    kept = _within_length(tellings)
    if not kept:
        return None
    confidence = (
        0.5 if all(t.is_question for t in kept) else 0.65 if all(t.is_tentative for t in kept) else 0.9
    )
    han = sum(t.language == "zh" for t in kept)
    return Event(
        content=_joined([t.text for t in kept]),
        language="zh" if han * 2 >= len(kept) else "en",
        importance=max(t.importance for t in kept),
        confidence=confidence,
        people=tuple(dict.fromkeys(name for t in kept for name in t.people)),
        mention=next((t.mention for t in kept if t.mention), None),
    )


def _within_length(tellings: Sequence[Telling]) -> list[Telling]:
    if sum(len(t.text) for t in tellings) <= LONGEST_SUMMARY:
        return list(tellings)
    chosen: set[int] = set()
    length = 0
    for number in sorted(range(len(tellings)), key=lambda i: (-tellings[i].importance, i)):
        if length + len(tellings[number].text) <= LONGEST_SUMMARY:
            chosen.add(number)
            length += len(tellings[number].text)
    if not chosen:
        first = tellings[0]
        return [
            Telling(
                first.text[:LONGEST_SUMMARY],
                first.language,
                first.importance,
                first.is_tentative,
                first.mention,
                (),
            )
        ]
    return [tellings[i] for i in sorted(chosen)]


def _joined(texts: Sequence[str]) -> str:
    joined = texts[0]
    for text in texts[1:]:
        gap = "" if re.search(r"[\u3000-\u9fff\uff00-\uffef]$", joined) else " "
        joined += gap + text
    return joined
