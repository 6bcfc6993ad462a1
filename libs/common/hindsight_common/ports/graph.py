"""The knowledge graph, which people also read in a graph browser: a projection of what was consolidated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from hindsight_common.domain.graph import Node, UserGraph
from hindsight_common.ids import Owner

# edges that one node contributes to a neighbourhood: those of greatest importance
FAN: Final = 50


@dataclass(frozen=True, slots=True)
class GraphCounts:
    nodes: int
    edges: int


class GraphStore(Protocol):
    """Every call names an owner; no query runs across owners. Raises `RetryLater` when the store cannot answer."""

    async def replace(self, owner: Owner, graph: UserGraph, position: int) -> None:
        """Makes the owner's graph exactly this one, and records the log position that it reflects.

        In one step; a server may split a change of more than 20,000 rows, and records the position with the last.
        What is no longer in it is gone from the store, bytes included where the store can do that. Idempotent.
        A position below the one that the owner's graph reflects changes nothing.
        """
        ...

    async def read(self, owner: Owner) -> UserGraph: ...

    async def counts(self, owner: Owner) -> GraphCounts: ...

    async def find(self, owner: Owner, names: Sequence[str]) -> tuple[Node, ...]:
        """The nodes called exactly so, whatever the case, width, accents, spaces and script; by type and key.

        An event is named by its memory id. Looked up by key, never scanned; at most a few hundred names.
        """
        ...

    async def search(self, owner: Owner, text: str, limit: int = 20) -> tuple[Node, ...]:
        """The nodes whose names share words with a text, best first; Chinese by pairs of characters.

        Any text will do: nothing in it is read as a query language.
        """
        ...

    async def neighbourhood(
        self, owner: Owner, keys: Sequence[str], *, hops: int = 2, limit: int = 200
    ) -> UserGraph:
        """What lies within some steps of the nodes with these keys: at most `limit` edges, and the nodes they join.

        Edges come nearest first, then by importance, then by memory id; of one node at most `FAN`. The user's own
        node joins everything, so it is a start where it is asked for, never a step on the way.
        """
        ...

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
