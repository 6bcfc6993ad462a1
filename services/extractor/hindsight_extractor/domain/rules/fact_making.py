"""From a rule that fits to the facts it makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from hindsight_common.domain.predicates import predicate as declared
from hindsight_extractor.domain.rules import wording
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.fact_rules import FactRule, fact_rules
from hindsight_extractor.domain.rules.kinds import kind
from hindsight_extractor.domain.rules.objects import Span, has_ended, is_fit, is_listed, objects_of
from hindsight_extractor.domain.rules.places import is_known_place
from hindsight_extractor.domain.rules.prose import Sentence
from hindsight_extractor.domain.rules.standing import is_restricted
from hindsight_extractor.domain.rules.subjects import Subject
from hindsight_extractor.domain.rules.views import View
from hindsight_extractor.domain.rules.word_lists import Language, words_of
from hindsight_extractor.domain.time_expressions import TimeMention

_NO_LONGER = frozenset({"no longer", "不再", "再也不", "再也没"})
_STRONG = re.compile(
    r"\b(?:severely|deathly|extremely|absolutely|really\s+hate|love)\b|严重|最(?:喜欢|爱|讨厌)|致命|非常",
    re.IGNORECASE,
)
# What is said of somebody by a common noun
_COMMON = frozenset({"job", "marital_status", "diet", "gender"})
# A second fact in the same words: the job beside the employer, the place moved from.
_FURTHER = (("role", "job"), ("before", "lived_in"), ("subject", "studies"), ("home", "lives_in"))


@dataclass(frozen=True, slots=True)
class Seen:
    """A sentence, the view of its clause that a rule has matched, and the first time that the clause names.

    `day` = the day that the sentence names, where the clause goes on with what is told of it.
    """

    sentence: Sentence
    view: View
    mention: TimeMention | None = None
    day: TimeMention | None = None

    @property
    def language(self) -> Language:
        return self.sentence.language


@dataclass(frozen=True, slots=True)
class Claim:
    """That a rule fits: of whom it speaks, how far it can be believed (0–1), and whether it is denied or over."""

    rule: FactRule
    groups: Mapping[str, str | None]
    whom: Subject
    faith: float
    negated: bool = False
    ended: bool = False

    def wording(self) -> tuple[str, bool, str]:
        """Predicate, negation and template: "don't like" is `dislikes`, "no longer like" a negated `likes`."""
        rule = self.rule
        if not self.negated:
            return rule.predicate, False, rule.says
        if rule.contrary and not self.ended:
            return rule.contrary, False, rule.negative or rule.says
        return rule.predicate, True, (rule.ended if self.ended else None) or rule.negative or rule.says


class FactMaker:
    """Makes the facts that one speaker states."""

    def __init__(self, speaker: str) -> None:
        self._speaker = speaker

    def facts(
        self,
        rule: FactRule,
        found: re.Match[str],
        seen: Seen,
        whom: Subject,
        faith: float,
        *,
        over: bool = False,
    ) -> Iterator[Fact]:
        """One fact for each object that fits the rule, then those that further groups of the match give.

        `over` = the sentence says elsewhere that it holds no more.
        """
        groups = found.groupdict()
        group = next((name for name in ("o", "o2", "o3") if groups.get(name)), None)
        if group is None:
            return
        home = groups.get("home")
        if home and not (is_known_place(home) or kind("organisation").holds(home)):
            # 在星巴克写代码 is what somebody does there, not for a living
            return
        claim = _claim(rule, groups, seen, found.start(group), Claim(rule, groups, whom, faith))
        if over and claim.negated and not claim.ended:
            return
        claim = replace(claim, negated=True, ended=True) if over else claim
        if rule.only_negated and not claim.negated:
            return
        for begin, end in objects_of(rule, found[group], seen.language):
            span = (found.start(group) + begin, found.start(group) + end)
            if claim.negated and is_restricted(rule.predicate, seen.view.read[span[1] :], seen.language):
                return
            yield self._fact(claim, seen, span)
        if groups.get("wrong") and is_fit(rule, groups["wrong"] or "", seen.language):
            yield self._fact(replace(claim, negated=True), seen, found.span("wrong"))
        for further, name in _FURTHER:
            if (
                not over
                and groups.get(further)
                and _fits_role(rule, further, groups[further] or "", seen.language)
            ):
                second = fact_rules(seen.language).first(name)
                # a time in the clause is when what its own rule tells began
                yield replace(
                    self._fact(Claim(second, {}, whom, faith), seen, found.span(further)), begins=False
                )

    def relation(self, seen: Seen, span: Span, word: str, name: str) -> Fact:
        """That the relation or pet which `word` tells is called `name`."""
        relation = words_of(seen.language).relations.get(word.lower(), "has_pet")
        templates = wording.NAMED_PET if relation == "has_pet" else wording.NAMED_RELATION
        begin, end = seen.view.original(span)
        statement = wording.Statement(templates[seen.language], name, {"rel": word})
        return Fact(
            subject=self._speaker,
            predicate=relation,
            object=name,
            negated=False,
            content=wording.sentence(self._speaker, Subject("speaker"), statement, seen.language),
            importance=declared(relation).importance,
            confidence=0.9,
            begin=begin,
            end=end,
            people=() if relation == "has_pet" else (name,),
        )

    def _fact(self, claim: Claim, seen: Seen, span: Span) -> Fact:
        name, negated, template = claim.wording()
        if name == "relation":
            name = words_of(seen.language).relations[(claim.groups["rel"] or "").lower()]
        begin, end = seen.view.original(span)
        thing = seen.sentence.text[begin:end]
        parts = {key: value for key, value in claim.groups.items() if value}
        statement = wording.Statement(
            template,
            _lowered(thing, name) if begin == 0 else thing,
            parts,
            owned=not claim.rule.whole and wording.is_owned(seen.sentence.read, begin),
        )
        people = (claim.whom.name, thing if declared(name).value == "person" else None)
        return Fact(
            subject=wording.subject_field(self._speaker, claim.whom, seen.language),
            predicate=name,
            object=thing,
            negated=negated,
            content=wording.sentence(self._speaker, claim.whom, statement, seen.language),
            importance=_importance(claim, name, seen.sentence.read),
            confidence=round(claim.faith, 3),
            begin=begin,
            end=end,
            people=tuple(person for person in people if person),
            begins=claim.rule.begins,
        )


def _claim(rule: FactRule, groups: Mapping[str, str | None], seen: Seen, after: int, claim: Claim) -> Claim:
    denied = next((v for name, v in groups.items() if name.startswith("neg") and v is not None), None)
    negated = rule.over or denied is not None
    said_over = (
        has_ended(seen.view.read[after:], seen.language)
        or " ".join((denied or "").lower().split()) in _NO_LONGER
    )
    return replace(claim, negated=negated, ended=rule.over or (negated and said_over))


def _lowered(thing: str, name: str) -> str:
    """What a sentence began with, as it stands inside one."""
    is_common = name in _COMMON and thing[1:2].islower()
    return thing[0].lower() + thing[1:] if is_common else thing


def _fits_role(rule: FactRule, group: str, text: str, language: Language) -> bool:
    if group == "home":
        return is_known_place(text)
    if group == "subject" and language == "zh":
        return text.isascii() or kind("studied").holds(text)
    return group != "role" or rule.role_only is None or is_listed(text, rule.role_only, language)


def _importance(claim: Claim, name: str, read: str) -> float:
    predicate = declared(name)
    importance = claim.rule.importance or predicate.importance
    if claim.whom.person != "speaker" and predicate.sensitivity != "health":
        importance *= 0.9
    return round(min(importance + 0.05, 0.98) if _STRONG.search(read) else importance, 3)
