"""The steps of one request: timed, bounded, and none of them able to take the answer down with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final, TypeVar

import structlog

from hindsight_common.observability import span
from hindsight_common.ports.memory_index import OwnerMismatch
from hindsight_recall.application.deadline import Deadline

TIMEOUT: Final = "timeout"

_T = TypeVar("_T")
_log = structlog.get_logger(__name__)


class Steps:
    """`degraded` names the parts that are missing; `took_ms` is milliseconds by step.

    `deadline` may be set once it begins to count; until then nothing is bounded here.
    """

    def __init__(self, deadline: Deadline | None = None) -> None:
        self.deadline = deadline
        self.degraded: list[str] = []
        self.took_ms: dict[str, float] = {}
        self._started = perf_counter()

    def miss(self, part: str) -> None:
        if part not in self.degraded:
            self.degraded.append(part)

    async def run(
        self, step: str, work: Callable[[], Awaitable[_T]], *, part: str, early: bool = False
    ) -> _T | None:
        """The step's result, or None after a fault, which costs its part of the answer and is named, whatever it is.

        So is a step that the deadline ends, with `timeout` beside it; one that is `early` ends at half of the time.
        """
        started = perf_counter()
        bound = asyncio.timeout_at(self._until(early))
        try:
            with span(f"recall.{step}"):
                async with bound:
                    return await work()
        except OwnerMismatch:
            raise  # not a part that is missing: the answer must not leave
        except Exception as fault:  # noqa: BLE001 - the read path never fails whole, so no kind of fault may pass
            _log.warning("recall.part_missing", part=part, step=step, fault=type(fault).__name__)
            self.miss(part)
            if bound.expired():
                self.miss(TIMEOUT)
            return None
        finally:
            self.took_ms[step] = self.took_ms.get(step, 0.0) + (perf_counter() - started) * 1000

    def _until(self, early: bool) -> float | None:
        if self.deadline is None:
            return None
        return self.deadline.early if early else self.deadline.end

    def finish(self) -> None:
        self.took_ms["total"] = (perf_counter() - self._started) * 1000
