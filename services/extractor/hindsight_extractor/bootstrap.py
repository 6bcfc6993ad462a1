"""The extractor worker, put together: intake and extraction, and the answers about turns."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

import structlog

from hindsight_common import VERSION
from hindsight_common.core import Core
from hindsight_common.errors import HindsightError
from hindsight_common.events import subjects
from hindsight_common.events.streams import EXTRACTOR_CONSUMER, INTAKE_CONSUMER
from hindsight_common.messaging.delivery import Consumption, deliver_each
from hindsight_common.messaging.service import Service
from hindsight_common.ports.extraction import Extractor
from hindsight_extractor import consumers
from hindsight_extractor.application.extraction import ExtractTurn
from hindsight_extractor.application.intake import Intake
from hindsight_extractor.application.recent_turns import RecentTurns
from hindsight_extractor.application.retention import SweepTurns
from hindsight_extractor.application.turn_outcome import TurnOutcome
from hindsight_extractor.domain.redaction import redact
from hindsight_extractor.domain.rules import RuleExtractor

_INTAKE_AT_ONCE = 32
_EXTRACTIONS_AT_ONCE = 16
_SWEEP_EVERY_S = 3600.0

_log = structlog.get_logger(__name__)


class ExtractorWorker:
    name = "extractor"

    def __init__(self, core: Core, extractor: Extractor) -> None:
        intake = Intake(
            core.ids,
            core.turns,
            lambda text: redact(text).text,
            core.clock,
            max_message_bytes=core.settings.intake.max_message_kib * 1024,
        )
        recent = RecentTurns()
        extraction = ExtractTurn(core.ids, core.log, core.turns, extractor, recent)
        self._consumptions: list[Consumption] = [
            deliver_each(
                core.bus,
                INTAKE_CONSUMER,
                consumers.take_in(intake),
                bury=core.dead_letters.bury,
                concurrency=_INTAKE_AT_ONCE,
                pace=core.pace,
                on_fatal=core.on_fatal,
            ),
            deliver_each(
                core.bus,
                EXTRACTOR_CONSUMER,
                consumers.extract(extraction, core.turns),
                bury=core.dead_letters.bury,
                concurrency=_EXTRACTIONS_AT_ONCE,
                pace=core.pace,
                on_fatal=core.on_fatal,
            ),
        ]
        self._service = Service(
            core.bus, "extractor", version=VERSION, description="Takes turns in and distils them"
        )
        self._service.endpoint("write", subjects.MEMORY_WRITE, consumers.write(intake))
        turn_outcome = TurnOutcome(core.ids, core.log, core.turns, core.dead_letters, recent)
        self._service.endpoint("turn", subjects.MEMORY_TURN, consumers.outcome(turn_outcome))
        keep = timedelta(hours=core.settings.retention.turn_hours_after_outcome)
        self._sweep = SweepTurns(core.log, core.turns, core.clock, keep)
        self._sweeping: asyncio.Task[None] | None = None

    async def start(self) -> None:
        for consumption in self._consumptions:
            await consumption.start()
        await self._service.start()
        self._sweeping = asyncio.create_task(self._sweep_forever())

    async def stop(self) -> None:
        await self._service.stop()
        if self._sweeping is not None:
            self._sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeping
        for consumption in self._consumptions:
            await consumption.stop()

    async def _sweep_forever(self) -> None:
        while True:
            try:
                removed = await self._sweep.run()
                _log.info("turns.swept", removed=removed)
            except HindsightError as fault:
                _log.warning("turns.sweep_failed", fault=type(fault).__name__)
            await asyncio.sleep(_SWEEP_EVERY_S)


def build(core: Core, extractor: Extractor | None = None) -> ExtractorWorker:
    """Without an extractor of its own, the rules."""
    return ExtractorWorker(core, extractor or RuleExtractor())
