"""Dead letters as an operator may see them: what is clear about them, without any key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from datetime import datetime

from nats.js import JetStreamContext

from hindsight_common.events.streams import DEAD
from hindsight_common.messaging.dead_letters import CODE, CONSUMER, FIELD, SEQUENCE, STREAM
from hindsight_common.messaging.reading import StoredMessage, read_subject

_EVERY: str = "dead.>"


@dataclass(frozen=True, slots=True)
class Buried:
    """`sequence` is where the message stood in `stream`; `names_user` = its user is known and can have it erased."""

    at: datetime
    code: str
    field: str | None
    tenant: str
    stream: str
    consumer: str
    sequence: int
    names_user: bool

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"at": self.at.isoformat()}


async def buried(js: JetStreamContext) -> AsyncIterator[Buried]:
    """Oldest first, neither opened nor changed. Raises RetryLater when the server does not answer."""
    async for message in read_subject(js, DEAD.name, _EVERY):
        yield _shown(message)


def _shown(message: StoredMessage) -> Buried:
    _, stream, consumer, tenant, user_key = message.subject.split(".")
    headers = message.headers
    return Buried(
        at=message.timestamp,
        code=headers.get(CODE, "unknown"),
        field=headers.get(FIELD),
        tenant=tenant,
        stream=headers.get(STREAM, stream),
        consumer=headers.get(CONSUMER, consumer),
        sequence=int(headers.get(SEQUENCE, "0")),
        names_user=user_key != "_",
    )
