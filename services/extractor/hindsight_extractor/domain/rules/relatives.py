"""The people that a clause mentions beside its subject, by what they are to the speaker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hindsight_extractor.domain.rules import chinese_names
from hindsight_extractor.domain.rules.chinese_names import AFTER_NAME
from hindsight_extractor.domain.rules.subjects import (
    BUILD,
    HIGH_EN,
    NAME_EN,
    Subject,
    looks_like_name,
    name_patterns,
)
from hindsight_extractor.domain.rules.word_lists import Language, alternatives, words_of


def relations_named(read: str, begin: int, language: Language) -> Iterator[re.Match[str]]:
    """Each "my friend Joana" (groups `rel` and `relname`) from there on."""
    yield from _relations_named(language).finditer(read, begin)


def one_mentioned(read: str) -> Subject | None:
    """The one relation that an English sentence speaks of without a name ("a gift for my godson"); None for several."""
    words = {found["rel"].lower() for found in _mentions_relation().finditer(read)}
    return Subject("relation", None, words.pop()) if len(words) == 1 else None


@cache
def _mentions_relation() -> re.Pattern[str]:
    relation = alternatives(words_of("en").relations)
    return re.compile(rf"\b(?:my|our)\s+{BUILD}(?P<rel>{relation})\b(?!\s+(?-i:[{HIGH_EN}]))", re.IGNORECASE)


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
        rf"\b(?:my|our|have|has|got|with|w|the(?=\s+(?:kids|children|twins)\b))\s+(?:{number}\s+)*(?P<rels>{relation}),?\s+(?:(?:are\s+)?(?:called|named)\s+|are\s+)?"
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
        rf"\b(?:my|our)\s+{BUILD}(?P<rel>{relation}),?\s+(?P<relname>{NAME_EN})(?!'s)", re.IGNORECASE
    )
