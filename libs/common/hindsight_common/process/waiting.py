"""Waiting for what a process needs and that is not there yet: without end, with growing delay, and without noise."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import structlog

from hindsight_common.errors import RetryLater
from hindsight_common.messaging.connection import BusAway

FIRST_DELAY_S: Final = 0.1
LONGEST_DELAY_S: Final = 5.0
_GROWTH: Final = 1.6

_T = TypeVar("_T")
_log = structlog.get_logger(__name__)


class Waiting:
    """Tries until something works; `names` are what it waits for now, in the order in which it began."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._reasons)

    async def until(self, name: str, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """What `attempt` returns once it no longer raises a temporary fault; any other error passes.

        Each new reason is logged once. Nothing bounds the wait: a server may be away for as long as it likes.
        """
        delay_s = FIRST_DELAY_S
        try:
            while True:
                try:
                    found = await attempt()
                except (RetryLater, BusAway) as fault:
                    self._tell(name, str(fault))
                else:
                    break
                # apart from each other: workers that start together would otherwise ask together for ever
                await asyncio.sleep(delay_s * random.uniform(0.75, 1.25))  # noqa: S311 - nothing secret about it
                delay_s = min(delay_s * _GROWTH, LONGEST_DELAY_S)
            if name in self._reasons:
                _log.info("waited_for", what=name)
            return found
        finally:
            self._reasons.pop(name, None)

    def _tell(self, name: str, reason: str) -> None:
        if self._reasons.get(name) != reason:
            _log.warning("waiting_for", what=name, reason=reason)
        self._reasons[name] = reason
