"""Hybrid time: the order of decisions, near the wall clock and never behind a decision that was seen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, order=True)
class HybridTime:
    """Milliseconds since 1970 (UTC) as a wall clock gave them, then a counter for what falls into the same one."""

    wall_ms: int
    counter: int = 0


class HybridClock:
    """Gives times that grow, whatever the wall clock does. One per process; not thread-safe.

    A clock that is behind what it has seen counts on from there, so that whoever decides with another's decision
    before their eyes has the last word.
    """

    def __init__(self) -> None:
        self._last = HybridTime(0)

    def tick(self, now: datetime, seen: HybridTime | None = None) -> HybridTime:
        """A time after every one that was given, and after `seen`; `now` is aware."""
        wall_ms = (now - _EPOCH) // _MILLISECOND
        last = max(self._last, seen) if seen is not None else self._last
        if wall_ms > last.wall_ms:
            self._last = HybridTime(wall_ms)
        else:
            self._last = HybridTime(last.wall_ms, last.counter + 1)
        return self._last
