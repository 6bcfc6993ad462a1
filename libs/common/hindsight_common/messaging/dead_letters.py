"""Dead letters in the `DEAD` stream: sealed, addressed by keyed hashes, with their cause in the clear header."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from hindsight_common.errors import GiveUp
from hindsight_common.events import subjects
from hindsight_common.events.streams import DAY_S, DEAD, INTAKE
from hindsight_common.ids import Owner
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.delivery import Delivery
from hindsight_common.messaging.publishing import publish
from hindsight_common.messaging.reading import StoredMessage, delete_message, read_subject
from hindsight_common.ports.dead_letters import DeadLetter
from hindsight_common.ports.keys import Keyring
from hindsight_common.sealing import KeyDestroyed, MasterKeys, SealingKey

UNREADABLE_TTL_S: Final = 7 * DAY_S

CODE: Final = "Hindsight-Dead-Code"
FIELD: Final = "Hindsight-Dead-Field"
_TURN: Final = "Hindsight-Dead-Turn"
_KEY: Final = "Hindsight-Dead-Key"
STREAM: Final = "Hindsight-Dead-Stream"
CONSUMER: Final = "Hindsight-Dead-Consumer"
SEQUENCE: Final = "Hindsight-Dead-Sequence"
_ATTEMPTS: Final = "Hindsight-Dead-Attempts"
_SUBJECT: Final = "Hindsight-Dead-Subject"


class NatsDeadLetters:
    """Implements `ports.dead_letters.DeadLetters`, and `bury` for the delivery boundary.

    `redact` removes identity numbers, cards, keys and passwords by pattern: a body that could not be read as a turn
    has not passed through intake's redaction.
    """

    def __init__(
        self, bus: Bus, keyring: Keyring, master: MasterKeys, redact: Callable[[bytes], bytes] | None
    ) -> None:
        self._bus = bus
        self._keyring = keyring
        self._master = master
        self._redact = redact

    async def bury(self, delivery: Delivery, fault: GiveUp) -> None:
        """Keeps a delivery that can never succeed. Idempotent for repetitions of one delivery."""
        owner, turn_key = _address(delivery, fault)
        tenant = owner.tenant if owner else _tenant_of(delivery.subject)
        subject = subjects.dead(delivery.stream, delivery.consumer, tenant, owner.user_key if owner else None)
        key = await self._keyring.current(owner) if owner else self._master.deployment
        body = json.dumps({"reason": fault.reason}).encode() + b"\n" + self._readable(delivery)
        headers = {
            CODE: fault.code,
            _KEY: key.key_id,
            STREAM: delivery.stream,
            CONSUMER: delivery.consumer,
            SEQUENCE: str(delivery.sequence),
            _ATTEMPTS: str(delivery.attempts),
            _SUBJECT: delivery.subject,
        }
        if fault.field is not None and fault.field.isascii() and fault.field.isprintable():
            headers[FIELD] = fault.field
        if turn_key is not None:
            headers[_TURN] = turn_key
        if owner is None:
            headers["Nats-TTL"] = f"{UNREADABLE_TTL_S}s"
        await publish(
            self._bus,
            subject,
            key.seal(body, _context(subject, headers)),
            headers=headers,
            msg_id=f"{delivery.stream}.{delivery.consumer}.{delivery.sequence}.{delivery.timestamp.isoformat()}",
        )

    def _readable(self, delivery: Delivery) -> bytes:
        # what comes from other streams was redacted and sealed on its way in
        if delivery.stream != INTAKE.name:
            return delivery.data
        if self._redact is None:
            raise TypeError("a worker that reads raw turns redacts their dead letters")
        return self._redact(delivery.data)

    async def find(self, owner: Owner, turn_key: str) -> DeadLetter | None:
        found: StoredMessage | None = None
        async for message in read_subject(self._bus.js, DEAD.name, subjects.dead_of(owner)):
            if message.headers.get(_TURN) == turn_key:
                found = message
        return await self._opened(owner, found) if found else None

    async def _opened(self, owner: Owner, message: StoredMessage) -> DeadLetter | None:
        headers = message.headers
        try:
            key: SealingKey = await self._keyring.find(owner, headers[_KEY])
        except KeyDestroyed:
            return None
        body = key.unseal(message.data, _context(message.subject, headers))
        return DeadLetter(
            sequence=message.sequence,
            stream=headers[STREAM],
            consumer=headers[CONSUMER],
            code=headers[CODE],
            reason=str(json.loads(body.partition(b"\n")[0])["reason"]),
            field=headers.get(FIELD),
        )

    async def erase(self, owner: Owner, turn_keys: frozenset[str] | None = None) -> int:
        removed = 0
        async for message in read_subject(self._bus.js, DEAD.name, subjects.dead_of(owner)):
            if turn_keys is None or message.headers.get(_TURN) in turn_keys:
                removed += await delete_message(self._bus.js, DEAD.name, message.sequence)
        return removed


def _address(delivery: Delivery, fault: GiveUp) -> tuple[Owner | None, str | None]:
    if fault.owner is not None or delivery.stream == INTAKE.name:
        return fault.owner, fault.turn_key
    try:
        owner = subjects.owner_of(delivery.subject)
    except GiveUp:
        return None, None
    tokens = delivery.subject.split(".")
    return owner, tokens[4] if tokens[0] == "turn" else fault.turn_key


def _tenant_of(subject: str) -> str:
    """The tenant that a raw subject names; the default one for a name that could not be a subject token."""
    for base in (subjects.CONVERSATION_TURN, subjects.CONVERSATION_CLOSED):
        if subject == base or subject.startswith(f"{base}."):
            tenant = subjects.tenant_of(subject, base)
            return tenant if subjects.TENANT_PATTERN.fullmatch(tenant) else subjects.DEFAULT_TENANT
    return subjects.DEFAULT_TENANT


def _context(subject: str, headers: Mapping[str, str]) -> bytes:
    named = sorted((name, value) for name, value in headers.items() if name.startswith("Hindsight-Dead-"))
    return json.dumps([subject, named]).encode()
