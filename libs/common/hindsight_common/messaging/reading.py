"""Reading a stream without a consumer, by JetStream's direct get; and deleting one message with its bytes.

In a cluster any replica answers a direct get, so an append of the last moments may not be in it yet.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import nats.js.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext

from hindsight_common.errors import RetryLater
from hindsight_common.messaging.connection import client_of
from hindsight_common.messaging.faults import (
    NO_MESSAGE_FOUND,
    SEQUENCE_NOT_FOUND,
    STORE_FAULT,
    server_faults,
)

# one answer stays far below the client's buffer for a subscription (128 MiB), beyond which it drops messages
MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
ANSWER_TIMEOUT_S: Final = 10.0
_ADDED_BY_SERVER: Final = frozenset(
    {
        "Nats-Stream",
        "Nats-Subject",
        "Nats-Sequence",
        "Nats-Time-Stamp",
        "Nats-Num-Pending",
        "Nats-Last-Sequence",
    }
)


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as the stream holds it; `timestamp` is the server's, in UTC, headers the publisher's."""

    subject: str
    sequence: int
    timestamp: datetime
    headers: Mapping[str, str]
    data: bytes


async def read_subject(
    js: JetStreamContext,
    stream: str,
    subject_filter: str,
    *,
    start_sequence: int = 1,
    batch: int = 256,
) -> AsyncIterator[StoredMessage]:
    """Yields what the stream holds on matching subjects, in stream order, up to its present end.

    `start_sequence` is the first one wanted (from 1). Deleted messages are simply absent. Raises RetryLater
    when the server does not answer, at any point; reading on from the last sequence + 1 is then safe.
    """
    nc = client_of(js)
    inbox = nc.new_inbox()
    with server_faults("reading a stream"):
        subscription = await nc.subscribe(inbox)
    try:
        wanted: int | None = max(start_sequence, 1)
        while wanted is not None:
            question = {
                "seq": wanted,
                "next_by_subj": subject_filter,
                "batch": batch,
                "max_bytes": MAX_ANSWER_BYTES,
            }
            with server_faults("reading a stream"):
                await nc.publish(f"$JS.API.DIRECT.GET.{stream}", json.dumps(question).encode(), reply=inbox)
                found, wanted = await _one_answer(subscription)
            for message in found:
                yield message
    finally:
        if not nc.is_closed:
            await subscription.unsubscribe()


async def _one_answer(subscription: Subscription) -> tuple[list[StoredMessage], int | None]:
    """The messages of one batch, and the sequence to ask for next, None when there is nothing more."""
    found: list[StoredMessage] = []
    while True:
        message = await subscription.next_msg(timeout=ANSWER_TIMEOUT_S)
        headers = plain_headers(message)
        status = headers.get("Status")
        if status is None:
            found.append(_stored(message, headers))
        elif status == "404":
            return found, None
        elif status == "204":
            more = found and int(headers.get("Nats-Num-Pending", "0")) > 0
            return found, found[-1].sequence + 1 if more else None
        else:
            raise RetryLater(f"reading a stream failed: {status} {headers.get('Description', '')}".rstrip())


async def last_message(js: JetStreamContext, stream: str, subject_filter: str) -> StoredMessage | None:
    """The latest message whose subject matches (wildcards allowed), None without one. RetryLater as above."""
    question = json.dumps({"last_by_subj": subject_filter}).encode()
    return await _get(js, stream, question)


async def message_at(js: JetStreamContext, stream: str, sequence: int) -> StoredMessage | None:
    """The message of one sequence, None if it was deleted or never existed. RetryLater as above."""
    return await _get(js, stream, json.dumps({"seq": sequence}).encode())


async def _get(js: JetStreamContext, stream: str, question: bytes) -> StoredMessage | None:
    with server_faults("reading a message"):
        answer = await client_of(js).request(
            f"$JS.API.DIRECT.GET.{stream}", question, timeout=ANSWER_TIMEOUT_S
        )
    headers = plain_headers(answer)
    status = headers.get("Status")
    if status == "404":
        return None
    if status is not None:
        raise RetryLater(f"reading a message failed: {status} {headers.get('Description', '')}".rstrip())
    return _stored(answer, headers)


async def delete_message(js: JetStreamContext, stream: str, sequence: int) -> bool:
    """Erases one message and its bytes on disk; True if it was there, False if it was gone already.

    The server rewrites the message's whole block, about 70 a second, in parallel no faster.
    """
    with server_faults("deleting a message"):
        try:
            return bool(await js.delete_msg(stream, sequence))
        except nats.js.errors.APIError as error:
            if error.err_code in {SEQUENCE_NOT_FOUND, NO_MESSAGE_FOUND}:
                return False
            # in an emptied stream and beyond a stream's end, absence is answered as a fault of the store
            if error.err_code == STORE_FAULT and await message_at(js, stream, sequence) is None:
                return False
            raise


async def last_sequence(js: JetStreamContext, stream: str) -> int:
    """The highest sequence the stream ever gave out, 0 for none. RetryLater when it cannot be asked."""
    with server_faults("asking for a stream's state"):
        return (await js.stream_info(stream)).state.last_seq


def _stored(message: Msg, headers: dict[str, str]) -> StoredMessage:
    return StoredMessage(
        subject=headers["Nats-Subject"],
        sequence=int(headers["Nats-Sequence"]),
        timestamp=datetime.fromisoformat(headers["Nats-Time-Stamp"]),
        headers={name: value for name, value in headers.items() if name not in _ADDED_BY_SERVER},
        data=message.data,
    )


def plain_headers(message: Msg) -> dict[str, str]:
    """The client mixes its own enum members into the names; as plain text they compare and log alike."""
    raw: dict[Any, str] = message.headers or {}
    return {getattr(name, "value", name): value for name, value in raw.items()}
