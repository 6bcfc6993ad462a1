"""Whom a clause speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from hindsight_extractor.domain.rules.word_lists import Language, alternatives, words_of

Person = Literal["speaker", "named", "relation", "pet", "pronoun"]


@dataclass(frozen=True, slots=True)
class Subject:
    """`name` is None for the speaker, a pronoun, and a relation or pet that is not named.

    `relation` is the word that tells who it is to the speaker ("sister", 妹妹).
    """

    person: Person
    name: str | None = None
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A subject and where what is said of it begins. `joined`: no subject of its own, but an "and" before it."""

    subject: Subject | None
    begin: int
    end: int
    joined: bool = False


NAME_EN = r"(?-i:[A-Z][a-zA-Z'’À-ɏ-]*(?:\s+(?!I\b)[A-Z][a-zA-Z'À-ɏ-]*){0,2})"
_BUILD = r"(?:(?:older|younger|elder|eldest|youngest|little|big|twin|best|good|close|old|dear|new|late|baby|ex)[\s-]+)*"
# What may follow a name in Chinese, where no space shows its end
_AFTER_NAME = (
    r"喜欢|讨厌|爱|不|没|对|住|在|是|有|养|会|说|用|吃|喝|玩|打|弹|踢|搬|来自|出生|从|学|教|的|今年|更|偏|热爱|受不了|毕业|就读|怀孕|结婚"
    r"|买|最|家|报|开|生日|正|常|每|很|特别|非常|也|一直|想|要|去|昨|今|明|上|下|刚|已|告诉|跟|和|给|都|被|叫|比较|真的|超|其实|以前|现在"
)
_NOT_IN_NAME = (
    "喜欢讨厌爱不没对住在是有养会说用吃喝玩打的了吗呢吧也很就都还要想去来到和跟给把被我你他她它们这那个些一二三两几每"
    "特别非常真超其实现"
)
_TITLES = "先生|女士|小姐|老师|医生|经理|总|教授|叔叔|阿姨|哥|姐"


def _chinese_name() -> tuple[str, str]:
    surname = alternatives(words_of("zh")["surnames"])
    given = rf"(?![{_NOT_IN_NAME}])[\u4e00-\u9fff]"
    full = rf"(?:{surname}{given}(?:{given})?|{surname}(?:{_TITLES}))"
    short = rf"(?:(?!{alternatives(words_of('zh')['not_names'])})[小老阿]{given}{{1,2}}?)"
    latin = r"[A-Z][A-Za-z]*(?:[\s·]+[A-Z][a-z]+)*"
    # Any two to five characters may be a name where one must stand, as few as will do
    no_adverb = rf"(?!{alternatives((*words_of('zh')['adverbs'], *words_of('zh')['leads']))})"
    foreign = rf"{no_adverb}(?:{given}){{2,5}}?(?:·(?:{given}){{1,5}}?)?"
    return rf"(?:{full}|{short}|{latin})", rf"(?:{latin}|{foreign})"


@cache
def surnamed_pattern() -> str:
    """A regular expression for a Chinese name of a family name and a given one."""
    given = rf"(?![{_NOT_IN_NAME}])[\u4e00-\u9fff]"
    return rf"(?:{alternatives(words_of('zh')['surnames'])}{given}{{1,2}})"


@cache
def name_patterns(language: Language) -> tuple[str, str]:
    """Regular expressions for a name that shows as one, and for what may be one where a name must stand."""
    return (NAME_EN, NAME_EN) if language == "en" else _chinese_name()


@cache
def _leads(language: Language) -> re.Pattern[str]:
    words = words_of(language)
    if language == "zh":
        return re.compile(rf"(?:{alternatives(words['leads'])}[,\s]*)*[\s,]*")
    return re.compile(rf"\s*(?:{alternatives(words['leads'])}(?![\w'])[,\s]*)*", re.IGNORECASE)


