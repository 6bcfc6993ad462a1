"""Whom a clause speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from hindsight_extractor.domain.rules import chinese_names
from hindsight_extractor.domain.rules.chinese_names import AFTER_NAME
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
_BUILD = r"(?:(?:older|younger|elder|eldest|youngest|little|big|twin|best|good|close|old|dear|new|late|baby)[\s-]+)*"


@cache
def name_patterns(language: Language) -> tuple[str, str]:
    """Regular expressions for a name that shows as one, and for what may be one where a name must stand."""
    return (NAME_EN, NAME_EN) if language == "en" else chinese_names.name_patterns()


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
        after = rf"(?=\s*(?:{AFTER_NAME}))"
        return re.compile(
            rf"[我俺咱](?:们)?(?:家)?(?:的)?(?:(?P<rel>{relation})|(?P<pet>{pet}))(?![们都])\s*(?P<relname>(?:{shown}|{possible}){after})?"
            rf"|(?P<me>我们家|[我俺咱]们|[我俺咱]家|本人|[我俺咱])"
            rf"|(?P<pronoun>他们|她们|他|她)(?!的|家|(?:{relation}))"
            rf"|(?P<name>{shown}){after}"
        )
    return re.compile(
        rf"(?:my|our)\s+{_BUILD}(?:(?P<rel>{relation})|(?P<pet>(?:[a-z]+\s+)?{pet}))(?![\w-])(?!')"
        rf"(?:,?\s+(?P<relname>(?!I\b){NAME_EN}),?)?"
        rf"|(?:my|our)\s+{_BUILD}(?P<relof>{relation}|{pet})(?='s\s+name\b)"
        rf"|(?P<me>(?:I|we)(?=[\s'])|I(?=(?:m|ve)\s))"
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


def shows_as_name(text: str, language: Language) -> bool:
    """True if words after a relation ("my sister …", 我妹妹…) name whom it is."""
    if language == "zh":
        return chinese_names.is_name(text)
    return looks_like_name(text) and not text.lower().endswith(("'s", "’s"))


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
    if name and language == "en" and name.lower().endswith(("'s", "’s")):
        return Found(None, start, start)
    if name and not shows_as_name(name, language):
        name = None
    word = groups["rel"] or groups["pet"] or groups.get("relof") or ""
    finish = found.end() if name or not groups["relname"] else found.start("relname")
    is_pet = not groups["rel"] and word.lower() not in words_of(language).relations
    return Found(Subject("pet" if is_pet else "relation", name, word), start, finish)


def relations_named(read: str, begin: int, language: Language) -> Iterator[re.Match[str]]:
    """Each "my friend Joana" (groups `rel` and `relname`) from there on."""
    yield from _relations_named(language).finditer(read, begin)


def introduced_in(read: str, language: Language) -> str | None:
    """The word for somebody or a pet that a clause ends by introducing without a name: "I have a dog"."""
    found = _introduces(language).search(read[-60:])
    return found["rel"] if found else None


@cache
def _introduces(language: Language) -> re.Pattern[str]:
    words = words_of(language)
    whom = alternatives((*words.relations, *words.kinds["pet"]))
    if language == "zh":
        return re.compile(
            rf"(?:有|养了?|领养了?|收养了?|捡了?|买了?|生了?)(?:一?[个只条位匹头]|个)[^,;]{{0,4}}?(?P<rel>{whom})$"
        )
    return re.compile(
        rf"(?:have|has|had|got|adopted|bought|rescued)\s+(?:an?|one|this)\s+(?:[\w-]+\s+){{0,3}}?(?P<rel>{whom})\W*$",
        re.IGNORECASE,
    )


def relations_listed(read: str, language: Language) -> Iterator[tuple[tuple[int, int], str, tuple[int, int]]]:
    """Each of several who are named together: "my kids Ella and Tom", 我两个儿子叫大宝和二宝.

    The span of the whole, the word that tells who they are (in the singular), and the span of one name.
    """
    for found in _relations_listed(language).finditer(read):
        names = list(re.finditer(NAME_EN if language == "en" else r"[^、,和跟与\s]+", found["names"]))
        if all(_listed_name(name[0], language) for name in names):
            word = _singular(found["rels"].lower()) if language == "en" else found["rels"]
            for name in names:
                begin = found.start("names")
                yield found.span(), word, (begin + name.start(), begin + name.end())


def _listed_name(text: str, language: Language) -> bool:
    return looks_like_name(text) if language == "en" else chinese_names.may_be_called(text)


def _singular(word: str) -> str:
    return "child" if word == "children" else word.removesuffix("s")


@cache
def _relations_listed(language: Language) -> re.Pattern[str]:
    words = words_of(language)
    if language == "zh":
        relation = alternatives((*words.relations, *words.kinds["pet"]))
        name = r"[\u4e00-\u9fffA-Za-z]{1,4}?"
        return re.compile(
            rf"(?:[我俺咱](?:们)?家?的?|(?<=有))(?:[两三四俩仨2-4][个只条位]?)(?P<rels>{relation}),?(?:分别|一个)?(?:叫|是)"
            rf"(?P<names>{name}(?:、{name})*[和跟与、]{name})$"
        )
    relation = alternatives([*(word + "s" for word in (*words.relations, *words.kinds["pet"])), "children"])
    number = r"(?:two|three|four|five|\d|twin|both|all|older|younger|little|best|good|close)"
    name = r"(?-i:[A-Z][\w'-]*)"
    return re.compile(
        rf"\b(?:(?:my|our)|(?:have|has|got))\s+(?:{number}\s+)*(?P<rels>{relation}),?\s+(?:(?:are\s+)?(?:called|named)\s+|are\s+)?"
        rf"(?P<names>{name}(?:,\s+{name})*,?\s+(?:and|&)\s+{name})",
        re.IGNORECASE,
    )


@cache
def _relations_named(language: Language) -> re.Pattern[str]:
    relation = alternatives(words_of(language).relations)
    shown, _ = name_patterns(language)
    if language == "zh":
        return re.compile(
            rf"(?:[我俺咱](?:们)?|[和跟带陪约与同找](?:[我俺咱](?:们)?)?)(?:的)?(?:最?好的|老)?(?P<rel>{relation})(?P<relname>{shown})"
            rf"(?=\s*(?:{AFTER_NAME}|一起|一块|聚|见|视频|聊)|$)"
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
    if chinese_names.is_common_word(name):
        return Found(None, start, start)
    return Found(Subject("named", name.strip()), start, found.end())
