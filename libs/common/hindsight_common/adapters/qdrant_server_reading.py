"""Reading a collection of a Qdrant server, by its own name or by an alias of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from hindsight_common.adapters import qdrant_rows as points
from hindsight_common.adapters.qdrant_conditions import OWNER, asks_for_nothing, conditions_of
from hindsight_common.adapters.qdrant_connection import answering
from hindsight_common.adapters.qdrant_server_collection import server_filter, server_row
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexFilter, IndexPage, IndexRow

_A_MEMORY = models.Filter(must_not=[models.IsEmptyCondition(is_empty=models.PayloadField(key=OWNER))])


class QdrantServerReader:
    """The part of `ports.memory_index.MemoryIndex` that needs no model: what one looks at without searching."""

    def __init__(self, client: AsyncQdrantClient, collection: str) -> None:
        self._client = client
        self._collection = collection

    async def outline(self, owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
        asked = [each for each in dict.fromkeys(memory_ids) if points.is_memory_id(each)]
        with answering():
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
        with answering():
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
        with answering():
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
        with answering():
            return (await self._client.count(self._collection, count_filter=chosen, exact=True)).count

    async def _read_marker(self, marker: str) -> dict[str, Any] | None:
        with answering():
            found = await self._client.retrieve(self._collection, [marker], with_payload=True)
        return found[0].payload if found else None
