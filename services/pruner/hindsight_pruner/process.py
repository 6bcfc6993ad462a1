"""The pruner as a process of its own."""

from __future__ import annotations

from hindsight_common.adapters.qdrant_server_home import QdrantLiveIndex
from hindsight_common.process.neo4j_store import neo4j
from hindsight_common.process.qdrant_store import qdrant
from hindsight_common.process.redis_store import working_memory
from hindsight_common.process.worker_process import Ground, Store, WorkerProcess
from hindsight_pruner.bootstrap import PrunerWorker, build


class _Parts:
    """It sees the index that recall writes by its alias, wherever a rebuild has put it."""

    def __init__(self, ground: Ground) -> None:
        self._core, settings = ground.whole, ground.settings
        self._qdrant, self._graph = qdrant(settings), neo4j(settings)
        self._index = QdrantLiveIndex(self._qdrant.client, settings.qdrant_collection)
        self._working = working_memory(self._core)
        self.stores = (
            Store("qdrant", self._answers, self._qdrant.close),
            # an erasure is pending while one of these is away, and is finished when it is back
            Store("neo4j", self._graph.answers, self._graph.close, awaited=False),
            Store("redis", self._working.check, self._working.close, awaited=False),
        )

    async def prepare(self) -> None:
        """Nothing of it takes long to make."""

    def build(self) -> PrunerWorker:
        return build(self._core, self._index, self._graph, self._working)

    async def _answers(self) -> None:
        await self._qdrant.answers()
        await self._index.exists()


PROCESS = WorkerProcess(
    name="pruner",
    english="Forgets, and proves it. One process is at work; a second stands by.",
    chinese="负责遗忘并出具凭据。同一时间只有一个进程工作，第二个处于待命状态。",
    open=_Parts,
    reads=(
        "redis_url",
        "qdrant_url",
        "qdrant_api_key",
        "qdrant_collection",
        "neo4j_*",
        "memory_layers.working.session_ttl_hours",
    ),
    needs=("redis_url", "qdrant_url", "neo4j_url"),
    alone=True,
)
