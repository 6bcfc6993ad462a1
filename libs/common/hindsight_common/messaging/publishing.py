"""Publishing into a stream: it returns once the server has the message on its side."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import nats.js.errors

from hindsight_common.errors import HindsightError
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.faults import WRONG_LAST_SEQUENCE, server_faults
from hindsight_common.messaging.refusals import refused_at_once
from hindsight_common.messaging.tracing import inject

SCHEMA_HEADER: Final = "Hindsight-Schema"
SCHEMA_VERSION: Final = "1"
PUBLISH_TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Published:
    """Where the message lies. `duplicate`: its id was seen within the stream's window; that is success."""

    stream: str
    sequence: int
    duplicate: bool


class AlreadyThere(HindsightError):
    """The subject's last sequence is not the expected one, so nothing was appended.

    `last_sequence` is the one the server has. After a publish whose acknowledgement was lost, this is how the
    repetition learns that the first one succeeded.
    """

    def __init__(self, last_sequence: int | None) -> None:
        super().__init__(f"the subject's last sequence is {last_sequence}")
        self.last_sequence = last_sequence


async def publish(
    bus: Bus,
    subject: str,
    data: bytes,
    *,
    headers: Mapping[str, str] | None = None,
    msg_id: str | None = None,
    expected_last_subject_sequence: int | None = None,
    expected_on: str | None = None,
    timeout_s: float = PUBLISH_TIMEOUT_S,
) -> Published:
    """Appends one message and returns its place; trace context and schema version go into the headers.

    `expected_last_subject_sequence` 0 means "nothing on this subject yet"; `expected_on` names another subject of
    the stream to which it applies. Raises AlreadyThere, RetryLater
    (it may or may not have been appended: publish again), GiveUp `too_large`.
    """
    sent = {SCHEMA_HEADER: SCHEMA_VERSION, **(headers or {})}
    inject(sent)
    if msg_id is not None:
        sent["Nats-Msg-Id"] = msg_id
    if expected_last_subject_sequence is not None:
        sent["Nats-Expected-Last-Subject-Sequence"] = str(expected_last_subject_sequence)
        if expected_on is not None:
            sent["Nats-Expected-Last-Subject-Sequence-Subject"] = expected_on
    with server_faults("publishing"):
        try:
            async with refused_at_once(bus.nc, subject):
                ack = await bus.js.publish(subject, data, headers=sent, timeout=timeout_s)
        except nats.js.errors.APIError as error:
            if error.err_code in WRONG_LAST_SEQUENCE:
                raise AlreadyThere(_last_sequence(error.description)) from error
            raise
    return Published(ack.stream, ack.seq, bool(ack.duplicate))


def _last_sequence(description: str | None) -> int | None:
    found = re.search(r"wrong last sequence: (\d+)", description or "")
    return int(found[1]) if found else None
