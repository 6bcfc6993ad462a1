"""Accepted turns are kept until some time after their outcome is final; then the log is all there is of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta

from hindsight_common.clock import Clock
from hindsight_common.domain.fold import FINAL_OUTCOMES
from hindsight_common.ids import Owner
from hindsight_common.ports.extraction import Extractor
from hindsight_common.ports.log import MemoryLog
from hindsight_common.ports.turns import StoredTurn, TurnStore
from hindsight_extractor.application.recording import AcceptedTurn, RecordTurn


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


@dataclass(frozen=True, slots=True)
class FinishOverdueTurns:
    """What the rules read becomes final for turns that no model has read in `wait`, before the stream drops them."""

    record: RecordTurn
    rules: Extractor
    clock: Clock
    wait: timedelta = timedelta(days=30)

    async def run(self) -> int:
        """Returns how many were finished; the log says why: `llm_away`. Idempotent."""
        accepted_before = self.clock.now() - self.wait
        finished = 0
        async for stored in self.record.turns.list():
            if stored.stored_at > accepted_before:
                break  # the stream is in order of time
            standing = await self.record.outcome(stored.owner, stored.turn_key)
            turn = None if standing in FINAL_OUTCOMES else await self.record.turns.read(stored.sequence)
            if turn is None:
                continue
            found = await self.rules.extract(turn)
            accepted = AcceptedTurn(stored.owner, stored.turn_key, turn, stored.sequence)
            await self.record.record(accepted, found, self.rules, cause="llm_away")
            finished += 1
        return finished
