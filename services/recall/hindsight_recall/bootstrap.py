"""The recall worker, put together: the projection of the log into vectors and words, and the answers."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import structlog

from hindsight_common import VERSION
from hindsight_common.core import Core
from hindsight_common.errors import HindsightError, StopAndFix
from hindsight_common.events import subjects
from hindsight_common.events.streams import VECTORS_CONSUMER
from hindsight_common.messaging.consumption import silent
from hindsight_common.messaging.delivery import deliver_in_order
from hindsight_common.messaging.progress import NatsProjections
from hindsight_common.messaging.provisioning import rewind
from hindsight_common.messaging.service import Service
from hindsight_common.ports.embedding import Embedder
from hindsight_common.ports.graph import GraphStore
from hindsight_common.ports.index_home import IndexHome
from hindsight_common.ports.memory_index import MemoryIndex
from hindsight_common.ports.words import WordAnalyzer
from hindsight_common.ports.working_memory import WorkingMemory
from hindsight_recall import consumers
from hindsight_recall.application.channels import Channels
from hindsight_recall.application.freshness import Freshness
from hindsight_recall.application.getting import GetMemory
from hindsight_recall.application.graph_channel import GraphChannel
from hindsight_recall.application.inject import Inject, InjectPolicy
from hindsight_recall.application.ledgers import Ledgers
from hindsight_recall.application.listing import ListMemories
from hindsight_recall.application.projection import Projection
from hindsight_recall.application.rebuild import Rebuild
from hindsight_recall.application.recall import Recall, RecallPolicy
from hindsight_recall.application.relations import Relations
from hindsight_recall.application.rows import RowMaker
from hindsight_recall.application.session_window import SessionWindow
from hindsight_recall.application.status import Status
from hindsight_recall.domain.scoring import Weights

# a batch is visible as a whole, so a large one would make the first of it wait for the embedding of the last
_BATCH = 32
_COMMIT_EVERY_S = 15.0
# most of them only wait for what they ask for to become visible; how many search at once is bounded behind that
_RECALLS_AT_ONCE = 4096

_log = structlog.get_logger(__name__)


class RecallWorker:
    name = "recall"

    def __init__(
        self,
        core: Core,
        home: IndexHome,
        embedder: Embedder,
        words: WordAnalyzer,
        graph: GraphStore | None = None,
        *,
        working: WorkingMemory,
    ) -> None:
        self._core = core
        self._home = home
        self._words = words
        rows = RowMaker(core.ids, core.keyring, words)
        ledgers = Ledgers(core.log)
        self.projection = Projection(ledgers, None, embedder, rows)
        settings = core.settings.recall
        freshness = Freshness(core.ids, core.log, ledgers, self.projection, wait_s=settings.wait_for_s)
        weights = settings.weights
        policy = RecallPolicy(
            top_k=settings.top_k,
            min_score=settings.min_score,
            weights=Weights.of(weights.similarity, weights.importance, weights.recency),
            gate=settings.gate,
            half_life_days=settings.recency_half_life_days,
            meaning_share=settings.meaning_share,
            timeout_s=settings.timeout_ms / 1000,
        )
        graph_channel = GraphChannel(graph) if graph is not None else None
        channels = Channels(core.ids, embedder, words, settings.candidates, graph_channel)
        recall = Recall(
            ids=core.ids,
            projection=self.projection,
            freshness=freshness,
            channels=channels,
            rows=rows,
            clock=core.clock,
            policy=policy,
        )

        def project_into(index: MemoryIndex) -> Projection:
            return Projection(Ledgers(core.log), index, embedder, rows)

        rebuild = Rebuild(core.log, home, self.projection, project_into)
        self._consumption = deliver_in_order(
            core.bus,
            VECTORS_CONSUMER,
            consumers.project(core.log, self.projection),
            bury=core.dead_letters.bury,
            batch_size=_BATCH,
            pace=core.pace,
            on_fatal=core.on_fatal,
        )
        self._service = Service(
            core.bus, "recall", version=VERSION, description="Answers from vectors and words"
        )
        self._service.endpoint(
            "recall", subjects.MEMORY_RECALL, consumers.recall(recall), concurrency=_RECALLS_AT_ONCE
        )
        injection = self._injection(recall, graph_channel, working)
        self._service.endpoint(
            "inject", subjects.MEMORY_INJECT, consumers.inject(injection), concurrency=_RECALLS_AT_ONCE
        )
        listing = ListMemories(core.ids, self.projection, rows)
        self._service.endpoint("list", subjects.MEMORY_LIST, consumers.list_memories(listing))
        getting = GetMemory(core.ids, core.log, self.projection, freshness, rows)
        self._service.endpoint("get", subjects.MEMORY_GET, consumers.get_memory(getting))
        self._service.endpoint("rebuild", subjects.ADMIN_REBUILD_VECTORS, consumers.rebuild(rebuild))
        status = Status(NatsProjections(core.bus), self.projection, rebuild, embedder.model_id)
        self._service.endpoint("status", subjects.ADMIN_STATUS, consumers.status(status))
        self._committing: asyncio.Task[None] | None = None
        self._committed = 0

    def _injection(self, recall: Recall, graph: GraphChannel | None, working: WorkingMemory) -> Inject:
        core, layers = self._core, self._core.settings.memory_layers
        channels = recall.channels
        session = SessionWindow(working, channels.embedder, channels.words, layers.working.window_size)
        relations = (
            Relations(
                graph,
                channels,
                self.projection,
                core.clock,
                threshold=layers.semantic.similarity_threshold,
                most=layers.semantic.max_edges,
                meaning_share=recall.policy.meaning_share,
            )
            if graph is not None
            else None
        )
        orchestrator = core.settings.orchestrator
        policy = InjectPolicy(
            layers.working.semantic_threshold, orchestrator.token_budget, orchestrator.hook_timeout / 1000
        )
        return Inject(core.ids, recall, session, relations, policy)

    def now(self) -> MemoryIndex:
        """The index that answers now."""
        return self.projection.index

    def missing(self) -> tuple[str, ...]:
        return silent(self._consumption)

    async def start(self) -> None:
        self.projection.index = await self._home.open_live()
        self._committed = self.projection.position = await self.projection.index.position()
        # the first use of the word tables reads them; no request should wait for that
        await asyncio.to_thread(self._words.query_weights, "warm up 预热")
        # what the store had not made durable when it was last left comes again
        await rewind(self._core.bus.js, VECTORS_CONSUMER, self._committed)
        await self._consumption.start()
        await self._service.start()
        self._committing = asyncio.create_task(self._commit_forever())

    async def stop(self) -> None:
        await self._service.stop()
        await self._consumption.stop()
        if self._committing is not None:
            self._committing.cancel()
            with suppress(asyncio.CancelledError):
                await self._committing
        if self.projection.is_open:
            try:
                await self._commit()
            except HindsightError as fault:
                # what was not made durable comes again at the next start
                _log.warning("index.commit_failed", fault=type(fault).__name__)
            await self.projection.index.close()

    async def _commit(self) -> None:
        async with self.projection.writing:
            if await self.projection.index.position() < self._committed:
                # to record a position now would hide for good what is missing below it
                raise StopAndFix(
                    "the vectors are older than they were a moment ago, as after a restored backup: start recall "
                    "again, and it fills them from the log"
                )
            position = self.projection.position
            if position > self._committed:
                await self.projection.index.commit(position)
                self._committed = position

    async def _commit_forever(self) -> None:
        while True:
            await asyncio.sleep(_COMMIT_EVERY_S)
            try:
                await self._commit()
            except StopAndFix as fault:
                if self._core.on_fatal is None:
                    raise
                self._core.on_fatal(fault)
                return
            except HindsightError as fault:
                _log.warning("index.commit_failed", fault=type(fault).__name__)


def build(
    core: Core,
    home: IndexHome,
    embedder: Embedder,
    words: WordAnalyzer,
    graph: GraphStore | None = None,
    *,
    working: WorkingMemory,
) -> RecallWorker:
    """Without a graph the answers come from meaning and words alone."""
    return RecallWorker(core, home, embedder, words, graph, working=working)
