"""Candidates from channels side by side: meaning (dense vectors), words (BM25 over a background idf) and the graph."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.embedding import Embedder, Language
from hindsight_common.ports.memory_index import Hit, IndexFilter, IndexRow, MemoryIndex
from hindsight_common.ports.words import WordAnalyzer
from hindsight_recall.application.graph_channel import GraphChannel
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
    """Searches an owner's memories. Each candidate is measured by meaning and by words, whichever channel found it."""

    ids: IdFactory
    embedder: Embedder
    words: WordAnalyzer
    candidates: int
    graph: GraphChannel | None = None

    async def search(
        self, index: MemoryIndex, owner: Owner, query: str, where: IndexFilter, steps: Steps
    ) -> list[Candidate]:
        vector, related = await asyncio.gather(
            steps.run("embed", lambda: self._vector(query), part="embedding", early=True),
            steps.run("graph", lambda: self._related(owner, query), part="graph", early=True),
        )
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
        question = _Question(
            None if by_meaning is None else vector,
            None if by_words is None else weights,
            cosines={hit.memory_id: hit.score for hit in by_meaning or []},
            sums={hit.memory_id: hit.score for hit in by_words or []},
        )
        by_graph = await steps.run(
            "search_graph", lambda: question.allowed(index, owner, where, related or []), part="graph"
        )
        ranks = _ranks(
            meaning=[hit.memory_id for hit in by_meaning or []],
            words=[hit.memory_id for hit in by_words or [] if hit.score > 0],
            graph=by_graph or [],
        )
        await steps.run("measure", lambda: question.complete(index, owner, list(ranks)), part="vectors")
        rows = await steps.run("outline", lambda: index.outline(owner, list(ranks)), part="vectors")
        language = language_of(query)
        return [self._candidate(row, question, ranks[row.memory_id], language) for row in rows or []]

    async def measure(
        self,
        index: MemoryIndex,
        owner: Owner,
        query: str,
        *,
        where: IndexFilter,
        memory_ids: Sequence[str],
        steps: Steps,
    ) -> list[Candidate]:
        """Those of some memories that `where` admits, in their order, each measured as `search` measures."""
        vector = await steps.run("embed", lambda: self._vector(query), part="embedding", early=True)
        weights = await steps.run("analyse", lambda: self._weights(owner, query), part="words")
        question = _Question(vector, weights, cosines={}, sums={})
        admitted = await question.allowed(index, owner, where, memory_ids)
        await question.complete(index, owner, admitted)
        language = language_of(query)
        rows = await index.outline(owner, admitted)
        return [self._candidate(row, question, {}, language) for row in rows]

    def _candidate(
        self, row: IndexRow, question: _Question, channels: dict[str, int], language: Language
    ) -> Candidate:
        cosine = question.cosines.get(row.memory_id)
        return Candidate(
            row,
            meaning=None if cosine is None else self.embedder.calibrate(cosine, language),
            words=question.coverage(row.memory_id),
            channels=channels,
        )

    async def _vector(self, query: str) -> NDArray[np.float32]:
        vectors = await self.embedder.embed_queries([self.words.without_names(query)])
        return cast("NDArray[np.float32]", vectors[0])

    async def _related(self, owner: Owner, query: str) -> list[str]:
        return await self.graph.memory_ids(owner, query) if self.graph is not None else []

    async def _weights(self, owner: Owner, query: str) -> dict[int, float]:
        return hashed(self.ids, owner, self.words.query_weights(query))


@dataclass(frozen=True, slots=True)
class _Question:
    """What was asked of the channels that answered (None: of that one nothing), and what they measured, by id."""

    vector: NDArray[np.float32] | None
    weights: Mapping[int, float] | None
    cosines: dict[str, float]
    sums: dict[str, float]

    async def allowed(
        self, index: MemoryIndex, owner: Owner, where: IndexFilter, ids: Sequence[str]
    ) -> list[str]:
        """Those of the ids that the request asks for, in their order; what that takes is measured on the way."""
        unknown = tuple(i for i in ids if i not in self.cosines and i not in self.sums)
        if unknown and self.vector is not None:
            hits = await index.search_vector(owner, self.vector, replace(where, ids=unknown), len(unknown))
            self.cosines.update({hit.memory_id: hit.score for hit in hits})
        elif unknown and self.weights:
            hits = await index.search_words(owner, self.weights, replace(where, ids=unknown), len(unknown))
            self.sums.update({hit.memory_id: hit.score for hit in hits})
        return [i for i in ids if i in self.cosines or i in self.sums]

    async def complete(self, index: MemoryIndex, owner: Owner, ids: list[str]) -> None:
        """Measures what only the other channel found: the same searches, among those alone."""
        if self.vector is not None and (lacking := tuple(i for i in ids if i not in self.cosines)):
            hits = await index.search_vector(owner, self.vector, IndexFilter(ids=lacking), len(lacking))
            self.cosines.update({hit.memory_id: hit.score for hit in hits})
        if self.weights and (lacking := tuple(i for i in ids if i not in self.sums)):
            hits = await index.search_words(owner, self.weights, IndexFilter(ids=lacking), len(lacking))
            self.sums.update({hit.memory_id: hit.score for hit in hits})

    def coverage(self, memory_id: str) -> float | None:
        """Share, 0–1, of the question's weight that a memory carries: one use of each word at average length is 1.

        None if the words could not be asked, or if the question has none that tell anything (我是谁？).
        """
        most = sum((self.weights or {}).values())
        return min(1.0, self.sums.get(memory_id, 0.0) / most) if most > 0 else None


def _ranks(**found: Sequence[str]) -> dict[str, dict[str, int]]:
    """Memory id → the channels that found it, with its rank in each, counted from 1."""
    ranks: dict[str, dict[str, int]] = {}
    for channel, memory_ids in found.items():
        for rank, memory_id in enumerate(memory_ids, start=1):
            ranks.setdefault(memory_id, {})[channel] = rank
    return ranks
