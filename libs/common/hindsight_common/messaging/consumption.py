"""What working on a consumer has in common: starting, keeping messages in hand alive, settling, stopping."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import nats.errors
import structlog
from nats.aio.msg import Msg

from hindsight_common.errors import StopAndFix
from hindsight_common.events.streams import ConsumerSpec
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.delivery_telemetry import DeliveryTelemetry
from hindsight_common.messaging.pulling import SILENCE_S, Puller
from hindsight_common.messaging.reading import plain_headers
from hindsight_common.messaging.settlement import Delivery, Settlement, Verdict
from hindsight_common.observability.logs import places

ACK_TIMEOUT_S: Final = 2.0
DEFECT_PAUSE_S: Final = 1.0

OnFatal = Callable[[StopAndFix], None]

_log = structlog.get_logger(__name__)


class Consumption(ABC):
    """One consumer being worked on. `start` returns at once, `stop` when nothing is in hand any more."""

    ordered = False

    def __init__(
        self,
        bus: Bus,
        spec: ConsumerSpec,
        settlement: Settlement,
        *,
        room: int,
        workers: int,
        stop_grace_s: float,
        on_fatal: OnFatal | None,
    ) -> None:
        self.spec = spec
        self.failure: StopAndFix | None = None
        self._bus = bus
        self._settlement = settlement
        self._puller = Puller(bus, spec, room)
        self._telemetry = DeliveryTelemetry(spec)
        self._stop_grace_s = stop_grace_s
        self._on_fatal = on_fatal
        self._workers = workers
        self._working: list[asyncio.Task[None]] = []
        self._busy: set[asyncio.Task[None]] = set()
        self._heartbeat: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    @property
    def is_consuming(self) -> bool:
        """True while the server is heard of and nothing made it stop; what readiness should ask."""
        started = self._heartbeat is not None and not self._stopping.is_set()
        heard = self._puller.heard_s_ago < 2 * SILENCE_S and not self._puller.in_trouble
        return started and self._bus.is_connected and heard

    async def start(self) -> None:
        """Deliveries flow from now on."""
        await self._puller.start()
        self._heartbeat = asyncio.create_task(self._keep_in_hand(), name=f"heartbeat {self.spec.durable}")
        self._working = [
            asyncio.create_task(self._work(), name=f"work {self.spec.durable}") for _ in range(self._workers)
        ]

    async def stop(self) -> None:
        """Finishes what handlers are working on, for at most the grace period, and gives back all the rest."""
        self._stopping.set()
        if self._heartbeat is None:
            return
        for message in await self._puller.stop():
            await self._give_back(message, 0)
        # idle workers wait for a message that will not come; busy ones see the flag when they are done
        for task in self._working:
            if task not in self._busy:
                task.cancel()
        if self._working:
            _, late = await asyncio.wait(self._working, timeout=self._stop_grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*self._working, return_exceptions=True)
        for message in tuple(self._puller.in_hand.values()):
            await self._give_back(message, 0)
        self._heartbeat.cancel()
        await asyncio.wait([self._heartbeat])
        self._heartbeat = None
        with suppress(nats.errors.Error, TimeoutError):
            await self._bus.nc.flush(timeout=2)

    async def _after_interruption(self) -> None:
        """Where order does not matter, what was lost on the way comes again by itself."""
        self._puller.interrupted = False

    @abstractmethod
    async def _turn(self, first: Msg) -> None:
        """Handles and settles one message, or a batch that begins with it."""

    async def _work(self) -> None:
        me = asyncio.current_task()
        assert me is not None
        while not self._stopping.is_set():
            if self._puller.interrupted:
                await self._after_interruption()
            first = await self._puller.next()
            if first is None or (self.ordered and self._puller.interrupted):
                continue
            self._busy.add(me)
            try:
                await self._turn(first)
            except Exception as defect:  # noqa: BLE001 - a fault of our own must not end the worker in silence
                await self._survive(first, defect)
            finally:
                self._busy.discard(me)

    async def _survive(self, first: Msg, defect: Exception) -> None:
        _log.error(
            "delivery_defect",
            stream=self.spec.stream,
            consumer=self.spec.durable,
            error_type=type(defect).__name__,
            error_at=places(defect),
        )
        if self.ordered:
            self._puller.interrupted = True
            await asyncio.sleep(DEFECT_PAUSE_S)
        else:
            await self._give_back(first, DEFECT_PAUSE_S)

    async def _keep_in_hand(self) -> None:
        while True:
            await asyncio.sleep(self.spec.ack_wait_s / 3)
            for message in tuple(self._puller.in_hand.values()):
                with suppress(nats.errors.Error):
                    await message.in_progress()

    async def _settle(self, message: Msg, verdict: Verdict, *, confirmed: bool = False) -> None:
        if verdict.delay_s is not None:
            await self._give_back(message, verdict.delay_s)
            return
        try:
            if confirmed:
                await message.ack_sync(timeout=ACK_TIMEOUT_S)
            else:
                await message.ack()
        except (nats.errors.Error, TimeoutError) as error:
            # it comes again, and what was done for it bears repetition
            _log.warning("ack_lost", stream=self.spec.stream, error_type=type(error).__name__)
        self._puller.release(message)

    async def _give_back(self, message: Msg, delay_s: float) -> None:
        with suppress(nats.errors.Error):
            await message.nak(delay=delay_s or None)
        self._puller.release(message)

    def _fail(self, error: StopAndFix) -> None:
        """Stops from within: the handler found something that only a person can put right."""
        if self.failure is None:
            self.failure = error
            _log.critical("consumption_stopped", stream=self.spec.stream, consumer=self.spec.durable)
            self._stopping.set()
            if self._on_fatal is not None:
                self._on_fatal(error)


def silent(*consumptions: Consumption) -> tuple[str, ...]:
    """Those of the consumers that get nothing now, each as `consumer` and its name."""
    return tuple(f"consumer {each.spec.durable}" for each in consumptions if not each.is_consuming)


def delivery_of(message: Msg) -> Delivery:
    """The message in our own words."""
    metadata = message.metadata
    return Delivery(
        stream=metadata.stream,
        consumer=metadata.consumer,
        subject=message.subject,
        sequence=metadata.sequence.stream,
        attempts=metadata.num_delivered,
        timestamp=metadata.timestamp,
        data=message.data,
        headers=plain_headers(message),
    )
