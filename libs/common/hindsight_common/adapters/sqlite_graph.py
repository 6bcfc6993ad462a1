"""The graph in SQLite: one file, an owner on every row, deleted bytes overwritten.

Two generations share the tables; readers see the live one, a rebuild fills the other and then they change places.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from hindsight_common.domain.graph import Edge, Node, UserGraph
from hindsight_common.errors import RetryLater
from hindsight_common.ids import Owner

_T = TypeVar("_T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS node (
    generation INTEGER NOT NULL, owner TEXT NOT NULL, type TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (generation, owner, type, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS edge (
    generation INTEGER NOT NULL, owner TEXT NOT NULL, memory_id TEXT NOT NULL, relation TEXT NOT NULL,
    source_type TEXT NOT NULL, source_key TEXT NOT NULL, target_type TEXT NOT NULL, target_key TEXT NOT NULL,
    predicate TEXT NOT NULL, negated INTEGER NOT NULL, importance REAL NOT NULL, evidence INTEGER NOT NULL,
    valid_from TEXT NOT NULL, valid_until TEXT,
    PRIMARY KEY (generation, owner, memory_id, relation, source_type, source_key, target_type, target_key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS edge_source ON edge (generation, owner, source_key);
CREATE INDEX IF NOT EXISTS edge_target ON edge (generation, owner, target_key);
CREATE TABLE IF NOT EXISTS position (generation INTEGER PRIMARY KEY, sequence INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS live (one INTEGER PRIMARY KEY CHECK (one = 1), generation INTEGER NOT NULL);
INSERT OR IGNORE INTO live VALUES (1, 0);
"""


class SqliteGraph:
    """Implements `ports.graph.GraphStore`. All work runs in one thread of its own, never on the event loop."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sqlite-graph")
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._rebuilding = False

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self._path, isolation_level=None)
            # overwrite what is deleted: an erasure has to reach the disk
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(_SCHEMA)
            self._connection = connection
        return self._connection

    async def _run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        def in_thread() -> _T:
            return work(self._opened())

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, in_thread)
        except sqlite3.OperationalError as fault:
            raise RetryLater(f"the graph's file cannot be used now: {fault}") from fault

    async def replace(self, owner: Owner, graph: UserGraph, position: int) -> None:
        await self._run(lambda connection: self._replace(connection, str(owner), graph, position))

    def _replace(self, connection: sqlite3.Connection, owner: str, graph: UserGraph, position: int) -> None:
        target = self._target(connection)
        nodes = {(target, owner, n.type, n.key, n.name) for n in graph.nodes}
        edges = {_edge_row(target, owner, edge) for edge in graph.edges}
        connection.execute("BEGIN IMMEDIATE")
        try:
            gone = _difference(connection, _NODES, target, owner, wanted=nodes)
            gone += _difference(connection, _EDGES, target, owner, wanted=edges)
            connection.execute(
                "INSERT INTO position VALUES (?, ?) ON CONFLICT DO UPDATE"
                " SET sequence = max(sequence, excluded.sequence)",
                (target, position),
            )
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        if gone:
            _checkpoint(connection)

    def _target(self, connection: sqlite3.Connection) -> int:
        live = _live(connection)
        return 1 - live if self._rebuilding else live

    async def read(self, owner: Owner) -> UserGraph:
        return await self._run(lambda connection: _read(connection, str(owner)))

    async def delete_owner(self, owner: Owner) -> int:
        def work(connection: sqlite3.Connection) -> int:
            with connection:
                gone = connection.execute("DELETE FROM node WHERE owner = ?", (str(owner),)).rowcount
                connection.execute("DELETE FROM edge WHERE owner = ?", (str(owner),))
            _checkpoint(connection)
            return gone

        return await self._run(work)

    async def position(self) -> int:
        def work(connection: sqlite3.Connection) -> int:
            row = connection.execute(
                "SELECT sequence FROM position WHERE generation = ?", (_live(connection),)
            ).fetchone()
            return int(row[0]) if row else 0

        return await self._run(work)

    async def begin_rebuild(self) -> None:
        def work(connection: sqlite3.Connection) -> None:
            _empty(connection, 1 - _live(connection))
            self._rebuilding = True

        await self._run(work)

    async def finish_rebuild(self) -> None:
        def work(connection: sqlite3.Connection) -> None:
            old = _live(connection)
            connection.execute("UPDATE live SET generation = ?", (1 - old,))
            self._rebuilding = False
            _empty(connection, old)

        await self._run(work)

    async def abandon_rebuild(self) -> None:
        # before anything that may fail: what is forgotten from now on has to leave the graph that answers
        self._rebuilding = False
        await self._run(lambda connection: _empty(connection, 1 - _live(connection)))

    async def close(self) -> None:
        def work() -> None:
            if self._connection is not None:
                self._connection.close()

        await asyncio.get_running_loop().run_in_executor(self._thread, work)
        self._thread.shutdown()


def _live(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT generation FROM live").fetchone()[0])


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


_NODES = _table("node", ("generation", "owner", "type", "key", "name"), 4)
_EDGES = _table(
    "edge",
    (
        *(
            "generation",
            "owner",
            "memory_id",
            "relation",
            "source_type",
            "source_key",
            "target_type",
            "target_key",
        ),
        *("predicate", "negated", "importance", "evidence", "valid_from", "valid_until"),
    ),
    8,
)


def _difference(
    connection: sqlite3.Connection,
    table: _Table,
    generation: int,
    owner: str,
    *,
    wanted: Set[tuple[object, ...]],
) -> int:
    """Makes the owner's rows exactly the wanted ones; returns how many went. Rows that stay are not touched."""
    standing = set(connection.execute(table.select, (generation, owner)))
    gone = standing - wanted
    connection.executemany(table.delete, [row[: table.key] for row in gone])
    connection.executemany(table.insert, list(wanted - standing))
    return len(gone)


def _edge_row(generation: int, owner: str, edge: Edge) -> tuple[object, ...]:
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


def _read(connection: sqlite3.Connection, owner: str) -> UserGraph:
    live = _live(connection)
    nodes = connection.execute(
        "SELECT type, key, name FROM node WHERE generation = ? AND owner = ? ORDER BY type, key",
        (live, owner),
    )
    edges = connection.execute(
        "SELECT memory_id, relation, source_type, source_key, target_type, target_key, predicate, negated, importance,"
        " evidence, valid_from, valid_until FROM edge WHERE generation = ? AND owner = ?"
        " ORDER BY memory_id, relation, target_type, target_key, source_type, source_key",
        (live, owner),
    )
    return UserGraph(
        nodes=tuple(Node(*row) for row in nodes),
        edges=tuple(
            Edge(row[0], row[1], (row[2], row[3]), (row[4], row[5]), row[6], bool(row[7]), *row[8:])
            for row in edges
        ),
    )


def _empty(connection: sqlite3.Connection, generation: int) -> None:
    with connection:
        for table in ("node", "edge", "position"):
            connection.execute(f"DELETE FROM {table} WHERE generation = ?", (generation,))  # noqa: S608 - the names are ours
    _checkpoint(connection)


def _checkpoint(connection: sqlite3.Connection) -> None:
    """Deleted bytes leave the write-ahead log too. There is no other reader, so it cannot be busy for long."""
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise RetryLater("the graph's write-ahead log is in use by another process and cannot be truncated")
