"""The projection of consolidations, decisions and tombstones into the graph."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from hindsight_common.domain.fold import Ledger
from hindsight_common.domain.graph import UserGraph, graph_of
from hindsight_common.domain.graph_checks import checked
from hindsight_common.errors import StopAndFix
from hindsight_common.ids import Owner
from hindsight_common.ports.graph import GraphStore
from hindsight_common.ports.log import Logged, MemoryLog
from hindsight_consolidator.application.telemetry import GraphTelemetry

_log = structlog.get_logger(__name__)

KINDS = ("consolidated", "decision", "forgotten")


@dataclass(slots=True)
class ProjectGraph:
    """Makes the graph of every user that a batch speaks of anew from the log; a replay changes nothing.

    `reached` is the position that the store is known to have had.
    """

    log: MemoryLog
    graph: GraphStore
    # above it a graph is warned of, and written all the same
    max_nodes: int = 50_000
    telemetry: GraphTelemetry = field(default_factory=GraphTelemetry)
    reached: int = field(default=0, init=False)

    async def apply(self, batch: Sequence[Logged]) -> None:
        """Raises `StopAndFix` for a store that has come back older: to write to it would move its position over what
        it lacks.
        """
        position = await self.graph.position()
        if position < self.reached:
            raise StopAndFix(
                f"the graph is older than it was (at {position} of the log, before at {self.reached}), as after a "
                "restored backup: start the consolidator again, and it fills the graph from the log"
            )
        last = {logged.owner: logged.sequence for logged in batch}
        for owner, sequence in _in_log_order(last):
            await self._write(owner, sequence)
        self.reached = max([position, *last.values()])

    async def _write(self, owner: Owner, sequence: int) -> None:
        sound = checked(await self._promoted(owner))
        nodes = len(sound.graph.nodes)
        oversized = nodes > self.max_nodes
        if oversized:
            _log.warning("graph.oversized", nodes=nodes, limit=self.max_nodes)
        if sound.faults:
            _log.warning("graph.faults", **sound.faults)
        await self.graph.replace(owner, sound.graph, sequence)
        self.telemetry.written(nodes, oversized=oversized, faults=sound.faults)

    async def _promoted(self, owner: Owner) -> UserGraph:
        """Of the promoted memories only those that live, resting on evidence that was promoted or came since."""
        ledger = Ledger()
        async for logged in self.log.read(owner):
            ledger.apply(logged.event_id, logged.event)
        memories = ledger.memories()
        return graph_of(memories[memory_id] for memory_id in ledger.promoted() if memory_id in memories)

    async def rebuild(self) -> AsyncIterator[int]:
        """Builds a second graph from the log beside the live one and switches; yields how many users are done.

        On any fault the live graph stays, and is the one that is written again.
        """
        await self.graph.begin_rebuild()
        try:
            last = {
                logged.owner: logged.sequence async for logged in self.log.read_all() if logged.kind in KINDS
            }
            for done, (owner, sequence) in enumerate(_in_log_order(last), start=1):
                await self._write(owner, sequence)
                yield done
            await self.graph.finish_rebuild()
            # made of what the log holds now: its last events may have been erased since
            self.reached = 0
        except BaseException:
            await self.graph.abandon_rebuild()
            raise


def _in_log_order(last: Mapping[Owner, int]) -> list[tuple[Owner, int]]:
    """Each owner with its last event's sequence; a position that is recorded has all before it in the store."""
    return sorted(last.items(), key=lambda item: item[1])