@cache
def _subjects(language: Language) -> re.Pattern[str]:
    words = words_of(language)
    relation = alternatives(words.relations)
    pet = alternatives(words.kinds["pet"])
    shown, possible = name_patterns(language)
    if language == "zh":
        after = rf"(?=\s*(?:{_AFTER_NAME}))"
        return re.compile(
            rf"我(?:们)?(?:家)?(?:的)?(?:(?P<rel>{relation})|(?P<pet>{pet}))(?!们)\s*(?P<relname>(?:{shown}|{possible}){after})?"
            rf"|(?P<me>我们家|我们|咱们|我家|我|俺|本人)"
            rf"|(?P<pronoun>他们|她们|他|她)(?!的|家|(?:{relation}))"
            rf"|(?P<name>{shown}){after}"
        )
    return re.compile(
        rf"(?:my|our)\s+{_BUILD}(?:(?P<rel>{relation})|(?P<pet>(?:[a-z]+\s+)?{pet}))(?![\w-])(?!')"
        rf"(?:,?\s+(?P<relname>(?!I\b){NAME_EN}),?)?"
        rf"|(?:my|our)\s+{_BUILD}(?P<relof>{relation}|{pet})(?='s\s+name\b)"
        rf"|(?P<me>I|we)(?=[\s'])"
        rf"|(?P<pronoun>he|she|they|who)(?=[\s'])"
        rf"|(?P<name>{NAME_EN})(?=[\s'])",
        re.IGNORECASE,
    )


@cache
def _not_names() -> frozenset[str]:
    return frozenset(words_of("en")["not_names"])


def looks_like_name(text: str) -> bool:
    """True if a capitalised English word or words may name a person."""
    first = text.split(maxsplit=1)[0].lower() if text.strip() else ""
    return bool(first) and first.split("'")[0] not in _not_names() and first not in _not_names()


def lead_end(read: str, begin: int, end: int, language: Language) -> int:
    """Where a clause's own words begin, after "but", "actually", 其实 and the like."""
    found = _leads(language).match(read, begin, end)
    return found.end() if found else begin


def subject_of(read: str, begin: int, end: int, language: Language) -> Found:
    """The subject that a clause begins with, if it has one."""
    start = lead_end(read, begin, end, language)
    found = _subjects(language).match(read, start, end)
    if found is None:
        return Found(
            None, start, start, joined=bool(re.match(r"\s*(?:and|but|or)\s", read[begin:end], re.IGNORECASE))
        )
    groups = found.groupdict()
    if groups["me"]:
        return Found(Subject("speaker"), start, found.end())
    if groups["pronoun"]:
        return Found(Subject("pronoun"), start, found.end())
    if groups["name"]:
        return _named(groups["name"], found, start, language)
    name = groups["relname"]
    if name and language == "en" and not looks_like_name(name):
        name = None
    word = groups["rel"] or groups["pet"] or groups.get("relof") or ""
    finish = found.end() if name or not groups["relname"] else found.start("relname")
    is_pet = not groups["rel"] and word.lower() not in words_of(language).relations
    return Found(Subject("pet" if is_pet else "relation", name, word), start, finish)


def relations_named(read: str, begin: int, language: Language) -> Iterator[re.Match[str]]:
    """Each "my friend Joana" (groups `rel` and `relname`) from there on."""
    yield from _relations_named(language).finditer(read, begin)


@cache
def _relations_named(language: Language) -> re.Pattern[str]:
    relation = alternatives(words_of(language).relations)
    shown, _ = name_patterns(language)
    if language == "zh":
        return re.compile(
            rf"我(?:们)?(?:的)?(?:最?好的|老)?(?P<rel>{relation})(?P<relname>{shown})(?=\s*(?:{_AFTER_NAME})|$)"
        )
    return re.compile(
        rf"\b(?:my|our)\s+{_BUILD}(?P<rel>{relation}),?\s+(?P<relname>{NAME_EN})(?!'s)", re.IGNORECASE
    )


def _named(name: str, found: re.Match[str], start: int, language: Language) -> Found:
    if language == "en":
        # A possessive is somebody's thing, not the somebody.
        if not looks_like_name(name) or name.lower().endswith("'s"):
            return Found(None, start, start)
        bare = name.split("'", maxsplit=1)[0]
        return Found(Subject("named", bare), start, found.start() + len(bare))
    return Found(Subject("named", name.strip()), start, found.end())
