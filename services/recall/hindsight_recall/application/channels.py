"""Candidates from two channels side by side: meaning (dense vectors) and words (BM25 over a background idf)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.embedding import Embedder
from hindsight_common.ports.memory_index import Hit, IndexFilter, IndexRow, MemoryIndex
from hindsight_common.ports.words import WordAnalyzer
from hindsight_recall.application.rows import hashed
from hindsight_recall.application.steps import Steps
from hindsight_recall.domain.language import language_of


@dataclass(slots=True)
class Candidate:
    """`meaning` (calibrated cosine) and `words` are 0–1, None where the channel could not be asked.

    `channels` names the channels that found the memory, with its rank there, counted from 1.
    """

    row: IndexRow
    meaning: float | None = None
    words: float | None = None
    channels: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Channels:
    """Searches an owner's memories. Each candidate is measured by every channel that answers, whichever found it."""

    ids: IdFactory
    embedder: Embedder
    words: WordAnalyzer
    candidates: int

    async def search(
        self, index: MemoryIndex, owner: Owner, query: str, where: IndexFilter, steps: Steps
    ) -> list[Candidate]:
        vector = await steps.run("embed", lambda: self._vector(query), part="embedding")
        weights = await steps.run("analyse", lambda: self._weights(owner, query), part="words")
        by_meaning: list[Hit] | None = None
        by_words: list[Hit] | None = None
        if vector is None:
            steps.miss("vectors")
        else:
            by_meaning = await steps.run(
                "search_meaning",
                lambda: index.search_vector(owner, vector, where, self.candidates),
                part="vectors",
            )
        if weights is not None:
            by_words = await steps.run(
                "search_words",
                lambda: index.search_words(owner, weights, where, self.candidates),
                part="words",
            )
        found = _merged(by_meaning or [], [hit for hit in by_words or [] if hit.score > 0])
        measured = _Question(
            vector=vector if by_meaning is not None else None,
            weights=weights if by_words is not None else None,
        )
        cosines = {hit.row.memory_id: hit.score for hit in by_meaning or []}
        sums = {hit.row.memory_id: hit.score for hit in by_words or []}
        await steps.run(
            "measure",
            lambda: self._complete(index, owner, found, measured, cosines=cosines, sums=sums),
            part="vectors",
        )
        language = language_of(query)
        for candidate in found:
            memory_id = candidate.row.memory_id
            if measured.vector is not None and memory_id in cosines:
                candidate.meaning = self.embedder.calibrate(cosines[memory_id], language)
            if measured.weights is not None:
                candidate.words = measured.coverage(sums.get(memory_id, 0.0))
        return found

    async def _vector(self, query: str) -> NDArray[np.float32]:
        vectors = await self.embedder.embed_queries([query])
        return cast("NDArray[np.float32]", vectors[0])

    async def _weights(self, owner: Owner, query: str) -> dict[int, float]:
        return hashed(self.ids, owner, self.words.query_weights(query))

    @staticmethod
    async def _complete(
        index: MemoryIndex,
        owner: Owner,
        found: list[Candidate],
        question: _Question,
        *,
        cosines: dict[str, float],
        sums: dict[str, float],
    ) -> None:
        """Measures what only the other channel found, from the rows themselves."""
        lacking = [
            candidate.row.memory_id
            for candidate in found
            if (question.vector is not None and candidate.row.memory_id not in cosines)
            or (question.weights is not None and candidate.row.memory_id not in sums)
        ]
        for row in await index.get(owner, lacking) if lacking else []:
            if question.vector is not None and row.vector is not None:
                cosines.setdefault(row.memory_id, float(question.vector @ row.vector))
            if question.weights is not None:
                sums.setdefault(row.memory_id, _dot(question.weights, row.words))


@dataclass(frozen=True, slots=True)
class _Question:
    vector: NDArray[np.float32] | None
    weights: Mapping[int, float] | None

    def coverage(self, weighted_sum: float) -> float:
        """Share, 0–1, of the question's weight that a memory carries: one use of each word at average length is 1."""
        most = sum((self.weights or {}).values())
        return min(1.0, weighted_sum / most) if most > 0 else 0.0


def _merged(by_meaning: list[Hit], by_words: list[Hit]) -> list[Candidate]:
    found: dict[str, Candidate] = {}
    for channel, hits in (("meaning", by_meaning), ("words", by_words)):
        for rank, hit in enumerate(hits, start=1):
            found.setdefault(hit.row.memory_id, Candidate(hit.row)).channels[channel] = rank
    return list(found.values())


def _dot(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    return sum(weight * other[word] for word, weight in one.items() if word in other)
