"""An HTTP server inside the process's own event loop, on a socket that is bound before anything else starts."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from hindsight_common.errors import StopAndFix
from hindsight_gateway.connections import BoundedConnection, Limits, ListenerConfig


class _QuietServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to the process, which stops its workers in order."""
        yield


def bind(host: str, port: int) -> socket.socket:
    """A listening address; port 0 takes a free one. Raises `StopAndFix` that names the option to change."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise StopAndFix(f"HTTP cannot listen on {host}: no such host; change api_host") from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise StopAndFix(_why(error, host, port)) from error
    return listener


def _why(error: OSError, host: str, port: int) -> str:
    way_out = "choose another with --http-port, api_port or API_PORT (0 takes a free one)"
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is in use by another program; {way_out}"
    if error.errno == errno.EACCES:
        return f"port {port} on {host} may not be used by this account; {way_out}"
    return f"HTTP cannot listen on {host}:{port}: {error.strerror}; change api_host or api_port"


class HttpListener:
    """`start` returns once requests are answered; `stop` finishes those in hand, within `limits.stop_s`."""

    def __init__(self, app: ASGIApp, host: str, port: int, limits: Limits) -> None:
        self._app, self._host, self._port, self._limits = app, host, port, limits
        self._server: _QuietServer | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    async def start(self) -> None:
        listener = bind(self._host, self._port)
        self._port = int(listener.getsockname()[1])
        config = ListenerConfig(
            self._app,
            http=BoundedConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=self._limits.stop_s,
        )
        config.limits = self._limits
        self._server = _QuietServer(config)
        self._serving = asyncio.create_task(self._server.serve([listener]), name="http")
        while not self._server.started:
            if self._serving.done():
                await self._serving
                raise StopAndFix(f"HTTP did not start on {self.url}; the log says why")
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        if self._server is None or self._serving is None:
            return
        self._server.should_exit = True
        await self._serving
        # those that ran out of time say so to their clients
        await asyncio.gather(*self._server.server_state.tasks, return_exceptions=True)
