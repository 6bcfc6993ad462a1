"""The consolidator worker, put together: consolidation on request, and the projection into the graph."""

from __future__ import annotations

import asyncio

from hindsight_common import VERSION
from hindsight_common.core import Core
from hindsight_common.events import subjects
from hindsight_common.events.streams import GRAPH_CONSUMER
from hindsight_common.messaging.delivery import deliver_in_order
from hindsight_common.messaging.provisioning import rewind
from hindsight_common.messaging.service import Service
from hindsight_common.ports.graph import GraphStore
from hindsight_consolidator import consumers
from hindsight_consolidator.application.consolidation import Consolidate
from hindsight_consolidator.application.graph_projection import ProjectGraph


class ConsolidatorWorker:
    name = "consolidator"

    def __init__(self, core: Core, graph: GraphStore) -> None:
        self._core = core
        self._graph = graph
        projection, writing = ProjectGraph(core.log, graph), asyncio.Lock()
        self._consumption = deliver_in_order(
            core.bus,
            GRAPH_CONSUMER,
            consumers.project(core.log, projection, writing),
            bury=core.dead_letters.bury,
            pace=core.pace,
            on_fatal=core.on_fatal,
        )
        self._service = Service(
            core.bus, "consolidator", version=VERSION, description="Promotes memories into the graph"
        )
        consolidate = consumers.consolidate(core.ids, Consolidate(core.log, core.clock))
        self._service.endpoint("consolidate", subjects.ADMIN_CONSOLIDATE, consolidate)
        self._service.endpoint(
            "rebuild-graph", subjects.ADMIN_REBUILD_GRAPH, consumers.rebuild(projection, writing)
        )

    async def start(self) -> None:
        await rewind(self._core.bus.js, GRAPH_CONSUMER, await self._graph.position())
        await self._consumption.start()
        await self._service.start()

    async def stop(self) -> None:
        await self._service.stop()
        await self._consumption.stop()


def build(core: Core, graph: GraphStore) -> ConsolidatorWorker:
    return ConsolidatorWorker(core, graph)
