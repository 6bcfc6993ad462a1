"""An event loop in a thread of its own, for callers that have none."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from hindsight_client.errors import ClientClosed, StopAndFix

Result = TypeVar("Result")


class LoopThread:
    """`run` may be called from any thread but its own. After `close` neither thread nor loop is left."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._made_in = os.getpid()
        self._lock = threading.Lock()
        self._is_closed = False
        self._running: set[concurrent.futures.Future[Any]] = set()
        # a daemon: a program that forgot to close must still be able to end
        self._thread = threading.Thread(target=self._loop.run_forever, name="hindsight-client", daemon=True)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of `work`, waited for. Raises `ClientClosed` after `close`, also when that came in between."""
        try:
            future = self._begin(work)
        except BaseException:
            work.close()  # it will never be awaited, and that is said already
            raise
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise ClientClosed from None
        except BaseException:
            future.cancel()  # an interrupted caller wants the call to end as well
            raise
        finally:
            self._running.discard(future)

    def _begin(self, work: Coroutine[Any, Any, Result]) -> concurrent.futures.Future[Result]:
        if os.getpid() != self._made_in:
            raise StopAndFix("a client does not outlive a fork; connect in each process, after the fork")
        if threading.current_thread() is self._thread:
            raise StopAndFix("the sync client was called from its own event loop; use HindsightClient there")
        with self._lock:
            if self._is_closed:
                raise ClientClosed
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._running.add(future)
            return future

    def close(self, last: Coroutine[Any, Any, None] | None = None) -> None:
        """Ends what is running, does `last`, and ends the loop and the thread. A second call does nothing."""
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        if was_closed or os.getpid() != self._made_in:
            if last is not None:
                last.close()
            return
        for future in tuple(self._running):
            future.cancel()
        try:
            asyncio.run_coroutine_threadsafe(self._wind_up(last), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _wind_up(self, last: Coroutine[Any, Any, None] | None) -> None:
        if last is not None:
            await last
        remaining = asyncio.all_tasks() - {asyncio.current_task()}
        for task in remaining:
            task.cancel()
        await asyncio.gather(*remaining, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()
