"""What was said in a session goes into working memory. No turn is refused, or delayed for long, because of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from hindsight_common.clock import Clock
from hindsight_common.errors import HindsightError
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.extraction import Turn
from hindsight_common.ports.working_memory import SpokenTurn, WorkingMemory
from hindsight_extractor.application.spoken_telemetry import SpokenTelemetry
from hindsight_extractor.domain.utterances import utterances_of

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Spoken:
    """`session_ttl` is how long a silent session is remembered: a turn accepted before that is not spoken any more."""

    working: WorkingMemory
    ids: IdFactory
    clock: Clock
    session_ttl: timedelta
    telemetry: SpokenTelemetry = field(default_factory=SpokenTelemetry)

    async def remember(self, owner: Owner, turn_key: str, turn: Turn) -> None:
        """Adds what was said. Never raises: with the store away the session misses this turn, and that is counted."""
        said = utterances_of(turn)
        if not said or self.clock.now() - turn.accepted_at >= self.session_ttl:
            return
        session = self.ids.session_key(turn.tenant, turn.user_id, turn.session_id)
        spoken = SpokenTurn(turn_key, turn.turn_id, turn.occurred_at, turn.accepted_at, said)
        try:
            await self.working.append(owner, session, spoken)
        except HindsightError as fault:
            self._missed("append", fault)

    async def forget(self, owner: Owner, turn_key: str) -> None:
        """Removes a turn that turned out to be forgotten. Never raises: what is left ends with its session."""
        try:
            await self.working.forget_turns(owner, [turn_key])
        except HindsightError as fault:
            self._missed("forget", fault)

    async def close(self, owner: Owner, session_key: str) -> None:
        """Raises `RetryLater` while the store is away: the notice waits for it, no turn does."""
        await self.working.close_session(owner, session_key)

    def _missed(self, operation: str, fault: HindsightError) -> None:
        _log.warning("working_memory.missed", operation=operation, fault=type(fault).__name__)
        self.telemetry.missed(operation)
