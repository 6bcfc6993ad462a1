"""The recall worker's way in: the log to its projection, requests to their use cases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from hindsight_common.errors import RequestError
from hindsight_common.events.requests import InjectAnswer, ListAnswer, MemoryAnswer, RecallAnswer
from hindsight_common.messaging.delivery import Delivery
from hindsight_common.messaging.log import open_batch
from hindsight_common.messaging.service import Progress, Request, Result
from hindsight_common.ports.log import MemoryLog
from hindsight_recall.application.getting import GetMemory
from hindsight_recall.application.inject import Inject
from hindsight_recall.application.listing import ListMemories
from hindsight_recall.application.projection import Projection
from hindsight_recall.application.rebuild import Rebuild
from hindsight_recall.application.recall import Recall
from hindsight_recall.application.status import Status

STORE = "vectors"


def project(log: MemoryLog, projection: Projection) -> Callable[[Sequence[Delivery]], Awaitable[None]]:
    async def handle(batch: Sequence[Delivery]) -> None:
        await projection.apply(await open_batch(log, batch))

    return handle


def recall(use_case: Recall) -> Callable[[Request], Awaitable[RecallAnswer]]:
    async def handle(request: Request) -> RecallAnswer:
        return await use_case.answer(request.tenant, request.data)

    return handle


def inject(use_case: Inject) -> Callable[[Request], Awaitable[InjectAnswer]]:
    async def handle(request: Request) -> InjectAnswer:
        return await use_case.answer(request.tenant, request.data)

    return handle


def list_memories(use_case: ListMemories) -> Callable[[Request], Awaitable[ListAnswer]]:
    async def handle(request: Request) -> ListAnswer:
        return await use_case.answer(request.tenant, request.data)

    return handle


def get_memory(use_case: GetMemory) -> Callable[[Request], Awaitable[MemoryAnswer]]:
    async def handle(request: Request) -> MemoryAnswer:
        return await use_case.answer(request.tenant, request.data)

    return handle


def rebuild(use_case: Rebuild) -> Callable[[Request], Progress]:
    async def handle(_: Request) -> Progress:
        if use_case.running:
            raise RequestError("rebuild_running", "the vectors are being rebuilt already", status=409)
        async for step in use_case.run():
            done = {
                "store": STORE,
                "events": step.events,
                "position": step.position,
                "switched": step.switched,
            }
            yield Result(done) if step.switched else done

    return handle


def status(use_case: Status) -> Callable[[Request], Awaitable[dict[str, object]]]:
    async def handle(_: Request) -> dict[str, object]:
        return await use_case.answer()

    return handle
