"""The steps of one request: timed, and none of them able to take the answer down with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import TypeVar

import structlog

from hindsight_common.observability import span
from hindsight_common.ports.memory_index import OwnerMismatch

_T = TypeVar("_T")
_log = structlog.get_logger(__name__)


class Steps:
    """`degraded` names the parts that are missing; `took_ms` is milliseconds by step."""

    def __init__(self) -> None:
        self.degraded: list[str] = []
        self.took_ms: dict[str, float] = {}
        self._started = perf_counter()

    def miss(self, part: str) -> None:
        if part not in self.degraded:
            self.degraded.append(part)

    async def run(self, step: str, work: Callable[[], Awaitable[_T]], *, part: str) -> _T | None:
        """The step's result, or None after a fault, which costs its part of the answer and is named, whatever it is."""
        started = perf_counter()
        try:
            with span(f"recall.{step}"):
                return await work()
        except OwnerMismatch:
            raise  # not a part that is missing: the answer must not leave
        except Exception as fault:  # noqa: BLE001 - the read path never fails whole, so no kind of fault may pass
            _log.warning("recall.part_missing", part=part, step=step, fault=type(fault).__name__)
            self.miss(part)
            return None
        finally:
            self.took_ms[step] = self.took_ms.get(step, 0.0) + (perf_counter() - started) * 1000

    def finish(self) -> None:
        self.took_ms["total"] = (perf_counter() - self._started) * 1000
