"""Whether the LLM may be asked now: open while it answers, and a single probe at a time while it does not."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import structlog

from hindsight_common.clock import Clock
from hindsight_common.errors import RetryLater
from hindsight_extractor.application.extraction_telemetry import ExtractionTelemetry

State = Literal["ok", "away", "paused"]

# the first probe comes soon, and the waits stay short enough that what waited is read within 10 s of the return
_AWAY_PROBES_S: Final = (0.5, 1.0, 2.0, 3.0)
# a wrong key heals by a person's hand; asking every few seconds could lock the account
_PAUSED_PROBES_S: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
# so many replies in a row that could not be read are a fault of the model, not of the turns
_UNREADABLE_IN_A_ROW: Final = 5
# what is turned away comes back a little after the probe is due, not all at the same moment
_SPREAD_S: Final = 0.5
_LONGEST_WAIT_S: Final = 5.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ExtractionHealth:
    """`ok`: the LLM reads turns. `away`: it does not answer at present. `paused`: its key, address or model are wrong.

    Outside of `ok` turns are read by the rules meanwhile, `cause` says why and `since` when it began.
    """

    state: State
    cause: str | None
    since: datetime


class ModelGate:
    """Shared by all that ask one model. `monotonic` counts seconds, `jitter` gives numbers in [0, 1)."""

    def __init__(
        self,
        clock: Clock,
        telemetry: ExtractionTelemetry,
        *,
        monotonic: Callable[[], float],
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._telemetry = telemetry
        self._monotonic = monotonic
        self._jitter = jitter
        self._health = ExtractionHealth("ok", None, clock.now())
        self._failures = 0
        self._unreadable = 0
        self._probe_due = 0.0
        self._is_probing = False
        self._troubled = asyncio.Event()
        telemetry.state("ok")

    @property
    def health(self) -> ExtractionHealth:
        return self._health

    async def until_troubled(self) -> None:
        """Returns at once outside of `ok`, else when that ends."""
        await self._troubled.wait()

    @contextmanager
    def admission(self) -> Iterator[None]:
        """The block may ask. Raises `RetryLater` with the time to come back while nobody, or nobody else, may."""
        if self._health.state == "ok":
            yield
            return
        if self._is_probing or self._monotonic() < self._probe_due:
            raise self.come_back()
        self._is_probing = True
        try:
            yield
        finally:
            self._is_probing = False

    def come_back(self) -> RetryLater:
        """What to raise for a turn that could not be read because the model is not there."""
        wait_s = max(self._probe_due - self._monotonic(), 0.0)
        delay_s = min(wait_s, _LONGEST_WAIT_S) + 0.1 + _SPREAD_S * self._jitter()
        return RetryLater(f"the LLM is {self._health.state}: {self._health.cause}", delay_s=delay_s)

    def answered(self) -> None:
        """The model gave a reply that could be read."""
        self._failures = self._unreadable = 0
        self._become("ok", None)

    def unreadable(self) -> None:
        """The model gave a reply that says nothing; too many in a row, and it counts as away."""
        self._unreadable += 1
        if self._unreadable >= _UNREADABLE_IN_A_ROW:
            self._fail("away", "unreadable_replies", _PAUSED_PROBES_S, None)

    def away(self, cause: str, retry_after_s: float | None = None) -> None:
        self._fail("away", cause, _AWAY_PROBES_S, retry_after_s)

    def misconfigured(self, cause: str) -> None:
        self._fail("paused", cause, _PAUSED_PROBES_S, None)

    def _fail(
        self, state: State, cause: str, probes_s: tuple[float, ...], retry_after_s: float | None
    ) -> None:
        # those that were asked side by side fail together: that is one failure, not many
        if self._health.state != state or self._monotonic() >= self._probe_due:
            wait_s = probes_s[min(self._failures, len(probes_s) - 1)]
            self._failures += 1
            self._probe_due = self._monotonic() + max(wait_s, retry_after_s or 0.0)
        self._become(state, cause)

    def _become(self, state: State, cause: str | None) -> None:
        if (state, cause) == (self._health.state, self._health.cause):
            return
        before = self._health.state
        since = self._health.since if state == before else self._clock.now()
        self._health = ExtractionHealth(state, cause, since)
        if state == "ok":
            self._troubled.clear()
        else:
            self._troubled.set()
        if state != before:
            self._telemetry.state(state)
            say = _log.info if state == "ok" else _log.warning
            say("extraction.llm", state=state, before=before, cause=cause)
