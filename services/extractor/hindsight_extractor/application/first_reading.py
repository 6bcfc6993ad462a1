"""The first reading: what the rules find stands for a turn until the model has read it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime

from hindsight_common.ids import Owner
from hindsight_common.ports.extraction import Extractor, Turn
from hindsight_extractor.application.model_gate import ModelGate
from hindsight_extractor.application.recent_turns import RecentTurns
from hindsight_extractor.application.recording import AcceptedTurn, RecordTurn


@dataclass(frozen=True, slots=True)
class ReadFirst:
    """Runs beside the extraction by a model, on deliveries of its own, so that no backlog there holds it up.

    A turn that the model reads within `patience_s` is left to it alone. `started_at` is when this process began:
    what it accepted before may have been read by another.
    """

    record: RecordTurn
    rules: Extractor
    recent: RecentTurns
    gate: ModelGate
    started_at: datetime
    patience_s: float

    async def run(
        self, owner: Owner, turn_key: str, turn: Turn | None, *, sequence: int, redelivered: bool
    ) -> str:
        """Returns the outcome that stands: one of the log's, `forgotten`, or `erased`. Raises `RetryLater`."""
        if turn is None:
            return "erased"  # the extraction removes it
        if await self._is_read_soon(owner, turn_key):
            return "final"
        if redelivered or turn.accepted_at < self.started_at:
            standing = await self.record.outcome(owner, turn_key)
            if standing is not None and standing != "failed":
                return standing
        if await self.record.drops(owner, turn_key, sequence):
            return "forgotten"
        found = await self.rules.extract(turn)
        accepted = AcceptedTurn(owner, turn_key, turn, sequence)
        return await self.record.record(accepted, replace(found, provisional=True), self.rules)

    async def _is_read_soon(self, owner: Owner, turn_key: str) -> bool:
        """Waits for the model's reading as long as there is hope of one."""
        troubled = asyncio.ensure_future(self.gate.until_troubled())
        read = asyncio.ensure_future(self.recent.until_final(owner, turn_key))
        try:
            await asyncio.wait((troubled, read), timeout=self.patience_s, return_when=asyncio.FIRST_COMPLETED)
            return self.recent.find(owner, turn_key) is not None
        finally:
            for waiting in (troubled, read):
                waiting.cancel()
            await asyncio.wait((troubled, read))
