"""BM25 weights of words, by background statistics alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

from hindsight_common.adapters.background_idf import idf
from hindsight_common.adapters.word_splitting import is_han, split_terms, words_of

SATURATION = 0.9
"""k1: how soon a repeated word stops counting more. With `LENGTH_WEIGHT` the values of Anserini for short texts."""
LENGTH_WEIGHT = 0.4
"""b: how much a long text is held against each of its words."""
USUAL_LENGTH = {"en": 10.0, "zh": 12.0}
"""Terms of a usual memory: about 20 running words, without function words; Chinese words are also cut in parts."""
NAME_IDF = 1.6
"""At most this for a given name: whom a person talks to and about comes back in every fifth memory or so (-ln 0.2),
however rare the name is elsewhere."""

_CAPITALISED = re.compile(r"\b[A-Z][a-z]+")


class BackgroundWords:
    """Implements `WordAnalyzer`. Stateless but for caches; safe on several threads."""

    def terms(self, text: str) -> list[str]:
        return split_terms(text)

    def document_weights(self, text: str) -> Mapping[str, float]:
        terms = split_terms(text)
        if not terms:
            return {}
        usual = USUAL_LENGTH["zh" if 2 * sum(map(is_han, terms)) > len(terms) else "en"]
        norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(terms) / usual)
        return {term: count * (SATURATION + 1) / (count + norm) for term, count in Counter(terms).items()}

    def query_weights(self, text: str) -> Mapping[str, float]:
        weights = {term: idf(term) for term in dict.fromkeys(split_terms(text))}
        for name in _given_names(text):
            if name in weights:
                weights[name] = min(weights[name], NAME_IDF)
        return weights


def _given_names(text: str) -> Iterator[str]:
    """Terms of the given names in a text: written like one, and known as one."""
    for word in _CAPITALISED.findall(text):
        if word.lower() in _known_given_names():
            yield from split_terms(word)


@cache
def _known_given_names() -> frozenset[str]:
    return words_of("given_names")
