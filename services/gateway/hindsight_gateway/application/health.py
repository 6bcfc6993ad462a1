"""Whether requests can be answered, and what is missing if not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from hindsight_common.errors import RequestError
from hindsight_common.worker import BEHIND_THE_BUS

_FRESH_S: Final = 2.0


class Workers(Protocol):
    async def running(self) -> frozenset[str]:
        """Names of the workers that answer now. Raises `RequestError` while the bus cannot be asked."""
        ...


@dataclass(frozen=True, slots=True)
class Health:
    """`missing` names what does not answer; the bus is named `bus`."""

    missing: tuple[str, ...]

    @property
    def status(self) -> str:
        return "degraded" if self.missing else "ok"


@dataclass(slots=True)
class WatchHealth:
    """Looks at most every two seconds, however often it is asked. `monotonic` counts seconds."""

    workers: Workers
    monotonic: Callable[[], float]
    _seen: Health | None = field(default=None, init=False)
    _seen_at: float = field(default=0.0, init=False)

    async def now(self) -> Health:
        if self._seen is None or self.monotonic() - self._seen_at >= _FRESH_S:
            self._seen = await self._look()
            self._seen_at = self.monotonic()
        return self._seen

    async def _look(self) -> Health:
        try:
            running = await self.workers.running()
        except RequestError:
            return Health(("bus",))
        return Health(tuple(name for name in BEHIND_THE_BUS if name not in running))
