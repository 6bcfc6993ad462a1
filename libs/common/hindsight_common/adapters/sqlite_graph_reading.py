"""What is asked of the graph in SQLite: every statement names an owner and a generation, and finds by an index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final, get_args

from hindsight_common.adapters.sqlite_graph_rows import EDGE_ENDS, EDGE_VALUES, Row, live_generation
from hindsight_common.domain.graph import Edge, Node, NodeType, UserGraph
from hindsight_common.domain.graph_walk import Place
from hindsight_common.ports.graph import FAN

_EDGE_COLUMNS: Final = ", ".join(("memory_id", "relation", *EDGE_ENDS, *EDGE_VALUES))
_IMPORTANCE: Final = _EDGE_COLUMNS.split(", ").index("importance")
_TYPES: Final = get_args(NodeType)
_KEYS_AT_ONCE: Final = 500
_EDGES_AT: Final = tuple(
    f"SELECT {_EDGE_COLUMNS} FROM edge WHERE generation = ? AND owner = ? AND {end}_type = ? AND {end}_key = ?"  # noqa: S608 - names of ours
    " ORDER BY importance DESC, memory_id LIMIT ?"
    for end in ("source", "target")
)


def whole(connection: sqlite3.Connection, owner: str) -> UserGraph:
    live = live_generation(connection)
    nodes = connection.execute(
        "SELECT type, key, name FROM node WHERE generation = ? AND owner = ? ORDER BY type, key",
        (live, owner),
    )
    edges = connection.execute(
        f"SELECT {_EDGE_COLUMNS} FROM edge WHERE generation = ? AND owner = ?"  # noqa: S608 - names of ours
        " ORDER BY memory_id, relation, target_type, target_key, source_type, source_key",
        (live, owner),
    )
    return UserGraph(nodes=tuple(Node(*row) for row in nodes), edges=tuple(map(_edge, edges)))


def count(connection: sqlite3.Connection, generation: int, owner: str) -> tuple[int, int]:
    """How many nodes and how many edges."""
    nodes, edges = (
        connection.execute(
            f"SELECT count(*) FROM {table} WHERE generation = ? AND owner = ?",  # noqa: S608 - names of ours
            (generation, owner),
        ).fetchone()[0]
        for table in ("node", "edge")
    )
    return nodes, edges


def edges_at(
    connection: sqlite3.Connection, generation: int, owner: str, places: Iterable[Place], most: int
) -> list[Edge]:
    """Of each place its edges of greatest importance, at most `FAN`; of all those again the greatest `most`."""
    found: set[Row] = set()
    for place in places:
        best: set[Row] = set()
        for statement in _EDGES_AT:
            best.update(connection.execute(statement, (generation, owner, *place, FAN)))
        found.update(sorted(best, key=_by_weight)[:FAN] if len(best) > FAN else best)
    return [_edge(row) for row in sorted(found, key=_by_weight)[:most]]


def _by_weight(row: Any) -> tuple[float, str]:
    return -row[_IMPORTANCE], row[0]


def nodes_at(
    connection: sqlite3.Connection, generation: int, owner: str, places: Iterable[Place]
) -> list[Node]:
    """Those that exist, by type and key."""
    found = (
        connection.execute(
            "SELECT type, key, name FROM node WHERE generation = ? AND owner = ? AND type = ? AND key = ?",
            (generation, owner, *place),
        ).fetchone()
        for place in sorted(places)
    )
    return [Node(*row) for row in found if row is not None]


def nodes_called(
    connection: sqlite3.Connection, generation: int, owner: str, keys: Sequence[str]
) -> list[Node]:
    """Those that have one of the keys, by type and key."""
    found: list[Node] = []
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        some = keys[start : start + _KEYS_AT_ONCE]
        types, marks = ", ".join("?" * len(_TYPES)), ", ".join("?" * len(some))
        rows = connection.execute(
            "SELECT type, key, name FROM node WHERE generation = ? AND owner = ?"  # noqa: S608 - marks only
            f" AND type IN ({types}) AND key IN ({marks})",
            (generation, owner, *_TYPES, *some),
        )
        found += [Node(*row) for row in rows]
    return sorted(found, key=lambda node: (node.type, node.key))


def nodes_with_terms(
    connection: sqlite3.Connection, generation: int, owner: str, terms: Sequence[str], limit: int
) -> list[Node]:
    marks = ", ".join("?" * len(terms))
    rows = connection.execute(
        "SELECT n.type, n.key, n.name FROM term t JOIN node n USING (generation, owner, type, key)"  # noqa: S608 - marks only
        f" WHERE t.generation = ? AND t.owner = ? AND t.term IN ({marks})"
        " GROUP BY t.type, t.key ORDER BY sum(length(t.term)) DESC, t.type, t.key LIMIT ?",
        (generation, owner, *terms, limit),
    )
    return [Node(*row) for row in rows]


def _edge(row: Sequence[object]) -> Edge:
    memory_id, relation, source_type, source_key, target_type, target_key, predicate, negated, *rest = row
    ends = ((source_type, source_key), (target_type, target_key))
    return Edge(memory_id, relation, *ends, predicate, bool(negated), *rest)  # type: ignore[arg-type] # as written
