"""Every memory of a user, page by page: `memory.list`."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_common.events.requests import ListAnswer, ListRequest, MemoryOut, parse_request
from hindsight_common.events.shown import shown
from hindsight_common.ids import IdFactory
from hindsight_common.ports.memory_index import IndexFilter
from hindsight_common.sealing import KeyDestroyed
from hindsight_recall.application.projection import Projection
from hindsight_recall.application.rows import RowMaker


@dataclass(frozen=True, slots=True)
class ListMemories:
    ids: IdFactory
    projection: Projection
    rows: RowMaker

    async def answer(self, tenant: str, data: bytes) -> ListAnswer:
        request = parse_request(ListRequest, data)
        owner = self.ids.owner(tenant, request.user_id)
        where = IndexFilter(statuses=request.status)
        page = await self.projection.index.list(owner, where, request.cursor, request.limit)
        memories: list[MemoryOut] = []
        for row in page.rows:
            try:
                memories.append(shown(await self.rows.memory(row)))
            except KeyDestroyed:
                continue
        return ListAnswer(memories=tuple(memories), cursor=page.cursor)
