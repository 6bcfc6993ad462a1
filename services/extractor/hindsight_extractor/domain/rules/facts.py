"""The facts that a speaker's sentences state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from hindsight_common.domain.predicates import predicate as declared
from hindsight_extractor.domain.rules.answers import Answers
from hindsight_extractor.domain.rules.chinese_names import may_be_called
from hindsight_extractor.domain.rules.clauses import Clause, Parsed
from hindsight_extractor.domain.rules.contacts import contacts_in
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.fact_making import FactMaker, Seen
from hindsight_extractor.domain.rules.gaps import Gaps
from hindsight_extractor.domain.rules.kinds import kind
from hindsight_extractor.domain.rules.naming import NAMES_IT, NAMING, REPORTS
from hindsight_extractor.domain.rules.pieces import pieces_of
from hindsight_extractor.domain.rules.prose import Sentence
from hindsight_extractor.domain.rules.relatives import (
    introduced_in,
    one_mentioned,
    relations_listed,
    relations_named,
)
from hindsight_extractor.domain.rules.rule_reading import SURE, TENTATIVE, Reading, RuleReader
from hindsight_extractor.domain.rules.stance import requests
from hindsight_extractor.domain.rules.subjects import Found, Subject, shows_as_name, subject_of
from hindsight_extractor.domain.rules.topics import Topics
from hindsight_extractor.domain.rules.views import view_of
from hindsight_extractor.domain.rules.word_lists import Language, words_of
from hindsight_extractor.domain.time_expressions import TimeMention


class FactReader:
    """Reads one speaker's sentences in order and remembers of whom they last spoke."""

    def __init__(self, speaker: str) -> None:
        self._speaker = speaker
        self._maker = FactMaker(speaker)
        self._rules = RuleReader(self._maker)
        self._third: Subject | None = None
        self._introduced: Subject | None = None
        self._gaps = Gaps()
        self._topics = Topics()
        self._answers = Answers()
        self._unnamed: str | None = None
        self._has_spoken = False

    def begin_message(self, question: str | None = None) -> None:
        """Whom another message spoke of is nobody in this one; `question` is what the assistant said before it."""
        self._gaps.begin_message(question)
        self._answers.begin_message(question)
        self._topics.begin_message()

    def read(self, parsed: Parsed) -> list[Fact]:
        """The facts of a sentence; none from what it asks, supposes, or reports of others about others."""
        sentence, mentions = parsed.sentence, parsed.mentions
        facts: dict[tuple[str, str, str, bool], Fact] = {}
        carried: Subject | None = None
        self._topics.begin_sentence(sentence.read)
        self._gaps.begin_sentence(is_request=requests(sentence.read, sentence.language))
        for clause in parsed.clauses:
            mention = next((m for m in mentions if clause.begin <= m.begin < clause.end), None)
            seen = Seen(sentence, view_of(sentence, clause, mentions), mention)
            found = subject_of(seen.view.read, 0, len(seen.view.read), sentence.language)
            subject = self._resolved(found, carried, sentence.language)
            if sentence.language == "zh" and found.subject is None:
                seen = replace(
                    seen, day=next((m for m in mentions if m.granularity in ("instant", "day")), None)
                )
            if sentence.language == "en" and found.subject is None:
                seen, found, subject = self._completed(clause, seen, found, carried=subject)
            carried = subject or carried
            stated: list[Fact] = []
            if clause.holds:
                stated = list(self._answered(clause, seen, found))
                stated = stated or list(self._stated(clause, seen, found, subject, is_alone=not facts))
            carried = self._introduced or carried
            if sentence.language == "zh":
                self._topics.pass_clause(
                    seen.view.read, found, self._introduced or subject, tells=bool(stated)
                )
                heads = sentence.read.startswith((":", "="), clause.end)
                self._answers.pass_clause(seen.view.read, is_heading=heads)
            else:
                self._pass_english(clause, sentence, found, subject, stated)
            self._introduced = None
            stated += self._apart(clause, sentence, mentions, stated)
            for fact in stated:
                self._remember(fact)
                dated = replace(fact, mention=mention) if fact.begins else fact
                facts.setdefault((fact.subject, fact.predicate, fact.object, fact.negated), dated)
        self._rules.end_sentence()
        self._gaps.end_sentence()
        self._has_spoken = True
        return list(_one_job_each(facts.values()) if sentence.language == "zh" else facts.values())

    def _answered(self, clause: Clause, seen: Seen, found: Found) -> Iterator[Fact]:
        """What a Chinese clause states as the answer to a question or as the entry of a form."""
        lead = self._answers.lead_of(seen.view.read) if seen.language == "zh" else None
        if lead is None or found.subject is not None or found.begin >= len(seen.view.read):
            return
        whole = replace(seen, view=seen.view.beginning(lead, found.begin))
        own = subject_of(whole.view.read, 0, len(whole.view.read), "zh")
        yield from self._stated(clause, whole, own, own.subject, is_alone=True)

    def _pass_english(
        self,
        clause: Clause,
        sentence: Sentence,
        found: Found,
        subject: Subject | None,
        stated: Sequence[Fact],
    ) -> None:
        """Notes whom an English clause spoke of, for those after it."""
        read = sentence.read[clause.begin : clause.end]
        whom = subject or (self._unsaid(clause, sentence) if stated else None)
        heads = sentence.read.startswith(":", clause.end)
        self._gaps.pass_clause(
            read, whom, is_heading=heads, is_filled=found.subject is None and whom is not None
        )
        if found.subject is None or found.subject.person in ("speaker", "pronoun"):
            self._third = one_mentioned(read) or self._third

    def _completed(
        self,
        clause: Clause,
        seen: Seen,
        found: Found,
        *,
        carried: Subject | None = None,
        is_piece: bool = False,
    ) -> tuple[Seen, Found, Subject | None]:
        """An English clause with the subject that it leaves out, if that can be told."""
        before = seen.sentence.read[: clause.begin]
        filled = self._gaps.fill(seen.view.read, found.begin, before, self._third, is_piece=is_piece)
        if filled is None:
            return seen, found, carried
        whole = replace(seen, view=seen.view.beginning(filled.words, filled.begin))
        return whole, Found(None, 0, filled.subject_end), filled.subject

    def _apart(
        self, clause: Clause, sentence: Sentence, mentions: Sequence[TimeMention], stated: Sequence[Fact]
    ) -> Iterator[Fact]:
        """What the parts of a clause state that have no subject of their own: "I'm Jo, 34, allergic to nuts"."""
        for piece in pieces_of(clause, sentence):
            if not piece.holds or any(fact.begin < piece.begin < fact.end for fact in stated):
                continue
            seen = Seen(sentence, view_of(sentence, piece, mentions))
            found = subject_of(seen.view.read, 0, len(seen.view.read), "en")
            if found.subject is not None:
                yield from self._stated(piece, seen, found, self._resolved(found, None, "en"), is_alone=False)
                continue
            seen, found, subject = self._completed(piece, seen, found, is_piece=True)
            yield from self._ruled(piece, seen, found, subject)

    def _unsaid(self, clause: Clause, sentence: Sentence) -> Subject | None:
        return self._gaps.meant(sentence.read[: clause.begin], "either", self._third)

    def _ruled(self, clause: Clause, seen: Seen, found: Found, subject: Subject | None) -> Iterator[Fact]:
        unsaid = subject or self._unsaid(clause, seen.sentence)
        yield from self._rules.read(
            Reading(
                clause,
                seen,
                found.begin,
                found.end,
                subject,
                _faith(clause, None, unsaid),
                self._third,
                opens_the_turn=not self._has_spoken,
                unsaid=unsaid,
            )
        )

    def _resolved(self, found: Found, carried: Subject | None, language: Language) -> Subject | None:
        subject = found.subject
        if language == "zh":
            return self._topics.of(found, self._topics.who_is(found.word) if found.word else subject)
        if subject is None:
            return carried if found.joined else None
        if subject.person == "pronoun":
            return self._third
        if subject.person in ("named", "relation"):
            self._third = subject
        return subject

    def _remember(self, fact: Fact) -> None:
        """Who was just named is whom "he", "she" and "who" mean next."""
        if declared(fact.predicate).relation == "KNOWS" and declared(fact.predicate).value == "person":
            self._third = Subject("named", fact.object)
            self._topics.meet(self._third)

    def _stated(
        self, clause: Clause, seen: Seen, found: Found, subject: Subject | None, *, is_alone: bool
    ) -> Iterator[Fact]:
        yield from contacts_in(self._speaker, seen.sentence, clause.begin, clause.end, subject)
        introduced = list(self._introductions(seen, found))
        yield from introduced
        own = found.subject
        if introduced and not (own and own.relation and own.name):
            return
        yield from self._mentioned(seen, found.end)
        if own and own.person == "pronoun" and subject is None:
            return
        start, faith = found.end, _faith(clause, own, subject)
        if own is None and seen.language == "en" and (subject is None or not found.joined):
            yield from self._ruled(clause, seen, found, subject)
            return
        if own is None and found.joined:
            # rules begin with the white space before the verb
            start = max(found.begin - 1, 0)
        report = REPORTS[seen.language].match(seen.view.read, start)
        if report and subject and subject.person != "speaker":
            if not report["self"]:
                return
            start, faith = report.end(), faith * 0.85
        third = self._topics.third if seen.language == "zh" else self._third
        yield from self._rules.read(
            Reading(
                clause,
                seen,
                found.begin,
                start,
                subject,
                faith,
                third,
                opens_the_turn=not self._has_spoken,
                is_assumed=own is None and seen.language == "zh" and not self._topics.is_said,
                is_alone=own is None and is_alone,
                is_shared=own is None and seen.language == "zh" and self._topics.is_shared,
            )
        )

    def _introductions(self, seen: Seen, found: Found) -> Iterator[Fact]:
        """Who the subject is, or who the one that was spoken of before without a name."""
        own = found.subject
        if own and own.relation and own.name:
            if words_of(seen.language).relations.get(own.relation.lower()) != "former":
                yield self._maker.relation(seen, (found.begin, found.end), own.relation, own.name)
        elif own and own.relation:
            naming = NAMING[seen.language].match(seen.view.read, found.end)
            if naming and may_be_called(naming["o"]):
                yield from self._named(seen, found.begin, own, own.relation, naming)
                return
        unnamed, self._unnamed = self._unnamed, introduced_in(seen.view.read, seen.language)
        naming = NAMES_IT[seen.language].match(seen.view.read) if unnamed else None
        if unnamed and naming and may_be_called(naming["o"]):
            name = seen.view.text(seen.sentence, naming.span("o"))
            yield self._maker.relation(seen, naming.span(), unnamed, name)

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
        self._topics.meet(self._third)
        yield self._maker.relation(seen, (begin, naming.end("o")), word, name)


def _one_job_each(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Of what one sentence tells of a person's work, the word for the job, if it has one, and not the doing of it."""
    facts = list(facts)
    titled = {f.subject for f in facts if f.predicate == "job" and kind("calling").holds(f.object)}
    for fact in facts:
        if fact.predicate != "job" or fact.subject not in titled or kind("calling").holds(fact.object):
            yield fact


def _faith(clause: Clause, own: Subject | None, subject: Subject | None) -> float:
    faith = SURE if subject and subject.person == "speaker" else 0.85
    if own is None or own.person == "pronoun":
        faith -= 0.1
    return faith * TENTATIVE if clause.is_tentative else faith
