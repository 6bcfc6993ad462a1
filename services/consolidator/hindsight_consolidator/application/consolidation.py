"""Consolidation on request: a user's memories that deserve it are promoted into the graph, by one event in the log."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_common.clock import Clock
from hindsight_common.domain.fold import Ledger
from hindsight_common.domain.memory import Consolidated
from hindsight_common.ids import Owner
from hindsight_common.ports.log import MemoryLog
from hindsight_consolidator.domain.promotion import RULE, promotions


@dataclass(frozen=True, slots=True)
class ConsolidationResult:
    """`position` is that of the event, None if there was nothing to promote."""

    promoted: int
    position: int | None


@dataclass(frozen=True, slots=True)
class Consolidate:
    """Idempotent: a second run promotes nothing that has not changed since."""

    log: MemoryLog
    clock: Clock

    async def run(self, owner: Owner) -> ConsolidationResult:
        ledger = Ledger()
        async for logged in self.log.read(owner):
            ledger.apply(logged.event_id, logged.event)
        due = promotions(ledger)
        if not due:
            return ConsolidationResult(0, None)
        now = self.clock.now()
        position = await self.log.append(owner, Consolidated(RULE, now, due), accepted_at=now)
        return ConsolidationResult(len(due), position)
