"""The graph in SQLite: one file, an owner on every row, deleted bytes overwritten.

Two generations share the tables; readers see the live one, a rebuild fills the other and then they change places.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TypeVar, get_args

import structlog

from hindsight_common.adapters import sqlite_graph_reading as reading
from hindsight_common.adapters import sqlite_graph_rows as rows
from hindsight_common.domain.graph import Node, NodeType, UserGraph
from hindsight_common.domain.graph_terms import name_terms
from hindsight_common.domain.graph_walk import Place, Walk
from hindsight_common.domain.text import normal_key
from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.ids import Owner
from hindsight_common.ports.graph import GraphCounts

_T = TypeVar("_T")
_log = structlog.get_logger(__name__)


class SqliteGraph:
    """Implements `ports.graph.GraphStore`. All work runs in two threads, never on the event loop.

    One writes and one answers, each with a connection of its own, so that no answer waits for a large write. The
    graph is derived from the log: a damaged file gives way to an empty one at position 0, which replay fills; one
    that is damaged in use stops the process (`StopAndFix`), since no event of the log may be given up for it.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _put_away_if_damaged(path)
        self._writer = _Lane(path)
        self._reader = _Lane(path)
        self._prepared = False
        self._rebuilding = False

    async def replace(self, owner: Owner, graph: UserGraph, position: int) -> None:
        await self._write(lambda connection: self._replace(connection, str(owner), graph, position))

    def _replace(self, connection: sqlite3.Connection, owner: str, graph: UserGraph, position: int) -> None:
        live = rows.live_generation(connection)
        target = 1 - live if self._rebuilding else live
        connection.execute("BEGIN IMMEDIATE")
        try:
            gone = 0
            if rows.reflected(connection, target, owner) <= position:
                gone = rows.write(connection, target, owner, graph, position)
            rows.advance(connection, target, position)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        if gone:
            rows.truncate_wal(connection)

    async def read(self, owner: Owner) -> UserGraph:
        return await self._read(lambda connection, _: reading.whole(connection, str(owner)))

    async def counts(self, owner: Owner) -> GraphCounts:
        return await self._read(
            lambda connection, live: GraphCounts(*reading.count(connection, live, str(owner)))
        )

    async def find(self, owner: Owner, names: Sequence[str]) -> tuple[Node, ...]:
        # an event's key is an id, which folding would change
        keys = sorted({*names, *map(normal_key, names)})
        return await self._read(
            lambda connection, live: tuple(reading.nodes_called(connection, live, str(owner), keys))
        )

    async def search(self, owner: Owner, text: str, limit: int = 20) -> tuple[Node, ...]:
        terms = name_terms(text)
        return await self._read(
            lambda connection, live: tuple(
                reading.nodes_with_terms(connection, live, str(owner), terms, limit)
            )
        )

    async def neighbourhood(
        self, owner: Owner, keys: Sequence[str], *, hops: int = 2, limit: int = 200
    ) -> UserGraph:
        def work(connection: sqlite3.Connection, live: int) -> UserGraph:
            walk = Walk(_places(keys), hops=hops, limit=limit)
            while walk.frontier:
                walk.step(reading.edges_at(connection, live, str(owner), walk.frontier, limit))
            nodes = reading.nodes_at(connection, live, str(owner), walk.places())
            return UserGraph(nodes=tuple(nodes), edges=tuple(walk.edges))

        return await self._read(work)

    async def _read(self, work: Callable[[sqlite3.Connection, int], _T]) -> _T:
        """Runs `work` with the live generation, in one snapshot of the file."""

        def in_snapshot(connection: sqlite3.Connection) -> _T:
            connection.execute("BEGIN")
            try:
                return work(connection, rows.live_generation(connection))
            finally:
                connection.execute("COMMIT")

        await self._prepare()
        return await self._reader.run(in_snapshot)

    async def _write(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        await self._prepare()
        return await self._writer.run(work)

    async def _prepare(self) -> None:
        if not self._prepared:
            await self._writer.run(lambda connection: connection.executescript(rows.SCHEMA))
            self._prepared = True

    async def delete_owner(self, owner: Owner) -> int:
        return await self._write(lambda connection: rows.delete_owner(connection, str(owner)))

    async def position(self) -> int:
        def work(connection: sqlite3.Connection, live: int) -> int:
            row = connection.execute("SELECT sequence FROM position WHERE generation = ?", (live,)).fetchone()
            return int(row[0]) if row else 0

        return await self._read(work)

    async def begin_rebuild(self) -> None:
        def work(connection: sqlite3.Connection) -> None:
            rows.empty(connection, 1 - rows.live_generation(connection))
            self._rebuilding = True

        await self._write(work)

    async def finish_rebuild(self) -> None:
        def work(connection: sqlite3.Connection) -> None:
            old = rows.live_generation(connection)
            connection.execute("UPDATE live SET generation = ?", (1 - old,))
            self._rebuilding = False
            rows.empty(connection, old)

        await self._write(work)

    async def abandon_rebuild(self) -> None:
        # before anything that may fail: what is forgotten from now on has to leave the graph that answers
        self._rebuilding = False
        await self._write(lambda connection: rows.empty(connection, 1 - rows.live_generation(connection)))

    async def close(self) -> None:
        await self._reader.close()
        await self._writer.close()


class _Lane:
    """A thread with a connection that is opened at its first use."""

    def __init__(self, path: Path) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sqlite-graph")
        self._path = path
        self._connection: sqlite3.Connection | None = None

    async def run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        def in_thread() -> _T:
            return work(self._opened())

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, in_thread)
        except sqlite3.OperationalError as fault:
            raise RetryLater(f"the graph's file cannot be used now: {fault}") from fault
        except sqlite3.IntegrityError:
            raise  # a defect of ours, not of the file
        except sqlite3.DatabaseError as fault:
            raise StopAndFix(
                f"the graph's file is damaged: start again, and it is made anew from the log ({self._path})"
            ) from fault

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self._path, isolation_level=None)
            # overwrite what is deleted: an erasure has to reach the disk
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            self._connection = connection
        return self._connection

    async def close(self) -> None:
        def work() -> None:
            if self._connection is not None:
                self._connection.close()

        await asyncio.get_running_loop().run_in_executor(self._thread, work)
        self._thread.shutdown()


def _places(keys: Sequence[str] | set[str]) -> list[Place]:
    types: tuple[NodeType, ...] = get_args(NodeType)
    return [(node_type, key) for key in keys for node_type in types]


def _put_away_if_damaged(path: Path) -> None:
    if not path.exists() or _is_sound(path):
        return
    _log.error("graph.damaged", what="it is rebuilt from the log")
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _is_sound(path: Path) -> bool:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
        except sqlite3.OperationalError:
            return True  # busy, or not to be opened now: whoever uses it will see
        except sqlite3.DatabaseError:
            return False
