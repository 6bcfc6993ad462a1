"""How long a neighbourhood of two steps takes in a graph of one user, in SQLite and in Neo4j, as the graph grows.

    python -m benchmarks.graph [--nodes 50000 100000] [--queries 300] [--stores sqlite neo4j]

The user has edges to a third of all nodes; the others know each other, some of them far more than most. Asked is
what recall asks: from a few entities, and from the user's own node, which is the hardest there is.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

from hindsight_common.adapters.neo4j_graph import Neo4jGraph
from hindsight_common.adapters.sqlite_graph import SqliteGraph
from hindsight_common.domain.graph import USER_KEY, Edge, Node, NodeType, UserGraph
from hindsight_common.domain.predicates import Relation
from hindsight_common.ids import Owner
from hindsight_common.ports.graph import GraphStore
from scripts.neo4j_server import Neo4jServer

EDGES_PER_NODE = 2
# pages and plans are warm in a server that is in use
WARM_UP = 50
RELATIONS: tuple[Relation, ...] = ("PREFERS", "KNOWS", "HAS_ATTRIBUTE", "LOCATED_IN")
ACCEPTED_P95_MS = 80.0
ACCEPTED_GROWTH = 1.3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=[50_000, 100_000])
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--stores", nargs="+", choices=["sqlite", "neo4j"], default=["sqlite", "neo4j"])
    arguments = parser.parse_args()
    print(
        f"{'store':8} {'nodes':>8} {'asked from':>14} {'P50 ms':>8} {'P95 ms':>8}   P95 < {ACCEPTED_P95_MS:g} ms"
    )
    for store in arguments.stores:
        asyncio.run(measure(store, sorted(arguments.nodes), arguments.queries))


async def measure(store: Literal["sqlite", "neo4j"], sizes: Sequence[int], queries: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = Neo4jServer(Path(folder) / "neo4j") if store == "neo4j" else None
        if server is not None:
            server.start()
        graph: GraphStore = (
            Neo4jGraph(server.url) if server is not None else SqliteGraph(Path(folder) / "graph.sqlite")
        )
        try:
            for size in sizes:
                began = time.perf_counter()
                await graph.replace(owner_of(size), made_up(size), size)
                print(f"{store:8} {size:>8} written in {time.perf_counter() - began:.1f} s")
            for asked, starts in (("an entity", entity), ("three and user", three_and_user)):
                report(store, asked, await timed(graph, sizes, queries, starts))
        finally:
            await graph.close()
            if server is not None:
                server.stop()


def owner_of(size: int) -> Owner:
    return Owner("default", f"{size:032x}")


def entity(chosen: random.Random, size: int) -> list[str]:
    return [f"e{chosen.randrange(size)}"]


def three_and_user(chosen: random.Random, size: int) -> list[str]:
    return [USER_KEY, *(f"e{chosen.randrange(size)}" for _ in range(3))]


async def timed(
    graph: GraphStore,
    sizes: Sequence[int],
    queries: int,
    starts: Callable[[random.Random, int], list[str]],
) -> dict[int, list[float]]:
    """Milliseconds by size, ascending. The sizes take turns, so that what else the machine does is shared by all."""
    chosen = random.Random(7)
    took: dict[int, list[float]] = {size: [] for size in sizes}
    for number in range(WARM_UP + queries):
        for size in sizes:
            keys = starts(chosen, size)
            began = time.perf_counter()
            await graph.neighbourhood(owner_of(size), keys)
            if number >= WARM_UP:
                took[size].append(1e3 * (time.perf_counter() - began))
    return {size: sorted(each) for size, each in took.items()}


def report(store: str, asked: str, took: dict[int, list[float]]) -> None:
    p50 = {size: each[len(each) // 2] for size, each in took.items()}
    p95 = {size: each[int(len(each) * 0.95)] for size, each in took.items()}
    for size in took:
        kept = "kept" if p95[size] < ACCEPTED_P95_MS else "NOT KEPT"
        print(f"{store:8} {size:>8} {asked:>14} {p50[size]:>8.1f} {p95[size]:>8.1f}   {kept}")
    for small, large in pairwise(took):
        growth = p50[large] / p50[small], p95[large] / p95[small]
        kept = "kept" if max(growth) <= ACCEPTED_GROWTH else "NOT KEPT"
        print(
            f"{store:8} from {small} to {large} times {growth[0]:.2f} (P50), {growth[1]:.2f} (P95);"
            f" at most {ACCEPTED_GROWTH}: {kept}"
        )


def made_up(size: int) -> UserGraph:
    """Nodes `e0` … of which every third is the user's, and of which few have very many edges, as in life."""
    chosen = random.Random(3)
    kinds: tuple[NodeType, ...] = ("Entity", "Entity", "Entity", "Event", "Context")
    places: list[tuple[NodeType, str]] = [(kinds[n % len(kinds)], f"e{n}") for n in range(size)]
    edges = [edge(n, ("Entity", USER_KEY), places[n], chosen) for n in range(0, size, 3)]
    for n in range(EDGES_PER_NODE * size - len(edges)):
        popular = min(int(chosen.paretovariate(0.6)), size - 1)
        edges.append(edge(size + n, places[n % size], places[popular], chosen))
    nodes = [Node("Entity", USER_KEY, USER_KEY), *(Node(kind, key, f"name {key}") for kind, key in places)]
    return UserGraph(tuple(nodes), tuple(edges))


def edge(
    number: int, source: tuple[NodeType, str], target: tuple[NodeType, str], chosen: random.Random
) -> Edge:
    return Edge(
        memory_id=f"m{number}",
        relation=RELATIONS[number % len(RELATIONS)],
        source=source,
        target=target,
        predicate="knows",
        negated=False,
        importance=round(chosen.random(), 2),
        evidence=1,
        valid_from="2026-01-01T00:00:00+00:00",
        valid_until=None,
    )


if __name__ == "__main__":
    main()
