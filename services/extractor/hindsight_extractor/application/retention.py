"""Accepted turns are kept until some time after their outcome is final; then the log is all there is of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta

from hindsight_common.clock import Clock
from hindsight_common.domain.fold import FINAL_OUTCOMES
from hindsight_common.ids import Owner
from hindsight_common.ports.log import MemoryLog
from hindsight_common.ports.turns import StoredTurn, TurnStore


@dataclass(frozen=True, slots=True)
class SweepTurns:
    log: MemoryLog
    turns: TurnStore
    clock: Clock
    keep: timedelta = timedelta(hours=24)

    async def run(self) -> int:
        """Removes the turns that are due; returns how many. Turns without a final outcome stay, whatever their age."""
        due: dict[Owner, list[StoredTurn]] = defaultdict(list)
        oldest_kept = self.clock.now() - self.keep
        async for stored in self.turns.list():
            if stored.stored_at > oldest_kept:
                break  # the stream is in order of time
            due[stored.owner].append(stored)
        removed = 0
        for owner, waiting in due.items():
            outcomes = await self.log.outcomes(owner)
            for stored in waiting:
                if outcomes.get(stored.turn_key) in FINAL_OUTCOMES:
                    await self.turns.delete(stored.sequence)
                    removed += 1
        return removed
