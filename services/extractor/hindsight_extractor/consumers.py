"""The extractor's way in: raw turns, accepted turns, and requests about turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from hindsight_common.errors import GiveUp
from hindsight_common.events import subjects
from hindsight_common.events.answers import ExtractionAnswer
from hindsight_common.events.requests import MemoryAnswer, TurnAnswer, WriteAnswer
from hindsight_common.messaging.delivery import Delivery
from hindsight_common.messaging.service import Request
from hindsight_common.ports.turns import TurnStore
from hindsight_extractor.application.deciding import Decide
from hindsight_extractor.application.extraction import ExtractTurn
from hindsight_extractor.application.first_reading import ReadFirst
from hindsight_extractor.application.intake import Intake
from hindsight_extractor.application.model_gate import ExtractionHealth
from hindsight_extractor.application.turn_outcome import TurnOutcome

_log = structlog.get_logger(__name__)


def take_in(intake: Intake) -> Callable[[Delivery], Awaitable[None]]:
    async def handle(delivery: Delivery) -> None:
        is_over = delivery.subject.startswith(subjects.CONVERSATION_CLOSED)
        base = subjects.CONVERSATION_CLOSED if is_over else subjects.CONVERSATION_TURN
        tenant = subjects.tenant_of(delivery.subject, base)
        if not subjects.TENANT_PATTERN.fullmatch(tenant):
            raise GiveUp("invalid_tenant", "a tenant is named by 1 to 32 of a-z, 0-9 and -", field="subject")
        if is_over:
            await intake.close_session(tenant, delivery.data)
            return
        accepted = await intake.accept_published(tenant, delivery.data, delivery.timestamp)
        _log.debug("turn.accepted", sequence=accepted.sequence, duplicate=accepted.duplicate)

    return handle


def extract(use_case: ExtractTurn, turns: TurnStore) -> Callable[[Delivery], Awaitable[None]]:
    async def handle(delivery: Delivery) -> None:
        await use_case.run(
            subjects.owner_of(delivery.subject),
            delivery.subject.rsplit(".", 1)[1],
            await turns.open(delivery.subject, delivery.data),
            sequence=delivery.sequence,
            redelivered=delivery.attempts > 1,
        )

    return handle


def read_first(use_case: ReadFirst, turns: TurnStore) -> Callable[[Delivery], Awaitable[None]]:
    async def handle(delivery: Delivery) -> None:
        try:
            turn = await turns.open(delivery.subject, delivery.data)
        except GiveUp:
            return  # the extraction has a delivery of it too, and buries that
        await use_case.run(
            subjects.owner_of(delivery.subject),
            delivery.subject.rsplit(".", 1)[1],
            turn,
            sequence=delivery.sequence,
            redelivered=delivery.attempts > 1,
        )

    return handle


def write(intake: Intake) -> Callable[[Request], Awaitable[WriteAnswer]]:
    async def handle(request: Request) -> WriteAnswer:
        return await intake.accept_written(request.tenant, request.data)

    return handle


def outcome(use_case: TurnOutcome) -> Callable[[Request], Awaitable[TurnAnswer]]:
    async def handle(request: Request) -> TurnAnswer:
        return await use_case.answer(request.tenant, request.data)

    return handle


def decide(use_case: Decide) -> Callable[[Request], Awaitable[MemoryAnswer]]:
    async def handle(request: Request) -> MemoryAnswer:
        return await use_case.answer(request.tenant, request.data)

    return handle


def extraction(
    model: str | None, health: Callable[[], ExtractionHealth | None]
) -> Callable[[Request], Awaitable[ExtractionAnswer]]:
    """How the LLM of this worker is; without one, extraction is always well."""

    async def handle(_: Request) -> ExtractionAnswer:
        now = health()
        if now is None:
            return ExtractionAnswer(model=None, state="ok")
        return ExtractionAnswer(model=model, state=now.state, cause=now.cause, since=now.since)

    return handle
