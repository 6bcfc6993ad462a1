"""The consolidator as a process of its own."""

from __future__ import annotations

from hindsight_common.process.neo4j_store import neo4j
from hindsight_common.process.worker_process import Ground, Store, WorkerProcess
from hindsight_consolidator.bootstrap import ConsolidatorWorker, build


class _Parts:
    def __init__(self, ground: Ground) -> None:
        self._core, self._graph = ground.whole, neo4j(ground.settings)
        self.stores = (Store("neo4j", self._graph.answers, self._graph.close),)

    async def prepare(self) -> None:
        """Nothing of it takes long to make."""

    def build(self) -> ConsolidatorWorker:
        return build(self._core, self._graph)


PROCESS = WorkerProcess(
    name="consolidator",
    english="Promotes memories into the graph. One process is at work; a second stands by.",
    chinese="将记忆整合进图。同一时间只有一个进程工作，第二个处于待命状态。",
    open=_Parts,
    reads=("neo4j_*", "memory_layers.semantic.max_graph_nodes"),
    needs=("neo4j_url",),
    alone=True,
)
