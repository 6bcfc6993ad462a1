"""The graph in Neo4j, readable in its browser: a tenant and a user on every node and relation.

Writers of one owner take turns at a lock of the owner's, so that they neither double a node nor deadlock. Two
generations share the database; readers see the live one, a rebuild fills the other and then they change places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from hindsight_common.adapters import neo4j_cypher as cypher
from hindsight_common.adapters.neo4j_connection import Neo4jConnection, Row, Run
from hindsight_common.adapters.neo4j_rows import (
    Change,
    Standing,
    Wanted,
    edge_of,
    ends_of,
    ids_of,
    node_id,
    nodes_of,
    owner_id,
    words_query,
)
from hindsight_common.domain.graph import Node, UserGraph
from hindsight_common.domain.graph_terms import name_terms, shared_weight
from hindsight_common.domain.graph_walk import Walk
from hindsight_common.domain.text import normal_key
from hindsight_common.ids import Owner
from hindsight_common.ports.graph import FAN, GraphCounts

# rows of one statement; the driver and the server slow down beyond
BATCH: Final = 1_000
DELETED_AT_ONCE: Final = 10_000
# of the index's hits, which rank by another rule, as many are looked at for each that is wanted
HITS_FOR_ONE: Final = 8


class Neo4jGraph:
    """Implements `ports.graph.GraphStore`. Made once a process, used in the loop it was first used in."""

    def __init__(
        self, url: str, *, user: str | None = None, password: str | None = None, database: str = "neo4j"
    ) -> None:
        self._connection = Neo4jConnection(url, user=user, password=password, database=database)
        self._rebuilding = False

    async def replace(self, owner: Owner, graph: UserGraph, position: int) -> None:
        wanted = Wanted(owner, graph)
        progress: _Progress | None = None

        async def work(run: Run) -> _Progress | None:
            generation = await self._target(run)
            scope = _scope(owner, generation)
            lock = (await run(cypher.LOCK_OWNER, scope))[0]
            if lock["sequence"] > position:
                await run(cypher.ADVANCE, {"generation": generation, "position": position})
                return None
            if progress is not None and lock["writes"] == progress.writes + 1:
                standing = progress.standing  # nobody wrote in between
            else:
                nodes = await run(cypher.STANDING_NODES, scope)
                standing = Standing.of(nodes, await run(cypher.STANDING_EDGES, scope))
            change = wanted.change(standing)
            await _apply(run, scope, change)
            if not change.complete:
                return _Progress(lock["writes"], standing.after(change))
            await run(cypher.WRITTEN, {**scope, "position": position})
            await run(cypher.ADVANCE, {"generation": generation, "position": position})
            return None

        while (progress := await self._connection.write(work)) is not None:
            pass

    async def _target(self, run: Run) -> int:
        live = int((await run(cypher.LIVE, {}))[0]["live"])
        return 1 - live if self._rebuilding else live

    async def read(self, owner: Owner) -> UserGraph:
        nodes = await self._connection.read_all(cypher.NODES, **_asker(owner))
        edges = map(edge_of, await self._connection.read_all(cypher.EDGES, **_asker(owner)))
        return UserGraph(
            nodes=tuple(nodes_of(nodes)),
            edges=tuple(sorted(edges, key=lambda e: (e.memory_id, e.relation, e.target, e.source))),
        )

    async def counts(self, owner: Owner) -> GraphCounts:
        (row,) = await self._connection.read_all(cypher.COUNTS, **_asker(owner))
        return GraphCounts(nodes=row["nodes"], edges=row["edges"])

    async def find(self, owner: Owner, names: Sequence[str]) -> tuple[Node, ...]:
        # an event's key is an id, which folding would change
        ids = ids_of(owner, {*names, *map(normal_key, names)})
        return tuple(nodes_of(await self._connection.read(cypher.FIND, ids=ids, **_asker(owner))))

    async def search(self, owner: Owner, text: str, limit: int = 20) -> tuple[Node, ...]:
        terms = name_terms(text)
        if not terms or limit < 1:
            return ()
        words, most = words_query(owner, terms), HITS_FOR_ONE * limit
        rows = await self._connection.read(cypher.SEARCH, words=words, most=most, **_asker(owner))
        asked = frozenset(terms)
        ranked = sorted(nodes_of(rows), key=lambda node: -shared_weight(asked, node.name))
        return tuple(ranked[:limit])

    async def neighbourhood(
        self, owner: Owner, keys: Sequence[str], *, hops: int = 2, limit: int = 200
    ) -> UserGraph:
        walk = Walk(((t, key) for key in keys for t in cypher.NODE_TYPES), hops=hops, limit=limit)
        nodes: dict[tuple[str, str], Node] = {}
        while walk.frontier:
            ids = [node_id(owner, place) for place in walk.frontier]
            asked = {**_asker(owner), "ids": ids, "fan": FAN, "most": limit}
            rows = await self._connection.read(cypher.EDGES_AT, **asked)
            nodes.update({(node.type, node.key): node for row in rows for node in ends_of(row)})
            walk.step(map(edge_of, rows))
        return UserGraph(
            nodes=tuple(nodes[place] for place in sorted(walk.places())), edges=tuple(walk.edges)
        )

    async def delete_owner(self, owner: Owner) -> int:
        return sum([await self._delete(owner, generation) for generation in (0, 1)])

    async def _delete(self, owner: Owner, generation: int) -> int:
        """In batches: the nodes of a large graph together would not fit into the server's memory."""
        scope = _scope(owner, generation)

        async def part(run: Run, statement: str) -> int:
            await run(cypher.LOCK_OWNER, scope)
            return int((await run(statement, {**scope, "most": DELETED_AT_ONCE}))[0]["gone"])

        gone_nodes = 0
        for statement in (cypher.DROP_EDGES, cypher.DROP_NODES):
            while gone := await self._connection.write(lambda run, s=statement: part(run, s)):  # type: ignore[misc]
                gone_nodes += gone if statement is cypher.DROP_NODES else 0
        await self._connection.write(lambda run: run(cypher.UNLOCK_OWNER, scope))
        return gone_nodes

    async def answers(self) -> None:
        """Returns while the server can be asked. Raises `RetryLater`, or `StopAndFix` for wrong credentials."""
        await self._connection.read(cypher.ANYTHING)

    async def position(self) -> int:
        rows = await self._connection.read(cypher.POSITION)
        return int(rows[0]["sequence"]) if rows else 0

    async def begin_rebuild(self) -> None:
        await self._empty(1 - await self._live())
        self._rebuilding = True

    async def finish_rebuild(self) -> None:
        old = await self._live()
        await self._connection.write(lambda run: run(cypher.SWITCH, {"generation": 1 - old}))
        self._rebuilding = False
        await self._empty(old)

    async def abandon_rebuild(self) -> None:
        # before anything that may fail: what is forgotten from now on has to leave the graph that answers
        self._rebuilding = False
        await self._empty(1 - await self._live())

    async def _live(self) -> int:
        return int((await self._connection.read(cypher.LIVE))[0]["live"])

    async def _empty(self, generation: int) -> None:
        for row in await self._connection.read_all(cypher.OWNERS, generation=generation):
            await self._delete(Owner(row["tenant"], row["user"]), generation)
        await self._connection.write(lambda run: run(cypher.FORGET_POSITION, {"generation": generation}))

    async def close(self) -> None:
        await self._connection.close()


