"""Of whom Chinese clauses speak that name nobody."""

from __future__ import annotations

import re
from functools import cache

from hindsight_extractor.domain.rules.subjects import RELATION_OF_RELATION, Found, Subject
from hindsight_extractor.domain.rules.word_lists import alternatives, words_of

SPEAKER = Subject("speaker")
_A_THING = re.compile(r"(?:这|那|它|其|该|有[个位只条家些种人]|有的)")
_TREATS_THE_SPEAKER = re.compile(
    r"(?:医生|大夫|医院|主任|中医|药房|社区医院)(?:又|刚|今天|这次)?(?:给|让|叫|建议|要|劝|诊断)我"
)
_POINT_OF_A_LIST = re.compile(
    r"\s*(?:[(（]?(?:\d{1,2}|[一二三四五六七八九十])[).、:]|[-•*·]|第[一二三四五六七八九]|另外|对了|还有)"
)


class Topics:
    """Follows from clause to clause whom the next one speaks of if it has no subject of its own.

    That is who was last a subject in the sentence; else, as people who write of themselves leave themselves out, the
    speaker, until somebody else has come up. Then nobody is, until a subject is named or a point of a list begins.
    """

    def __init__(self) -> None:
        self._topic: Subject | None = SPEAKER
        self._is_said = False
        self._others = False
        self._is_met = False
        self._is_shared = False
        self.third: Subject | None = None

    @property
    def is_said(self) -> bool:
        """True if the sentence itself named the topic."""
        return self._is_said

    @property
    def is_shared(self) -> bool:
        """True if the sentence named others beside its topic: their age or illness may be what comes next."""
        return self._is_shared

    def begin_message(self) -> None:
        self._topic, self._is_said, self._others, self._is_shared = SPEAKER, False, False, False

    def begin_sentence(self, read: str) -> None:
        """A sentence takes over that the one before spoke of the speaker, nothing else."""
        if _POINT_OF_A_LIST.match(read):
            self.begin_message()
            return
        is_own = self._topic is not None and self._topic.person == "speaker"
        self._topic = SPEAKER if is_own or (self._topic is None and not self._others) else None
        self._others = self._topic is None
        self._is_said = self._is_shared = False

    def of(self, found: Found, resolved: Subject | None) -> Subject | None:
        """The subject of a clause; `resolved` = the one it names, None too for a pronoun that fits nobody."""
        return resolved if found.subject is not None else self._topic

    def pass_clause(self, read: str, found: Found, subject: Subject | None, *, tells: bool) -> None:
        """Notes what a clause, now read, means for the next; `tells` = it states a fact of its subject."""
        named = [word[0] for word in _relatives().finditer(read)]
        if found.subject is not None and found.subject.person != "speaker":
            self._is_shared = False
        if not tells and _persons().search(read, found.end):
            self._is_shared = True
        if found.subject is not None:
            self._topic, self._is_said = subject, True
            self._others = subject is None or subject.person != "speaker"
        elif _A_THING.match(read, found.begin):
            self._topic = None
        elif _TREATS_THE_SPEAKER.match(read, found.begin):
            self._topic, self._is_said, self._others, self._is_shared = SPEAKER, True, False, False
        elif not tells and self._brings_up_others(read, found.begin):
            self._topic, self._others = None, True
        self._note_third(found, named)

    def _brings_up_others(self, read: str, begin: int) -> bool:
        """True if a clause without a subject may be about others: it begins with them, or nobody is its topic."""
        others = _persons().search(read, begin)
        return others is not None and (not self._is_said or others.start() - begin <= 1)

    def meet(self, third: Subject) -> None:
        """Somebody whom the clause names is whom the next 他 or 她 means."""
        self.third, self._is_met = third, True

    def _note_third(self, found: Found, named: list[str]) -> None:
        if self._is_met:
            self._is_met = False
        elif found.subject is not None and found.subject.person in ("named", "relation"):
            self.third = found.subject
        elif len(set(named)) == 1:
            self.third = Subject("relation", None, named[0])
        elif named:
            self.third = None

    def who_is(self, pronoun: str) -> Subject | None:
        """Whom 他 or 她 means: who was last spoken of, if the word fits them; nobody for a relation's relation."""
        if pronoun == RELATION_OF_RELATION:
            return None
        third = self.third
        if third is None or third.relation is None:
            return third
        is_woman, is_man = third.relation in words_of("zh")["women"], third.relation in words_of("zh")["men"]
        return None if (pronoun == "他" and is_woman) or (pronoun == "她" and is_man) else third


@cache
def _relatives() -> re.Pattern[str]:
    return re.compile(alternatives(words_of("zh")["kin"]))


@cache
def _persons() -> re.Pattern[str]:
    words = words_of("zh")
    # 带我的 is who teaches me
    return re.compile(
        alternatives((*words.relations, *words["persons"]))
        + r"|[他她]|(?<![是给让归])[\u4e00-\u9fff]我(?:们)?的"
    )
