"""How far an answer reaches: waiting for what was just said, and saying what is covered."""

from __future__ import annotations

import asyncio

from hindsight_common.events.requests import RecallRequest
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.log import MemoryLog
from hindsight_recall.application.ledgers import Ledgers
from hindsight_recall.application.projection import Projection


class Freshness:
    """Speaks of one user's own events only: a busy neighbour neither delays an answer nor makes it look old."""

    def __init__(
        self, ids: IdFactory, log: MemoryLog, ledgers: Ledgers, projection: Projection, *, wait_s: float
    ) -> None:
        self._ids = ids
        self._log = log
        self._ledgers = ledgers
        self._projection = projection
        self._wait_s = wait_s

    async def wait(self, owner: Owner, tenant: str, request: RecallRequest) -> bool:
        """True once what the request waits for is visible; False after the longest wait."""
        try:
            async with asyncio.timeout(self._wait_s):
                if request.wait_for is not None:
                    await self._projection.until(lambda: self._has_position(owner, request.wait_for or 0))
                if request.wait_for_turn is not None:
                    turn_key = self._ids.turn_key(tenant, request.user_id, request.wait_for_turn)
                    await self._projection.until(lambda: self._has_turn(owner, turn_key))
        except TimeoutError:
            return False
        return True

    async def reaches(self, owner: Owner, position: int) -> bool:
        """True once the index reflects the owner's events up to a position; False after the longest wait."""
        try:
            async with asyncio.timeout(self._wait_s):
                await self._projection.until(lambda: self._has_position(owner, position))
        except TimeoutError:
            return False
        return True

    async def _has_position(self, owner: Owner, position: int) -> bool:
        return max(self._projection.applied(owner) or 0, self._projection.position) >= position

    async def _has_turn(self, owner: Owner, turn_key: str) -> bool:
        folded = self._ledgers.cached(owner) or await self._ledgers.before(
            owner, self._projection.position + 1
        )
        visible = max(self._projection.applied(owner) or 0, self._projection.position) >= folded.position
        known = folded.ledger.turn(turn_key) is not None or folded.ledger.is_forgotten(turn_key)
        return visible and known

    async def covers_up_to(self, owner: Owner) -> int:
        """The position of the owner's last event that the index reflects, 0 if there is none."""
        applied = self._projection.applied(owner)
        if applied is not None:
            return applied
        last = await self._log.last_sequence(owner)
        if last <= self._projection.position:
            return last
        return (await self._ledgers.before(owner, self._projection.position + 1)).position
