"""The log in the `LOG` stream: events sealed with the user's key, one subject a user and kind."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

import structlog

from hindsight_common.domain.decisions import Decision
from hindsight_common.domain.fold import better_outcome
from hindsight_common.domain.memory import Erased, Forgotten, LogEvent, Piece, TurnGiven
from hindsight_common.errors import GiveUp, RetryLater
from hindsight_common.events import subjects
from hindsight_common.events.envelope import Envelope, Header
from hindsight_common.events.log import KINDS, VERSIONS, body_of, kind_of, read_body
from hindsight_common.events.streams import LOG
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.publishing import AlreadyThere, publish
from hindsight_common.messaging.reading import StoredMessage, delete_message, last_message, read_subject
from hindsight_common.messaging.settlement import BatchFault, Delivery
from hindsight_common.ports.keys import Keyring
from hindsight_common.ports.log import Logged, MemoryLog, Overtaken
from hindsight_common.sealing import KeyDestroyed, MasterKeys, SealingKey

_ATTEMPTS = 3

_log = structlog.get_logger(__name__)


class NatsMemoryLog:
    """Implements `ports.log.MemoryLog`."""

    def __init__(self, bus: Bus, keyring: Keyring, ids: IdFactory, master: MasterKeys) -> None:
        self._bus = bus
        self._keyring = keyring
        self._ids = ids
        self._master = master

    async def append(
        self, owner: Owner, event: LogEvent, *, accepted_at: datetime, after_tombstone: int | None = None
    ) -> int:
        kind, body = kind_of(event), body_of(event)
        event_id = self._ids.event_id(owner, kind, body.decode())
        subject = subjects.log(owner, kind)
        header = self._described(Header(VERSIONS[kind], kind, event_id, "", accepted_at), event, subject)
        for _ in range(_ATTEMPTS):
            key = await self._keyring.current(owner)
            envelope = Envelope.sealed(replace(header, key_id=key.key_id), body, key, subject)
            # the key is part of the id: sealed anew, the same event must not count as a repetition
            try:
                published = await publish(
                    self._bus,
                    subject,
                    envelope.to_bytes(),
                    msg_id=f"{event_id}.{key.key_id}",
                    expected_last_subject_sequence=after_tombstone,
                    expected_on=None if after_tombstone is None else subjects.log(owner, "forgotten"),
                )
            except AlreadyThere as overtaken:
                raise Overtaken("a tombstone came first: look at it before appending") from overtaken
            # an erasure may have destroyed the key between sealing and appending: its marker decides, and what was
            # said after it is sealed anew. What was appended before the marker the eraser finds itself.
            if not await self._keyring.is_destroyed(owner, key.key_id):
                return published.sequence
        raise RetryLater("a user's key was destroyed again and again while an event was being written")

    def _described(self, header: Header, event: LogEvent, subject: str) -> Header:
        """The header with what has to be known of an event without its user's key."""
        if isinstance(event, TurnGiven):
            return replace(
                header, occurred_at=event.occurred_at, turn_key=event.turn_key, outcome=event.outcome
            )
        if isinstance(event, Forgotten):
            text = _tombstone_text(subject, header.event_id, event.scope, event.pieces)
            return replace(header, scope=event.scope, evidence=event.pieces, proof=self._master.proof(text))
        if isinstance(event, Decision):
            return replace(header, evidence=event.pieces)
        return header

    async def open(self, subject: str, data: bytes, sequence: int) -> Logged:
        envelope = Envelope.from_bytes(data)
        header, owner = envelope.header, subjects.owner_of(subject)
        event = await self._event(subject, owner, envelope)
        return Logged(sequence, owner, header.event_id, header.kind, header.accepted_at, event)

    async def _event(self, subject: str, owner: Owner, envelope: Envelope) -> LogEvent:
        header = envelope.header
        if header.kind == "forgotten":
            text = _tombstone_text(subject, header.event_id, header.scope or "", header.evidence)
            self._master.verify_proof(text, header.proof)
        try:
            key = await self._keyring.find(owner, header.key_id)
        except KeyDestroyed:
            if header.kind == "forgotten":
                return _bare_tombstone(header)
            return Erased(header.kind, header.turn_key)
        return read_body(header.kind, header.version, envelope.unsealed(key, subject))

    async def read(self, owner: Owner, *, kinds: Sequence[str] = (), after: int = 0) -> AsyncIterator[Logged]:
        pattern = subjects.log(owner, kinds[0]) if len(kinds) == 1 else subjects.log_of(owner)
        if kinds and not set(kinds) <= set(KINDS):
            raise ValueError(f"unknown kinds: {sorted(set(kinds) - set(KINDS))}")
        async for stored in read_subject(self._bus.js, LOG.name, pattern, start_sequence=after + 1):
            if kinds and stored.subject.rsplit(".", 1)[1] not in kinds:
                continue
            if (logged := await self._opened(stored)) is not None:
                yield logged

    async def read_all(self, *, after: int = 0) -> AsyncIterator[Logged]:
        async for stored in read_subject(self._bus.js, LOG.name, LOG.subjects[0], start_sequence=after + 1):
            if (logged := await self._opened(stored)) is not None:
                yield logged

    async def _opened(self, stored: StoredMessage) -> Logged | None:
        """None for what nobody can ever read: deliveries bury it, and it must not block the rest of its user."""
        try:
            return await self.open(stored.subject, stored.data, stored.sequence)
        except GiveUp as fault:
            _pass_over(stored, fault)
            return None

    async def reseal(self, owner: Owner, old: SealingKey, covered: Collection[Piece]) -> int:
        # decisions first: what a turn says must not stand for a moment without what was decided about it
        decisions = await self._reseal(owner, old, "decision", covered)
        return decisions + await self._reseal(owner, old, "turn", covered)

    async def _reseal(self, owner: Owner, old: SealingKey, kind: str, covered: Collection[Piece]) -> int:
        renewed = 0
        async for stored, envelope in self._envelopes(subjects.log(owner, kind)):
            header = envelope.header
            if header.key_id != old.key_id or _is_covered(header, covered):
                continue
            try:
                event = read_body(header.kind, header.version, envelope.unsealed(old, stored.subject))
            except GiveUp as fault:
                _pass_over(stored, fault)
                continue
            await self.append(owner, event, accepted_at=header.accepted_at)
            renewed += 1
        return renewed

    async def erase(
        self, owner: Owner, *, key_ids: Collection[str] = (), turn_keys: Collection[str] = ()
    ) -> int:
        removed = 0
        async for stored, envelope in self._envelopes(subjects.log_of(owner)):
            header = envelope.header
            due = header.key_id in key_ids or (header.turn_key is not None and header.turn_key in turn_keys)
            if due and header.kind != "forgotten":
                removed += await delete_message(self._bus.js, LOG.name, stored.sequence)
        return removed

    async def erase_decisions(self, owner: Owner, covered: Collection[Piece]) -> int:
        removed = 0
        async for stored, envelope in self._envelopes(subjects.log(owner, "decision")):
            if _is_covered(envelope.header, covered):
                removed += await delete_message(self._bus.js, LOG.name, stored.sequence)
        return removed

    async def _envelopes(self, pattern: str) -> AsyncIterator[tuple[StoredMessage, Envelope]]:
        """What stands on a subject, unopened; what is no event is passed over as `_opened` does."""
        async for stored in read_subject(self._bus.js, LOG.name, pattern):
            try:
                envelope = Envelope.from_bytes(stored.data)
            except GiveUp as fault:
                _pass_over(stored, fault)
            else:
                yield stored, envelope

    async def last_tombstone(self, owner: Owner) -> int:
        message = await last_message(self._bus.js, LOG.name, subjects.log(owner, "forgotten"))
        return message.sequence if message else 0

    async def last_sequence(self, owner: Owner) -> int:
        message = await last_message(self._bus.js, LOG.name, subjects.log_of(owner))
        return message.sequence if message else 0

    async def outcomes(self, owner: Owner) -> dict[str, str]:
        best: dict[str, str] = {}
        async for _, envelope in self._envelopes(subjects.log(owner, "turn")):
            header = envelope.header
            if header.turn_key is not None and header.outcome is not None:
                best[header.turn_key] = better_outcome(best.get(header.turn_key), header.outcome)
        return best

    async def read_turn(self, owner: Owner, turn_key: str) -> AsyncIterator[Logged]:
        wanted = turn_key.encode()
        async for stored in read_subject(self._bus.js, LOG.name, subjects.log_of(owner)):
            kind = stored.subject.rsplit(".", 1)[1]
            # the key stands in the clear header; what does not even hold its digits need not be parsed
            if kind == "forgotten" or (kind == "turn" and wanted in stored.data):
                logged = await self._opened(stored)
                if logged is None:
                    continue
                if not isinstance(logged.event, TurnGiven) or logged.event.turn_key == turn_key:
                    yield logged


