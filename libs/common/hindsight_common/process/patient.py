"""A worker that waits for all it stands on before it starts, and starts again where that went away meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import structlog

from hindsight_common.errors import StopAndFix
from hindsight_common.events.streams import SERVER_CONSUMERS
from hindsight_common.messaging.provisioning import require_provisioned
from hindsight_common.messaging.seat import Seat
from hindsight_common.process.waiting import Waiting
from hindsight_common.process.worker_process import Ground, Parts, Store, WorkerProcess
from hindsight_common.worker import Listening, Reporting, Worker

STREAMS: Final = "streams"
KEYS: Final = "keys"
SEAT: Final = "seat"
START: Final = "start"

OnFatal = Callable[[StopAndFix], None]

_log = structlog.get_logger(__name__)


class PatientWorker:
    """`start` returns once the worker is at work, however long what it needs is away. Raises `StopAndFix`."""

    def __init__(
        self, ground: Ground, process: WorkerProcess, waiting: Waiting, seat: Seat | None, on_fatal: OnFatal
    ) -> None:
        self._ground, self._process, self._waiting, self._seat = ground, process, waiting, seat
        self._on_fatal = on_fatal
        self._parts: Parts | None = None
        self._worker: Worker | None = None
        self._later: list[asyncio.Task[None]] = []

    @property
    def stores(self) -> Sequence[Store]:
        return self._parts.stores if self._parts is not None else ()

    @property
    def name(self) -> str:
        return self._process.name

    @property
    def url(self) -> str | None:
        """Where people reach it by HTTP, if they do."""
        return self._worker.url if isinstance(self._worker, Listening) else None

    def missing(self) -> tuple[str, ...]:
        return self._worker.missing() if isinstance(self._worker, Reporting) else ()

    async def start(self) -> None:
        until, core = self._waiting.until, self._ground.core
        if core is not None:
            await until(STREAMS, self._provisioned)
            await until(KEYS, core.start)
        parts = self._parts = self._process.open(self._ground)
        self._later = [
            asyncio.create_task(self._watch_for(store), name=f"wait for {store.name}")
            for store in parts.stores
            if not store.awaited
        ]
        await parts.prepare()
        if self._seat is not None:
            await until(SEAT, self._seat.take)
        await self._all_awaited(parts)
        self._worker = await until(START, lambda: _started(parts))

    async def stop(self) -> None:
        if self._worker is not None:
            await self._worker.stop()
        if self._seat is not None:
            await self._seat.leave()
        await _ended(self._later)
        for store in self.stores:
            await store.close()
        if self._ground.core is not None:
            await self._ground.core.stop()

    async def _provisioned(self) -> None:
        """The operator makes streams and consumers (`hindsight-cli provision`); a worker says what differs."""
        for sentence in await require_provisioned(self._ground.bus.js, consumers=SERVER_CONSUMERS):
            _log.warning("bus_drift", what=sentence)

    async def _all_awaited(self, parts: Parts) -> None:
        """Side by side, so that whoever asks is told of every one that is missing."""
        tasks = [
            asyncio.create_task(self._waiting.until(store.name, store.answers), name=f"wait for {store.name}")
            for store in parts.stores
            if store.awaited
        ]
        try:
            await asyncio.gather(*tasks)
        finally:
            await _ended(tasks)

    async def _watch_for(self, store: Store) -> None:
        """The worker is at work without it; but one that will never answer is somebody's to put right."""
        try:
            await self._waiting.until(store.name, store.answers)
        except StopAndFix as error:
            self._on_fatal(error)


async def _ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _started(parts: Parts) -> Worker:
    worker = parts.build()
    try:
        await worker.start()
    except BaseException:
        # what began must be stopped, even half-way: the next try begins with a new one
        await worker.stop()
        raise
    return worker
