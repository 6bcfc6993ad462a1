"""The consolidator worker, put together: consolidation on request, and the projection into the graph."""

from __future__ import annotations

import asyncio

import structlog

from hindsight_common import VERSION
from hindsight_common.core import Core
from hindsight_common.errors import HindsightError
from hindsight_common.events import subjects
from hindsight_common.events.streams import GRAPH_CONSUMER, NIGHTLY, NIGHTLY_CONSUMER
from hindsight_common.messaging.consumption import silent
from hindsight_common.messaging.delivery import deliver_each, deliver_in_order
from hindsight_common.messaging.provisioning import rewind
from hindsight_common.messaging.schedules import NatsJobRuns
from hindsight_common.messaging.service import Service
from hindsight_common.ports.graph import GraphStore
from hindsight_consolidator import consumers
from hindsight_consolidator.application.consolidation import Consolidate
from hindsight_consolidator.application.graph_projection import ProjectGraph
from hindsight_consolidator.application.nightly import ConsolidateAll

_TRY_AGAIN_S = 60.0

_log = structlog.get_logger(__name__)


class ConsolidatorWorker:
    name = "consolidator"

    def __init__(self, core: Core, graph: GraphStore) -> None:
        self._core = core
        self._graph = graph
        limit = core.settings.memory_layers.semantic.max_graph_nodes
        projection, writing = ProjectGraph(core.log, graph, limit), asyncio.Lock()
        self._projection = projection
        self._consumption = deliver_in_order(
            core.bus,
            GRAPH_CONSUMER,
            consumers.project(core.log, projection, writing),
            bury=core.dead_letters.bury,
            pace=core.pace,
            on_fatal=core.on_fatal,
        )
        use_case = Consolidate(core.log, core.clock)
        self.nights = ConsolidateAll(core.log, use_case, NatsJobRuns(core.bus), core.clock, NIGHTLY)
        self._ticks = deliver_each(
            core.bus,
            NIGHTLY_CONSUMER,
            consumers.nightly(self.nights),
            bury=core.dead_letters.bury,
            concurrency=1,
            pace=core.pace,
            on_fatal=core.on_fatal,
        )
        self._catching_up: asyncio.Task[None] | None = None
        self._service = Service(
            core.bus, "consolidator", version=VERSION, description="Promotes memories into the graph"
        )
        consolidate = consumers.consolidate(core.ids, use_case)
        self._service.endpoint("consolidate", subjects.ADMIN_CONSOLIDATE, consolidate)
        self._service.endpoint(
            "rebuild-graph", subjects.ADMIN_REBUILD_GRAPH, consumers.rebuild(projection, writing)
        )

    def missing(self) -> tuple[str, ...]:
        return silent(self._consumption, self._ticks)

    async def start(self) -> None:
        self._projection.reached = await self._graph.position()
        await rewind(self._core.bus.js, GRAPH_CONSUMER, self._projection.reached)
        await self._consumption.start()
        await self._service.start()
        await self._ticks.start()
        # the server does not make up for a tick that fell into its own absence
        self._catching_up = asyncio.create_task(self._catch_up(), name="nightly catching up")

    async def stop(self) -> None:
        if self._catching_up is not None:
            self._catching_up.cancel()
            await asyncio.wait([self._catching_up])
        await self._ticks.stop()
        await self._service.stop()
        await self._consumption.stop()

    async def _catch_up(self) -> None:
        while True:
            try:
                await self.nights.catch_up()
            except HindsightError as fault:
                _log.warning("nightly.not_caught_up", fault=type(fault).__name__)
                await asyncio.sleep(_TRY_AGAIN_S)
            else:
                return


def build(core: Core, graph: GraphStore) -> ConsolidatorWorker:
    return ConsolidatorWorker(core, graph)
