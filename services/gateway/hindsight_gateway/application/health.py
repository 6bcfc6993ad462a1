"""Whether requests can be answered and turns are read as configured, and what is wrong if not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from pydantic import ValidationError

from hindsight_common.errors import RequestError
from hindsight_common.events import subjects
from hindsight_common.events.answers import ExtractionAnswer
from hindsight_common.worker import BEHIND_THE_BUS
from hindsight_gateway.application.forwarding import Requests

_FRESH_S: Final = 2.0
_EXTRACTION_TIMEOUT_S: Final = 1.0


class Workers(Protocol):
    async def running(self) -> frozenset[str]:
        """Names of the workers that answer now. Raises `RequestError` while the bus cannot be asked."""
        ...


@dataclass(frozen=True, slots=True)
class Health:
    """`missing` names what does not answer; the bus is named `bus`. `extraction` is how the LLM is while it is away
    or paused, None while turns are read as configured.
    """

    missing: tuple[str, ...] = ()
    extraction: ExtractionAnswer | None = None

    @property
    def is_well(self) -> bool:
        return not self.missing and self.extraction is None


@dataclass(slots=True)
class WatchHealth:
    """Looks at most every two seconds, however often and by however many it is asked. `monotonic` counts seconds."""

    workers: Workers
    requests: Requests
    monotonic: Callable[[], float]
    _seen: Health | None = field(default=None, init=False)
    _seen_at: float = field(default=0.0, init=False)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def now(self) -> Health:
        async with self._looking:
            if self._seen is None or self.monotonic() - self._seen_at >= _FRESH_S:
                self._seen = await self._look()
                self._seen_at = self.monotonic()
            return self._seen

    async def _look(self) -> Health:
        try:
            running = await self.workers.running()
        except RequestError:
            return Health(("bus",))
        missing = tuple(name for name in BEHIND_THE_BUS if name not in running)
        return Health(missing, await self._extraction() if "extractor" in running else None)

    async def _extraction(self) -> ExtractionAnswer | None:
        """None also when it does not say: its worker answered the roll call, so it is there and busy."""
        try:
            said = await self.requests.ask(subjects.ADMIN_EXTRACTION, {}, timeout_s=_EXTRACTION_TIMEOUT_S)
            told = ExtractionAnswer.model_validate(said)
        except (RequestError, ValidationError):
            return None
        return None if told.state == "ok" else told
