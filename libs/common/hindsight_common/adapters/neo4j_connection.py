"""One driver for the process: made in the running loop, quick to give up, and silent about itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from neo4j import READ_ACCESS, AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, AsyncResult, Query
from neo4j.exceptions import AuthError, ConfigurationError, DriverError, Neo4jError, TransientError

from hindsight_common.adapters.neo4j_schema import ensure_schema
from hindsight_common.errors import RetryLater, StopAndFix

# an answer that takes longer is worth nothing to whoever asked
READ_TIMEOUT_S: Final = 2.0
CONNECT_TIMEOUT_S: Final = 2.0
ACQUIRE_TIMEOUT_S: Final = 3.0
# deadlocks and leader changes are over by then; what lasts longer comes again from the bus
RETRY_WINDOW_S: Final = 10.0
# filling the indexes of a large graph included
PREPARE_TIMEOUT_S: Final = 90.0

_TOO_LATE: Final = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"

_T = TypeVar("_T")
Row = dict[str, Any]


class Neo4jConnection:
    """`read` and `write` raise `RetryLater` when the server cannot answer now, `StopAndFix` for wrong credentials.

    Constraints and indexes are there before the first of either.
    """

    def __init__(self, url: str, *, user: str | None, password: str | None, database: str) -> None:
        self._url = url
        self._auth = (user or "neo4j", password) if password is not None else None
        self._database = database
        self._driver: AsyncDriver | None = None
        self._prepared = False
        self._preparing: asyncio.Task[None] | None = None
        self._reading: set[asyncio.Task[list[Row]]] = set()

    async def read(self, statement: str, **parameters: Any) -> list[Row]:
        """One statement, not repeated: a reader has no time for that.

        A caller that leaves does not take the connection with it: the driver ends one whose answer nobody waits for,
        and a new one, with its greeting and password, would take longer than the next caller waits.
        """
        reading = asyncio.create_task(self._read(statement, parameters), name="read the graph")
        self._reading.add(reading)
        reading.add_done_callback(self._read_by_nobody)
        return await asyncio.shield(reading)

    def _read_by_nobody(self, reading: asyncio.Task[list[Row]]) -> None:
        self._reading.discard(reading)
        _heard(reading)

    async def _read(self, statement: str, parameters: Mapping[str, Any]) -> list[Row]:
        async with _faults():
            driver = await self._ready()
            async with (
                asyncio.timeout(READ_TIMEOUT_S + ACQUIRE_TIMEOUT_S),
                driver.session(database=self._database, default_access_mode=READ_ACCESS) as session,
            ):
                result = await session.run(
                    Query(_literal(statement), timeout=READ_TIMEOUT_S), dict(parameters)
                )
                return await _rows(result)

    async def read_all(self, statement: str, **parameters: Any) -> list[Row]:
        """As `read`, with time for a whole graph."""
        return await self.write(lambda run: run(statement, parameters))

    async def write(self, work: Callable[[Run], Awaitable[_T]]) -> _T:
        """Runs `work` in one transaction, again after a deadlock: it must not remember anything of an earlier try."""

        async def in_transaction(transaction: AsyncManagedTransaction) -> _T:
            async def run(statement: str, parameters: Mapping[str, Any]) -> list[Row]:
                return await _rows(await transaction.run(_literal(statement), dict(parameters)))

            return await work(run)

        async with _faults():
            driver = await self._ready()
            async with driver.session(database=self._database) as session:
                return await session.execute_write(in_transaction)

    async def close(self) -> None:
        at_work = [*self._reading, *([self._preparing] if self._preparing is not None else [])]
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)
        if self._driver is not None:
            await self._driver.close()

    async def _ready(self) -> AsyncDriver:
        if self._driver is None:
            self._driver = AsyncGraphDatabase.driver(
                self._url,
                auth=self._auth,
                telemetry_disabled=True,
                connection_timeout=CONNECT_TIMEOUT_S,
                connection_acquisition_timeout=ACQUIRE_TIMEOUT_S,
                max_transaction_retry_time=RETRY_WINDOW_S,
                # remarks on statements quote them
                notifications_min_severity="OFF",
            )
        if not self._prepared:
            if self._preparing is None or self._preparing.done():
                self._preparing = asyncio.create_task(self._prepare(self._driver), name="prepare the graph")
                self._preparing.add_done_callback(_heard)
            # one for all who wait, and not ended with those who wait no longer: a reader's patience is far shorter
            await asyncio.shield(self._preparing)
        return self._driver

    async def _prepare(self, driver: AsyncDriver) -> None:
        async with asyncio.timeout(PREPARE_TIMEOUT_S):
            # at once, where what follows would try for as long as a write may
            await driver.verify_connectivity()
            async with driver.session(database=self._database) as session:
                await ensure_schema(session)
        self._prepared = True


def _heard(task: asyncio.Task[Any]) -> None:
    """Whoever still waits hears of a fault; if nobody does, it is no fault of the loop's."""
    if not task.cancelled():
        task.exception()


Run = Callable[[str, Mapping[str, Any]], Awaitable[list[Row]]]


async def _rows(result: AsyncResult) -> list[Row]:
    """As the driver's own `data()`, which looks into every value again for nodes and paths, and takes long for it."""
    names = result.keys()
    return [dict(zip(names, record, strict=True)) async for record in result]


@asynccontextmanager
async def _faults() -> AsyncIterator[None]:
    """The driver's errors in our own words. A statement that the server does not understand is a defect and passes."""
    try:
        yield
    except (AuthError, ConfigurationError) as fault:
        raise StopAndFix(
            f"Neo4j refuses the connection: {fault.__class__.__name__}; see neo4j_url, neo4j_user and neo4j_password "
            "(HINDSIGHT_NEO4J_PASSWORD)"
        ) from fault
    except (DriverError, TransientError, OSError, TimeoutError) as fault:
        raise RetryLater(f"the graph cannot be reached: {type(fault).__name__}") from fault
    except Neo4jError as fault:
        if not fault.is_retryable() and fault.code != _TOO_LATE:
            raise
        raise RetryLater(f"the graph cannot answer now: {fault.code}") from fault


def _literal(statement: str) -> Any:
    """The driver's types ask for literal texts; ours are constants, put together once from closed sets."""
    return statement
