"""The nightly run: everybody who said something since the last one is consolidated."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import structlog

from hindsight_common.clock import Clock
from hindsight_common.errors import GiveUp
from hindsight_common.events.streams import ScheduleSpec
from hindsight_common.ids import Owner
from hindsight_common.ports.jobs import JobRun, JobRuns
from hindsight_common.ports.log import MemoryLog
from hindsight_consolidator.application.consolidation import Consolidate

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class NightResult:
    """How many users had something new, and how many memories were promoted."""

    users: int
    promoted: int


@dataclass(frozen=True, slots=True)
class ConsolidateAll:
    """A run that was broken off begins again: what it had done already promotes nothing a second time."""

    log: MemoryLog
    consolidate: Consolidate
    runs: JobRuns
    clock: Clock
    schedule: ScheduleSpec
    _running: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self) -> NightResult:
        """Raises `RetryLater`, then nothing counts as run."""
        async with self._running:
            return await self._run()

    async def catch_up(self) -> NightResult | None:
        """Runs once if a tick was missed, however many were; None if none was. The first start misses nothing."""
        async with self._running:
            last, now = await self.runs.last(self.schedule.job), self.clock.now()
            if last is None:
                # everything that is in the log by then is new to the first tick
                await self.runs.record(self.schedule.job, JobRun(now, 0))
                return None
            return await self._run() if last.at < self.schedule.last_due(now) else None

    async def _run(self) -> NightResult:
        began = self.clock.now()
        last = await self.runs.last(self.schedule.job)
        owners, end = await self._owners_since(last.position if last else 0)
        promoted = 0
        for owner in owners:
            try:
                promoted += (await self.consolidate.run(owner)).promoted
            except GiveUp as fault:
                # one user's trouble is nobody else's
                _log.error("nightly.user_passed_over", code=fault.code)
        await self.runs.record(self.schedule.job, JobRun(began, end))
        _log.info("nightly.done", users=len(owners), promoted=promoted)
        return NightResult(len(owners), promoted)

    async def _owners_since(self, position: int) -> tuple[list[Owner], int]:
        """Who has events beyond a position, apart from what consolidation itself wrote; and where the log ends."""
        owners: dict[Owner, None] = {}
        end = position
        async for logged in self.log.read_all(after=position):
            end = logged.sequence
            if logged.kind != "consolidated":
                owners[logged.owner] = None
        return list(owners), end
