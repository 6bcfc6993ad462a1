"""What chat backends publish: turns of a conversation, and its end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from hindsight_common.errors import GiveUp, RequestError
from hindsight_common.events.content import MAX_MESSAGE_BYTES, count_dropped, text_of
from hindsight_common.events.fields import AwareTime, Body, Id, Name, Zone, fault_of_id, refusal
from hindsight_common.events.strict_json import build, read_object

MAX_AHEAD: Final = timedelta(hours=24)
EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)

_MESSAGE_FIELDS: Final = frozenset({"id", "role", "name", "content"})
# Zones without summer time for offsets that no Etc zone has
_ZONE_OF_MINUTES: Final = {
    -570: "Pacific/Marquesas",
    210: "Asia/Tehran",
    270: "Asia/Kabul",
    330: "Asia/Kolkata",
    345: "Asia/Kathmandu",
    390: "Asia/Yangon",
    525: "Australia/Eucla",
    570: "Australia/Darwin",
}


@dataclass(frozen=True, slots=True)
class _Limits:
    now: datetime
    max_message_bytes: int


def _as_published(schema: dict[str, Any]) -> None:
    """A publisher may send more than what is kept of it: other fields, and content in parts."""
    schema["additionalProperties"] = True
    for counted in ("ignored_fields", "dropped_parts"):
        del schema["properties"][counted]
    part = {"type": "object", "properties": {"type": {"type": "string"}, "text": {"type": "string"}}}
    schema["properties"]["content"] = {
        "title": "Content",
        "description": "Text, null, or a list of parts of which the text counts.",
        "default": "",
        "anyOf": [
            {"type": "string"},
            {"type": "null"},
            {"type": "array", "items": {"anyOf": [{"type": "string"}, part]}},
        ],
    }


class ConversationMessage(Body):
    """One message, cleaned. `id` is never empty once the turn is parsed.

    `ignored_fields` and `dropped_parts` count what the publisher sent beside the text (tool calls, images).
    """

    model_config = ConfigDict(json_schema_extra=_as_published)

    id: Id | None = None
    role: Id
    name: Name = None
    content: str = ""
    ignored_fields: int = 0
    dropped_parts: int = 0

    @model_validator(mode="before")
    @classmethod
    def _reduce(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        kept = {name: value[name] for name in _MESSAGE_FIELDS & value.keys()}
        dropped = count_dropped(value.get("content"))
        return kept | {"ignored_fields": len(value) - len(kept), "dropped_parts": dropped}

    @field_validator("content", mode="before")
    @classmethod
    def _text_only(cls, content: object, info: ValidationInfo) -> str:
        limits = info.context
        return text_of(
            content, limits.max_message_bytes if isinstance(limits, _Limits) else MAX_MESSAGE_BYTES
        )

    @field_validator("role")
    @classmethod
    def _lower(cls, role: str) -> str:
        return role.lower()


class ConversationTurn(Body):
    """A validated turn. `occurred_at` None = the time of acceptance will stand, marked as inferred.

    `time_zone` is always set after parsing: as published, else from the offset of `occurred_at`, else UTC.
    """

    turn_id: Id
    user_id: Id
    session_id: Id
    role: Id | None = None
    occurred_at: AwareTime | None = None
    time_zone: Zone = "UTC"
    user_name: Name = None
    messages: tuple[ConversationMessage, ...] = Field(min_length=1, strict=False)

    @model_validator(mode="before")
    @classmethod
    def _zone_from_offset(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and value.get("time_zone", "") is None:
            return {name: given for name, given in value.items() if name != "time_zone"}
        return value

    @field_validator("messages")
    @classmethod
    def _name_messages(cls, messages: tuple[ConversationMessage, ...]) -> tuple[ConversationMessage, ...]:
        return _with_ids(messages)

    @field_validator("occurred_at")
    @classmethod
    def _plausible(cls, at: datetime | None, info: ValidationInfo) -> datetime | None:
        if at is None or not isinstance(info.context, _Limits):
            return at
        if at < EARLIEST:
            raise refusal("is before 1970")
        if at > info.context.now + MAX_AHEAD:
            raise refusal("is more than 24 hours ahead")
        return at

    @model_validator(mode="after")
    def _settle_zone(self) -> ConversationTurn:
        if "time_zone" in self.model_fields_set or self.occurred_at is None:
            return self
        return self.model_copy(update={"time_zone": _zone_of_offset(self.occurred_at)})

    @property
    def ignored_fields(self) -> int:
        return sum(message.ignored_fields for message in self.messages)

    @property
    def dropped_parts(self) -> int:
        return sum(message.dropped_parts for message in self.messages)


class ConversationClosed(Body):
    """The session is over: its working memory is released and a late turn does not reopen it."""

    user_id: Id
    session_id: Id
    role: Id | None = None
    occurred_at: AwareTime | None = None


@dataclass(frozen=True, slots=True)
class ClaimedIds:
    """The ids that a refused payload names, each None unless it could be a valid one."""

    user_id: str | None
    turn_id: str | None


def read_turn(
    value: Mapping[str, Any], *, now: datetime, max_message_bytes: int = MAX_MESSAGE_BYTES
) -> ConversationTurn:
    """A turn from decoded JSON; raises `RequestError` (`invalid_turn`, `message_too_large`) with field."""
    return build(ConversationTurn, value, code="invalid_turn", context=_Limits(now, max_message_bytes))


def parse_write(
    data: bytes, *, now: datetime, max_message_bytes: int = MAX_MESSAGE_BYTES
) -> ConversationTurn:
    """A turn that came as a request. Raises `RequestError`: `not_json` or as `read_turn`."""
    return read_turn(read_object(data, code="invalid_turn"), now=now, max_message_bytes=max_message_bytes)


def parse_turn(data: bytes, *, now: datetime, max_message_bytes: int = MAX_MESSAGE_BYTES) -> ConversationTurn:
    """A turn that came by the bus. Raises `GiveUp` with the same codes and fields as `parse_write`."""
    try:
        return parse_write(data, now=now, max_message_bytes=max_message_bytes)
    except RequestError as error:
        raise GiveUp(error.code, error.message, field=error.field) from error


def parse_closed(data: bytes) -> ConversationClosed:
    """Raises `GiveUp("not_json" | "invalid_closed")`."""
    try:
        return build(ConversationClosed, read_object(data, code="invalid_closed"), code="invalid_closed")
    except RequestError as error:
        raise GiveUp(error.code, error.message, field=error.field) from error


def claimed_ids(data: bytes) -> ClaimedIds:
    """Whom a refused payload speaks of, so that its dead letter can be found and erased; never raises."""
    try:
        value = read_object(data, code="invalid_turn")
    except RequestError:
        return ClaimedIds(None, None)
    return ClaimedIds(_valid_id(value.get("user_id")), _valid_id(value.get("turn_id")))


def canonical_digest_text(turn: ConversationTurn) -> str:
    """Equal for two deliveries that say the same: canonical JSON of the cleaned turn.

    Times are compared as instants. A missing `occurred_at` stays missing, so that a retry of a turn without
    one is the same turn whenever it arrives; counts of what was ignored are left out.
    """
    said = {
        "turn_id": turn.turn_id,
        "user_id": turn.user_id,
        "session_id": turn.session_id,
        "role": turn.role,
        "occurred_at": turn.occurred_at.astimezone(UTC).isoformat() if turn.occurred_at else None,
        "time_zone": turn.time_zone,
        "user_name": turn.user_name,
        "messages": [[m.id, m.role, m.name, m.content] for m in turn.messages],
    }
    return json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _valid_id(value: object) -> str | None:
    return value if isinstance(value, str) and fault_of_id(value) is None else None


def _with_ids(messages: tuple[ConversationMessage, ...]) -> tuple[ConversationMessage, ...]:
    given = [message.id for message in messages if message.id is not None]
    taken = set(given)
    if len(taken) < len(given):
        raise refusal("has two messages with the same id")
    named = []
    for number, message in enumerate(messages, 1):
        own = message.id or f"m{number}"
        while message.id is None and own in taken:
            own += "-"
        taken.add(own)
        named.append(message.model_copy(update={"id": own}))
    return tuple(named)


def _zone_of_offset(at: datetime) -> str:
    """The IANA zone that keeps the offset of `at`; the nearest full hour where no zone does."""
    offset = at.utcoffset() or timedelta()
    minutes = round(offset.total_seconds() / 60)
    if minutes in _ZONE_OF_MINUTES:
        return _ZONE_OF_MINUTES[minutes]
    hours = max(-12, min(14, round(minutes / 60)))
    # POSIX counts westward: Etc/GMT-8 lies eight hours east of Greenwich
    return f"Etc/GMT{-hours:+d}" if hours else "UTC"
