"""One memory of a user, whatever its status: `memory.get`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import structlog

from hindsight_common.errors import RequestError
from hindsight_common.events.requests import GetRequest, MemoryAnswer, parse_request
from hindsight_common.events.shown import shown
from hindsight_common.ids import IdFactory
from hindsight_common.ports.log import MemoryLog
from hindsight_common.sealing import KeyDestroyed
from hindsight_recall.application.freshness import Freshness
from hindsight_recall.application.projection import Projection
from hindsight_recall.application.rows import RowMaker

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class GetMemory:
    """Answers from the index, once that reflects all that the log held of the user when the request came."""

    ids: IdFactory
    log: MemoryLog
    projection: Projection
    freshness: Freshness
    rows: RowMaker

    async def answer(self, tenant: str, data: bytes) -> MemoryAnswer:
        """Raises `RequestError`: `not_found` (404) alike for what is unknown, forgotten and another user's, and
        `unavailable` (503) where it is not there and the index lags too far behind to tell.
        """
        request = parse_request(GetRequest, data)
        owner = self.ids.owner(tenant, request.user_id)
        is_fresh = await self.freshness.reaches(owner, await self.log.last_sequence(owner))
        for row in await self.projection.index.get(owner, [request.memory_id]):
            if row.owner != owner:
                _log.error("get.owner_mismatch")
                raise RequestError(
                    "owner_mismatch",
                    "the answer was stopped: a store returned another owner's row",
                    status=500,
                )
            with suppress(KeyDestroyed):
                return MemoryAnswer(memory=shown(await self.rows.memory(row)))
        if not is_fresh:
            raise RequestError(
                "unavailable", "the index has not caught up with the log; try again in a moment", status=503
            )
        raise RequestError("not_found", "this user has no such memory", status=404, field="memory_id")
