"""Calls to Redis that nobody's impatience can harm: bounded, never interrupted half way, refused while it is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError
from redis.exceptions import ConnectionError as ConnectionFault
from redis.maint_notifications import MaintNotificationsConfig

from hindsight_common.errors import RetryLater, StopAndFix

# no caller waits longer; an answer normally takes less than a millisecond
PATIENCE_S: Final = 1.0
_SOCKET_TIMEOUT_S: Final = 0.8
_CONNECTIONS: Final = 32
# after this many faults in a row, callers are not kept waiting until the store had a moment
_FAULTS_BEFORE_REST: Final = 3
_REST_S: Final = 1.0

_T = TypeVar("_T")


def connect(url: str) -> Redis:
    """A client for redis://, rediss:// and unix:// addresses; connects at the first call, and again when it must.

    Raises `StopAndFix` for an address that cannot be one.
    """
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=_SOCKET_TIMEOUT_S,
            socket_timeout=_SOCKET_TIMEOUT_S,
            socket_connect_timeout=_SOCKET_TIMEOUT_S,
            # once, for a pooled connection that the server has closed since
            retry=Retry(NoBackoff(), 1, (ConnectionFault,)),
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )
    except ValueError as fault:
        # the address may hold a password, so it is not repeated
        raise StopAndFix("redis_url: is not an address of the form redis://, rediss:// or unix://") from fault
    return Redis.from_pool(pool)


class RedisCalls:
    """Runs each call in a task of its own.

    A caller that is cancelled leaves while its call goes on to its end: a connection goes back with its reply read, so
    that the next caller never gets the reply of the one before.
    """

    def __init__(self) -> None:
        self._running: set[asyncio.Task[object]] = set()
        self._faults = 0
        self._rests_until = 0.0

    async def run(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """What `call` returns. Raises `RetryLater` after a fault, after `PATIENCE_S`, or at once after several."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._rests_until:
            raise RetryLater("Redis is away")
        task = asyncio.ensure_future(_awaited(call))
        self._running.add(task)
        task.add_done_callback(self._ended)
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await asyncio.shield(task)
        except (RedisError, OSError) as fault:
            # TimeoutError is an OSError: Redis answered with a fault, or not in time
            self._faults += 1
            if self._faults >= _FAULTS_BEFORE_REST:
                self._rests_until = loop.time() + _REST_S
            raise RetryLater(f"Redis cannot answer now: {type(fault).__name__}") from fault

    async def check(self, call: Callable[[], Awaitable[_T]]) -> None:
        """As `run`. Raises `StopAndFix` where the server refuses us: that does not pass by waiting."""
        try:
            await self.run(call)
        except RetryLater as fault:
            if isinstance(fault.__cause__, AuthenticationError | NoPermissionError):
                raise StopAndFix(
                    "redis_url: the server refuses the user or the password that stands in it"
                ) from fault
            raise

    async def close(self) -> None:
        """Waits for calls whose callers have left."""
        if self._running:
            await asyncio.wait(self._running)

    def _ended(self, task: asyncio.Task[_T]) -> None:
        self._running.discard(task)
        # asked for, so that the fault of a call whose caller has left is not reported as never retrieved
        if not task.cancelled() and task.exception() is None:
            self._faults = 0


async def _awaited(call: Callable[[], Awaitable[_T]]) -> _T:
    return await call()
