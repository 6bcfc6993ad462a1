"""The tables of the graph in SQLite and their statements: an owner and a generation on every row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Final

from hindsight_common.domain.graph import Edge, UserGraph
from hindsight_common.domain.graph_terms import name_terms
from hindsight_common.errors import RetryLater

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS node (
    generation INTEGER NOT NULL, owner TEXT NOT NULL, type TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (generation, owner, type, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS term (
    generation INTEGER NOT NULL, owner TEXT NOT NULL, term TEXT NOT NULL, type TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (generation, owner, term, type, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS edge (
    generation INTEGER NOT NULL, owner TEXT NOT NULL, memory_id TEXT NOT NULL, relation TEXT NOT NULL,
    source_type TEXT NOT NULL, source_key TEXT NOT NULL, target_type TEXT NOT NULL, target_key TEXT NOT NULL,
    predicate TEXT NOT NULL, negated INTEGER NOT NULL, importance REAL NOT NULL, evidence INTEGER NOT NULL,
    valid_from TEXT NOT NULL, valid_until TEXT,
    PRIMARY KEY (generation, owner, memory_id, relation, source_type, source_key, target_type, target_key)
) WITHOUT ROWID;
-- with the importance, so that the best edges of a node with thousands are read without the others
DROP INDEX IF EXISTS edge_source;
DROP INDEX IF EXISTS edge_target;
CREATE INDEX IF NOT EXISTS edge_from ON edge
    (generation, owner, source_type, source_key, importance DESC, memory_id);
CREATE INDEX IF NOT EXISTS edge_to ON edge
    (generation, owner, target_type, target_key, importance DESC, memory_id);
CREATE TABLE IF NOT EXISTS replaced (
    generation INTEGER NOT NULL, owner TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (generation, owner)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS position (generation INTEGER PRIMARY KEY, sequence INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS live (one INTEGER PRIMARY KEY CHECK (one = 1), generation INTEGER NOT NULL);
INSERT OR IGNORE INTO live VALUES (1, 0);
"""
# every table of a generation
TABLES: Final = ("node", "term", "edge", "replaced", "position")
_OWNED: Final = TABLES[:-1]


Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """One table's statements; the first `key` columns are its primary key."""

    key: int
    select: str
    delete: str
    insert: str


def _table(name: str, columns: Sequence[str], key: int) -> _Table:
    where = " AND ".join(f"{column} = ?" for column in columns[:key])
    return _Table(
        key,
        f"SELECT * FROM {name} WHERE generation = ? AND owner = ?",  # noqa: S608 - names of ours, values by parameter
        f"DELETE FROM {name} WHERE {where}",  # noqa: S608 - as above
        f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})",  # noqa: S608 - as above
    )


EDGE_ENDS: Final = ("source_type", "source_key", "target_type", "target_key")
EDGE_VALUES: Final = ("predicate", "negated", "importance", "evidence", "valid_from", "valid_until")
_NODES: Final = _table("node", ("generation", "owner", "type", "key", "name"), 4)
_TERMS: Final = _table("term", ("generation", "owner", "term", "type", "key"), 5)
_EDGES: Final = _table("edge", ("generation", "owner", "memory_id", "relation", *EDGE_ENDS, *EDGE_VALUES), 8)


def live_generation(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT generation FROM live").fetchone()[0])


def reflected(connection: sqlite3.Connection, generation: int, owner: str) -> int:
    """The position that the owner's graph was last written for, -1 for none."""
    row = connection.execute(
        "SELECT sequence FROM replaced WHERE generation = ? AND owner = ?", (generation, owner)
    ).fetchone()
    return int(row[0]) if row else -1


def write(
    connection: sqlite3.Connection, generation: int, owner: str, graph: UserGraph, position: int
) -> int:
    """Inside a transaction: makes the owner's rows those of the graph; returns how many went."""
    nodes = {(generation, owner, n.type, n.key, n.name) for n in graph.nodes}
    edges = {_edge_row(generation, owner, edge) for edge in graph.edges}
    old, new = _difference(connection, _NODES, generation, owner, wanted=nodes)
    _delete(connection, _TERMS, _terms(old))
    _insert(connection, _TERMS, _terms(new))
    gone, _ = _difference(connection, _EDGES, generation, owner, wanted=edges)
    connection.execute(
        "INSERT INTO replaced VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET sequence = excluded.sequence",
        (generation, owner, position),
    )
    return len(old) + len(gone)


def advance(connection: sqlite3.Connection, generation: int, position: int) -> None:
    connection.execute(
        "INSERT INTO position VALUES (?, ?) ON CONFLICT DO UPDATE SET sequence = max(sequence, excluded.sequence)",
        (generation, position),
    )


def _difference(
    connection: sqlite3.Connection,
    table: _Table,
    generation: int,
    owner: str,
    *,
    wanted: Set[Row],
) -> tuple[Set[Row], Set[Row]]:
    """Makes the owner's rows exactly the wanted ones; returns what went and what came. The rest is not touched."""
    standing = set(connection.execute(table.select, (generation, owner)))
    gone, new = standing - wanted, wanted - standing
    _delete(connection, table, gone)
    _insert(connection, table, new)
    return gone, new


def _delete(connection: sqlite3.Connection, table: _Table, rows: Iterable[Row]) -> None:
    connection.executemany(table.delete, (row[: table.key] for row in rows))


def _insert(connection: sqlite3.Connection, table: _Table, rows: Iterable[Row]) -> None:
    connection.executemany(table.insert, rows)


def _terms(nodes: Iterable[Row]) -> Iterator[Row]:
    for generation, owner, node_type, key, name in nodes:
        for term in name_terms(str(name)):
            yield generation, owner, term, node_type, key


def _edge_row(generation: int, owner: str, edge: Edge) -> Row:
    return (
        generation,
        owner,
        edge.memory_id,
        edge.relation,
        *edge.source,
        *edge.target,
        edge.predicate,
        int(edge.negated),
        edge.importance,
        edge.evidence,
        edge.valid_from,
        edge.valid_until,
    )


def delete_owner(connection: sqlite3.Connection, owner: str) -> int:
    """In all generations; returns how many nodes there were."""
    gone = 0
    with connection:
        for table in _OWNED:
            deleted = connection.execute(f"DELETE FROM {table} WHERE owner = ?", (owner,)).rowcount  # noqa: S608 - names of ours
            gone += deleted if table == "node" else 0
    truncate_wal(connection)
    return gone


def empty(connection: sqlite3.Connection, generation: int) -> None:
    with connection:
        for table in TABLES:
            connection.execute(f"DELETE FROM {table} WHERE generation = ?", (generation,))  # noqa: S608 - names of ours
    truncate_wal(connection)


def truncate_wal(connection: sqlite3.Connection) -> None:
    """Deleted bytes leave the write-ahead log too. Our own reader is quick, and waited for."""
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise RetryLater("the graph's write-ahead log is in use by another process and cannot be truncated")
