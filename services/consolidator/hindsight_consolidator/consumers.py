"""The consolidator's way in: requests to consolidate and rebuild, the log's decisions to the graph."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from hindsight_common.events.requests import ConsolidateRequest, parse_request
from hindsight_common.ids import IdFactory
from hindsight_common.messaging.delivery import Delivery
from hindsight_common.messaging.log import open_batch
from hindsight_common.messaging.service import Progress, Request, Result
from hindsight_common.ports.log import MemoryLog
from hindsight_consolidator.application.consolidation import Consolidate
from hindsight_consolidator.application.graph_projection import ProjectGraph
from hindsight_consolidator.application.nightly import ConsolidateAll


def project(
    log: MemoryLog, projection: ProjectGraph, writing: asyncio.Lock
) -> Callable[[Sequence[Delivery]], Awaitable[None]]:
    async def handle(batch: Sequence[Delivery]) -> None:
        opened = await open_batch(log, batch)
        async with writing:
            await projection.apply(opened)

    return handle


def consolidate(ids: IdFactory, use_case: Consolidate) -> Callable[[Request], Progress]:
    async def handle(request: Request) -> Progress:
        asked = parse_request(ConsolidateRequest, request.data)
        result = await use_case.run(ids.owner(request.tenant, asked.user_id))
        yield Result({"promoted": result.promoted, "position": result.position})

    return handle


def nightly(use_case: ConsolidateAll) -> Callable[[Delivery], Awaitable[None]]:
    async def handle(_: Delivery) -> None:
        await use_case.run()

    return handle


def rebuild(projection: ProjectGraph, writing: asyncio.Lock) -> Callable[[Request], Progress]:
    async def handle(_: Request) -> Progress:
        users = 0
        # the live projection waits meanwhile: what comes in is applied to the new graph afterwards, by replay
        async with writing:
            async for users in projection.rebuild():
                yield {"store": "graph", "users": users, "switched": False}
        yield Result({"store": "graph", "users": users, "switched": True})

    return handle
