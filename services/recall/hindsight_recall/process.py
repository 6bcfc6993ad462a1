"""Recall as a process of its own."""

from __future__ import annotations

import asyncio
from typing import Any

from hindsight_common.adapters.embedding_factory import load_embedder
from hindsight_common.adapters.qdrant_server_home import QdrantServerHome
from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.adapters.words import BackgroundWords
from hindsight_common.process.neo4j_store import neo4j
from hindsight_common.process.qdrant_store import qdrant
from hindsight_common.process.redis_store import working_memory
from hindsight_common.process.worker_process import Ground, Store, WorkerProcess
from hindsight_common.settings.devices import usable_device
from hindsight_recall.bootstrap import RecallWorker, build


class _Parts:
    """The only process with an embedder."""

    def __init__(self, ground: Ground) -> None:
        self._core, settings = ground.whole, ground.settings
        self._qdrant, self._graph = qdrant(settings), neo4j(settings)
        self._working = working_memory(self._core)
        self._words = BackgroundWords()
        self._embedder: SideBySideEmbedder[Any] | None = None
        self.stores = (
            Store("qdrant", self._qdrant.answers, self._close_vectors),
            # without these two an answer says what is missing in it
            Store("neo4j", self._graph.answers, self._graph.close, awaited=False),
            Store("redis", self._working.check, self._working.close, awaited=False),
        )

    async def prepare(self) -> None:
        settings = self._core.settings.embedding
        usable_device(settings.device)  # says so where a GPU is wished for and not there
        # off the loop: it takes seconds, and health is asked meanwhile
        self._embedder = await asyncio.to_thread(
            load_embedder, settings.model_name, cache_dir=settings.cache_dir, threads=settings.threads
        )
        await self._embedder.verify()

    def build(self) -> RecallWorker:
        assert self._embedder is not None, "prepared before it is built"
        home = QdrantServerHome(
            self._qdrant.client,
            self._core.settings.qdrant_collection,
            dimension=self._embedder.dimension,
            model_id=self._embedder.model_id,
        )
        return build(self._core, home, self._embedder, self._words, self._graph, working=self._working)

    async def _close_vectors(self) -> None:
        await self._qdrant.close()
        if self._embedder is not None:
            self._embedder.close()


PROCESS = WorkerProcess(
    name="recall",
    english="Keeps vectors and words, and answers from all stores. One process is at work; a second stands by.",
    chinese="维护向量与词语索引，并从各存储作答。同一时间只有一个进程工作，第二个处于待命状态。",
    open=_Parts,
    reads=(
        "redis_url",
        "qdrant_*",
        "neo4j_*",
        "embedding.*",
        "recall.*",
        "memory_layers.working.*",
        "memory_layers.semantic.similarity_threshold",
        "memory_layers.semantic.max_edges",
        "orchestrator.*",
    ),
    needs=("redis_url", "qdrant_url", "neo4j_url"),
    alone=True,
)
