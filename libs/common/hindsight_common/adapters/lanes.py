"""Runs blocking jobs beside the event loop on a fixed number of threads; urgent ones overtake the rest."""

from __future__ import annotations

import asyncio
import heapq
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Any, TypeVar

from hindsight_common.errors import RetryLater

Result = TypeVar("Result")


class _Job:
    """A call and the future its caller waits for."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self.future: Future[Any] = Future()

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self._call()
        except BaseException as fault:  # noqa: BLE001 - whatever it is belongs to the one who waits
            self.future.set_exception(fault)
        else:
            self.future.set_result(result)


class Lanes:
    """A query waits for the jobs that run, at most one for each thread, never for a queue of passages.

    `prepare` runs once in each thread before its first job.
    """

    def __init__(self, threads: int, prepare: Callable[[], None] | None = None) -> None:
        self._executor = ThreadPoolExecutor(threads, "embedding", prepare)
        self._waiting: list[tuple[bool, int, _Job]] = []
        self._lock = threading.Lock()
        self._arrivals = count()
        self._closed = False
        self.threads = threads

    async def run(self, jobs: Iterable[Callable[[], Result]], *, urgent: bool) -> list[Result]:
        """Results in the order of the jobs. The first error is raised and the jobs not yet begun are dropped,
        as they are when the caller is cancelled. Raises `RetryLater` after `close`.
        """
        futures = [self._enter(job, urgent) for job in jobs]
        try:
            return list(await asyncio.gather(*map(asyncio.wrap_future, futures)))
        finally:
            for future in futures:
                future.cancel()

    def close(self) -> None:
        """Waits for the running jobs and drops the others: their callers get `RetryLater`."""
        with self._lock:
            self._closed = True
            dropped, self._waiting = self._waiting, []
        for _, _, job in dropped:
            if job.future.set_running_or_notify_cancel():
                job.future.set_exception(_closing())
        self._executor.shutdown(wait=True)

    def _enter(self, call: Callable[[], Result], urgent: bool) -> Future[Result]:
        job = _Job(call)
        with self._lock:
            if self._closed:
                raise _closing()
            heapq.heappush(self._waiting, (not urgent, next(self._arrivals), job))
            self._executor.submit(self._run_most_urgent)
        return job.future

    def _run_most_urgent(self) -> None:
        with self._lock:
            if not self._waiting:  # closed meanwhile
                return
            _, _, job = heapq.heappop(self._waiting)
        job.run()


def _closing() -> RetryLater:
    return RetryLater("the embedding model is shutting down")
