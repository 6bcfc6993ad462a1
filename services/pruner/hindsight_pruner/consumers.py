"""The pruner's way in: requests to forget, tombstones to carry out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hindsight_common.domain.memory import Forgotten
from hindsight_common.events.requests import ForgetAnswer
from hindsight_common.messaging.delivery import Delivery
from hindsight_common.messaging.service import Request
from hindsight_common.ports.log import MemoryLog
from hindsight_pruner.application.erasure import Erase
from hindsight_pruner.application.forgetting import Forget
from hindsight_pruner.application.receipts import Receipts


def erase(log: MemoryLog, use_case: Erase, receipts: Receipts) -> Callable[[Delivery], Awaitable[None]]:
    async def handle(delivery: Delivery) -> None:
        tombstone = await log.open(delivery.subject, delivery.data, delivery.sequence)
        if not isinstance(tombstone.event, Forgotten):
            return
        receipts.issue(await use_case.run(tombstone, tombstone.event))
        # acknowledged only after the sequences are gone: what an interruption leaves is swept by the redelivery
        await use_case.sweep_log(tombstone, tombstone.event)

    return handle


def forget(use_case: Forget) -> Callable[[Request], Awaitable[ForgetAnswer]]:
    async def handle(request: Request) -> ForgetAnswer:
        return await use_case.answer(request.tenant, request.data)

    return handle
