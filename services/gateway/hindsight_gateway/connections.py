"""One HTTP connection with an end to everything a client can draw out.

uvicorn waits without limit for the rest of a request and for a client that does not read its answer, and says what
it cannot read as plain text. Here both are bounded, and every refusal is a problem.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from hindsight_common.errors import RequestError
from hindsight_gateway.domain.problem import MEDIA_TYPE, headers_of, problem_line, status_of

_HEAD: Final = "head"
_BODY: Final = "body"
_UNANSWERED: Final = (h11.IDLE, h11.SEND_RESPONSE)


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for a request's head, for its body, for a client to go on reading its answer, and for those in hand
    when the process stops; how many requests are in hand and how many connections are open at the same time.
    """

    head_s: float = 10.0
    body_s: float = 30.0
    read_s: float = 30.0
    stop_s: int = 5
    requests: int = 256
    connections: int = 512


class ListenerConfig(uvicorn.Config):
    limits: Limits = Limits()


class BoundedConnection(H11Protocol):
    """A deadline stands from the first byte of a head and again from the first byte of a body; more bytes do not move
    it. What comes too late is 408, what is no HTTP is 400.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        assert isinstance(self.config, ListenerConfig)
        self._limits = self.config.limits
        self._awaited: str | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            message = f"{self._limits.connections} connections are open; try again shortly"
            self._refuse(RequestError("overloaded", message, status=503))
        else:
            self._await(_HEAD, self._limits.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._await(None)
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self._limits.read_s, self.transport.abort)

    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - it is always the same
        """Called where something arrived that is no HTTP."""
        error = sys.exception()
        if isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == 431:
            too_much = "the head of the request is larger than 16 KiB"
            self._refuse(RequestError("headers_too_large", too_much, status=431))
        else:
            self._refuse(RequestError("not_http", "this is not a request of HTTP/1.1"))

    def _watch(self) -> None:
        if self.transport.is_closing():
            self._await(None)
        elif self.conn.their_state is h11.SEND_BODY:
            self._await(_BODY, self._limits.body_s)
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._await(_HEAD, self._limits.head_s)
        else:
            self._await(None)

    def _await(self, what: str | None, within_s: float = 0.0) -> None:
        if what == self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited = what
        self._deadline = None if what is None else self.loop.call_later(within_s, self._too_late)

    def _too_late(self) -> None:
        what, self._awaited = self._awaited, None
        if what == _HEAD and not self.conn.trailing_data[0]:
            # opened ahead of use; a 408 would be read as the answer to whatever is asked next
            self.transport.close()
            return
        within_s = self._limits.head_s if what == _HEAD else self._limits.body_s
        message = f"the {what} of the request was not there within {within_s:g} s"
        self._refuse(RequestError("too_slow", message, status=408))

    def _refuse(self, error: RequestError) -> None:
        """Says so, unless an answer is on its way, and closes; a handler that waits for more is told of the end."""
        self._unset_keepalive_if_required()
        if self.transport.is_closing():
            return
        if self.conn.our_state in _UNANSWERED:
            self._send(error)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    def _send(self, error: RequestError) -> None:
        said, status = problem_line(error), status_of(error)
        headers = {
            "content-type": MEDIA_TYPE,
            "content-length": str(len(said)),
            "connection": "close",
            **headers_of(error),
        }
        start = h11.Response(status_code=status, headers=list(headers.items()))
        for event in (start, h11.Data(data=said), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
