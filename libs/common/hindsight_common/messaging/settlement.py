"""THE place where an error becomes an ack, a nak or a dead letter.

| the handler …            | the delivery is …                                                        |
|--------------------------|--------------------------------------------------------------------------|
| returns                  | acknowledged                                                             |
| raises RetryLater        | given back with a growing, jittered delay, without end                   |
| raises GiveUp            | buried with its cause, then acknowledged                                 |
| raises StopAndFix        | given back; the consumption stops and says why                           |
| raises anything else     | given back with a growing delay, buried as `unexpected` after 5 attempts |

If burying fails, the delivery is given back: it is never lost.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import structlog

from hindsight_common.errors import GiveUp, HindsightError, RetryLater, StopAndFix
from hindsight_common.observability.logs import places

UNEXPECTED: Final = "unexpected"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message as it was handed over.

    `sequence` is its place in the stream, `attempts` counts deliveries from 1, `timestamp` is when the stream
    took it (the server's clock, UTC). What lies in `data` is unread and unchecked.
    """

    stream: str
    consumer: str
    subject: str
    sequence: int
    attempts: int
    timestamp: datetime
    data: bytes
    headers: Mapping[str, str]


class BatchFault(HindsightError):
    """Raised by the handler of a batch: this one delivery can never succeed.

    It is buried, and the handler is called again with the rest of the batch, so what it did for the others must
    bear repetition.
    """

    def __init__(self, delivery: Delivery, fault: GiveUp) -> None:
        super().__init__(fault.reason)
        self.delivery = delivery
        self.fault = fault


Bury = Callable[[Delivery, GiveUp], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a delivery waits before it comes again: `delays_s` by attempt, the last one from then on.

    `scale` multiplies them (tests want milliseconds), `jitter` gives a number in [0, 1) that spreads each by
    ±20 %, so that what failed together does not come again together.
    """

    delays_s: tuple[float, ...] = (1, 5, 30, 120)
    scale: float = 1.0
    unexpected_attempts: int = 5
    jitter: Callable[[], float] = random.random

    def delay_s(self, attempt: int) -> float:
        """The wait after the given attempt, counted from 1."""
        base_s = self.delays_s[min(max(attempt, 1), len(self.delays_s)) - 1]
        return base_s * self.scale * (0.8 + 0.4 * self.jitter())


Outcome = Literal["processed", "retried", "buried", "stopped"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`delay_s` None: acknowledge; else give back, to come again after so many seconds. `cause` is for metrics."""

    outcome: Outcome
    delay_s: float | None = None
    cause: str | None = None


class Settlement:
    """Decides for the deliveries of one consumer. Unexpected failures are counted here, by sequence.

    The server's own count would not do: it also grows with every RetryLater and every restart, and a delivery
    that waited out an outage would be buried at its first surprise. The count starts anew with the process.
    """

    def __init__(self, bury: Bury, pace: Pace) -> None:
        self._bury = bury
        self.pace = pace
        self._surprises: Counter[int] = Counter()

    async def verdict(self, delivery: Delivery, error: Exception | None, attempt: int) -> Verdict:
        """What becomes of the delivery whose handler returned (None) or raised, at its `attempt` from 1."""
        log = _log.bind(stream=delivery.stream, consumer=delivery.consumer, sequence=delivery.sequence)
        match error:
            case None:
                self._surprises.pop(delivery.sequence, None)
                return Verdict("processed")
            case RetryLater():
                delay_s = self.pace.delay_s(attempt) if error.delay_s is None else error.delay_s
                log.info("delivery_retried", attempt=attempt, delay_s=round(delay_s, 3), reason=error.reason)
                return Verdict("retried", delay_s, "retry_later")
            case GiveUp():
                return await self._buried(delivery, error, attempt)
            case StopAndFix():
                return Verdict("stopped", self.pace.delay_s(1), "stop_and_fix")
            case _:
                return await self._surprised(delivery, error)

    async def _surprised(self, delivery: Delivery, error: Exception) -> Verdict:
        self._surprises[delivery.sequence] += 1
        times = self._surprises[delivery.sequence]
        name = type(error).__name__
        _log.error(
            "delivery_failed_unexpectedly",
            stream=delivery.stream,
            consumer=delivery.consumer,
            sequence=delivery.sequence,
            times=times,
            error_type=name,
            error_at=places(error),
        )
        if times < self.pace.unexpected_attempts:
            return Verdict("retried", self.pace.delay_s(times), name)
        fault = GiveUp(UNEXPECTED, f"failed {times} times, at last with {name}")
        return await self._buried(delivery, fault, times)

    async def _buried(self, delivery: Delivery, fault: GiveUp, attempt: int) -> Verdict:
        log = _log.bind(stream=delivery.stream, consumer=delivery.consumer, sequence=delivery.sequence)
        try:
            await self._bury(delivery, fault)
        except Exception as error:  # noqa: BLE001 - whatever keeps it from being buried, it must not be lost
            log.error("delivery_not_buried", code=fault.code, error_type=type(error).__name__)
            return Verdict("retried", self.pace.delay_s(attempt), "not_buried")
        self._surprises.pop(delivery.sequence, None)
        log.warning("delivery_buried", code=fault.code, field=fault.field)
        return Verdict("buried", cause=fault.code)
