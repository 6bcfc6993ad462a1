"""Intake: a raw turn becomes an accepted one — validated, redacted, keyed, sealed, appended once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from hindsight_common.clock import Clock
from hindsight_common.errors import GiveUp, HindsightError, RequestError
from hindsight_common.events.content import MAX_MESSAGE_BYTES
from hindsight_common.events.conversation import (
    ConversationTurn,
    canonical_digest_text,
    claimed_ids,
    parse_closed,
    parse_turn,
    parse_write,
)
from hindsight_common.events.requests import WriteAnswer
from hindsight_common.ids import IdFactory
from hindsight_common.ports.extraction import Message, Turn
from hindsight_common.ports.turns import Acceptance, TurnStore
from hindsight_extractor.application.spoken import Spoken

# characters of a turn from which on redaction takes more than a few milliseconds
LONG_TEXT: Final = 4000


@dataclass(frozen=True, slots=True)
class Intake:
    """`redact` replaces identity numbers, cards, keys and passwords by what is true about them."""

    ids: IdFactory
    turns: TurnStore
    redact: Callable[[str], str]
    clock: Clock
    spoken: Spoken
    max_message_bytes: int = MAX_MESSAGE_BYTES

    async def accept_published(self, tenant: str, data: bytes, accepted_at: datetime) -> Acceptance:
        """A turn from the bus; `accepted_at` is when the server took it, so a redelivery stamps the same.

        Raises `GiveUp`, addressed to its user and turn where the payload names them.
        """
        try:
            conversation = parse_turn(data, now=self.clock.now(), max_message_bytes=self.max_message_bytes)
        except GiveUp as refusal:
            raise self._addressed(refusal, tenant, data) from refusal
        return await self._accept(tenant, conversation, accepted_at)

    async def accept_written(self, tenant: str, data: bytes) -> WriteAnswer:
        """A turn by request. Raises `RequestError`; a `turn_id` taken by other content is a conflict (409)."""
        now = self.clock.now()
        conversation = parse_write(data, now=now, max_message_bytes=self.max_message_bytes)
        try:
            acceptance = await self._accept(tenant, conversation, now)
        except GiveUp as refusal:
            raise RequestError(refusal.code, refusal.reason, status=409, field=refusal.field) from refusal
        return WriteAnswer(turn_id=conversation.turn_id, accepted=True, duplicate=acceptance.duplicate)

    async def close_session(self, tenant: str, data: bytes) -> None:
        """Releases what is remembered of a session. Raises `GiveUp`, and `RetryLater` while its store is away."""
        closed = parse_closed(data)
        owner = self.ids.owner(tenant, closed.user_id)
        session = self.ids.session_key(tenant, closed.user_id, closed.session_id)
        await self.spoken.close(owner, session)

    async def _accept(self, tenant: str, said: ConversationTurn, accepted_at: datetime) -> Acceptance:
        owner = self.ids.owner(tenant, said.user_id)
        turn_key = self.ids.turn_key(tenant, said.user_id, said.turn_id)
        digest = self.ids.digest("turn-content", str(owner), canonical_digest_text(said))
        turn = await self._redacted(turn_said(tenant, said, accepted_at))
        acceptance = await self.turns.accept(owner, turn_key, turn, digest)
        # of a repetition the first counts: its times give it its place, whether it got there before or not
        first = await self._standing(acceptance.sequence) if acceptance.duplicate else turn
        if first is not None:
            await self.spoken.remember(owner, turn_key, first)
        return acceptance

    async def _standing(self, sequence: int) -> Turn | None:
        """An accepted turn; None if it is gone since or cannot be read now, which is no reason to refuse."""
        try:
            return await self.turns.read(sequence)
        except HindsightError:
            return None

    async def _redacted(self, turn: Turn) -> Turn:
        """All that people wrote, redacted; long texts off the event loop."""
        if sum(len(message.content) for message in turn.messages) > LONG_TEXT:
            return await asyncio.to_thread(redacted, turn, self.redact)
        return redacted(turn, self.redact)

    def _addressed(self, refusal: GiveUp, tenant: str, data: bytes) -> GiveUp:
        claimed = claimed_ids(data)
        if claimed.user_id is None:
            return refusal
        return GiveUp(
            refusal.code,
            refusal.reason,
            field=refusal.field,
            owner=self.ids.owner(tenant, claimed.user_id),
            turn_key=self.ids.turn_key(tenant, claimed.user_id, claimed.turn_id) if claimed.turn_id else None,
        )


def turn_said(tenant: str, said: ConversationTurn, accepted_at: datetime) -> Turn:
    """The turn as it was published, in the speaker's zone; without a time of its own it was said when accepted."""
    zone = ZoneInfo(said.time_zone)
    return Turn(
        tenant=tenant,
        user_id=said.user_id,
        session_id=said.session_id,
        turn_id=said.turn_id,
        role=said.role,
        occurred_at=(said.occurred_at or accepted_at).astimezone(zone),
        occurred_inferred=said.occurred_at is None,
        accepted_at=accepted_at,
        time_zone=said.time_zone,
        messages=tuple(Message(m.id or "", m.role, m.content, m.name) for m in said.messages),
        user_name=said.user_name,
    )


def redacted(turn: Turn, redact: Callable[[str], str]) -> Turn:
    """The turn with all that people wrote in it redacted."""

    def clean(name: str | None) -> str | None:
        return redact(name) if name else name

    messages = (replace(m, content=redact(m.content), name=clean(m.name)) for m in turn.messages)
    return replace(turn, messages=tuple(messages), user_name=clean(turn.user_name))
