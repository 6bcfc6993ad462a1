"""What the server does not let this process do, told to whoever waits for it.

The server refuses a publish beside the connection's other traffic, and no answer comes; without this, a missing
permission would look like a server that is slow.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Literal
from weakref import WeakKeyDictionary

from nats.aio.client import Client

from hindsight_common.errors import RetryLater
from hindsight_common.events.streams import CONSUMERS, FIRST_READING_CONSUMER, STREAMS

_REFUSED: Final = re.compile(r'permissions violation for (publish|subscription) to "([^"\s]+)', re.IGNORECASE)
# subjects of these name at most a tenant; those of others name users by their keys
_NAMES_NO_USER: Final = frozenset({"conversation", "memory", "admin", "schedule", "job", "$srv"})
_SPOKEN: Final = frozenset(
    {"$js", "api", "ack", "direct", "get", "info", "list", "names", "_inbox", "_r_"}
    | {"stream", "consumer", "msg", "next", "create", "durable", "update", "delete", "purge", "reset"}
    | {"turn", "log", "key", "dead", "consolidated", "forgotten", "decision", "recalled", "destroyed"}
) | {
    name.lower()
    for spec in (*CONSUMERS, FIRST_READING_CONSUMER)
    for name in (spec.durable, *(stream.name for stream in STREAMS))
}
_MAKES: Final = ("$js.api.stream.create.", "$js.api.consumer.create.", "$js.api.consumer.durable.create.")


class NotPermitted(RetryLater):
    """The server's permissions refuse it. Later, since the server takes new permissions without a restart of ours."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """`subject` is in lower case: the client hands the server's words on so."""

    user: str | None
    verb: Literal["publish", "subscription"]
    subject: str

    @property
    def shape(self) -> str:
        """The subject with `*` for whatever could name a user."""
        root, *others = self.subject.split(".")
        if root in _NAMES_NO_USER:
            return self.subject
        return ".".join(token if token in _SPOKEN else "*" for token in (root, *others))

    def __str__(self) -> str:
        may_not = "publish to" if self.verb == "publish" else "listen on"
        said = f"the NATS user {self.user or 'of this connection'} may not {may_not} {self.shape}"
        if self.subject.startswith(_MAKES):
            return f"{said}: the operator makes streams and consumers, by hindsight-cli provision"
        return f"{said}: compare the server's users with deploy/nats/users.conf"


@dataclass(eq=False, slots=True)
class _Wait:
    """A call that waits for an answer, and what ended the wait."""

    scope: asyncio.Timeout
    refusal: Refusal | None = None


@dataclass(slots=True)
class Refusals:
    """Those of one connection; `user` None = by whatever its credentials file says."""

    user: str | None
    _waiting: defaultdict[str, list[_Wait]] = field(default_factory=lambda: defaultdict(list))

    def note(self, error: Exception) -> Refusal | None:
        """For the connection's error callback: the refusal if it is one; who waits for an answer waits no more."""
        found = _REFUSED.search(str(error))
        if found is None:
            return None
        verb: Literal["publish", "subscription"] = (
            "publish" if found[1].lower() == "publish" else "subscription"
        )
        refusal = Refusal(self.user, verb, found[2].lower())
        _latest.remember(refusal)
        for waiting in self._waiting.get(refusal.subject, ()):
            # a wait that has been ended cannot be ended again
            if waiting.refusal is None:
                waiting.refusal = refusal
                waiting.scope.reschedule(asyncio.get_running_loop().time())
        return refusal

    @asynccontextmanager
    async def watched(self, subject: str) -> AsyncIterator[None]:
        """Raises NotPermitted as soon as a publish to `subject` is refused."""
        subject, wait = subject.lower(), _Wait(asyncio.timeout(None))
        try:
            async with wait.scope:
                self._waiting[subject].append(wait)
                yield
        except TimeoutError:
            if wait.refusal is None:
                raise
            raise NotPermitted(str(wait.refusal)) from None
        finally:
            self._waiting[subject].remove(wait)
            if not self._waiting[subject]:
                del self._waiting[subject]


class _Latest:
    """The last refusal of this process, for calls that cannot say which subject they use."""

    def __init__(self) -> None:
        self.count = 0
        self._last: Refusal | None = None

    def remember(self, refusal: Refusal) -> None:
        self.count += 1
        self._last = refusal

    def since(self, mark: int) -> Refusal | None:
        return None if self.count == mark else self._last


_latest: Final = _Latest()
_of_client: Final[WeakKeyDictionary[Client, Refusals]] = WeakKeyDictionary()


def watch(nc: Client, refusals: Refusals) -> None:
    """From now on calls through `nc` hear of what these are told."""
    _of_client[nc] = refusals


@asynccontextmanager
async def refused_at_once(nc: Client, subject: str) -> AsyncIterator[None]:
    """Raises NotPermitted as soon as the server refuses a publish to `subject` that the block waits for."""
    refusals = _of_client.get(nc)
    if refusals is None:
        yield
        return
    async with refusals.watched(subject):
        yield


def mark() -> int:
    """For `since`."""
    return _latest.count


def since(marked: int) -> Refusal | None:
    """The last thing refused to this process since `mark`, None if nothing was."""
    return _latest.since(marked)
