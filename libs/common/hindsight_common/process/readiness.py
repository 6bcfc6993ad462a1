"""Whether a worker is at work, and what is missing if not: asked anew, but not more often than once a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from hindsight_common.errors import HindsightError
from hindsight_common.messaging.connection import Bus
from hindsight_common.process.patient import PatientWorker
from hindsight_common.process.waiting import Waiting
from hindsight_common.process.worker_process import Store

BUS: Final = "nats"
_STARTING: Final = "start"
_FRESH_S: Final = 1.0
_ANSWERS_WITHIN_S: Final = 2.0


@dataclass(slots=True)
class Readiness:
    """`worker` is None until it has started; only then do deliveries flow."""

    waiting: Waiting
    bus: Bus | None = None
    worker: PatientWorker | None = None
    _known: tuple[str, ...] = (_STARTING,)
    _known_at: float = field(default=float("-inf"))
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def missing(self) -> tuple[str, ...]:
        """Names of what it waits for, of consumers that get nothing, of stores that do not answer."""
        if self.bus is None or self.worker is None:
            return self.waiting.names or (_STARTING,)
        if not self.bus.is_connected:
            return (BUS,)
        async with self._asking:
            if time.monotonic() - self._known_at >= _FRESH_S:
                self._known = (*self.worker.missing(), *await _away(self.worker))
                self._known_at = time.monotonic()
        return self._known


async def _away(worker: PatientWorker) -> Iterable[str]:
    answers = await asyncio.gather(*(_is_away(store) for store in worker.stores))
    return [store.name for store, away in zip(worker.stores, answers, strict=True) if away]


async def _is_away(store: Store) -> bool:
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN_S):
            await store.answers()
    except (HindsightError, TimeoutError):
        return True
    return False
