"""The constraints and indexes of the graph, made by however many processes begin at once."""

from __future__ import annotations

from typing import Any, Final

from neo4j import AsyncManagedTransaction, AsyncSession
from neo4j.exceptions import Neo4jError

from hindsight_common.adapters.neo4j_cypher import (
    DROP_INDEX,
    FIRST_GENERATION,
    INDEXES_READY,
    REHEARSED,
    SCHEMA,
)

# what the server says of a name or a rule that is taken, for all its IF NOT EXISTS: it looks before it has the lock
_TAKEN: Final = "Neo.ClientError.Schema."
_IN_USE: Final = "Neo.DatabaseError.Schema.IndexDropFailed"
_STANDING: Final = (
    "SHOW CONSTRAINTS YIELD name RETURN collect(name) AS names",
    "SHOW INDEXES YIELD name, owningConstraint WHERE owningConstraint IS NULL RETURN collect(name) AS names",
)
_TRIES: Final = 5


async def ensure_schema(session: AsyncSession) -> None:
    """All of it is there and answers, and statements of a reader are planned. Raises the driver's errors.

    Each statement in a transaction of its own, which is repeated after a deadlock: the fewer locks one holds, the
    fewer processes wait for each other in a ring.
    """
    for name in SCHEMA:
        await _make(session, name)
    await session.execute_write(_run, INDEXES_READY)
    await session.execute_write(_run, FIRST_GENERATION)
    for statement, parameters in REHEARSED:
        await (await session.run(_literal(statement), parameters)).consume()


async def _make(session: AsyncSession, name: str) -> None:
    for left in reversed(range(_TRIES)):
        try:
            await session.execute_write(_run, SCHEMA[name])
        except Neo4jError as fault:
            if not str(fault.code).startswith(_TAKEN):
                raise
            constraints, indexes = [await session.execute_read(_names, each) for each in _STANDING]
            is_constraint = "CONSTRAINT" in SCHEMA[name]
            if name in (constraints if is_constraint else indexes):
                return  # another process was quicker
            if not left:
                raise
            if is_constraint and name in indexes:
                await _clear_away(session, name)
        else:
            return


async def _clear_away(session: AsyncSession, name: str) -> None:
    """The server makes the index of a constraint first. A creation that it broke off, for a deadlock or its own end,
    leaves that index without its constraint, and nobody can make the constraint any more.
    """
    try:
        await session.execute_write(_run, DROP_INDEX[name])
    except Neo4jError as fault:
        if fault.code != _IN_USE:
            raise  # otherwise another process has made the constraint meanwhile


async def _names(transaction: AsyncManagedTransaction, statement: str) -> frozenset[str]:
    record = await (await transaction.run(_literal(statement))).single(strict=True)
    return frozenset(record["names"])


async def _run(transaction: AsyncManagedTransaction, statement: str) -> None:
    await (await transaction.run(_literal(statement))).consume()


def _literal(statement: str) -> Any:
    """The driver's types ask for literal texts; ours are constants."""
    return statement
