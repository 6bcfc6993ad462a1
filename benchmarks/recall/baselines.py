"""The usual retrieval over raw turns, one document a turn: BM25, dense, and both fused."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Final, Literal

import numpy as np
import rjieba
import snowballstemmer
from numpy.typing import NDArray

from hindsight_common.ports.embedding import Embedder

Language = Literal["en", "zh"]
Tokenize = Callable[[str], list[str]]

K1: Final = 1.2
B: Final = 0.75
RRF_K: Final = 60  # Cormack, Clarke and Büttcher, SIGIR 2009

_WORD = re.compile(r"[^\W_]+")


def tokenizer(language: Language) -> Tokenize:
    """English: lower-cased words, Snowball stems. Chinese: jieba's words (Latin ones lower-cased). Nothing is
    dropped as a stop word: idf sees to that.
    """
    if language == "zh":
        return lambda text: [word for word in rjieba.cut(text.lower()) if _WORD.search(word)]
    stem = snowballstemmer.stemmer("english").stemWord
    return lambda text: [stem(word) for word in _WORD.findall(text.lower())]


class Bm25:
    """Okapi BM25 with the idf ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative."""

    def __init__(self, documents: Sequence[str], tokenize: Tokenize) -> None:
        self._tokenize = tokenize
        counted = [Counter(tokenize(document)) for document in documents]
        lengths = [sum(counts.values()) for counts in counted]
        mean_length = (sum(lengths) / len(lengths) if lengths else 0) or 1
        self._size = len(counted)
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, (counts, length) in enumerate(zip(counted, lengths, strict=True)):
            norm = K1 * (1 - B + B * length / mean_length)
            for word, count in counts.items():
                self._postings[word].append((number, count * (K1 + 1) / (count + norm)))

    def scores(self, query: str) -> NDArray[np.float64]:
        """One score a document, in the order given."""
        scores = np.zeros(self._size)
        for word in self._tokenize(query):
            postings = self._postings.get(word, [])
            idf = math.log(1 + (self._size - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, weight in postings:
                scores[number] += idf * weight
        return scores


def ranking(scores: NDArray[np.floating]) -> list[int]:
    """Document numbers, best first; equal scores in the order of the documents."""
    return [int(number) for number in np.argsort(-scores, kind="stable")]


def fuse(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Reciprocal rank fusion of complete rankings of the same documents."""
    fused: dict[int, float] = defaultdict(float)
    for ranked in rankings:
        for rank, number in enumerate(ranked, start=1):
            fused[number] += 1 / (RRF_K + rank)
    return sorted(fused, key=lambda number: (-fused[number], number))


async def rankings_of(
    documents: Sequence[str], queries: Sequence[str], embedder: Embedder, language: Language
) -> dict[str, list[list[int]]]:
    """For each baseline the ranking of all documents for each query."""
    words = Bm25(documents, tokenizer(language))
    passages = await embedder.embed_passages(documents)
    questions = await embedder.embed_queries(queries)
    by_words = [ranking(words.scores(query)) for query in queries]
    by_meaning = [ranking(row) for row in questions @ passages.T]
    return {
        "BM25": by_words,
        "dense": by_meaning,
        "RRF": [fuse(pair) for pair in zip(by_words, by_meaning, strict=True)],
    }
