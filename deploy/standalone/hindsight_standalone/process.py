"""The embedded form as one process: its data directory, its NATS server, its workers, its end."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import structlog

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.adapters.embedded.redis_server import RedisServer
from hindsight_common.adapters.folder_lock import FolderLock
from hindsight_common.errors import StopAndFix
from hindsight_common.messaging.application import Application
from hindsight_common.messaging.connection import Bus, connect
from hindsight_common.messaging.provisioning import provision
from hindsight_common.process.ready_file import ReadyFile
from hindsight_common.settings import Settings, load_settings
from hindsight_common.worker import Listening, Worker
from hindsight_standalone.announcement import greeting
from hindsight_standalone.master_secret import master_secret
from hindsight_standalone.options import Options

NAME: Final = "hindsight-standalone"
DEFAULT_NATS_PORT: Final = 4222

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Resources:
    """What the process gives its workers. `on_fatal` ends the process with the reason on stderr."""

    settings: Settings
    data_dir: Path
    master_secret: bytes
    bus: Bus
    redis_url: str
    on_fatal: Callable[[StopAndFix], None]


BuildWorkers = Callable[[Resources], list[Worker]]


async def run(options: Options, build_workers: BuildWorkers) -> None:
    """Runs until SIGTERM or SIGINT, then stops cleanly. Workers start in the order given and stop in reverse.

    Raises StopAndFix with what to change: configuration, a taken port, a data directory somebody holds.
    """
    settings = load_settings(options.config, overrides=options.overrides())
    if settings.memory_store != "embedded":
        raise StopAndFix(
            "memory_store: server runs each worker as a process of its own; "
            "hindsight-standalone is the embedded form"
        )
    ready_file = ReadyFile(options.ready_file)
    data_dir = settings.data_dir.resolve()
    lock = _take(data_dir)
    try:
        ready_file.remove()
        secret = master_secret(settings, data_dir)
        async with (
            _redis(data_dir / "working") as redis_url,
            _bus(data_dir / "nats", _nats_port(options, settings)) as (server, bus, application),
        ):
            resources = Resources(settings, data_dir, secret, bus, redis_url, application.fail)
            workers = build_workers(resources)

            def announce() -> None:
                http_url = next((worker.url for worker in workers if isinstance(worker, Listening)), None)
                ready_file.write({"nats_url": server.url, "http_url": http_url})
                sys.stdout.write(greeting(server.url, http_url, data_dir))
                sys.stdout.flush()

            try:
                await application.run(workers, announce)
            finally:
                ready_file.remove()
    finally:
        lock.release()


def _take(data_dir: Path) -> FolderLock:
    """The directory, made if need be, readable by this account only, and ours alone."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StopAndFix(
            f"{data_dir} cannot be made: {os.strerror(error.errno or 0)}; see --data-dir"
        ) from error
    if not os.access(data_dir, os.R_OK | os.W_OK | os.X_OK):
        raise StopAndFix(f"{data_dir} cannot be written by this account; see --data-dir")
    return FolderLock(data_dir)


@asynccontextmanager
async def _redis(folder: Path) -> AsyncIterator[str]:
    """The address of our own Redis-compatible server. Without it for a while, only working memory is lost."""
    server = RedisServer(folder)
    await server.start()
    try:
        yield server.url
    finally:
        await server.stop()


@asynccontextmanager
async def _bus(store: Path, port: int) -> AsyncIterator[tuple[NatsServer, Bus, Application]]:
    """Our own server with everything declared on it, the connection and the application over it."""
    failures: list[Callable[[StopAndFix], None]] = []

    def failed(error: StopAndFix) -> None:
        for tell in failures:
            tell(error)

    server = NatsServer(store, port, on_failure=failed)
    await server.start()
    try:
        bus = await connect(server.url, name=NAME)
        try:
            for sentence in await provision(bus.js):
                _log.warning("bus_drift", what=sentence)
            application = Application(bus)
            failures.append(application.fail)
            yield server, bus, application
        finally:
            await bus.close()
    finally:
        await server.stop()


def _nats_port(options: Options, settings: Settings) -> int:
    """The option, else the port that clients are configured to look for."""
    if options.nats_port is not None:
        return options.nats_port
    return urlsplit(settings.nats_url).port or DEFAULT_NATS_PORT
