"""Extraction: an accepted turn becomes one event in the log."""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog

from hindsight_common.domain.fold import FINAL_OUTCOMES, Ledger
from hindsight_common.domain.memory import Evidence, Outcome, Provenance, TurnGiven
from hindsight_common.errors import GiveUp
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.extraction import Extraction, Extractor, Turn
from hindsight_common.ports.log import MemoryLog
from hindsight_common.ports.turns import TurnStore
from hindsight_extractor.application.recent_turns import RecentTurns
from hindsight_extractor.domain.evidence import evidence_of

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ExtractTurn:
    """The use case of the extractor worker.

    A turn that a tombstone covers, or one of its items, is dropped before anything reads it, and again behind the
    reading; a redelivered one looks into the log before the extractor is asked again.
    """

    ids: IdFactory
    log: MemoryLog
    turns: TurnStore
    extractor: Extractor
    recent: RecentTurns

    async def run(
        self, owner: Owner, turn_key: str, turn: Turn | None, *, sequence: int, redelivered: bool
    ) -> str:
        """Returns the outcome: one of the log's, `forgotten` or `erased`. Raises `RetryLater` and `GiveUp`."""
        if turn is None:
            await self.turns.delete(sequence)
            return "erased"
        if await self._is_forgotten(owner, turn_key):
            await self.turns.delete(sequence)
            return "forgotten"
        if redelivered and (standing := (await self.log.outcomes(owner)).get(turn_key)) in FINAL_OUTCOMES:
            return str(standing)
        try:
            found = await self.extractor.extract(turn)
        except GiveUp as fault:
            failed = self._given(owner, turn_key, turn, Extraction(()), "failed", cause=fault.code)
            await self._append(owner, failed, sequence)
            raise
        outcome: Outcome = "kept" if found.items else "empty"
        given = self._given(owner, turn_key, turn, found, "provisional" if found.provisional else outcome)
        return await self._append(owner, given, sequence)

    async def _is_forgotten(self, owner: Owner, turn_key: str) -> bool:
        """A turn with a forgotten item was read before: read again, it could say the same in words of another id."""
        ledger = await self._tombstones(owner)
        return ledger.is_forgotten(turn_key) or ledger.has_forgotten_item(turn_key)

    async def _tombstones(self, owner: Owner) -> Ledger:
        ledger = Ledger()
        async for logged in self.log.read(owner, kinds=("forgotten",)):
            ledger.apply(logged.event_id, logged.event)
        return ledger

    def _given(
        self,
        owner: Owner,
        turn_key: str,
        turn: Turn,
        found: Extraction,
        outcome: Outcome,
        *,
        cause: str | None = None,
    ) -> TurnGiven:
        items = self._evidence(owner, turn_key, turn, found)
        return TurnGiven(
            turn_key=turn_key,
            turn_id=turn.turn_id,
            session_key=self.ids.session_key(turn.tenant, turn.user_id, turn.session_id),
            session_id=turn.session_id,
            outcome=outcome,
            occurred_at=turn.occurred_at,
            accepted_at=turn.accepted_at,
            provenance=Provenance(
                extractor=self.extractor.name,
                model=self.extractor.model,
                prompt_hash=self.extractor.prompt_hash,
                usage=tuple(sorted(found.usage.items())),
            ),
            items=items,
            cause=cause,
        )

    def _evidence(self, owner: Owner, turn_key: str, turn: Turn, found: Extraction) -> tuple[Evidence, ...]:
        """One piece a memory: what a turn says twice it says once."""
        pieces: dict[str, Evidence] = {}
        for number, item in enumerate(found.items):
            piece = evidence_of(self.ids, owner, turn, turn_key, number=number, item=item)
            pieces.setdefault(piece.memory_id, replace(piece, provisional=found.provisional))
        return tuple(pieces.values())

    async def _append(self, owner: Owner, given: TurnGiven, sequence: int) -> str:
        """The outcome. What was forgotten while it was read does not stay in the log."""
        if await self._is_forgotten(owner, given.turn_key):
            await self.turns.delete(sequence)
            return "forgotten"
        position = await self.log.append(owner, given, accepted_at=given.accepted_at)
        # a tombstone behind the event finds it there; one before it may have been carried out already
        if (await self._tombstones(owner)).is_forgotten(given.turn_key):
            await self.log.erase(owner, turn_keys={given.turn_key})
            await self.turns.delete(sequence)
            return "forgotten"
        self.recent.remember(owner, position, given)
        _log.debug("turn.extracted", outcome=given.outcome, items=len(given.items))
        return given.outcome
