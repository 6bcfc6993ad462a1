"""`/live` and `/ready` over HTTP, on the process's own event loop: a few lines, because a worker needs no more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from hindsight_common.errors import StopAndFix

# a probe says what it wants at once and in few words
READ_TIMEOUT_S: Final = 5.0
LONGEST_REQUEST: Final = 8192
_MOST_AT_ONCE: Final = 64

Missing = Callable[[], Awaitable[tuple[str, ...]]]


class HealthServer:
    """`/live`: the event loop turns. `/ready`: 200 while nothing is missing, else 503 with the names of what is."""

    def __init__(self, worker: str, host: str, port: int, missing: Missing) -> None:
        self._worker, self._host, self._port, self._missing = worker, host, port, missing
        self._server: asyncio.Server | None = None
        self._open = 0

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    async def start(self) -> None:
        """Raises StopAndFix that names the setting to change."""
        try:
            self._server = await asyncio.start_server(
                self._serve, self._host, self._port, limit=LONGEST_REQUEST
            )
        except OSError as error:
            raise StopAndFix(
                f"health cannot be told on {self._host}:{self._port}: {error.strerror}; change health_host or "
                "health_port (HINDSIGHT_HEALTH_PORT, --health-port; 0 takes a free one)"
            ) from error
        self._port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            # a probe that went away, or never said anything, is nobody's fault
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                if self._open <= _MOST_AT_ONCE:
                    async with asyncio.timeout(READ_TIMEOUT_S):
                        asked = await reader.readuntil(b"\r\n\r\n")
                    writer.write(await self._answer(asked))
                    await writer.drain()
        finally:
            self._open -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, asked: bytes) -> bytes:
        method, _, rest = asked.partition(b"\r\n")[0].partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        if path not in {b"/live", b"/ready"}:
            return _response(HTTPStatus.NOT_FOUND, {"error": "ask for /live or /ready"}, method)
        if method not in {b"GET", b"HEAD"}:
            return _response(HTTPStatus.METHOD_NOT_ALLOWED, {"error": "ask by GET or HEAD"}, method)
        if path == b"/live":
            return _response(HTTPStatus.OK, {"status": "alive", "worker": self._worker}, method)
        missing = await self._missing()
        if missing:
            body = {"status": "waiting", "worker": self._worker, "missing": list(missing)}
            return _response(HTTPStatus.SERVICE_UNAVAILABLE, body, method)
        return _response(HTTPStatus.OK, {"status": "ready", "worker": self._worker, "missing": []}, method)


def _response(status: HTTPStatus, body: Mapping[str, object], method: bytes) -> bytes:
    content = json.dumps(body).encode() + b"\n"
    head = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        "Cache-Control: no-store",
        "Connection: close",
        *(["Allow: GET, HEAD"] if status is HTTPStatus.METHOD_NOT_ALLOWED else []),
    ]
    return "\r\n".join([*head, "", ""]).encode() + (b"" if method == b"HEAD" else content)
