"""A process: workers on one bus, from start to a clean stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import nats.errors
import structlog
from faststream import FastStream

from hindsight_common.errors import StopAndFix
from hindsight_common.messaging.connection import Bus
from hindsight_common.observability.logs import places
from hindsight_common.worker import Worker

_log = structlog.get_logger(__name__)


class Application:
    """Starts workers in their order, stops them in reverse, on SIGTERM, SIGINT, `stop` or `fail`."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._app = FastStream(bus.broker, logger=None)
        self._stop = asyncio.Event()
        self._begun: list[Worker] = []
        self.failure: StopAndFix | None = None

    def stop(self) -> None:
        """Asks it to end; `run` returns when everything in hand is finished."""
        self._stop.set()

    def fail(self, error: StopAndFix) -> None:
        """Ends it for a reason that only a person can put right; `run` raises the first one told."""
        self.failure = self.failure or error
        self._stop.set()

    async def run(self, workers: Sequence[Worker], on_ready: Callable[[], None] | None = None) -> None:
        """Returns after a clean stop, the bus closed. `on_ready` is called once every worker has started.

        Raises what a worker raised while starting, or the StopAndFix given to `fail`; the others are stopped
        first in either case.
        """
        with self._signals():
            try:
                await self._app.start()
                if await self._started(workers):
                    if on_ready is not None:
                        on_ready()
                    await self._stop.wait()
            finally:
                await self._end()
        if self.failure is not None:
            raise self.failure

    async def _started(self, workers: Sequence[Worker]) -> bool:
        """False if it was asked to stop before all were up."""
        starting = asyncio.create_task(self._start_all(workers), name="start workers")
        stopping = asyncio.create_task(self._stop.wait(), name="wait for stop")
        try:
            await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                await starting
            return not self._stop.is_set()
        finally:
            for task in (starting, stopping):
                task.cancel()
            await asyncio.gather(starting, stopping, return_exceptions=True)

    async def _start_all(self, workers: Sequence[Worker]) -> None:
        for worker in workers:
            # listed before it starts: what began must be stopped, even half-way
            self._begun.append(worker)
            await worker.start()
            _log.info("worker_started", worker=worker.name)

    async def _end(self) -> None:
        while self._begun:
            worker = self._begun.pop()
            try:
                await worker.stop()
            except Exception as error:  # noqa: BLE001 - one that cannot stop must not keep the others from it
                _log.error(
                    "worker_not_stopped",
                    worker=worker.name,
                    error_type=type(error).__name__,
                    error_at=places(error),
                )
        # during an outage of the server there is nothing to drain to
        with suppress(nats.errors.Error, TimeoutError):
            await self._app.stop()
        await self._bus.close()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
