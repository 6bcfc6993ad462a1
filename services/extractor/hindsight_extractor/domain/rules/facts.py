"""The facts that a speaker's sentences state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hindsight_common.domain.predicates import predicate as declared
from hindsight_extractor.domain.rules.chinese_names import may_be_called
from hindsight_extractor.domain.rules.clauses import Clause, Parsed
from hindsight_extractor.domain.rules.contacts import contacts_in
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.fact_making import FactMaker, Seen
from hindsight_extractor.domain.rules.rule_reading import SURE, TENTATIVE, Reading, RuleReader
from hindsight_extractor.domain.rules.subjects import (
    Found,
    Subject,
    introduced_in,
    relations_listed,
    relations_named,
    shows_as_name,
    subject_of,
)
from hindsight_extractor.domain.rules.views import view_of
from hindsight_extractor.domain.rules.word_lists import Language

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

# After "I have a dog": "his name is Max", 名字叫短腿
_NAMES_IT: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\s*(?:and\s+)?(?:(?:his|her|its|their|the\s+\w+'s)\s+name(?:'s|\s+is)"
        r"|(?:he|she|it)(?:'s|\s+is)\s+(?:called|named)|(?:called|named))\s+(?P<o>(?-i:[A-Z])[\w'-]*)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:它|他|她|这家伙)?(?:的)?(?:名字|小名|大名|全名)?(?:叫做|名叫|叫|是叫)"
        r"(?P<o>[\u4e00-\u9fff·]{1,6}|[A-Z][A-Za-z ]*)(?:了|啦)?$"
    ),
}


class FactReader:
    """Reads one speaker's sentences in order and remembers of whom they last spoke."""

    def __init__(self, speaker: str) -> None:
        self._speaker = speaker
        self._maker = FactMaker(speaker)
        self._rules = RuleReader(self._maker)
        self._third: Subject | None = None
        self._introduced: Subject | None = None
        self._unnamed: str | None = None
        self._has_spoken = False

    def read(self, parsed: Parsed) -> list[Fact]:
        """The facts of a sentence; none from what it asks, supposes, or reports of others about others."""
        sentence, mentions = parsed.sentence, parsed.mentions
        facts: dict[tuple[str, str, str, bool], Fact] = {}
        carried: Subject | None = None
        for clause in parsed.clauses:
            mention = next((m for m in mentions if clause.begin <= m.begin < clause.end), None)
            seen = Seen(sentence, view_of(sentence, clause, mentions), mention)
            found = subject_of(seen.view.read, 0, len(seen.view.read), sentence.language)
            subject = self._resolved(found, carried, sentence.language)
            carried = subject or carried
            if clause.holds:
                for fact in self._stated(clause, seen, found, subject):
                    self._remember(fact)
                    dated = replace(fact, mention=mention) if fact.begins else fact
                    facts.setdefault((fact.subject, fact.predicate, fact.object, fact.negated), dated)
                carried, self._introduced = self._introduced or carried, None
        self._rules.end_sentence()
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
            if naming and may_be_called(naming["o"]):
                yield from self._named(seen, found.begin, own, own.relation, naming)
                return
        unnamed, self._unnamed = self._unnamed, introduced_in(seen.view.read, seen.language)
        naming = _NAMES_IT[seen.language].match(seen.view.read) if unnamed else None
        if unnamed and naming and may_be_called(naming["o"]):
            name = seen.view.text(seen.sentence, naming.span("o"))
            yield self._maker.relation(seen, naming.span(), unnamed, name)
            return
        yield from self._mentioned(seen, found.end)
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
        yield from self._rules.read(
            Reading(clause, seen, found.begin, start, subject, faith, self._third, not self._has_spoken)
        )

    def _mentioned(self, seen: Seen, begin: int) -> Iterator[Fact]:
        """The people that a clause names beside its subject: "with my friend Ana", "my kids Ella and Tom"."""
        for named in relations_named(seen.view.read, begin, seen.language):
            if shows_as_name(named["relname"], seen.language):
                name = seen.view.text(seen.sentence, named.span("relname"))
                yield self._maker.relation(seen, named.span(), named["rel"], name)
        for span, word, name_at in relations_listed(seen.view.read, seen.language):
            yield self._maker.relation(seen, span, word, seen.view.text(seen.sentence, name_at))

    def _named(
        self, seen: Seen, begin: int, own: Subject, word: str, naming: re.Match[str]
    ) -> Iterator[Fact]:
        name = seen.view.text(seen.sentence, naming.span("o"))
        self._third = self._introduced = replace(own, name=name)
        yield self._maker.relation(seen, (begin, naming.end("o")), word, name)


def _faith(clause: Clause, own: Subject | None, subject: Subject | None) -> float:
    faith = SURE if subject and subject.person == "speaker" else 0.85
    if own is None or own.person == "pronoun":
        faith -= 0.1
    return faith * TENTATIVE if clause.is_tentative else faith
