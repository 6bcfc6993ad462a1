"""What a speaker tells beyond facts, as one event in their own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from hindsight_common.domain.predicates import predicate as declared
from hindsight_extractor.domain.rules import stance
from hindsight_extractor.domain.rules.brief import brief, kept_clauses
from hindsight_extractor.domain.rules.clauses import Clause, Parsed
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.people import people_in
from hindsight_extractor.domain.rules.subjects import lead_end
from hindsight_extractor.domain.rules.word_lists import Language, words_of
from hindsight_extractor.domain.testimony.invention import asks_idly, not_meant, only_supposes
from hindsight_extractor.domain.testimony.orders import chatters, orders, points_above
from hindsight_extractor.domain.testimony.reasons import Reason
from hindsight_extractor.domain.time_expressions import TimeMention

# A summary keeps at most so many characters: several windows of an embedder. Sentences that weigh more come first.
LONGEST_SUMMARY = 4000
_PLAIN = 0.35
_QUESTION = 0.25
_REMEMBER = 0.8
_SHORT_CLAUSE = 1.5
_UNTIL = re.compile(r"(?:until|till|by)\s", re.IGNORECASE)
_QUOTATION_GONE = "“…”"
# what matters may be said in two words: "Got promoted!", 今天拿到钥匙了
_HEAVY = 0.65
_OF_SOMEBODY = re.compile(r"^\W*[他她]")
# so much must a question hold beside what it asks: "is my parcel coming today" tells nothing
_QUESTION_TELLS = 3.0
_FIRM, _PARTLY_DOUBTED, _DOUBTED, _ASKED = 0.9, 0.75, 0.65, 0.5


@dataclass(frozen=True, slots=True)
class Telling:
    """A sentence worth keeping, without the greetings it began with: from `start` on, the clauses that tell."""

    text: str
    language: Language
    importance: float
    is_tentative: bool
    mention: TimeMention | None
    people: tuple[str, ...]
    is_question: bool = False
    clauses: tuple[Clause, ...] = ()
    start: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """The tellings of one speaker in one turn, joined. `mention` is the first time they name."""

    content: str
    language: Language
    importance: float
    confidence: float
    people: tuple[str, ...]
    mention: TimeMention | None


def telling_of(
    said: Parsed, facts: Sequence[Fact], at: datetime, *, beside_others: bool = False
) -> Telling | Reason:
    """What of a sentence is worth keeping once its facts are kept, or why nothing is.

    `beside_others` = the message holds somebody else's text, too; what says nothing of the speaker is about that.
    """
    sentence, language = said.sentence, said.sentence.language
    unmeant = None if facts else _unmeant(said)
    if unmeant is not None:
        return unmeant
    remember = stance.asked_to_remember(sentence.read, language)
    start = remember or stance.opener_length(sentence.read, language)
    read = sentence.read[start:]
    if not remember and (wanted := _wanted(said, start)):
        return wanted
    if aside := _aside(said, read, has_facts=bool(facts), beside_others=beside_others):
        return aside
    covered = [(fact.begin, fact.end) for fact in facts]
    covered += [(fact.mention.begin, fact.mention.end) for fact in facts if fact.mention]
    rest = _without(sentence.read, [(0, start), *covered])
    only_names = all(declared(fact.predicate).value == "person" for fact in facts)
    tells = _tells_more(rest, language, only_names=only_names) if covered else _tells(said, rest)
    if not tells and not _has_clause_beside(said, covered):
        return Reason.NOTHING
    return _telling(said, start, at, covered, remembered=bool(remember))


def _wanted(said: Parsed, start: int) -> Reason | None:
    """A question or request that tells nothing beside."""
    if _only_asks(said, start):
        return Reason.QUESTION
    read, language = said.sentence.read[start:], said.sentence.language
    ordered = stance.requests(read, language) or (not said.mentions and orders(read))
    return Reason.REQUEST if ordered else None


def _aside(said: Parsed, read: str, *, has_facts: bool, beside_others: bool) -> Reason | None:
    """What is said of the text above or beside it, or only for the sake of saying it."""
    if points_above(said.sentence.read):
        return Reason.REMARK
    is_own = stance.is_of_the_speaker(read, said.sentence.language)
    bare = read.rstrip()
    if bare.removesuffix(_QUOTATION_GONE).rstrip().endswith(":") and (
        beside_others or _QUOTATION_GONE in bare
    ):
        return Reason.REMARK
    if _QUOTATION_GONE in read and not is_own:
        return Reason.REMARK
    if has_facts or said.mentions:
        return None
    if chatters(read):
        return Reason.NOTHING
    return Reason.REMARK if beside_others and not is_own else None


def _unmeant(said: Parsed) -> Reason | None:
    """Why a sentence without facts must not be taken at its word."""
    read = said.sentence.read
    if not said.sentence.is_readable:
        return None
    if asks_idly(read) or only_supposes(read):
        return Reason.SUPPOSED
    return not_meant(read)


def _tells(said: Parsed, rest: str) -> bool:
    """True if a sentence without facts tells something: little is enough of what matters or of a day that is named."""
    language = said.sentence.language
    if stance.tells(rest, language):
        return True
    if (
        language == "zh"
        and _OF_SOMEBODY.search(rest)
        and stance.content_weight(rest, "zh")[0] >= _SHORT_CLAUSE
    ):
        return True
    weighs = any(w.importance >= _HEAVY and w.pattern.search(rest) for w in words_of(language).weights)
    return (weighs or bool(said.mentions)) and stance.content_weight(rest, language)[0] >= 1


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
    if (
        _unmeant(said)
        or orders(read)
        or any(stance.is_condition(sentence.read[c.begin : c.end]) for c in said.clauses)
    ):
        return None
    if not stance.speaks_of_oneself(read, sentence.language):
        return None
    if stance.content_weight(read, sentence.language)[0] < _QUESTION_TELLS:
        return None
    return _telling(said, start, at, asked=True)


def _telling(
    said: Parsed,
    start: int,
    at: datetime,
    covered: Sequence[tuple[int, int]] = (),
    *,
    remembered: bool = False,
    asked: bool = False,
) -> Telling:
    sentence = said.sentence
    kept = kept_clauses(said, start, covered)
    text = sentence.text[start:].strip() if asked else brief(said, start, kept)
    mention = _time_of(said, kept)
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
        clauses=tuple(kept),
        start=start,
    )


def _time_of(said: Parsed, kept: Sequence[Clause]) -> TimeMention | None:
    """The time that is meant, if what is kept names it; else the first that it names."""
    told = (
        [m for m in said.mentions if any(c.begin <= m.begin < c.end for c in kept)] if kept else said.mentions
    )
    meant = said.time_meant
    return meant if meant is None or meant in told else next(iter(told), None)


def _only_asks(said: Parsed, start: int) -> bool:
    """True if no clause of the sentence tells anything that is not asked."""
    sentence = said.sentence
    told = (
        c
        for c in said.clauses
        if not c.is_asking
        and c.end > start
        and not _leads_to_a_question(said, c)
        and not stance.is_condition(sentence.read[c.begin : c.end])
        and not stance.requests(_without_leads(said, c), sentence.language)
        and not orders(_without_leads(said, c))
    )
    return any(c.is_asking for c in said.clauses) and not any(
        stance.tells(sentence.read[max(c.begin, start) : c.end], sentence.language) for c in told
    )


def _leads_to_a_question(said: Parsed, clause: Clause) -> bool:
    """True for what stands before a colon and a question: "she wanted me to ask you: is it safe?"."""
    behind = said.sentence.read[clause.end :].lstrip()
    return behind.startswith(":") and any(c.is_asking for c in said.clauses if c.begin > clause.end)


def _without_leads(said: Parsed, clause: Clause) -> str:
    """A clause without "and", "by the way" and the like: what it begins with."""
    read = said.sentence.read
    return read[lead_end(read, clause.begin, clause.end, said.sentence.language) : clause.end]


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
    han = sum(t.language == "zh" for t in kept)
    return Event(
        content=_joined([t.text for t in kept]),
        language="zh" if han * 2 >= len(kept) else "en",
        importance=max(t.importance for t in kept),
        confidence=_confidence(kept),
        people=tuple(dict.fromkeys(name for t in kept for name in t.people)),
        mention=_meant_time(kept),
    )


def _meant_time(kept: Sequence[Telling]) -> TimeMention | None:
    """The first time that is named; the end of a span only where there is no other."""
    mentions = [telling.mention for telling in kept if telling.mention]
    return min(mentions, key=lambda mention: bool(_UNTIL.match(mention.words)), default=None)


def _confidence(kept: Sequence[Telling]) -> float:
    """An event is as sure as what is least sure in it."""
    if all(telling.is_question for telling in kept):
        return _ASKED
    doubted = sum(telling.is_tentative for telling in kept)
    return _DOUBTED if doubted == len(kept) else _PARTLY_DOUBTED if doubted else _FIRM


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
        # a line without a full stop, or one whose end was left out
        stop = "." if re.search(r"[A-Za-z0-9)%€$£]$", joined) else ""
        joined += stop + gap + text
    return joined
