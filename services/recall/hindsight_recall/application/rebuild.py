"""Rebuild: a new index from the log beside the live one, which answers until the new one takes its place."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from hindsight_common.ports.index_home import IndexHome
from hindsight_common.ports.log import Logged, MemoryLog
from hindsight_common.ports.memory_index import MemoryIndex
from hindsight_recall.application.projection import Projection

_BATCH = 64


@dataclass(frozen=True, slots=True)
class RebuildProgress:
    """`events` of the log are in the new index, up to `position`; `switched` once it answers."""

    events: int
    position: int
    switched: bool = False


@dataclass(slots=True)
class Rebuild:
    """`project_into` makes a projection of its own ledgers over an index."""

    log: MemoryLog
    home: IndexHome
    live: Projection
    project_into: Callable[[MemoryIndex], Projection]
    running: bool = False

    async def run(self) -> AsyncIterator[RebuildProgress]:
        """Yields progress; the last one has switched. On any fault the live index stays and the new one is removed."""
        self.running = True
        events, built = 0, None
        try:
            built = await self.home.create_beside()
            building = self.project_into(built)
            async for batch in _batches(self.log.read_all()):
                await building.apply(batch)
                events += len(batch)
                yield RebuildProgress(events, building.position)
            async with self.live.writing:
                # the live index stands still; what it took in meanwhile is all that is missing
                async for batch in _batches(self.log.read_all(after=building.position)):
                    await building.apply(batch)
                    events += len(batch)
                position = max(building.position, self.live.position)
                await built.commit(position)
                old, self.live.index = self.live.index, built
                try:
                    await self.home.switch(built, old)
                except Exception:
                    self.live.index = old
                    raise
                self.live.position = position
            yield RebuildProgress(events, position, switched=True)
        except BaseException:
            if built is not None and self.live.index is not built:
                await self.home.discard(built)
            raise
        finally:
            self.running = False


async def _batches(events: AsyncIterator[Logged]) -> AsyncIterator[list[Logged]]:
    batch: list[Logged] = []
    async for logged in events:
        batch.append(logged)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
