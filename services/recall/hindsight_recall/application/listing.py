"""Every memory of a user, page by page: `memory.list`."""

from __future__ import annotations

from dataclasses import dataclass, field

from hindsight_common.events.requests import ListAnswer, ListRequest, MemoryOut, parse_request
from hindsight_common.events.shown import shown
from hindsight_common.ids import IdFactory
from hindsight_common.ports.memory_index import IndexFilter
from hindsight_common.sealing import KeyDestroyed
from hindsight_recall.application.own_data import compare_owners, own_data_only
from hindsight_recall.application.projection import Projection
from hindsight_recall.application.rows import RowMaker
from hindsight_recall.application.telemetry import RecallTelemetry


@dataclass(frozen=True, slots=True)
class ListMemories:
    ids: IdFactory
    projection: Projection
    rows: RowMaker
    telemetry: RecallTelemetry = field(default_factory=RecallTelemetry)

    async def answer(self, tenant: str, data: bytes) -> ListAnswer:
        request = parse_request(ListRequest, data)
        owner = self.ids.owner(tenant, request.user_id)
        where = IndexFilter(statuses=request.status)
        with own_data_only("list", self.telemetry):
            page = await self.projection.index.list(owner, where, request.cursor, request.limit)
            compare_owners(owner, page.rows)
        memories: list[MemoryOut] = []
        for row in page.rows:
            try:
                memories.append(shown(await self.rows.memory(row)))
            except KeyDestroyed:
                continue
        return ListAnswer(memories=tuple(memories), cursor=page.cursor)
