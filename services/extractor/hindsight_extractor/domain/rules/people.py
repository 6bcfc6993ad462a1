"""The people that a sentence names."""

from __future__ import annotations

import re
from functools import cache

from hindsight_common.domain.predicates import object_kind
from hindsight_extractor.domain.rules.prose import Sentence
from hindsight_extractor.domain.rules.subjects import NAME_EN, looks_like_name, name_patterns
from hindsight_extractor.domain.rules.word_lists import Language, alternatives, words_of


def people_in(sentence: Sentence, start: int) -> tuple[str, ...]:
    """Names that stand where a person does, each once, in order; places that the tables know are left out."""
    if not sentence.is_readable:
        return ()
    names = []
    for found in _clues(sentence.language).finditer(sentence.read, start):
        group = next(g for g, value in found.groupdict().items() if value)
        name = sentence.text[slice(*found.span(group))].strip().removesuffix("'s").removesuffix("’s")
        if (sentence.language == "zh" or looks_like_name(name)) and object_kind(name) is None:
            names.append(name)
    return tuple(dict.fromkeys(names))


@cache
def _clues(language: Language) -> re.Pattern[str]:
    shown, _ = name_patterns(language)
    relation = alternatives(words_of(language).relations)
    if language == "zh":
        return re.compile(
            rf"(?:和|跟|与|陪|找|给|见到?了?|遇到?了?|约了?|{relation})(?P<a>{shown})(?![a-z])"
            rf"|(?<![\u4e00-\u9fff])(?P<b>{shown})(?=说|告诉|昨|今|明|来|去|跟|和|给|帮|送|是|的|在|也)"
        )
    verbs = (
        r"(?:said|says|told|is|was|has|had|and\s+I|came|went"
        r"|called|loves?|likes?|hates?|wants?|gave|got|moved|asked|invited)"
    )
    clue = (
        r"(?:with|met|meet|meeting|saw|see|visit(?:ed|ing)?|called|tell|told|asked|invited?|married|dating|named"
        r"|between|from|thanks\s+to"
        rf"|and|for|{relation})"
    )
    return re.compile(
        rf"\b{clue},?\s+(?P<a>{NAME_EN})|(?<![\w'])(?P<b>{NAME_EN})(?=\s+{verbs}\b|'s\s+[a-z])", re.IGNORECASE
    )
