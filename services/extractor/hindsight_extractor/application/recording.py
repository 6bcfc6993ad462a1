"""What a turn gave goes into the log, unless it is or becomes forgotten."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import structlog

from hindsight_common.domain.fold import FINAL_OUTCOMES, Ledger
from hindsight_common.domain.memory import Evidence, Outcome, Provenance, TurnGiven
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.extraction import Extraction, Extractor, Turn
from hindsight_common.ports.log import MemoryLog, Overtaken
from hindsight_common.ports.turns import TurnStore
from hindsight_extractor.application.extraction_telemetry import ExtractionTelemetry
from hindsight_extractor.application.recent_turns import RecentTurns
from hindsight_extractor.application.spoken import Spoken
from hindsight_extractor.domain.evidence import evidence_of

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AcceptedTurn:
    """An accepted turn with what addresses it. `sequence` is its place in the store of turns."""

    owner: Owner
    key: str
    turn: Turn
    sequence: int


@dataclass(frozen=True, slots=True)
class RecordTurn:
    """Writes the one event of a reading. All that reads turns writes through here."""

    ids: IdFactory
    log: MemoryLog
    turns: TurnStore
    recent: RecentTurns
    telemetry: ExtractionTelemetry
    spoken: Spoken

    async def drops(self, owner: Owner, turn_key: str, sequence: int) -> bool:
        """True if a tombstone covers the turn or one of its items; then the turn is gone when this returns.

        A turn with a forgotten item was read before: read again, it could say the same in words of another id.
        """
        ledger = await self._tombstones(owner)
        if not (ledger.is_forgotten(turn_key) or ledger.has_forgotten_item(turn_key)):
            return False
        await self.turns.delete(sequence)
        # intake could not know when the turn came again
        await self.spoken.forget(owner, turn_key)
        return True

    async def outcome(self, owner: Owner, turn_key: str) -> str | None:
        """The best outcome that the log has of a turn."""
        return (await self.log.outcomes(owner)).get(turn_key)

    async def record(
        self, accepted: AcceptedTurn, found: Extraction, by: Extractor, *, cause: str | None = None
    ) -> str:
        """Returns the outcome: `kept`, `empty`, `provisional`, or `forgotten` if it was while it was read."""
        outcome: Outcome = "provisional" if found.provisional else "kept" if found.items else "empty"
        return await self._append(accepted, self._given(accepted, found, by, outcome, cause))

    async def record_failure(self, accepted: AcceptedTurn, by: Extractor, cause: str) -> str:
        """Says in the log that a turn could not be read, and why."""
        return await self._append(accepted, self._given(accepted, Extraction(()), by, "failed", cause))

    async def _tombstones(self, owner: Owner) -> Ledger:
        ledger = Ledger()
        async for logged in self.log.read(owner, kinds=("forgotten",)):
            ledger.apply(logged.event_id, logged.event)
        return ledger

    def _given(
        self, accepted: AcceptedTurn, found: Extraction, by: Extractor, outcome: Outcome, cause: str | None
    ) -> TurnGiven:
        turn = accepted.turn
        return TurnGiven(
            turn_key=accepted.key,
            turn_id=turn.turn_id,
            session_key=self.ids.session_key(turn.tenant, turn.user_id, turn.session_id),
            session_id=turn.session_id,
            outcome=outcome,
            occurred_at=turn.occurred_at,
            accepted_at=turn.accepted_at,
            provenance=Provenance(
                extractor=by.name,
                model=by.model,
                prompt_hash=by.prompt_hash,
                usage=tuple(sorted(found.usage.items())),
            ),
            items=self._evidence(accepted, found),
            cause=cause,
        )

    def _evidence(self, accepted: AcceptedTurn, found: Extraction) -> tuple[Evidence, ...]:
        """One piece a memory: what a turn says twice it says once."""
        pieces: dict[str, Evidence] = {}
        for number, item in enumerate(found.items):
            piece = evidence_of(
                self.ids, accepted.owner, accepted.turn, accepted.key, number=number, item=item
            )
            pieces.setdefault(piece.memory_id, replace(piece, provisional=found.provisional))
        return tuple(pieces.values())

    async def _append(self, accepted: AcceptedTurn, given: TurnGiven) -> str:
        """The outcome. What was forgotten while it was read does not get into the log."""
        owner = accepted.owner
        position = None
        while position is None:
            tombstone = await self.log.last_tombstone(owner)
            if await self.drops(owner, given.turn_key, accepted.sequence):
                return "forgotten"
            # a tombstone behind the event finds it there; one before it may have been carried out already
            with suppress(Overtaken):
                position = await self.log.append(
                    owner, given, accepted_at=given.accepted_at, after_tombstone=tombstone
                )
        self.recent.remember(owner, position, given)
        if given.outcome in FINAL_OUTCOMES:
            self.telemetry.extracted(given.provenance.extractor, len(given.items))
        _log.debug("turn.extracted", outcome=given.outcome, items=len(given.items))
        return given.outcome
