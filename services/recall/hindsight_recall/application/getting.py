"""One memory of a user, whatever its status: `memory.get`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from hindsight_common.errors import RequestError
from hindsight_common.events.requests import GetRequest, MemoryAnswer, parse_request
from hindsight_common.events.shown import shown
from hindsight_common.ids import IdFactory
from hindsight_common.ports.log import MemoryLog
from hindsight_common.sealing import KeyDestroyed
from hindsight_recall.application.freshness import Freshness
from hindsight_recall.application.own_data import compare_owners, own_data_only
from hindsight_recall.application.projection import Projection
from hindsight_recall.application.rows import RowMaker
from hindsight_recall.application.telemetry import RecallTelemetry


@dataclass(frozen=True, slots=True)
class GetMemory:
    """Answers from the index, once that reflects all that the log held of the user when the request came."""

    ids: IdFactory
    log: MemoryLog
    projection: Projection
    freshness: Freshness
    rows: RowMaker
    telemetry: RecallTelemetry = field(default_factory=RecallTelemetry)

    async def answer(self, tenant: str, data: bytes) -> MemoryAnswer:
        """Raises `RequestError`: `not_found` (404) alike for what is unknown, forgotten and another user's, and
        `unavailable` (503) where it is not there and the index lags too far behind to tell.
        """
        request = parse_request(GetRequest, data)
        owner = self.ids.owner(tenant, request.user_id)
        is_fresh = await self.freshness.reaches(owner, await self.log.last_sequence(owner))
        with own_data_only("get", self.telemetry):
            rows = await self.projection.index.get(owner, [request.memory_id])
            compare_owners(owner, rows)
        for row in rows:
            with suppress(KeyDestroyed):
                return MemoryAnswer(memory=shown(await self.rows.memory(row)))
        if not is_fresh:
            raise RequestError(
                "unavailable", "the index has not caught up with the log; try again in a moment", status=503
            )
        raise RequestError("not_found", "this user has no such memory", status=404, field="memory_id")
