"""Which workers the embedded form runs, and with what."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hindsight_common.adapters.edge_home import EdgeHome
from hindsight_common.adapters.embedding_factory import load_embedder
from hindsight_common.adapters.redis_working_memory import RedisWorkingMemory
from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.adapters.sqlite_graph import SqliteGraph
from hindsight_common.adapters.words import BackgroundWords
from hindsight_common.core import Core
from hindsight_common.settings.devices import usable_device
from hindsight_common.worker import Worker
from hindsight_consolidator import bootstrap as consolidator
from hindsight_extractor import bootstrap as extractor
from hindsight_extractor.domain.redaction import redact_bytes
from hindsight_gateway import bootstrap as gateway
from hindsight_pruner import bootstrap as pruner
from hindsight_recall import bootstrap as recall
from hindsight_standalone.process import Resources


class Foundations:
    """What the workers share, as the first to start and the last to stop."""

    name = "foundations"

    def __init__(
        self,
        core: Core,
        embedder: SideBySideEmbedder[Any],
        graph: SqliteGraph,
        working: RedisWorkingMemory,
    ) -> None:
        self._core = core
        self._embedder = embedder
        self._graph = graph
        self._working = working

    async def start(self) -> None:
        await self._embedder.verify()
        await self._core.start()

    async def stop(self) -> None:
        await self._core.stop()
        await self._graph.close()
        await self._working.close()
        self._embedder.close()


def build_workers(resources: Resources) -> list[Worker]:
    """In the order in which they start; they stop in reverse. Turns flow in last, when all that reads them is up."""
    settings, data_dir = resources.settings, resources.data_dir
    core = Core.over(
        resources.bus, settings, resources.master_secret, redact=redact_bytes, on_fatal=resources.on_fatal
    )
    embedding = settings.embedding
    usable_device(embedding.device)  # says so where a GPU is wished for and not there
    embedder = load_embedder(embedding.model_name, cache_dir=embedding.cache_dir, threads=embedding.threads)
    graph = SqliteGraph(data_dir / "graph" / "graph.sqlite")
    home = EdgeHome(data_dir / "vectors", dimension=embedder.dimension, model_id=embedder.model_id)
    session_ttl = timedelta(hours=settings.memory_layers.working.session_ttl_hours)
    working = RedisWorkingMemory(resources.redis_url, core.keyring, session_ttl=session_ttl)
    recaller = recall.build(core, home, embedder, BackgroundWords(), graph, working=working)
    return [
        Foundations(core, embedder, graph, working),
        recaller,
        consolidator.build(core, graph),
        pruner.build(core, recaller, graph, working),
        extractor.build(core, working),
        gateway.build(resources.bus, settings.api_host, settings.api_port),
    ]
