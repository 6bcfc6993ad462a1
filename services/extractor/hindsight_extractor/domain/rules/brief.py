"""A sentence in the words of its speaker, without what adds nothing to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from hindsight_extractor.domain.rules import stance
from hindsight_extractor.domain.rules.chinese_brief import leans_on, tidied_chinese
from hindsight_extractor.domain.rules.clauses import Clause, Parsed
from hindsight_extractor.domain.rules.word_lists import Language, alternatives, words_of

Span = tuple[int, int]

_FACES = (
    "\U0001f600-\U0001f64f\U0001f90c-\U0001f93e\U0001f970-\U0001f97a\U0001fae0-\U0001fae8"
    "\u2764\u2665\ufe0f\U0001f3fb-\U0001f3ff\u200d"
)
_LOOSE = re.compile(r"^[\s,;:–—-]+|[\s,;:–—(-]+$")
_GAPS = re.compile(r"\s{2,}")
_BEFORE_SIGN = re.compile(r"\s+(?=[,.!?;])|(?<=[,;])\s*(?=[,.!?;])|,(?=[.!?])")
_PRONOUN = re.compile(
    r"\W*(?:(?:and|but|so|because|since|which|who)\s+)?(?:he|she|they|who|his|her|their)\b", re.IGNORECASE
)
# What a clause must still tell beside its facts to be kept, in words
_LEAST_BESIDE = 1.5
# In Chinese a word of two characters may answer: 过道
_LEAST: dict[Language, float] = {"en": 1.0, "zh": 0.5}


def brief(said: Parsed, start: int, kept: Sequence[Clause]) -> str:
    """The clauses kept of a sentence, from `start` on, without interjections; never empty."""
    sentence = said.sentence
    whole = sentence.text[start:].strip()
    told = [clause for clause in said.clauses if clause.end > start]
    text = whole
    if kept and len(kept) < len(told):
        begins = [clause.begin for clause in told[1:]] + [len(sentence.text)]
        text = "".join(
            sentence.text[max(clause.begin, start) : end]
            for clause, end in zip(told, begins, strict=True)
            if clause in kept
        )
    return (_tidied(text) if sentence.language == "en" else tidied_chinese(text)) or whole


def kept_clauses(said: Parsed, start: int, covered: Sequence[Span]) -> tuple[Clause, ...]:
    """The clauses from `start` on that tell something beside what the facts tell already (`covered`).

    A clause that names whom the next means by "she" stays with it, and in Chinese one whose subject the next leaves
    out. Where nothing tells more: all.
    """
    told = [clause for clause in said.clauses if clause.end > start]
    names = _names_whom_it_means if said.sentence.language == "en" else leans_on
    kept: list[Clause] = []
    for clause in reversed(told):
        names_the_next = bool(kept) and names(said.sentence.read, clause, kept[-1])
        if _tells(clause, said, start, covered) or (names_the_next and not clause.is_asking):
            kept.append(clause)
    return tuple(kept[::-1] or told)


def _names_whom_it_means(read: str, clause: Clause, following: Clause) -> bool:
    return clause.begin < following.begin and bool(_PRONOUN.match(read, following.begin))


def _tells(clause: Clause, said: Parsed, start: int, covered: Sequence[Span]) -> bool:
    if clause.is_asking:
        return False
    begin, end = max(clause.begin, start), clause.end
    inside = [(max(b, begin), min(e, end)) for b, e in covered if b < end and begin < e]
    rest = "".join(
        " " if any(b <= place < e for b, e in inside) else sign
        for place, sign in enumerate(said.sentence.read[begin:end], begin)
    )
    language = said.sentence.language
    weight, _ = stance.content_weight(rest, language)
    if inside:
        return weight >= _LEAST_BESIDE or (weight >= 1 and stance.names_something(rest, language))
    return weight >= _LEAST[language] or any(begin <= mention.begin < end for mention in said.mentions)


def _tidied(text: str) -> str:
    text = re.sub(rf"[{_FACES}]+", " ", text)
    text = _intensifiers().sub("", text)
    text = _interjections().sub("", text)
    text = _GAPS.sub(" ", _BEFORE_SIGN.sub("", text))
    text = _leads().sub("", _LOOSE.sub("", text))
    return text.strip()


@cache
def _intensifiers() -> re.Pattern[str]:
    """Words that strengthen what follows; after a negation they weaken it and stay."""
    words = alternatives(words_of("en")["intensifiers"])
    return re.compile(rf"(?<!\bnot )(?<!n't )(?<!\bno )(?<!\bnever )\b{words}\s+(?=[a-z])", re.IGNORECASE)


@cache
def _interjections() -> re.Pattern[str]:
    """Laughs anywhere; other reactions only where commas or the ends of the sentence set them apart."""
    words = words_of("en")
    laughs, reactions = alternatives(words["laughs"]), alternatives(words["interjections"])
    return re.compile(
        rf"[,\s]*(?<![\w'-]){laughs}(?![\w'-])|(?:^\W*|[,;]\s*){reactions}(?![\w'-])(?=\W*$|\s*[,.!?])",
        re.IGNORECASE,
    )


@cache
def _leads() -> re.Pattern[str]:
    return re.compile(
        r"^(?:(?:and|but|so|well|also|plus|then|anyway|oh|yeah|yes)[,\s]+)+(?=\w)", re.IGNORECASE
    )
