"""Extraction: an accepted turn becomes one event in the log."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_common.domain.fold import FINAL_OUTCOMES
from hindsight_common.errors import GiveUp
from hindsight_common.ids import Owner
from hindsight_common.ports.extraction import Extractor, Turn
from hindsight_extractor.application.recording import AcceptedTurn, RecordTurn


@dataclass(frozen=True, slots=True)
class ExtractTurn:
    """The use case of the extractor worker.

    A turn that a tombstone covers, or one of its items, is dropped before anything reads it, and again behind the
    reading; a redelivered one looks into the log before the extractor is asked again. `is_costly` = every turn
    looks: a turn that is sealed anew or a consumer that starts over is delivered as if for the first time.
    """

    record: RecordTurn
    extractor: Extractor
    is_costly: bool = False

    async def run(
        self, owner: Owner, turn_key: str, turn: Turn | None, *, sequence: int, redelivered: bool
    ) -> str:
        """Returns the outcome: one of the log's, `forgotten` or `erased`. Raises `RetryLater` and `GiveUp`."""
        if turn is None:
            await self.record.turns.delete(sequence)
            return "erased"
        if await self.record.drops(owner, turn_key, sequence):
            return "forgotten"
        if redelivered or self.is_costly:
            standing = await self.record.outcome(owner, turn_key)
            if standing in FINAL_OUTCOMES:
                return str(standing)
        accepted = AcceptedTurn(owner, turn_key, turn, sequence)
        try:
            found = await self.extractor.extract(turn)
        except GiveUp as fault:
            await self.record.record_failure(accepted, self.extractor, fault.code)
            raise
        return await self.record.record(accepted, found, self.extractor)
