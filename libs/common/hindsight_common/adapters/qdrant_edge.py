"""The memory index of the embedded form: Qdrant's storage and search inside this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import qdrant_edge as edge
from numpy.typing import NDArray

from hindsight_common.adapters import qdrant_rows as points
from hindsight_common.adapters.folder_lock import FolderLock
from hindsight_common.adapters.qdrant_conditions import OWNER, asks_for_nothing, conditions_of
from hindsight_common.adapters.qdrant_edge_shard import (
    Committed,
    check_description,
    edge_filter,
    edge_point,
    edge_row,
    edge_sparse,
    open_shard,
    read_committed,
)
from hindsight_common.errors import RetryLater
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import Hit, IndexFilter, IndexPage, IndexRow

T = TypeVar("T")

_OUTLINE = edge.PayloadSelector.Include(list(points.OUTLINE))
_CONTENTS = edge.PayloadSelector.Include([OWNER, points.SEQUENCE])


class QdrantEdgeIndex:
    """One folder, one process, one model.

    Durability is `commit`: what was written after the last one may be there or not after a crash, and is
    replayed from `position` on. The shard keeps no journal of its own: the log is one, and a second would
    keep deleted rows. Searches are exact: within one user a scan is faster than a graph, and a rebuilt index
    answers the same. Every call holds the interpreter while it runs, so writes yield to the event loop
    between batches.
    """

    def __init__(self, path: Path, *, dimension: int, model_id: str) -> None:
        """Opens the index in `path`, which is made if it is not there.

        Raises `StopAndFix` when another process has it open, or when it was written by another model, and
        `IndexDamaged` when its files are not what was written.
        """
        path.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._dimension = dimension
        self._lock = FolderLock(path)
        try:
            check_description(path / "index.json", dimension, model_id)
            committed = read_committed(path / "position.json")
            self._shard: edge.EdgeShard | None = open_shard(path, dimension, committed)
            self._position = committed.position
        except BaseException:
            self._lock.release()
            raise

    async def upsert(self, rows: Sequence[IndexRow]) -> None:
        fresh = points.newest(points.checked_rows(rows, self._dimension))
        for start in range(0, len(fresh), points.BATCH):
            if start:
                await asyncio.sleep(0)
            self._upsert_batch(fresh[start : start + points.BATCH])

    def _upsert_batch(self, rows: list[IndexRow]) -> None:
        ids: list[edge.PointId] = [row.memory_id for row in rows]
        found = self._call(lambda shard: shard.retrieve(ids, with_payload=_CONTENTS, with_vector=False))
        known = {str(record.id): record.payload or {} for record in found}
        fresh = [edge_point(row) for row in points.not_older(rows, known)]
        if fresh:
            self._update(edge.UpdateOperation.upsert_points(fresh))

    async def delete(self, owner: Owner, memory_ids: Sequence[str]) -> None:
        ids: set[edge.PointId] = {each for each in memory_ids if points.is_memory_id(each)}
        if ids:
            chosen = edge_filter(conditions_of(owner, IndexFilter()))
            await self._delete(edge.Filter(must=[chosen, edge.HasIdCondition(ids)]))

    async def delete_owner(self, owner: Owner) -> int:
        return await self._delete(edge_filter(conditions_of(owner, IndexFilter())))

    async def _delete(self, chosen: edge.Filter) -> int:
        """Removes rows for good: a deleted vector would stay readable in its file, so zeros go over it first."""
        removed = 0
        request = edge.ScrollRequest(limit=points.BATCH, filter=chosen)
        while records := self._call(lambda shard: shard.scroll(request))[0]:
            ids = [record.id for record in records]
            blank = [edge.PointVectors(each, {points.DENSE: [0.0] * self._dimension}) for each in ids]
            self._update(edge.UpdateOperation.update_vectors(blank))
            self._update(edge.UpdateOperation.delete_points(ids))
            removed += len(ids)
            await asyncio.sleep(0)
        return removed

    async def search_vector(
        self, owner: Owner, vector: NDArray[np.float32], where: IndexFilter, limit: int
    ) -> list[Hit]:
        query: list[float] = points.unit_vector(vector, self._dimension).tolist()
        return self._search(owner, edge.Query.Nearest(query, using=points.DENSE), where, limit)

    async def search_words(
        self, owner: Owner, words: Mapping[int, float], where: IndexFilter, limit: int
    ) -> list[Hit]:
        if not words:
            return []
        query = edge_sparse(points.checked_words(words))
        return self._search(owner, edge.Query.Nearest(query, using=points.WORDS), where, limit)

    def _search(self, owner: Owner, query: edge.Query, where: IndexFilter, limit: int) -> list[Hit]:
        if limit < 1 or asks_for_nothing(where):
            return []
        chosen = edge_filter(conditions_of(owner, where))
        asked = limit + points.TIES_AHEAD
        while True:
            request = edge.QueryRequest(
                asked, query=query, filter=chosen, with_payload=False, params=edge.SearchParams(exact=True)
            )
            hits = [Hit(str(hit.id), float(hit.score)) for hit in self._query(request)]
            best = points.ranked(hits, limit, asked)
            if best is not None:
                return best
            asked *= 4

    async def outline(self, owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
        asked = [each for each in dict.fromkeys(memory_ids) if points.is_memory_id(each)]
        ids: list[edge.PointId] = list(asked)
        records = self._call(lambda shard: shard.retrieve(ids, with_payload=_OUTLINE, with_vector=False))
        rows = {
            str(record.id): points.row_of(owner, record.id, record.payload)
            for record in records
            if record.payload and record.payload[OWNER] == str(owner)
        }
        return [rows[each] for each in asked if each in rows]

    async def get(self, owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
        ids: list[edge.PointId] = [each for each in dict.fromkeys(memory_ids) if points.is_memory_id(each)]
        records = self._call(lambda shard: shard.retrieve(ids, with_payload=True, with_vector=True))
        rows = {
            str(record.id): edge_row(owner, record)
            for record in records
            if record.payload and record.payload[OWNER] == str(owner)
        }
        return [rows[each] for each in dict.fromkeys(memory_ids) if each in rows]

    async def list(self, owner: Owner, where: IndexFilter, cursor: str | None, limit: int) -> IndexPage:
        request = edge.ScrollRequest(
            offset=points.checked_cursor(cursor),
            limit=limit,
            filter=edge_filter(conditions_of(owner, where)),
            with_payload=True,
        )
        if limit < 1 or asks_for_nothing(where):
            return IndexPage((), None)
        records, following = self._call(lambda shard: shard.scroll(request))
        rows = tuple(points.row_of(owner, record.id, record.payload or {}) for record in records)
        return IndexPage(rows, None if following is None else str(following))

    async def count(self, owner: Owner | None = None) -> int:
        chosen = None if owner is None else edge_filter(conditions_of(owner, IndexFilter()))
        return self._call(lambda shard: shard.count(edge.CountRequest(exact=True, filter=chosen)))

    async def position(self) -> int:
        return self._position

    async def commit(self, position: int) -> None:
        self._call(lambda shard: shard.flush())
        if position > self._position:
            Committed(position, await self.count()).write(self._path / "position.json")
            self._position = position

    async def close(self) -> None:
        """Lets the folder go; what was not committed may be lost. Idempotent."""
        if self._shard is not None:
            self._shard.close()
            self._shard = None
        self._lock.release()

    def _update(self, operation: edge.UpdateOperation) -> None:
        self._call(lambda shard: shard.update(operation))

    def _query(self, request: edge.QueryRequest) -> Sequence[edge.ScoredPoint]:
        return self._call(lambda shard: shard.query(request))

    def _call(self, ask: Callable[[edge.EdgeShard], T]) -> T:
        if self._shard is None:
            raise RetryLater("the memory index is closed")
        try:
            return ask(self._shard)
        except (TypeError, ValueError, OverflowError):  # ours: a call that the engine cannot take
            raise
        except Exception as error:  # the engine's own errors are of no narrower class
            raise RetryLater(f"the memory index failed: {error}") from error
