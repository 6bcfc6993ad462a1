"""Candidates from the graph: what is related to whom and what a question names, and what matters of the asker."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from hindsight_common.domain.graph import USER_KEY, UserGraph
from hindsight_common.ids import Owner
from hindsight_common.ports.graph import GraphStore
from hindsight_recall.domain.names import possible_names

# an answer without the graph now is better than one with it later
PATIENCE_S: Final = 0.25
RELATED: Final = 50


@dataclass(frozen=True, slots=True)
class GraphChannel:
    graph: GraphStore

    async def memory_ids(self, owner: Owner, question: str) -> list[str]:
        """The memories behind the relations found, nearest to what is named first, the asker's own last.

        Raises `RetryLater` or TimeoutError while the graph is away.
        """
        return list(dict.fromkeys(edge.memory_id for edge in (await self.around(owner, question)).edges))

    async def around(self, owner: Owner, question: str) -> UserGraph:
        """The relations behind them, in that order, and the nodes they join. Raises as `memory_ids`."""
        async with asyncio.timeout(PATIENCE_S):
            named, own = await asyncio.gather(
                self._around_names(owner, question), self._around(owner, [USER_KEY], hops=1)
            )
        nodes = dict.fromkeys([*named.nodes, *own.nodes])
        edges = dict.fromkeys([*named.edges, *own.edges])
        return UserGraph(tuple(nodes), tuple(edges))

    async def _around_names(self, owner: Owner, question: str) -> UserGraph:
        names = possible_names(question)
        found = await self.graph.find(owner, names) if names else ()
        keys = sorted({node.key for node in found if node.key != USER_KEY})
        return await self._around(owner, keys, hops=2) if keys else UserGraph((), ())

    async def _around(self, owner: Owner, keys: list[str], *, hops: int) -> UserGraph:
        return await self.graph.neighbourhood(owner, keys, hops=hops, limit=RELATED)
