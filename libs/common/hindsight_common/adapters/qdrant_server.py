"""The memory index of the server form: one collection of a Qdrant server, shared by all its users."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client import AsyncQdrantClient, models

from hindsight_common.adapters import qdrant_rows as points
from hindsight_common.adapters.qdrant_conditions import OWNER, asks_for_nothing, conditions_of
from hindsight_common.adapters.qdrant_connection import answering
from hindsight_common.adapters.qdrant_server_collection import create_collection, server_filter, server_point
from hindsight_common.adapters.qdrant_server_reading import QdrantServerReader
from hindsight_common.errors import StopAndFix
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import Hit, IndexFilter, IndexRow

_MARKERS = uuid.UUID("7d0f5a6e-53a4-4b53-9d3c-6a6a3f1f5b0e")


class CollectionOfAnotherModel(StopAndFix):
    """The vectors that stand there mean nothing to this model."""


class QdrantServerIndex(QdrantServerReader):
    """Several processes may write to one collection, each its own users under its own `projection` name.

    What describes the collection (its model, the positions of its projections) is kept in it, as points
    without an owner that no search can reach. `await open()` before anything else.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        collection: str,
        *,
        dimension: int,
        model_id: str,
        projection: str = "recall",
    ) -> None:
        super().__init__(client, collection)
        self._dimension = dimension
        self._model_id = model_id
        self._marker = str(uuid.uuid5(_MARKERS, f"position:{projection}"))

    async def open(self) -> None:
        """Makes the collection and its payload indexes where they are missing; idempotent.

        Raises `CollectionOfAnotherModel` when the collection was written by another model.
        """
        with answering():
            await create_collection(self._client, self._collection, self._dimension)
        written_by = str(uuid.uuid5(_MARKERS, "model"))
        wanted = {"model_id": self._model_id, "dimension": self._dimension}
        found = await self._read_marker(written_by)
        if found is None:
            await self._write_marker(written_by, wanted)
        elif found != wanted:
            raise CollectionOfAnotherModel(
                f"the collection {self._collection} was written by {found['model_id']} ({found['dimension']} "
                f"numbers) and was opened for {self._model_id} ({self._dimension} numbers): rebuild into "
                "another collection, or set embedding.model_name back"
            )

    async def upsert(self, rows: Sequence[IndexRow]) -> None:
        fresh = points.newest(points.checked_rows(rows, self._dimension))
        for start in range(0, len(fresh), points.BATCH):
            await self._upsert_batch(fresh[start : start + points.BATCH])

    async def _upsert_batch(self, rows: list[IndexRow]) -> None:
        with answering():
            records = await self._client.retrieve(
                self._collection,
                [row.memory_id for row in rows],
                with_payload=[OWNER, points.SEQUENCE],
                with_vectors=False,
            )
            known = {str(record.id): record.payload or {} for record in records}
            operations = list(self._conditional_upserts(points.not_older(rows, known)))
            if operations:
                await self._client.batch_update_points(self._collection, operations, wait=True)

    def _conditional_upserts(self, rows: list[IndexRow]) -> Iterator[models.UpsertOperation]:
        """The server compares sequences once more: another process may have written since they were read."""
        by_sequence = sorted(rows, key=lambda row: row.sequence)
        for sequence, group in groupby(by_sequence, key=lambda row: row.sequence):
            not_newer = models.FieldCondition(key=points.SEQUENCE, range=models.Range(lte=sequence))
            yield models.UpsertOperation(
                upsert=models.PointsList(
                    points=[server_point(row) for row in group],
                    update_filter=models.Filter(must=[not_newer]),
                )
            )

    async def delete(self, owner: Owner, memory_ids: Sequence[str]) -> None:
        ids: list[models.ExtendedPointId] = [each for each in memory_ids if points.is_memory_id(each)]
        if ids:
            chosen = server_filter(conditions_of(owner, IndexFilter()))
            await self._delete(models.Filter(must=[chosen, models.HasIdCondition(has_id=ids)]))

    async def delete_owner(self, owner: Owner) -> int:
        before = await self.count(owner)
        if before:
            await self._delete(server_filter(conditions_of(owner, IndexFilter())))
        return before

    async def _delete(self, chosen: models.Filter) -> None:
        with answering():
            await self._client.delete(self._collection, models.FilterSelector(filter=chosen), wait=True)

    async def search_vector(
        self, owner: Owner, vector: NDArray[np.float32], where: IndexFilter, limit: int
    ) -> list[Hit]:
        query: list[float] = points.unit_vector(vector, self._dimension).tolist()
        return await self._search(owner, query, points.DENSE, where, limit)

    async def search_words(
        self, owner: Owner, words: Mapping[int, float], where: IndexFilter, limit: int
    ) -> list[Hit]:
        if not words:
            return []
        weights = points.checked_words(words)
        query = models.SparseVector(indices=list(weights), values=list(weights.values()))
        return await self._search(owner, query, points.WORDS, where, limit)

    async def _search(
        self,
        owner: Owner,
        query: list[float] | models.SparseVector,
        using: str,
        where: IndexFilter,
        limit: int,
    ) -> list[Hit]:
        if limit < 1 or asks_for_nothing(where):
            return []
        asked = limit + points.TIES_AHEAD
        while True:
            with answering():
                answer = await self._client.query_points(
                    self._collection,
                    query=query,
                    using=using,
                    query_filter=server_filter(conditions_of(owner, where)),
                    search_params=models.SearchParams(exact=True),
                    limit=asked,
                    with_payload=False,
                )
            hits = [Hit(str(hit.id), hit.score) for hit in answer.points]
            best = points.ranked(hits, limit, asked)
            if best is not None:
                return best
            asked *= 4

    async def position(self) -> int:
        found = await self._read_marker(self._marker)
        return int(found["position"]) if found else 0

    async def commit(self, position: int) -> None:
        """Every write was waited for, so the marker comes after the data; a smaller one changes nothing."""
        if position > await self.position():
            await self._write_marker(self._marker, {"position": position})

    async def close(self) -> None:
        """Leaves the client open: it belongs to whoever made it."""

    async def _write_marker(self, marker: str, content: Mapping[str, Any]) -> None:
        point = models.PointStruct(id=marker, vector={}, payload=dict(content))
        with answering():
            await self._client.upsert(self._collection, [point], wait=True)
