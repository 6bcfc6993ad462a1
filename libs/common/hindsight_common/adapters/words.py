"""BM25 weights of words, by background statistics alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

import rjieba

from hindsight_common.adapters.background_idf import idf
from hindsight_common.adapters.word_splitting import function_words, is_han, split_terms, words_of

SATURATION = 0.9
"""k1: how soon a repeated word stops counting more. With `LENGTH_WEIGHT` the values of Anserini for short texts."""
LENGTH_WEIGHT = 0.4
"""b: how much a long text is held against each of its words."""
USUAL_LENGTH = {"en": 10.0, "zh": 12.0}
"""Terms of a usual memory: about 20 running words, without function words; Chinese words are also cut in parts."""
NAME_IDF = 1.6
"""At most this for a given name: whom a person talks to and about comes back in every fifth memory or so (-ln 0.2),
however rare the name is elsewhere."""

# no \b: in Chinese text a Latin name has letters on both sides
_CAPITALISED = re.compile(r"(?<![A-Za-z])[A-Z][a-z]+(?![A-Za-z])")
_CAPITALISED_WITH_ENDING = re.compile(r"(?<![A-Za-z])([A-Z][a-z]+)(?:'s|’s)?(?![A-Za-z])")
# given names that a capital letter does not tell from what they mean otherwise
_RATHER_WORDS = frozenset(
    {"april", "may", "june", "august", "sunday", "summer", "autumn", "winter", "christmas", "easter"}
)
_SPACES = re.compile(r"\s+")
# what the tagger takes for a name counts only behind one of these: it also takes 银行卡 for one
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范"
    "金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤小老阿"
)


class BackgroundWords:
    """Implements `WordAnalyzer`. Stateless but for caches; safe on several threads."""

    def terms(self, text: str) -> list[str]:
        return split_terms(text)

    def without_names(self, text: str) -> str:
        kept = _CAPITALISED_WITH_ENDING.sub(lambda m: "" if _is_given_name(m[1]) else m[0], text)
        kept = _SPACES.sub(" ", kept).strip()
        return kept if split_terms(kept) else text

    def document_weights(self, text: str) -> Mapping[str, float]:
        terms = split_terms(text)
        if not terms:
            return {}
        usual = USUAL_LENGTH["zh" if 2 * sum(map(is_han, terms)) > len(terms) else "en"]
        norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(terms) / usual)
        return {term: count * (SATURATION + 1) / (count + norm) for term, count in Counter(terms).items()}

    def query_weights(self, text: str) -> Mapping[str, float]:
        weights = {term: idf(term) for term in dict.fromkeys(split_terms(text))}
        for name in (*_given_names(text), *_chinese_names(text)):
            for term in split_terms(name):
                if term in weights:
                    weights[term] = min(weights[term], NAME_IDF)
        return weights


def _given_names(text: str) -> list[str]:
    """The given names of Latin letters in a text: written like one, and known as one."""
    return [word for word in _CAPITALISED.findall(text) if _is_given_name(word)]


def _chinese_names(text: str) -> list[str]:
    if not any(map(is_han, text)):
        return []
    return [
        word
        for word, kind in rjieba.tag(text)
        if kind == "nr" and 2 <= len(word) <= 3 and word[0] in _SURNAMES
    ]


def _is_given_name(word: str) -> bool:
    lower = word.lower()
    return lower in _known_given_names() and lower not in _RATHER_WORDS and lower not in function_words()


@cache
def _known_given_names() -> frozenset[str]:
    return words_of("given_names")
