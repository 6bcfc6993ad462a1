"""Accepted turns in the `TURNS` stream: one subject a turn, so that a repetition is seen as one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final

import structlog
from pydantic import TypeAdapter, ValidationError

from hindsight_common.errors import GiveUp, RetryLater
from hindsight_common.events import subjects
from hindsight_common.events.envelope import Envelope, Header
from hindsight_common.events.streams import TURNS
from hindsight_common.ids import Owner
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.publishing import AlreadyThere, publish
from hindsight_common.messaging.reading import (
    StoredMessage,
    delete_message,
    last_message,
    message_at,
    read_subject,
)
from hindsight_common.ports.extraction import Turn
from hindsight_common.ports.keys import Keyring
from hindsight_common.ports.turns import Acceptance, StoredTurn
from hindsight_common.sealing import KeyDestroyed, SealingKey

VERSION: Final = 1
_BODY: Final = TypeAdapter(Turn)
_ATTEMPTS = 3

_log = structlog.get_logger(__name__)


class NatsTurnStore:
    """Implements `ports.turns.TurnStore`."""

    def __init__(self, bus: Bus, keyring: Keyring) -> None:
        self._bus = bus
        self._keyring = keyring

    async def accept(self, owner: Owner, turn_key: str, turn: Turn, digest: str) -> Acceptance:
        subject, expected = subjects.turn(owner, turn_key), 0
        for _ in range(_ATTEMPTS):
            key = await self._keyring.current(owner)
            header = Header(
                version=VERSION,
                kind="accepted",
                event_id=turn_key,
                key_id=key.key_id,
                accepted_at=turn.accepted_at,
                occurred_at=turn.occurred_at,
                turn_key=turn_key,
                digest=digest,
            )
            data = Envelope.sealed(header, _BODY.dump_json(turn), key, subject).to_bytes()
            try:
                published = await publish(self._bus, subject, data, expected_last_subject_sequence=expected)
            except AlreadyThere:
                standing = await last_message(self._bus.js, TURNS.name, subject)
                if standing is None:  # deleted in between: its outcome is final, or it was forgotten
                    continue
                known = Envelope.from_bytes(standing.data).header
                if await self._keyring.is_destroyed(owner, known.key_id):
                    expected = standing.sequence  # left over from an erasure; nobody can read it any more
                    continue
                if known.digest != digest:
                    raise GiveUp(
                        "turn_id_reused",
                        "this turn_id was accepted before with other content: give every turn an id of its own",
                        field="turn_id",
                        owner=owner,
                        turn_key=turn_key,
                    ) from None
                return Acceptance(standing.sequence, duplicate=True)
            if not await self._keyring.is_destroyed(owner, key.key_id):
                return Acceptance(published.sequence, duplicate=False)
            expected = published.sequence
        raise RetryLater(
            "a turn could not be appended: its user's key or its subject changed again and again"
        )

    async def open(self, subject: str, data: bytes) -> Turn | None:
        envelope = Envelope.from_bytes(data)
        try:
            key = await self._keyring.find(subjects.owner_of(subject), envelope.header.key_id)
        except KeyDestroyed:
            return None
        body = envelope.unsealed(key, subject)
        try:
            return _BODY.validate_json(body)
        except ValidationError as fault:
            raise GiveUp("invalid_event", "an accepted turn does not have the form of its schema") from fault

    async def find(self, owner: Owner, turn_key: str) -> StoredTurn | None:
        message = await last_message(self._bus.js, TURNS.name, subjects.turn(owner, turn_key))
        return _stored(message) if message else None

    async def read(self, sequence: int) -> Turn | None:
        message = await message_at(self._bus.js, TURNS.name, sequence)
        return await self.open(message.subject, message.data) if message else None

    async def list(self, owner: Owner | None = None) -> AsyncIterator[StoredTurn]:
        pattern = subjects.turns_of(owner) if owner else TURNS.subjects[0]
        async for message in read_subject(self._bus.js, TURNS.name, pattern):
            try:
                stored = _stored(message)
            except GiveUp as fault:
                # its delivery is a dead letter; the turns behind it are due all the same
                _log.error("turn_unreadable", sequence=message.sequence, code=fault.code)
            else:
                yield stored

    async def delete(self, sequence: int) -> None:
        await delete_message(self._bus.js, TURNS.name, sequence)

    async def reseal(self, stored: StoredTurn, old: SealingKey) -> None:
        message = await message_at(self._bus.js, TURNS.name, stored.sequence)
        if message is None:
            return
        envelope = Envelope.from_bytes(message.data)
        body = envelope.unsealed(old, message.subject)
        key = await self._keyring.current(stored.owner)
        header = replace(envelope.header, key_id=key.key_id)
        data = Envelope.sealed(header, body, key, message.subject).to_bytes()
        try:
            # appended before the old one goes: a crash in between leaves two, which the fold takes as one
            await publish(self._bus, message.subject, data, expected_last_subject_sequence=stored.sequence)
        except AlreadyThere:
            return
        await self.delete(stored.sequence)


def _stored(message: StoredMessage) -> StoredTurn:
    header = Envelope.from_bytes(message.data).header
    return StoredTurn(
        sequence=message.sequence,
        owner=subjects.owner_of(message.subject),
        turn_key=header.turn_key or header.event_id,
        key_id=header.key_id,
        stored_at=message.timestamp,
    )
