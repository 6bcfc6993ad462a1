"""What a connection goes through, for the log and for those who have to act on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from hindsight_common.messaging.refusals import Refusals

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class ConnectionEvents:
    """What the client tells of the connection. Before `up`, whoever asked for it hears what becomes of it, and the log
    is spared every try.
    """

    connection: str
    refusals: Refusals
    observers: set[Callable[[], None]]
    up: bool = False

    async def error(self, error: Exception) -> None:
        if (refusal := self.refusals.note(error)) is not None:
            _log.error(
                "bus_refuses",
                connection=self.connection,
                bus_user=refusal.user,  # a field named `user` is withheld
                verb=refusal.verb,
                subject=refusal.shape,
            )
        else:
            self._say("warning", "bus_error", error_type=type(error).__name__)

    async def disconnected(self) -> None:
        self._say("warning", "bus_disconnected")

    async def reconnected(self) -> None:
        self._say("info", "bus_reconnected")
        for notify in tuple(self.observers):
            notify()

    async def closed(self) -> None:
        self._say("info", "bus_closed")

    async def discovered(self) -> None:
        self._say("info", "bus_server_discovered")

    def _say(self, level: str, event: str, **more: str) -> None:
        if self.up:
            getattr(_log, level)(event, connection=self.connection, **more)
