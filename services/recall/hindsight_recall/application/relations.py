"""The relations of the graph that have to do with a question: the semantic layer of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from hindsight_common.clock import Clock
from hindsight_common.domain.graph import Edge, UserGraph
from hindsight_common.domain.memory import SHARED
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexFilter
from hindsight_recall.application.channels import Candidate, Channels
from hindsight_recall.application.graph_channel import GraphChannel
from hindsight_recall.application.own_data import compare_owners
from hindsight_recall.application.projection import Projection
from hindsight_recall.application.steps import Steps
from hindsight_recall.domain.scoring import similarity


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge with its ends as they were last named; `similarity` of the memory behind it to the question, 0–1."""

    edge: Edge
    source: str
    target: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Relations:
    """An edge says little by itself, so the memory that it rests on is measured. What the index would not show to the
    asker (another role's, superseded, forgotten since) is no relation either.
    """

    graph: GraphChannel
    channels: Channels
    projection: Projection
    clock: Clock
    threshold: float
    most: int
    meaning_share: float

    async def of(self, owner: Owner, query: str, role: str | None, steps: Steps) -> list[Relation]:
        """Relations between things that hold now, most similar first; events stand among the memories instead."""
        near = await steps.run("relations", lambda: self.graph.around(owner, query), part="graph", early=True)
        edges = list(_holding(near.edges, self.clock.now())) if near is not None else []
        if near is None or not edges:
            return []
        where = IndexFilter(
            statuses=("active", "provisional"), type="fact", roles=(SHARED, role) if role else (SHARED,)
        )
        ids = list(dict.fromkeys(edge.memory_id for edge in edges))
        measured = await steps.run(
            "measure_relations",
            lambda: self.channels.measure(
                self.projection.index, owner, query, where=where, memory_ids=ids, steps=steps
            ),
            part="vectors",
        )
        return self._most_similar(owner, near, edges, measured or [])

    def _most_similar(
        self, owner: Owner, near: UserGraph, edges: list[Edge], measured: list[Candidate]
    ) -> list[Relation]:
        compare_owners(owner, [candidate.row for candidate in measured])
        similarities = {c.row.memory_id: self._similarity(c) for c in measured}
        names = {(node.type, node.key): node.name for node in near.nodes}
        relations = [
            Relation(edge, names[edge.source], names[edge.target], similarities[edge.memory_id])
            for edge in edges
            if similarities.get(edge.memory_id, 0.0) > self.threshold
        ]
        relations.sort(key=lambda relation: -relation.similarity)
        return relations[: self.most]

    def _similarity(self, candidate: Candidate) -> float:
        """The meaning's, or with the words where they say more: names and addresses mean little to a model."""
        together = similarity(candidate.meaning, candidate.words, meaning_share=self.meaning_share)
        return max(candidate.meaning or 0.0, together)


def _holding(edges: Iterable[Edge], now: datetime) -> Iterator[Edge]:
    for edge in edges:
        between_things = edge.source[0] == edge.target[0] == "Entity"
        is_over = edge.valid_until is not None and datetime.fromisoformat(edge.valid_until) <= now
        if between_things and not edge.negated and not is_over:
            yield edge