@dataclass(frozen=True, slots=True)
class _Progress:
    """Where a change of several transactions is: the owner's count of writes after the last one, and what stands."""

    writes: int
    standing: Standing


async def _apply(run: Run, scope: Row, change: Change) -> None:
    """Nodes first, then what joins them; every batch in the order of ids."""
    for node_type, node_rows in sorted(change.nodes.items()):
        for batch in _batches(node_rows):
            await run(cypher.MERGE_NODES[node_type], {**scope, "rows": batch})
    for relation, edge_rows in sorted(change.edges.items()):
        for batch in _batches(edge_rows):
            await run(cypher.MERGE_EDGES[relation], {**scope, "rows": batch})
    for statement, ids in (
        (cypher.DELETE_EDGES, change.gone_edges),
        (cypher.DELETE_NODES, change.gone_nodes),
        (cypher.REMEMBER_BEST, change.crowded),
        (cypher.FORGET_BEST, change.uncrowded),
    ):
        for batch in _batches(ids):
            await run(statement, {**scope, "rows": batch, "fan": FAN})


def _batches(rows: Sequence[Any]) -> Iterator[list[Any]]:
    left = iter(rows)
    while batch := list(islice(left, BATCH)):
        yield batch


def _asker(owner: Owner) -> Row:
    return {"tenant": owner.tenant, "user": owner.user_key}


def _scope(owner: Owner, generation: int) -> Row:
    return {**_asker(owner), "generation": generation, "owner": owner_id(owner)}
