"""The memory index of the server form: one collection of a Qdrant server, shared by all its users."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from hindsight_common.adapters import qdrant_rows as points
from hindsight_common.adapters.qdrant_conditions import OWNER, asks_for_nothing, conditions_of
from hindsight_common.adapters.qdrant_server_collection import (
    create_collection,
    server_filter,
    server_point,
    server_row,
)
from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import Hit, IndexFilter, IndexPage, IndexRow

_MARKERS = uuid.UUID("7d0f5a6e-53a4-4b53-9d3c-6a6a3f1f5b0e")
_A_MEMORY = models.Filter(must_not=[models.IsEmptyCondition(is_empty=models.PayloadField(key=OWNER))])
_TOO_BUSY = {408, 429}


class QdrantServerIndex:
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
        self._client = client
        self._collection = collection
        self._dimension = dimension
        self._model_id = model_id
        self._marker = str(uuid.uuid5(_MARKERS, f"position:{projection}"))

    async def open(self) -> None:
        """Makes the collection and its payload indexes where they are missing; idempotent.

        Raises `StopAndFix` when the collection was written by another model.
        """
        with _answering():
            await create_collection(self._client, self._collection, self._dimension)
        written_by = str(uuid.uuid5(_MARKERS, "model"))
        wanted = {"model_id": self._model_id, "dimension": self._dimension}
        found = await self._read_marker(written_by)
        if found is None:
            await self._write_marker(written_by, wanted)
        elif found != wanted:
            raise StopAndFix(
                f"the collection {self._collection} was written by {found['model_id']} ({found['dimension']} "
                f"numbers) and was opened for {self._model_id} ({self._dimension} numbers): rebuild into "
                "another collection, or set embedding.model_name back"
            )

    async def upsert(self, rows: Sequence[IndexRow]) -> None:
        fresh = points.newest(points.checked_rows(rows, self._dimension))
        for start in range(0, len(fresh), points.BATCH):
            await self._upsert_batch(fresh[start : start + points.BATCH])

    async def _upsert_batch(self, rows: list[IndexRow]) -> None:
        with _answering():
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
        with _answering():
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
            with _answering():
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

    async def outline(self, owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
        asked = [each for each in dict.fromkeys(memory_ids) if points.is_memory_id(each)]
        with _answering():
            records = await self._client.retrieve(
                self._collection, asked, with_payload=list(points.OUTLINE), with_vectors=False
            )
        rows = {
            str(record.id): points.row_of(owner, record.id, record.payload)
            for record in records
            if record.payload and record.payload.get(OWNER) == str(owner)
        }
        return [rows[each] for each in asked if each in rows]

    async def get(self, owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
        asked = [each for each in dict.fromkeys(memory_ids) if points.is_memory_id(each)]
        with _answering():
            records = await self._client.retrieve(
                self._collection, asked, with_payload=True, with_vectors=True
            )
        rows = {
            str(record.id): server_row(owner, record)
            for record in records
            if record.payload and record.payload.get(OWNER) == str(owner)
        }
        return [rows[each] for each in asked if each in rows]

    async def list(self, owner: Owner, where: IndexFilter, cursor: str | None, limit: int) -> IndexPage:
        offset = points.checked_cursor(cursor)
        if limit < 1 or asks_for_nothing(where):
            return IndexPage((), None)
        with _answering():
            records, following = await self._client.scroll(
                self._collection,
                scroll_filter=server_filter(conditions_of(owner, where)),
                limit=limit,
                offset=offset,
                with_payload=True,
                with_vectors=False,
            )
        rows = tuple(points.row_of(owner, record.id, record.payload or {}) for record in records)
        return IndexPage(rows, None if following is None else str(following))

    async def count(self, owner: Owner | None = None) -> int:
        chosen = _A_MEMORY if owner is None else server_filter(conditions_of(owner, IndexFilter()))
        with _answering():
            return (await self._client.count(self._collection, count_filter=chosen, exact=True)).count

    async def position(self) -> int:
        found = await self._read_marker(self._marker)
        return int(found["position"]) if found else 0

    async def commit(self, position: int) -> None:
        """Every write was waited for, so the marker comes after the data; a smaller one changes nothing."""
        if position > await self.position():
            await self._write_marker(self._marker, {"position": position})

    async def close(self) -> None:
        """Leaves the client open: it belongs to whoever made it."""

    async def _read_marker(self, marker: str) -> dict[str, Any] | None:
        with _answering():
            found = await self._client.retrieve(self._collection, [marker], with_payload=True)
        return found[0].payload if found else None

    async def _write_marker(self, marker: str, content: Mapping[str, Any]) -> None:
        point = models.PointStruct(id=marker, vector={}, payload=dict(content))
        with _answering():
            await self._client.upsert(self._collection, [point], wait=True)


@contextmanager
def _answering() -> Iterator[None]:
    """Turns the client's errors into ours: what may pass by itself, and what somebody must put right."""
    try:
        yield
    except ResponseHandlingException as error:
        raise RetryLater(f"Qdrant did not answer: {error}") from error
    except UnexpectedResponse as error:
        status = error.status_code or 500
        if status >= 500 or status in _TOO_BUSY:
            raise RetryLater(f"Qdrant answered {status} {error.reason_phrase}") from error
        raise StopAndFix(f"Qdrant refused with {status}: {error.content[:300]!r}") from error
