"""Raw turns in the `INTAKE` stream, looked at without being taken."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from hindsight_common.events import subjects
from hindsight_common.events.streams import INTAKE
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.reading import StoredMessage, delete_message, read_subject
from hindsight_common.ports.raw_turns import RawTurn


class NatsRawTurns:
    """Implements `ports.raw_turns.RawTurns`."""

    def __init__(self, bus: Bus, ids: IdFactory) -> None:
        self._bus = bus
        self._ids = ids

    async def waiting(self, owner: Owner) -> AsyncIterator[RawTurn]:
        async for message in read_subject(self._bus.js, INTAKE.name, f"{subjects.CONVERSATION_TURN}.>"):
            if (raw := self._of(owner, message)) is not None:
                yield raw
        async for message in read_subject(self._bus.js, INTAKE.name, subjects.CONVERSATION_TURN):
            if (raw := self._of(owner, message)) is not None:
                yield raw

    def _of(self, owner: Owner, message: StoredMessage) -> RawTurn | None:
        tenant = subjects.tenant_of(message.subject, subjects.CONVERSATION_TURN)
        try:
            said = json.loads(message.data)
        except ValueError:
            return None
        user_id = said.get("user_id") if isinstance(said, dict) else None
        if not isinstance(user_id, str) or self._ids.owner(tenant, user_id) != owner:
            return None
        turn_id, session_id = said.get("turn_id"), said.get("session_id")
        return RawTurn(
            message.sequence,
            self._ids.turn_key(tenant, user_id, turn_id) if isinstance(turn_id, str) else None,
            self._ids.session_key(tenant, user_id, session_id) if isinstance(session_id, str) else None,
        )

    async def delete(self, sequence: int) -> bool:
        return await delete_message(self._bus.js, INTAKE.name, sequence)
