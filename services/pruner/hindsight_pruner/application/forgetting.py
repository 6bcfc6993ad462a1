"""`memory.forget`: what would go, or, confirmed, the tombstone and the receipt."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight_common.clock import Clock
from hindsight_common.domain.fold import Ledger
from hindsight_common.domain.memory import Forgotten, LogEvent, Memory
from hindsight_common.errors import RequestError
from hindsight_common.events.log import body_of
from hindsight_common.events.requests import ForgetAnswer, ForgetRequest, parse_request
from hindsight_common.events.shown import shown
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.log import MemoryLog
from hindsight_common.ports.raw_turns import RawTurns
from hindsight_common.ports.turns import TurnStore
from hindsight_pruner.application.receipts import Receipts
from hindsight_pruner.domain.tombstones import (
    parts,
    pieces_of_memories,
    pieces_of_turns,
    resting_on,
    tombstone,
    turns_of_session,
)


@dataclass(frozen=True, slots=True)
class Forget:
    """The tombstone is written here and wins from then on; the eraser carries it out and makes the receipt."""

    ids: IdFactory
    log: MemoryLog
    turns: TurnStore
    raw_turns: RawTurns
    receipts: Receipts
    clock: Clock

    async def answer(self, tenant: str, data: bytes) -> ForgetAnswer:
        """Raises `RequestError`; a memory that the user does not have is `not_found` (404)."""
        request = parse_request(ForgetRequest, data)
        owner = self.ids.owner(tenant, request.user_id)
        events = [(logged.event_id, logged.event) async for logged in self.log.read(owner)]
        ledger = Ledger()
        for event_id, event in events:
            ledger.apply(event_id, event)
        decided = await self._decide(tenant, request, owner, ledger, events)
        if not request.confirm:
            return ForgetAnswer(would_forget=tuple(shown(m) for m in resting_on(ledger, decided.pieces)))
        *earlier, last = parts(decided)
        receipt_id = self.ids.event_id(owner, "forgotten", body_of(last).decode())
        with self.receipts.expected(receipt_id) as waiter:
            for part in (*earlier, last):
                await self.log.append(owner, part, accepted_at=part.decided_at)
            return ForgetAnswer(receipt=await self.receipts.wait(receipt_id, waiter))

    async def _decide(
        self,
        tenant: str,
        request: ForgetRequest,
        owner: Owner,
        ledger: Ledger,
        events: list[tuple[str, LogEvent]],
    ) -> Forgotten:
        now = self.clock.now()
        if request.memory_ids is not None:
            chosen = [_known(ledger, place, memory_id) for place, memory_id in enumerate(request.memory_ids)]
            return tombstone(events, "items", pieces_of_memories(ledger, chosen), now)
        if request.session_id is not None:
            session = self.ids.session_key(tenant, request.user_id, request.session_id)
            covered = turns_of_session(ledger, session) | await self._on_the_way(owner, ledger, session)
            return tombstone(events, "session", pieces_of_turns(covered), now)
        covered = {given.turn_key for given in ledger.turns()} | await self._on_the_way(owner, ledger, None)
        return tombstone(events, "user", pieces_of_turns(covered), now)

    async def _on_the_way(self, owner: Owner, ledger: Ledger, session_key: str | None) -> set[str]:
        """Turns that are not in the log yet: accepted ones, and raw ones that still wait."""
        waiting: set[str] = set()
        # in the direction in which turns move: one that is accepted meanwhile is met in the second place
        async for raw in self.raw_turns.waiting(owner):
            if raw.turn_key is not None and session_key in (None, raw.session_key):
                waiting.add(raw.turn_key)
        async for stored in self.turns.list(owner):
            if ledger.turn(stored.turn_key) is not None:
                continue
            if session_key is None or await self._session_of(stored.sequence) == session_key:
                waiting.add(stored.turn_key)
        return waiting

    async def _session_of(self, sequence: int) -> str | None:
        turn = await self.turns.read(sequence)
        return self.ids.session_key(turn.tenant, turn.user_id, turn.session_id) if turn else None


def _known(ledger: Ledger, place: int, memory_id: str) -> Memory:
    memory = ledger.memory(memory_id)
    if memory is None:
        raise RequestError(
            "not_found", "this user has no such memory", status=404, field=f"memory_ids.{place}"
        )
    return memory
