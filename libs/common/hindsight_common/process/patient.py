"""A worker that waits for all it stands on before it starts, and starts again where that went away meanwhile."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from hindsight_common.events.streams import SERVER_CONSUMERS
from hindsight_common.messaging.provisioning import require_provisioned
from hindsight_common.messaging.seat import Seat
from hindsight_common.process.waiting import Waiting
from hindsight_common.process.worker_process import Ground, Parts
from hindsight_common.worker import Listening, Reporting, Worker

STREAMS: Final = "streams"
KEYS: Final = "keys"
SEAT: Final = "seat"
START: Final = "start"

_log = structlog.get_logger(__name__)


class PatientWorker:
    """`start` returns once the worker is at work, however long what it needs is away. Raises `StopAndFix`."""

    def __init__(self, ground: Ground, parts: Parts, waiting: Waiting, seat: Seat | None) -> None:
        self._ground, self._parts, self._waiting, self._seat = ground, parts, waiting, seat
        self._worker: Worker | None = None

    @property
    def name(self) -> str:
        return self._worker.name if self._worker is not None else "worker"

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
        await self._parts.prepare()
        if self._seat is not None:
            await until(SEAT, self._seat.take)
        await self._stores()
        self._worker = await until(START, self._started)

    async def stop(self) -> None:
        if self._worker is not None:
            await self._worker.stop()
        if self._seat is not None:
            await self._seat.leave()
        if self._ground.core is not None:
            await self._ground.core.stop()

    async def _provisioned(self) -> None:
        """The operator makes streams and consumers (`hindsight-cli provision`); a worker says what differs."""
        for sentence in await require_provisioned(self._ground.bus.js, consumers=SERVER_CONSUMERS):
            _log.warning("bus_drift", what=sentence)

    async def _stores(self) -> None:
        """Side by side, so that whoever asks is told of every one that is missing."""
        tasks = [
            asyncio.create_task(self._waiting.until(store.name, store.answers), name=f"wait for {store.name}")
            for store in self._parts.stores
        ]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _started(self) -> Worker:
        worker = self._parts.build(self._ground)
        try:
            await worker.start()
        except BaseException:
            # what began must be stopped, even half-way: the next try begins with a new one
            await worker.stop()
            raise
        return worker
