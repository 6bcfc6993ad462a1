"""The pruner worker, put together: for now the eraser, which carries out what tombstones say."""

from __future__ import annotations

from hindsight_common import VERSION
from hindsight_common.core import Core
from hindsight_common.events import subjects
from hindsight_common.events.streams import ERASER_CONSUMER
from hindsight_common.messaging.consumption import silent
from hindsight_common.messaging.delivery import deliver_each
from hindsight_common.messaging.progress import NatsProjections
from hindsight_common.messaging.raw_turns import NatsRawTurns
from hindsight_common.messaging.service import Service
from hindsight_common.ports.graph import GraphStore
from hindsight_common.ports.working_memory import WorkingMemory
from hindsight_pruner import consumers
from hindsight_pruner.application.erasure import Erase
from hindsight_pruner.application.forgetting import Forget
from hindsight_pruner.application.live_index import LiveIndex
from hindsight_pruner.application.receipts import Receipts

_ERASURES_AT_ONCE = 4


class PrunerWorker:
    name = "pruner"

    def __init__(self, core: Core, index: LiveIndex, graph: GraphStore, working: WorkingMemory) -> None:
        receipts, raw_turns = Receipts(), NatsRawTurns(core.bus, core.ids)
        erase = Erase(
            log=core.log,
            turns=core.turns,
            raw_turns=raw_turns,
            dead_letters=core.dead_letters,
            keyring=core.keyring,
            index=index,
            graph=graph,
            projections=NatsProjections(core.bus),
            clock=core.clock,
            working=working,
        )
        forget = Forget(core.ids, core.log, core.turns, raw_turns, receipts, core.clock)
        self._consumption = deliver_each(
            core.bus,
            ERASER_CONSUMER,
            consumers.erase(core.log, erase, receipts),
            bury=core.dead_letters.bury,
            concurrency=_ERASURES_AT_ONCE,
            pace=core.pace,
            on_fatal=core.on_fatal,
        )
        self._service = Service(core.bus, "pruner", version=VERSION, description="Forgets, and proves it")
        self._service.endpoint("forget", subjects.MEMORY_FORGET, consumers.forget(forget))

    def missing(self) -> tuple[str, ...]:
        return silent(self._consumption)

    async def start(self) -> None:
        await self._consumption.start()
        await self._service.start()

    async def stop(self) -> None:
        await self._service.stop()
        await self._consumption.stop()


def build(core: Core, index: LiveIndex, graph: GraphStore, working: WorkingMemory) -> PrunerWorker:
    return PrunerWorker(core, index, graph, working)
