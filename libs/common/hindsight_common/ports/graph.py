"""The knowledge graph, which people also read in a graph browser: a projection of what was consolidated."""

from __future__ import annotations

from typing import Protocol

from hindsight_common.domain.graph import UserGraph
from hindsight_common.ids import Owner


class GraphStore(Protocol):
    """Every call names an owner; no query runs across owners. Raises `RetryLater` when the store cannot answer."""

    async def replace(self, owner: Owner, graph: UserGraph, position: int) -> None:
        """Makes the owner's graph exactly this one, and records the log position that it reflects, in one step.

        What is no longer in it is gone from the store, bytes included where the store can do that. Idempotent.
        """
        ...

    async def read(self, owner: Owner) -> UserGraph: ...

    async def delete_owner(self, owner: Owner) -> int:
        """Removes all of an owner's nodes and edges; returns how many nodes there were."""
        ...

    async def position(self) -> int:
        """The log sequence up to which every consolidation and tombstone is in the store; 0 for an empty one."""
        ...

    async def begin_rebuild(self) -> None:
        """From now on writes go into a second graph beside the live one; one left over is emptied first."""
        ...

    async def finish_rebuild(self) -> None:
        """The second graph becomes the live one, in one step."""
        ...

    async def abandon_rebuild(self) -> None:
        """Writes go into the live graph again, and what was built of the second is emptied."""
        ...

    async def close(self) -> None: ...
