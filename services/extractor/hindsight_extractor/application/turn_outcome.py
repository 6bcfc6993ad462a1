"""What became of a turn: `memory.turn`."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_common.domain.fold import Ledger
from hindsight_common.errors import RequestError
from hindsight_common.events.requests import ErrorBody, TurnAnswer, TurnRequest, parse_request
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.dead_letters import DeadLetters
from hindsight_common.ports.log import MemoryLog
from hindsight_common.ports.turns import TurnStore
from hindsight_extractor.application.recent_turns import RecentTurns


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    ids: IdFactory
    log: MemoryLog
    turns: TurnStore
    dead_letters: DeadLetters
    recent: RecentTurns

    async def answer(self, tenant: str, data: bytes) -> TurnAnswer:
        """Raises `RequestError` (`not_found`, 404) for a turn that nobody knows."""
        asked = parse_request(TurnRequest, data)
        owner = self.ids.owner(tenant, asked.user_id)
        turn_key = self.ids.turn_key(tenant, asked.user_id, asked.turn_id)
        ledger, position = await self._ledger(owner, turn_key)
        given = ledger.turn(turn_key)
        if ledger.is_forgotten(turn_key) or ledger.was_erased(turn_key):
            return TurnAnswer(turn_id=asked.turn_id, outcome="forgotten")
        if given is not None and given.outcome != "failed":
            living = sum(not ledger.is_forgotten(turn_key, piece.memory_id) for piece in given.items)
            return TurnAnswer(
                turn_id=asked.turn_id, outcome=given.outcome, memories=living, position=position
            )
        letter = await self.dead_letters.find(owner, turn_key)
        if letter is not None:
            error = ErrorBody(code=letter.code, message=letter.reason, field=letter.field)
            refused = letter.stream == "INTAKE"
            return TurnAnswer(
                turn_id=asked.turn_id,
                outcome="rejected" if refused else "failed",
                position=position,
                error=error,
            )
        if given is not None:
            cause = given.cause or "failed"
            error = ErrorBody(
                code=cause, message="the turn could not be extracted; it is kept as a dead letter"
            )
            return TurnAnswer(turn_id=asked.turn_id, outcome="failed", position=position, error=error)
        if await self.turns.find(owner, turn_key) is not None:
            return TurnAnswer(turn_id=asked.turn_id, outcome="pending")
        raise RequestError(
            "not_found",
            "no turn of this user has this turn_id; one just published may not have been read yet",
            status=404,
            field="turn_id",
        )

    async def _ledger(self, owner: Owner, turn_key: str) -> tuple[Ledger, int | None]:
        """The turn's own events and the owner's tombstones, joined; and where its winning event stands."""
        ledger, position = Ledger(), None
        recent = self.recent.find(owner, turn_key)
        if recent is not None:
            position, given = recent
            ledger.apply("", given)
            events = self.log.read(owner, kinds=("forgotten",))
        else:
            events = self.log.read_turn(owner, turn_key)
        async for logged in events:
            before = ledger.turn(turn_key)
            ledger.apply(logged.event_id, logged.event)
            if ledger.turn(turn_key) is not before:
                position = logged.sequence
        return ledger, position
