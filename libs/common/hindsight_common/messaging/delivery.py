"""Hands the messages of a durable consumer to a handler, one by one or in ordered batches.

Both run until `stop`, through lost connections, restarts of the server and deleted consumers. What errors mean is
decided in `settlement`; how messages are fetched in `pulling`. While a message is in hand its ack timer is kept
from running out, however long the handler takes, so nothing slow runs twice.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

import structlog
from nats.aio.msg import Msg

from hindsight_common.errors import HindsightError, RetryLater, StopAndFix
from hindsight_common.events.streams import ConsumerSpec
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.consumption import Consumption, OnFatal, delivery_of
from hindsight_common.messaging.faults import server_faults
from hindsight_common.messaging.settlement import (
    BatchFault,
    Bury,
    Delivery,
    Pace,
    Settlement,
    Verdict,
)

__all__ = ["BatchFault", "Bury", "Consumption", "Delivery", "Pace", "deliver_each", "deliver_in_order"]

# below the 30 s that Kubernetes waits between SIGTERM and SIGKILL by default
STOP_GRACE_S: Final = 15.0
# an unexpected failure holds up everything behind it, so it is not waited for as long as elsewhere
LONGEST_ORDERED_SURPRISE_S: Final = 5.0
# a second's worth at the highest rate measured
REMEMBERED: Final = 4096

HandleEach = Callable[[Delivery], Awaitable[None]]
HandleBatch = Callable[[Sequence[Delivery]], Awaitable[None]]

_log = structlog.get_logger(__name__)


def deliver_each(
    bus: Bus,
    spec: ConsumerSpec,
    handle: HandleEach,
    *,
    bury: Bury,
    concurrency: int,
    pace: Pace | None = None,
    confirm_acks: bool = False,
    stop_grace_s: float = STOP_GRACE_S,
    on_fatal: OnFatal | None = None,
) -> Consumption:
    """A consumption to `start`: up to `concurrency` messages at a time, in no promised order.

    `confirm_acks` waits for the server to have each ack. `on_fatal` is called with the StopAndFix that ended it.
    """
    return _Each(
        bus,
        spec,
        Settlement(bury, pace or Pace()),
        handle=handle,
        confirm_acks=confirm_acks,
        # more than the server lets be unacknowledged would never come
        room=min(concurrency, spec.max_ack_pending),
        workers=min(concurrency, spec.max_ack_pending),
        stop_grace_s=stop_grace_s,
        on_fatal=on_fatal,
    )


def deliver_in_order(
    bus: Bus,
    spec: ConsumerSpec,
    handle: HandleBatch,
    *,
    bury: Bury,
    batch_size: int = 256,
    pace: Pace | None = None,
    stop_grace_s: float = STOP_GRACE_S,
    on_fatal: OnFatal | None = None,
) -> Consumption:
    """A consumption to `start`: batches in stream order, the next only after the one before is acknowledged.

    A batch holds what has arrived, at most `batch_size`; nothing waits for it to fill. The durable must have no
    other reader. RetryLater keeps the batch in hand and calls again after a growing delay. BatchFault, or GiveUp
    for a batch of one, buries one delivery; any other exception makes the batch be handled one by one, so that
    only what fails alone is buried. After an interruption delivery resumes behind the last acknowledged one.
    """
    return _InOrder(
        bus,
        spec,
        Settlement(bury, pace or Pace()),
        handle=handle,
        room=min(batch_size, spec.max_ack_pending),
        workers=1,
        stop_grace_s=stop_grace_s,
        on_fatal=on_fatal,
    )


class _Each(Consumption):
    def __init__(
        self,
        bus: Bus,
        spec: ConsumerSpec,
        settlement: Settlement,
        *,
        handle: HandleEach,
        confirm_acks: bool,
        **common: Any,
    ) -> None:
        super().__init__(bus, spec, settlement, **common)
        self._handle = handle
        self._confirm = confirm_acks
        self._done: OrderedDict[tuple[int, datetime], None] = OrderedDict()

    async def _turn(self, first: Msg) -> None:
        delivery = delivery_of(first)
        if (delivery.sequence, delivery.timestamp) in self._done:
            await self._settle(first, Verdict("processed"), confirmed=self._confirm)
            return
        with self._telemetry.handling([delivery]) as handled:
            error: Exception | None = None
            try:
                await self._handle(delivery)
            except Exception as raised:  # noqa: BLE001 - this is where every error gets its meaning
                error = raised
            verdict = await self._settlement.verdict(delivery, error, delivery.attempts)
            handled(delivery, verdict)
        if verdict.delay_s is None:
            self._remember(delivery)
        await self._settle(first, verdict, confirmed=self._confirm)
        if isinstance(error, StopAndFix):
            self._fail(error)

    def _remember(self, delivery: Delivery) -> None:
        """A killed server forgets the acks of its last second and sends those messages again."""
        self._done[delivery.sequence, delivery.timestamp] = None
        if len(self._done) > REMEMBERED:
            self._done.popitem(last=False)


class _Stopping(HindsightError):
    """The consumption stops while a batch waits for its next attempt."""


class _InOrder(Consumption):
    ordered = True

    def __init__(
        self, bus: Bus, spec: ConsumerSpec, settlement: Settlement, *, handle: HandleBatch, **common: Any
    ) -> None:
        super().__init__(bus, spec, settlement, **common)
        self._handle = handle
        self._size: int = common["room"]
        # what an earlier reader left unacknowledged would come after its ack timer, behind newer messages
        self._puller.interrupted = True

    async def _turn(self, first: Msg) -> None:
        try:
            await self._batch([first, *self._puller.waiting(self._size - 1)])
        except _Stopping:
            return
        except StopAndFix as error:
            self._fail(error)

    async def _after_interruption(self) -> None:
        """Goes back to behind the last acknowledged message, and drops what arrived around the interruption."""
        attempt = 1
        while True:
            try:
                await self._puller.drop_all()
                with server_faults(f"resuming {self.spec.durable}"):
                    await self._bus.js.reset_consumer(self.spec.stream, self.spec.durable)
                    await self._puller.resume()
            except RetryLater as error:
                _log.warning("resume_failed", consumer=self.spec.durable, reason=error.reason)
                await asyncio.sleep(min(self._settlement.pace.delay_s(attempt), LONGEST_ORDERED_SURPRISE_S))
                attempt += 1
            else:
                return

    async def _batch(self, messages: list[Msg]) -> None:
        """Handles until everything in it is settled. Raises StopAndFix, or _Stopping."""
        left = {message.metadata.sequence.stream: message for message in messages}
        attempt = 1
        while left:
            deliveries = [delivery_of(message) for message in left.values()]
            with self._telemetry.handling(deliveries) as handled:
                error = await self._attempt(deliveries)
                culprit = _culprit(deliveries, error)
                if culprit is not None:
                    verdict = await self._settlement.verdict(culprit, _cause(error), attempt)
                    for delivery in [culprit] if _is_final(verdict) and error is not None else deliveries:
                        handled(delivery, verdict)
            if isinstance(error, StopAndFix):
                raise error
            if culprit is None:
                for message in left.values():
                    await self._batch([message])
                return
            if error is None:
                await self._acknowledge(list(left.values()), verdict)
                return
            if _is_final(verdict):
                await self._settle(left.pop(culprit.sequence), verdict, confirmed=not left)
                continue
            await self._wait(verdict, error)
            attempt += 1

    async def _attempt(self, deliveries: Sequence[Delivery]) -> Exception | None:
        try:
            await self._handle(deliveries)
        except Exception as raised:  # noqa: BLE001 - this is where every error gets its meaning
            return raised
        return None

    async def _acknowledge(self, messages: Sequence[Msg], verdict: Verdict) -> None:
        """The server takes acks in the order they were sent: the last one's confirmation stands for all."""
        for message in messages:
            await self._settle(message, verdict, confirmed=message is messages[-1])

    async def _wait(self, verdict: Verdict, error: Exception) -> None:
        delay_s = verdict.delay_s or 0
        if not isinstance(error, RetryLater):
            delay_s = min(delay_s, LONGEST_ORDERED_SURPRISE_S)
        with suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                await self._stopping.wait()
        if self._stopping.is_set():
            raise _Stopping


def _culprit(deliveries: Sequence[Delivery], error: Exception | None) -> Delivery | None:
    """Whose the verdict is; None when one of several failed in a way that names nobody."""
    if isinstance(error, BatchFault):
        named = [delivery for delivery in deliveries if delivery.sequence == error.delivery.sequence]
        return named[0] if named else None
    if len(deliveries) == 1 or error is None or isinstance(error, RetryLater | StopAndFix):
        return deliveries[0]
    return None


def _cause(error: Exception | None) -> Exception | None:
    return error.fault if isinstance(error, BatchFault) else error


def _is_final(verdict: Verdict) -> bool:
    return verdict.delay_s is None
