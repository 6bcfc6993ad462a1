"""One clause tried against the fact rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hindsight_common.domain.predicates import predicate as declared
from hindsight_extractor.domain.rules.clauses import Clause
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.fact_making import FactMaker, Seen
from hindsight_extractor.domain.rules.fact_rules import FactRule, fact_rules
from hindsight_extractor.domain.rules.objects import Span
from hindsight_extractor.domain.rules.stance import greets
from hindsight_extractor.domain.rules.standing import is_of_the_day, is_wished, was_only
from hindsight_extractor.domain.rules.subjects import Subject
from hindsight_extractor.domain.rules.word_lists import Language

SURE = 0.95
TENTATIVE = 0.6
"""What is left of the confidence in a statement that its speaker is not sure of."""

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
_OF_A_HOUSEHOLD = frozenset(
    {"has_pet", "owns", "uses", "lives_in", "lived_in", "address", "hometown", "has_children", "relation"}
)
# What a denial is followed by: "not Bob, it's Rob". Only a name or a place is put right so: "it's cold" tells no taste.
_INSTEAD: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\s*(?:(?:but|and|so)\s+)?(?:rather\s+)?(?:it's|it\s+is|its|that's)\s+(?P<o>\S.*)", re.IGNORECASE
    ),
    "zh": re.compile(r"(?:而是|应该是|其实是|正确的?是|是)(?P<o>.+)"),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A clause as the rules read it: where it begins past "but" and the like, and where past its subject.

    `third` is whom "she" would mean; `opens_the_turn` = nothing was said before it in the turn; `is_assumed` = no word
    of the sentence tells the subject; `is_alone` = nor did the sentence state anything before; `unsaid` is whom an
    English clause speaks of if it names nobody.
    """

    clause: Clause
    seen: Seen
    begin: int
    verb: int
    subject: Subject | None
    faith: float
    third: Subject | None
    opens_the_turn: bool
    is_assumed: bool = False
    is_alone: bool = False
    is_shared: bool = False
    unsaid: Subject | None = None


class RuleReader:
    """Reads clauses in order; remembers what the last one of the sentence denied, which the next may put right."""

    def __init__(self, maker: FactMaker) -> None:
        self._maker = maker
        self._denied: tuple[FactRule, Subject, float] | None = None

    def end_sentence(self) -> None:
        self._denied = None

    def read(self, reading: Reading) -> Iterator[Fact]:
        """The facts of the clause; none where two rules would read the same words twice."""
        taken: list[Span] = []
        denied, self._denied = self._denied, None
        for rule in _candidates(reading):
            for fact in self._by_rule(rule, reading):
                if not any(begin < fact.end and fact.begin < end for begin, end in taken):
                    taken.append((fact.begin, fact.end))
                    yield replace(fact, begin=min(reading.clause.begin, fact.begin))
        if denied and not taken:
            yield from self._instead(reading, *denied)

    def _by_rule(self, rule: FactRule, reading: Reading) -> Iterator[Fact]:
        believed = _believed(rule, reading)
        if believed is None:
            return
        whom, faith = believed
        view = reading.seen.view
        whole = view.with_times(reading.seen.sentence, reading.clause) if rule.dates else view
        found = rule.match.match(
            whole.read, whole.same_place(view, reading.begin if rule.whole else reading.verb)
        )
        whose = _whose(found, whom, reading.third) if found else None
        if found is None or whose is None or whose.person == "pronoun" or not _stands(rule, found, reading):
            return
        seen = replace(reading.seen, view=whole)
        for fact in self._maker.facts(rule, found, seen, whose, faith, over=reading.clause.is_over):
            if fact.negated or fact.predicate == rule.contrary:
                self._denied = (rule, whose, faith)
            yield fact

    def _instead(self, reading: Reading, rule: FactRule, whom: Subject, faith: float) -> Iterator[Fact]:
        """What a clause puts in the place of what the one before it denied."""
        found = _INSTEAD[reading.seen.language].match(reading.seen.view.read)
        names = rule.predicate in ("name", "called") or rule.place or rule.proper
        if found and names and not rule.over and not found["o"][0].islower():
            yield from self._maker.facts(rule, found, reading.seen, whom, faith * 0.9)


def _stands(rule: FactRule, found: re.Match[str], reading: Reading) -> bool:
    """True if the statement is of now, or its end is told with it."""
    if rule.undated and reading.seen.mention is not None:
        return False
    language = reading.seen.language
    object_at = next((found.start(g) for g in ("o", "o2", "o3") if found.groupdict().get(g)), found.end())
    before = found.string[:object_at]
    if is_wished(before, language) or is_of_the_day(rule, before, reading.seen.mention or reading.seen.day):
        return False
    if reading.seen.day and rule.own and rule.predicate == "lives_in" and not rule.begins:
        return False
    return reading.clause.is_over or not was_only(rule, before, language)


def _believed(rule: FactRule, reading: Reading) -> tuple[Subject, float] | None:
    """Of whom the rule would speak in this clause, and how sure that is; None if it cannot."""
    if not _has_its_place(rule, reading):
        return None
    if rule.whole and not rule.own:
        return Subject("speaker"), SURE * (TENTATIVE if reading.clause.is_tentative else 1)
    whom = reading.unsaid or reading.subject if rule.own else reading.subject
    if whom is None and rule.own and "who" in rule.match.groupindex and reading.seen.language == "zh":
        # 羊肉我不吃: the match itself may say who
        whom = Subject("pronoun")
    if whom is None or (rule.company and reading.is_alone):
        return None
    if reading.is_shared and declared(rule.predicate).sensitivity in ("health", "identity"):
        return None
    if reading.is_assumed and not (rule.own or rule.predicate in _OWN_WITHOUT_SUBJECT):
        return None
    return None if _is_of_another_kind(rule, reading) else (whom, reading.faith)


def _has_its_place(rule: FactRule, reading: Reading) -> bool:
    """True if the rule may be tried there: some only open a turn, or follow a greeting."""
    if rule.opening and not reading.opens_the_turn:
        return False
    if rule.greeted and not greets(reading.seen.sentence.read[: reading.clause.begin + reading.begin]):
        return False
    of_a_named = bool(reading.subject and reading.subject.name)
    return not (rule.whole and not rule.own and rule.predicate == "has_pet" and of_a_named)


def _is_of_another_kind(rule: FactRule, reading: Reading) -> bool:
    """True if the rule speaks of one person and the clause of a household: 我们家是做批发的."""
    said = reading.seen.view.read[reading.begin : reading.verb]
    return said.endswith("家") and rule.predicate not in _OF_A_HOUSEHOLD


def _whose(found: re.Match[str], whom: Subject, third: Subject | None) -> Subject | None:
    """The subject, or who the match itself says it is: "signed him up for …"."""
    word = found.groupdict().get("who")
    if word in {"我", "俺", "咱"}:
        return Subject("speaker")
    if not word or word.lower() in {"me", "us"}:
        return whom
    return third if word.lower() in {"him", "her", "them", "他", "她"} else Subject("named", word)


def _candidates(reading: Reading) -> Iterator[FactRule]:
    """The rules that may fit, in order; most clauses fit none, which one look tells."""
    view, rules = reading.seen.view, fact_rules(reading.seen.language)
    clause = reading.seen.sentence.read[reading.clause.begin : reading.clause.end]
    is_dated = rules.any_dated.search(clause) or rules.any_dated.search(view.read, reading.begin)
    if is_dated or rules.any_whole.match(view.read, reading.begin):
        yield from rules.whole
    if is_dated or rules.any_led.match(view.read, reading.verb):
        yield from rules.led
