"""A worker as a process of its own, from its configuration to its end."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final

from hindsight_common.core import Core
from hindsight_common.errors import HindsightError, StopAndFix
from hindsight_common.messaging.application import Application
from hindsight_common.messaging.connection import Bus, connect
from hindsight_common.messaging.credentials import Credentials
from hindsight_common.messaging.seat import Seat
from hindsight_common.observability import setup, shutdown
from hindsight_common.process.health import HealthServer
from hindsight_common.process.master_secret import shared_secret
from hindsight_common.process.options import Options, parse
from hindsight_common.process.patient import PatientWorker
from hindsight_common.process.readiness import BUS, Readiness
from hindsight_common.process.ready_file import ReadyFile
from hindsight_common.process.waiting import Waiting
from hindsight_common.process.worker_process import Ground, WorkerProcess
from hindsight_common.settings import Settings, load_settings
from hindsight_common.settings.keys import all_keys

# one try; how often it is tried again is not bounded
_CONNECT_S: Final = 5.0


def main(process: WorkerProcess, arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 after a clean stop, 1 when something must be changed first; it is said on stderr."""
    options = parse(process, arguments)
    try:
        # first, so that what the configuration warns of comes out in the form of all logs
        setup(process.command)
        asyncio.run(run(process, options))
    except HindsightError as error:
        sys.stderr.write(f"{process.command}: {error}\n")
        return 1
    finally:
        shutdown()
    return 0


async def run(process: WorkerProcess, options: Options) -> None:
    """Runs until SIGTERM or SIGINT, then stops cleanly; a server that is away is waited for.

    Raises StopAndFix with what to change.
    """
    settings = configured(process, options)
    secret = shared_secret(settings) if process.has_secret else None
    if options.check:
        sys.stdout.write(f"{process.command}: the configuration can be used · 配置可用\n")
        return
    running = _Running(process, settings, secret, ReadyFile(options.ready_file))
    await running.run()


def configured(process: WorkerProcess, options: Options) -> Settings:
    """The settings, with all that this worker needs. Raises StopAndFix that names key and variable."""
    settings = load_settings(options.config, overrides=options.overrides)
    if (
        process.has_secret
        and settings.memory_store == "embedded"
        and "memory_store" in settings.model_fields_set
    ):
        raise StopAndFix(
            "memory_store: embedded runs all workers in one process, hindsight-standalone; "
            f"{process.command} belongs to memory_store: server (MEMORY_STORE)"
        )
    missing = [all_keys()[name] for name in process.needs if getattr(settings, name) is None]
    if missing:
        named = ", ".join(f"{key.name} ({key.variable})" for key in missing)
        raise StopAndFix(f"{process.command} needs {named}")
    return settings


class _Running:
    """What one process holds from the first wait to its end."""

    def __init__(
        self, process: WorkerProcess, settings: Settings, secret: bytes | None, ready_file: ReadyFile
    ) -> None:
        self._process, self._settings, self._secret = process, settings, secret
        self._ready_file = ready_file
        self._waiting = Waiting()
        self._readiness = Readiness(self._waiting)
        self._health: HealthServer | None = None
        if settings.health_port is not None:
            self._health = HealthServer(
                process.name, settings.health_host, settings.health_port, self._readiness.missing
            )

    async def run(self) -> None:
        self._ready_file.remove()
        try:
            if self._health is not None:
                await self._health.start()
            await _until_signal(self._work())
        finally:
            self._ready_file.remove()
            if self._health is not None:
                await self._health.stop()

    async def _work(self) -> None:
        url, name = self._settings.nats_url, self._process.command
        who = Credentials.of(self._settings)
        bus = await self._waiting.until(
            BUS, lambda: connect(url, name=name, credentials=who, patience_s=_CONNECT_S)
        )
        self._readiness.bus = bus
        application = Application(bus)
        worker = self._worker(bus, application)

        def announce() -> None:
            self._readiness.worker = worker
            self._announce(worker.url)

        await application.run([worker], announce)

    def _worker(self, bus: Bus, application: Application) -> PatientWorker:
        process, core = self._process, None
        if self._secret is not None:
            core = Core.over(
                bus, self._settings, self._secret, redact=process.redact, on_fatal=application.fail
            )
        seat = Seat(bus, process.name, application.fail) if process.alone else None
        return PatientWorker(
            Ground(self._settings, bus, core), process, self._waiting, seat, application.fail
        )

    def _announce(self, http_url: str | None) -> None:
        health_url = self._health.url if self._health else None
        self._ready_file.write({"worker": self._process.name, "health_url": health_url, "http_url": http_url})
        urls = "".join(f"  {name} {url}" for name, url in (("HTTP", http_url), ("health", health_url)) if url)
        sys.stdout.write(f"{self._process.command} is at work · 已就绪{urls}\n")
        sys.stdout.flush()


async def _until_signal(work: Coroutine[Any, Any, None]) -> None:
    """Ends at once while it still waits for servers; from the worker's start on, `Application` ends it in order."""
    loop, task = asyncio.get_running_loop(), asyncio.create_task(work, name="work")
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task
