"""The facts that a speaker's sentences state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hindsight_common.domain.predicates import predicate as declared
from hindsight_extractor.domain.rules.clauses import Clause, Parsed
from hindsight_extractor.domain.rules.contacts import contacts_in
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.fact_making import FactMaker, Seen
from hindsight_extractor.domain.rules.fact_rules import FactRule, fact_rules
from hindsight_extractor.domain.rules.objects import Span
from hindsight_extractor.domain.rules.subjects import (
    Found,
    Subject,
    looks_like_name,
    relations_named,
    subject_of,
)
from hindsight_extractor.domain.rules.views import view_of
from hindsight_extractor.domain.rules.word_lists import Language

# Predicates that a Chinese clause without any subject states of its speaker: 对花生过敏。住在上海。
_OWN_WITHOUT_SUBJECT = frozenset(
    {
        "allergic_to",
        "intolerant_to",
        "lives_in",
        "employer",
        "likes",
        "dislikes",
        "prefers",
        "diet",
        "has_condition",
    }
)
# "Tomas said he …" is Tomas's own word for it; what somebody said of others is hearsay.
_REPORTS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\s+(?:said|says|told\s+(?:me|us)|mentioned|thinks?|claims?|admitted|believes?|feels)\b(?:\s+to\s+me)?"
        r"(?:\s+that)?(?P<self>\s+(?:he|she|they)(?=[\s']))?",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:跟我|告诉我|对我|和我)?(?:说|提到|表示|讲|告诉我|提过|觉得|认为)(?:过|了)?[,:]?"
        r"(?P<self>他们|她们|他|她|自己)?"
    ),
}
# What follows "my sister": " is called Ida", "'s name is Ida"
_NAMING: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"(?:'s\s+name)?(?:'s|\s+is|\s+was)(?:\s+(?:called|named))?"
        r"\s+(?P<o>(?-i:[A-Z])[\w'-]*(?:\s+(?-i:[A-Z])[\w'-]*){0,2})\s*(?:$|[,.!]|\s+and\s)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:的)?(?:名字|全名|小名)?(?:叫做|名叫|叫|是叫)(?P<o>[\u4e00-\u9fff·]{1,6}|[A-Z][A-Za-z ]*)(?:了|啦)?$"
    ),
}
_SURE = 0.95


@dataclass(frozen=True, slots=True)
class _Reading:
    """A clause as the rules read it: where it begins past "but" and the like, and where past its subject."""

    clause: Clause
    seen: Seen
    begin: int
    verb: int
    subject: Subject | None
    faith: float


class FactReader:
    """Reads one speaker's sentences in order and remembers of whom they last spoke."""

    def __init__(self, speaker: str) -> None:
        self._speaker = speaker
        self._maker = FactMaker(speaker)
        self._third: Subject | None = None
        self._has_spoken = False

    def read(self, parsed: Parsed) -> list[Fact]:
        """The facts of a sentence; none from what it asks, supposes, or reports of others about others."""
        sentence, mentions = parsed.sentence, parsed.mentions
        facts: dict[tuple[str, str, str, bool], Fact] = {}
        carried: Subject | None = None
        for clause in parsed.clauses:
            seen = Seen(sentence, view_of(sentence, clause, mentions))
            found = subject_of(seen.view.read, 0, len(seen.view.read), sentence.language)
            subject = self._resolved(found, carried, sentence.language)
            carried = subject or carried
            if clause.holds:
                mention = next((m for m in mentions if clause.begin <= m.begin < clause.end), None)
                for fact in self._stated(clause, seen, found, subject):
                    self._remember(fact)
                    dated = replace(fact, mention=mention) if fact.begins else fact
                    facts.setdefault((fact.subject, fact.predicate, fact.object, fact.negated), dated)
        self._has_spoken = True
        return list(facts.values())

    def _resolved(self, found: Found, carried: Subject | None, language: Language) -> Subject | None:
        subject = found.subject
        if subject is None:
            return carried if found.joined or language == "zh" else None
        if subject.person == "pronoun":
            return self._third
        if subject.person in ("named", "relation"):
            self._third = subject
        return subject

    def _remember(self, fact: Fact) -> None:
        """Who was just named is whom "he", "she" and "who" mean next."""
        if declared(fact.predicate).relation == "KNOWS" and declared(fact.predicate).value == "person":
            self._third = Subject("named", fact.object)

    def _stated(self, clause: Clause, seen: Seen, found: Found, subject: Subject | None) -> Iterator[Fact]:
        yield from contacts_in(self._speaker, seen.sentence, clause.begin, clause.end)
        own = found.subject
        if own and own.relation and own.name:
            yield self._maker.relation(seen, (found.begin, found.end), own.relation, own.name)
        elif own and own.relation:
            naming = _NAMING[seen.language].match(seen.view.read, found.end)
            if naming:
                yield from self._named(seen, found.begin, own, own.relation, naming)
                return
        for named in relations_named(seen.view.read, found.end, seen.language):
            if seen.language == "zh" or looks_like_name(named["relname"]):
                name = seen.view.text(seen.sentence, named.span("relname"))
                yield self._maker.relation(seen, named.span(), named["rel"], name)
        if own and own.person == "pronoun" and subject is None:
            return
        start, faith = found.end, _faith(clause, own, subject)
        if own is None and found.joined:
            # rules begin with the white space before the verb
            start = max(found.begin - 1, 0)
        report = _REPORTS[seen.language].match(seen.view.read, start)
        if report and subject and subject.person != "speaker":
            if not report["self"]:
                return
            start, faith = report.end(), faith * 0.85
        yield from self._by_rules(_Reading(clause, seen, found.begin, start, subject, faith))

    def _named(
        self, seen: Seen, begin: int, own: Subject, word: str, naming: re.Match[str]
    ) -> Iterator[Fact]:
        name = seen.view.text(seen.sentence, naming.span("o"))
        self._third = replace(own, name=name)
        yield self._maker.relation(seen, (begin, naming.end("o")), word, name)

    def _by_rules(self, reading: _Reading) -> Iterator[Fact]:
        taken: list[Span] = []
        view = reading.seen.view
        for rule in _candidates(reading):
            believed = self._believed(rule, reading)
            if believed is None:
                continue
            whom, faith = believed
            whole = view.with_times(reading.seen.sentence, reading.clause) if rule.dates else view
            found = rule.match.match(
                whole.read, whole.same_place(view, reading.begin if rule.whole else reading.verb)
            )
            if found is None:
                continue
            whose = self._whose(found, whom)
            if whose is None:
                continue
            for fact in self._maker.facts(rule, found, Seen(reading.seen.sentence, whole), whose, faith):
                if not any(begin < fact.end and fact.begin < end for begin, end in taken):
                    taken.append((fact.begin, fact.end))
                    yield replace(fact, begin=min(reading.clause.begin, fact.begin))

    def _believed(self, rule: FactRule, reading: _Reading) -> tuple[Subject, float] | None:
        """Of whom the rule would speak in this clause, and how sure that is; None if it cannot."""
        if rule.opening and self._has_spoken:
            return None
        if rule.whole:
            return Subject("speaker"), _SURE * (0.6 if reading.clause.is_tentative else 1)
        if reading.subject is not None:
            return reading.subject, reading.faith
        opens_the_turn = reading.seen.language == "zh" and not self._has_spoken
        if opens_the_turn and rule.predicate in _OWN_WITHOUT_SUBJECT:
            return Subject("speaker"), reading.faith
        return None

    def _whose(self, found: re.Match[str], whom: Subject) -> Subject | None:
        """The subject, or who the match itself says it is: "signed him up for …"."""
        word = found.groupdict().get("who")
        if not word or word.lower() in {"me", "us", "我"}:
            return whom
        return self._third if word.lower() in {"him", "her", "them", "他", "她"} else Subject("named", word)


def _candidates(reading: _Reading) -> Iterator[FactRule]:
    """The rules that may fit, in order; most clauses fit none, which one look tells."""
    view, rules = reading.seen.view, fact_rules(reading.seen.language)
    if rules.any_whole.match(view.read, reading.begin):
        yield from rules.whole
    if rules.any_dated.search(view.read, reading.verb) or rules.any_led.match(view.read, reading.verb):
        yield from rules.led


def _faith(clause: Clause, own: Subject | None, subject: Subject | None) -> float:
    faith = _SURE if subject and subject.person == "speaker" else 0.85
    if own is None or own.person == "pronoun":
        faith -= 0.1
    return faith * 0.6 if clause.is_tentative else faith