async def open_batch(log: MemoryLog, batch: Sequence[Delivery]) -> list[Logged]:
    """The events that deliveries brought. Raises `BatchFault` for one that can never be read."""
    opened: list[Logged] = []
    for delivery in batch:
        try:
            opened.append(await log.open(delivery.subject, delivery.data, delivery.sequence))
        except GiveUp as fault:
            raise BatchFault(delivery, fault) from fault
    return opened


def _pass_over(stored: StoredMessage, fault: GiveUp) -> None:
    _log.error("log_event_unreadable", sequence=stored.sequence, code=fault.code)


def _is_covered(header: Header, covered: Collection[Piece]) -> bool:
    """True if tombstones over these pieces leave nothing that the event speaks of; a decision's pieces all count."""
    if header.kind != "decision":
        return (header.turn_key or "", None) in covered
    pieces = header.evidence
    return bool(pieces) and all((turn, None) in covered or (turn, said) in covered for turn, said in pieces)


def _bare_tombstone(header: Header) -> Forgotten:
    """What is left of a tombstone once its user's key is gone: all that it needs to win."""
    scopes: dict[str | None, Literal["items", "session"]] = {"items": "items", "session": "session"}
    return Forgotten(scopes.get(header.scope, "user"), header.evidence, header.accepted_at)


def _tombstone_text(
    subject: str, event_id: str, scope: str, pieces: Sequence[tuple[str, str | None]]
) -> bytes:
    return "\n".join([subject, event_id, scope, json.dumps([list(piece) for piece in pieces])]).encode()
