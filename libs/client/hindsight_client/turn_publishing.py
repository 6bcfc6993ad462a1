"""Turns on their way into the stream of raw turns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import nats.errors
import nats.js.errors
from nats.js import JetStreamContext
from nats.js.api import PubAck

from hindsight_common.errors import RequestError
from hindsight_common.events import subjects
from hindsight_common.events.conversation import ConversationClosed, read_turn
from hindsight_common.events.strict_json import build
from hindsight_common.messaging.answers import encoded
from hindsight_common.messaging.tracing import inject


@dataclass(frozen=True, slots=True)
class PublishedTurn:
    """The stream holds it at `sequence`. `duplicate`: it was published a moment ago already."""

    turn_id: str
    sequence: int
    duplicate: bool


def complete_turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    """The turn as it is sent: with a `turn_id`, times as text. Raises `RequestError` naming what is wrong.

    Checked here too, since who publishes to the stream has its acknowledgement before anybody reads it.
    """
    complete = {"turn_id": uuid4().hex, **turn}
    at = complete.get("occurred_at")
    if isinstance(at, datetime):
        complete["occurred_at"] = at.isoformat()
    read_turn(complete, now=datetime.now(UTC))
    return complete


def message_id(tenant: str, turn: Mapping[str, Any]) -> str:
    """Unique over tenant, user and turn, and the same for a retry."""
    parts = json.dumps([tenant, turn["user_id"], turn["turn_id"]])
    return hashlib.sha256(parts.encode()).hexdigest()


async def publish_turn(
    js: JetStreamContext, tenant: str, turn: Mapping[str, Any], timeout_s: float
) -> PublishedTurn:
    """Returns once the server holds the turn. Raises `RequestError`: 413 too large, 503 or 504 try again."""
    headers = {"Nats-Msg-Id": message_id(tenant, turn)}
    ack = await _publish(
        js, subjects.for_tenant(subjects.CONVERSATION_TURN, tenant), turn, headers, timeout_s
    )
    return PublishedTurn(turn["turn_id"], ack.seq, bool(ack.duplicate))


async def publish_closed(
    js: JetStreamContext, tenant: str, notice: Mapping[str, Any], timeout_s: float
) -> None:
    """Returns once the server holds the notice that a session is over. Raises `RequestError` as `publish_turn`."""
    build(ConversationClosed, notice, code="invalid_request")
    subject = subjects.for_tenant(subjects.CONVERSATION_CLOSED, tenant)
    await _publish(js, subject, notice, {}, timeout_s)


async def _publish(
    js: JetStreamContext, subject: str, body: Mapping[str, Any], own: Mapping[str, str], timeout_s: float
) -> PubAck:
    headers = {"content-type": "application/json", **own}
    inject(headers)
    try:
        return await js.publish(subject, encoded(body), timeout=timeout_s, headers=headers)
    except nats.errors.MaxPayloadError:
        raise RequestError("too_large", "the turn is larger than the bus carries", status=413) from None
    except nats.js.errors.NoStreamResponseError:
        raise RequestError("no_stream", "no stream takes turns on this server", status=503) from None
    except nats.js.errors.APIError as error:
        message = f"the server refuses the turn: {error.description}"
        raise RequestError("not_published", message, status=503) from error
    except TimeoutError:
        message = f"no acknowledgement within {timeout_s:g} s"
        raise RequestError("timeout", message, status=504) from None
    except nats.errors.Error as error:
        raise RequestError("unavailable", "the bus is away; try again shortly", status=503) from error
