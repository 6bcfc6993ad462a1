"""What may be left out of a Chinese sentence, and what may not."""

from __future__ import annotations

import re
from functools import cache

from hindsight_extractor.domain.rules.clauses import Clause
from hindsight_extractor.domain.rules.subjects import subject_of
from hindsight_extractor.domain.rules.word_lists import alternatives, words_of

_FACES = re.compile(
    "[\U0001f600-\U0001f64f\U0001f90c-\U0001f93e\U0001f970-\U0001f97a\U0001fae0-\U0001fae8❤♥\ufe0f\U0001f3fb-\U0001f3ff\u200d]+"
)
_HAN = "\u3400-\u9fff"
_LAUGHS = re.compile(r"哈{2,}|[hH]{2,}|2333+|嘿{2,}|嘻{2,}|呜{2,}|嗚{2,}|[lL][oO][lL]|www+|~+|～+")
_PARTICLES = re.compile(
    rf"(?<=[{_HAN}A-Za-z0-9])(?:[啊呀啦呢哦嘛哈呗喔捏哒噢诶欸唉哇呐咯耶鸭滴吶喲哎齁]+)(?=[\s,，。;；!！?？…~～、)）]|$)"
)
_REPEATED = re.compile(r"([!！?？。,，、~])[!！?？。~]*\1+")
_LOOSE = re.compile(r"^[\s,，;；:：、。!！…]+|[\s,，;；:：、]+$")
_GAP_BEFORE_SIGN = re.compile(r"\s+(?=[,，。!！?？;；])|[,，](?=[。!！?？])")


def tidied_chinese(text: str) -> str:
    """A text without laughter, faces, particles at the ends of clauses and words that only lead in."""
    text = _LAUGHS.sub("", _FACES.sub("", text))
    text = _GAP_BEFORE_SIGN.sub("", _REPEATED.sub(r"\1", _PARTICLES.sub("", text)))
    text = _leads().sub("", _LOOSE.sub("", text))
    return text.strip()


def leans_on(read: str, clause: Clause, following: Clause) -> bool:
    """True if the next clause speaks of whom this one names: by a pronoun, or by leaving them out."""
    named = subject_of(read, clause.begin, clause.end, "zh").subject
    if named is None or named.person == "speaker":
        return False
    meant = subject_of(read, following.begin, following.end, "zh").subject
    return meant is None or meant.person == "pronoun"


@cache
def _leads() -> re.Pattern[str]:
    return re.compile(rf"^(?:{alternatives(words_of('zh')['empty_leads'])}[\s,，:：]*)+(?=\S{{4}})")
