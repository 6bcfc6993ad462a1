"""When a job that the bus's ticks start last ran."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class JobRun:
    """A run that came to its end: when it began (aware), and the log position up to which it saw everything."""

    at: datetime
    position: int


class JobRuns(Protocol):
    """Raises `RetryLater` when the bus cannot answer."""

    async def last(self, job: str) -> JobRun | None:
        """None if the job never ran."""
        ...

    async def record(self, job: str, run: JobRun) -> None: ...
