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
from hindsight_common.events.streams import (
    EXTRACTOR_CONSUMER,
    FIRST_READING_CONSUMER,
    INTAKE_CONSUMER,
    TURNS,
    ConsumerSpec,
)
from hindsight_common.messaging.consumption import silent
from hindsight_common.messaging.delivery import STOP_GRACE_S, Consumption, HandleEach, deliver_each
from hindsight_common.messaging.provisioning import ensure_consumer
from hindsight_common.messaging.service import Service
from hindsight_common.ports.extraction import Extractor
from hindsight_common.ports.working_memory import WorkingMemory
from hindsight_common.settings.model import LlmSettings
from hindsight_extractor import consumers
from hindsight_extractor.application.deciding import Decide
from hindsight_extractor.application.extraction import ExtractTurn
from hindsight_extractor.application.extraction_telemetry import ExtractionTelemetry
from hindsight_extractor.application.first_reading import ReadFirst
from hindsight_extractor.application.intake import Intake
from hindsight_extractor.application.model_gate import ExtractionHealth
from hindsight_extractor.application.recent_turns import RecentTurns
from hindsight_extractor.application.recording import RecordTurn
from hindsight_extractor.application.retention import FinishOverdueTurns, SweepTurns
from hindsight_extractor.application.spoken import Spoken
from hindsight_extractor.application.turn_outcome import TurnOutcome
from hindsight_extractor.domain.redaction import redact
from hindsight_extractor.domain.rules import RuleExtractor
from hindsight_extractor.domain.rules.compiling import compile_rules
from hindsight_extractor.llm import Llm, configured_llm

_INTAKE_AT_ONCE = 32
_EXTRACTIONS_AT_ONCE = 16
# each mostly waits for the LLM to be quicker
_FIRST_READINGS_AT_ONCE = 256
# one that still waits has done nothing yet, and is given back
_FIRST_READING_GRACE_S = 1.0
_SWEEP_EVERY_S = 3600.0

_log = structlog.get_logger(__name__)


class ExtractorWorker:
    """With an `llm`, it reads the turns and `extractor` stands in for it; without one, `extractor` reads them."""

    name = "extractor"

    def __init__(
        self,
        core: Core,
        extractor: Extractor,
        llm: Llm | None,
        telemetry: ExtractionTelemetry,
        working: WorkingMemory,
    ) -> None:
        self._core = core
        self._llm = llm
        session_ttl = timedelta(hours=core.settings.memory_layers.working.session_ttl_hours)
        spoken = Spoken(working, core.ids, core.clock, session_ttl)
        intake = Intake(
            core.ids,
            core.turns,
            lambda text: redact(text).text,
            core.clock,
            spoken,
            max_message_bytes=core.settings.intake.max_message_kib * 1024,
        )
        recent = RecentTurns()
        record = RecordTurn(core.ids, core.log, core.turns, recent, telemetry, spoken)
        self._consumptions: list[Consumption] = [
            self._consumption(INTAKE_CONSUMER, consumers.take_in(intake), _INTAKE_AT_ONCE)
        ]
        extraction = ExtractTurn(record, llm.extractor if llm else extractor, is_costly=llm is not None)
        self._consumptions.append(
            self._consumption(
                EXTRACTOR_CONSUMER,
                consumers.extract(extraction, core.turns),
                llm.settings.concurrency if llm else _EXTRACTIONS_AT_ONCE,
            )
        )
        if llm is not None:
            patience_s = llm.settings.provisional_after_ms / 1000
            first = ReadFirst(record, extractor, recent, llm.gate, core.clock.now(), patience_s)
            self._consumptions.append(
                self._consumption(
                    FIRST_READING_CONSUMER,
                    consumers.read_first(first, core.turns),
                    _FIRST_READINGS_AT_ONCE,
                    stop_grace_s=_FIRST_READING_GRACE_S,
                )
            )
        self._service = Service(
            core.bus, "extractor", version=VERSION, description="Takes turns in and distils them"
        )
        self._service.endpoint("write", subjects.MEMORY_WRITE, consumers.write(intake))
        turn_outcome = TurnOutcome(core.ids, core.log, core.turns, core.dead_letters, recent)
        self._service.endpoint("turn", subjects.MEMORY_TURN, consumers.outcome(turn_outcome))
        # here, since a correction is keyed, worded and redacted as what is extracted is
        deciding = Decide(core.ids, core.log, lambda text: redact(text).text, core.clock)
        self._service.endpoint("decide", subjects.MEMORY_DECIDE, consumers.decide(deciding))
        self._service.endpoint(
            "extraction",
            subjects.ADMIN_EXTRACTION,
            consumers.extraction(llm.chat.name if llm else None, lambda: self.extraction_health),
        )
        keep = timedelta(hours=core.settings.retention.turn_hours_after_outcome)
        self._sweep = SweepTurns(core.log, core.turns, core.clock, keep)
        # also without an LLM: one that was configured once may have left turns behind
        self._finish = FinishOverdueTurns(record, extractor, core.clock, _longest_wait(core.settings.llm))
        self._sweeping: asyncio.Task[None] | None = None

    @property
    def extraction_health(self) -> ExtractionHealth | None:
        """How the LLM is; None where there is none."""
        return self._llm.health if self._llm else None

    def _consumption(
        self, spec: ConsumerSpec, handle: HandleEach, at_once: int, *, stop_grace_s: float = STOP_GRACE_S
    ) -> Consumption:
        core = self._core
        return deliver_each(
            core.bus,
            spec,
            handle,
            bury=core.dead_letters.bury,
            concurrency=at_once,
            pace=core.pace,
            stop_grace_s=stop_grace_s,
            on_fatal=core.on_fatal,
        )

    def missing(self) -> tuple[str, ...]:
        return silent(*self._consumptions)

    async def start(self) -> None:
        if self._llm is not None:
            await ensure_consumer(self._core.bus.js, FIRST_READING_CONSUMER)
        await asyncio.to_thread(compile_rules)
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
        if self._llm is not None:
            await self._llm.chat.close()

    async def _sweep_forever(self) -> None:
        while True:
            try:
                finished = await self._finish.run()
                removed = await self._sweep.run()
                _log.info("turns.swept", removed=removed, finished_by_rules=finished)
            except HindsightError as fault:
                _log.warning("turns.sweep_failed", fault=type(fault).__name__)
            await asyncio.sleep(_SWEEP_EVERY_S)


def _longest_wait(settings: LlmSettings) -> timedelta:
    """Ends some sweeps before the stream would drop the turn unread."""
    kept = timedelta(seconds=TURNS.max_age_s - 3 * _SWEEP_EVERY_S)
    return min(timedelta(days=settings.final_after_days), kept)


def build(core: Core, working: WorkingMemory, extractor: Extractor | None = None) -> ExtractorWorker:
    """Turns are read by the LLM of the settings if they name one, and else, or while it is away, by the rules;
    an `extractor` given here takes the place of the rules.
    """
    telemetry = ExtractionTelemetry()
    llm = configured_llm(core.settings.llm, core.clock, telemetry)
    return ExtractorWorker(core, extractor or RuleExtractor(), llm, telemetry, working)
