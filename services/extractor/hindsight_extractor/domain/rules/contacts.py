"""Addresses and numbers under which somebody is reached; they show by their form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hindsight_common.domain.predicates import predicate as declared
from hindsight_extractor.domain.rules import wording
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.prose import Sentence
from hindsight_extractor.domain.rules.subjects import NAME_EN, Subject, looks_like_name
from hindsight_extractor.domain.rules.word_lists import Language, alternatives, words_of

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}(?![A-Za-z0-9@])"
)
_PHONE = re.compile(r"(?<![A-Za-z0-9.+-])\+?\(?\d[\d ().-]{5,18}\d(?![A-Za-z0-9-])")
_PHONE_WORD = re.compile(
    r"\b(?:phone|mobile|cell|telephone|tel|call|text|reach|whatsapp|(?:my|his|her|their|new|work|home|contact)\s+number|'s\s+number)\b|电话|手机|联系方式|号码是|打给我|联系我",
    re.IGNORECASE,
)
_OTHER_NUMBER = re.compile(
    r"\b(?:order|tracking|invoice|ticket|serial|account|card|model)\b|订单|单号|编号|卡号|账号|型号",
    re.IGNORECASE,
)
_SAYS: dict[str, dict[Language, str]] = {
    "email": {"en": "has the email address {o}", "zh": "的邮箱是{o}"},
    "phone": {"en": "has the phone number {o}", "zh": "的电话是{o}"},
}

_SAYS_NOT: dict[str, dict[Language, str]] = {
    "email": {"en": "no longer has the email address {o}", "zh": "的邮箱不再是{o}"},
    "phone": {"en": "no longer has the phone number {o}", "zh": "的电话不再是{o}"},
}
# An address that is not, or no longer, the one to use
_GIVEN_UP_BEFORE = re.compile(
    r"(?:\b(?:not|no\s+longer|old|former|previous|wrong)|n't)(?:\s+(?:e-?mail|phone|number|address|one|use|at|is|was|at|the|my))*[\s:,]*$"
    r"|(?:不是|不再是|不用|别用|旧的?|原来的?|以前的?|之前的?)(?:邮箱|手机号?|电话|号码|地址|那个|是|用)*[\s:,]*$",
    re.IGNORECASE,
)
_GIVEN_UP_AFTER = re.compile(
    r"^[\s,]*(?:(?:is|was)\s+(?:my\s+old|no\s+longer|not|wrong|dead)|isn't|doesn't\s+work|any\s?more|no\s+longer)\b"
    r"|^[\s,]*(?:这个|那个)?(?:已经|早就)?(?:不用了|作废|停用|注销|换了|没用了|打不通)",
    re.IGNORECASE,
)


def contacts_in(
    speaker: str, sentence: Sentence, begin: int, end: int, topic: Subject | None = None
) -> Iterator[Fact]:
    """Email addresses and phone numbers in a clause, for those that it says whose they are.

    `topic` = whom a Chinese clause speaks of, named or not; English names whose it is.
    """
    read = sentence.read[begin:end]
    for email in _EMAIL.finditer(read):
        yield from _contact(speaker, sentence, begin, email, "email", topic=topic)
    if not _PHONE_WORD.search(sentence.read):
        return
    for phone in _PHONE.finditer(read):
        if not _OTHER_NUMBER.search(read[: phone.start()]):
            yield from _contact(speaker, sentence, begin, phone, "phone", topic=topic)


def _contact(
    speaker: str, sentence: Sentence, begin: int, found: re.Match[str], name: str, *, topic: Subject | None
) -> Iterator[Fact]:
    before, after = sentence.read[: begin + found.start()], sentence.read[begin + found.end() :]
    owner = _owner(before, after, sentence.language)
    if sentence.language == "zh":
        owner = _owner_by_topic(owner, before[begin:], topic)
    if owner is None:
        return
    start, stop = begin + found.start(), begin + found.end()
    negated = _is_given_up(sentence.read[begin:start], sentence.read[stop:])
    thing = sentence.text[start:stop]
    says = (_SAYS_NOT if negated else _SAYS)[name][sentence.language]
    statement = wording.Statement(says, thing, {})
    yield Fact(
        subject=wording.subject_field(speaker, owner, sentence.language),
        predicate=name,
        object=thing,
        negated=negated,
        content=wording.sentence(speaker, owner, statement, sentence.language),
        importance=declared(name).importance,
        confidence=0.95 if owner.person == "speaker" else 0.85,
        begin=begin,
        end=stop,
        people=(owner.name,) if owner.name else (),
    )


def _is_given_up(before: str, after: str) -> bool:
    """True if the words around an address or number say that it is so no more."""
    return bool(_GIVEN_UP_BEFORE.search(before[-40:]) or _GIVEN_UP_AFTER.match(after))


def _owner(before: str, after: str, language: Language) -> Subject | None:
    own = re.compile(r"[我俺咱]" if language == "zh" else r"\b(?:my|me|i|i'm)\b", re.IGNORECASE)
    found = _owned_by(language).search(before)
    # "my sister's phone is broken, call me on …": the speaker again
    if found and not own.search(before, found.end()):
        groups = found.groupdict()
        if groups.get("name") and (language == "zh" or looks_like_name(groups["name"])):
            return Subject("named", groups["name"].removesuffix("'s"))
        word = groups.get("rel") or groups.get("rel2") or groups.get("rel3")
        if word:
            return Subject("relation", None, word)
    someone_else = re.compile(
        r"你|他|她|客服" if language == "zh" else r"\b(?:your|his|her|their|its)\b", re.IGNORECASE
    )
    if own.search(before) or (own.search(after) and not someone_else.search(before)):
        return Subject("speaker")
    return None


_HEADED = re.compile(
    r"[\s,]*(?:联系|手机|个人)?(?:电话|手机号?码?|号码|联系方式|邮箱|邮件)"
    r"(?:没换|没变|不变|还是|就是|换成了?|改成了?|是|:|\s)*$"
)


def _owner_by_topic(owner: Subject | None, before: str, topic: Subject | None) -> Subject | None:
    """The owner of what a Chinese clause gives without a word for whose it is: of whom the clause speaks."""
    if owner is not None and owner.person != "speaker":
        return owner
    if re.search(r"[我俺咱]", before):
        return owner
    if topic is None or topic.person != "speaker":
        return topic if _HEADED.search(before) else None
    return topic if owner is not None or _HEADED.fullmatch(before) else None


@cache
def _owned_by(language: Language) -> re.Pattern[str]:
    relation = alternatives(words_of(language).relations)
    if language == "zh":
        contact = r"(?:(?:邮箱|电话|手机|号码|邮件)[^我]{0,12}|(?:[^,我]{0,6})[,:\s]*)"
        return re.compile(
            rf"[我俺咱](?:的)?(?P<rel>{relation})的(?:[^,我]{{0,4}}){contact}$|[我俺咱](?:的)?(?P<rel2>{relation})[^,我]{{0,3}}(?:邮箱|电话|手机|号码|邮件)"
        )
    contact = r"(?:e-?mail|phone|number|mobile|cell)"
    bare = alternatives(words_of("en").kinds["bare_relation"])
    return re.compile(
        rf"\b(?P<rel3>{bare})(?:'s|\s+has)\s+(?:got\s+)?(?:an?\s+)?(?:new\s+)?{contact}"
        rf"|\bmy\s+(?:\w+\s+)?(?P<rel>{relation})(?:'s\s+|\s+)(?:new\s+)?{contact}|(?P<name>{NAME_EN})'s\s+(?:new\s+)?{contact}",
        re.IGNORECASE,
    )
