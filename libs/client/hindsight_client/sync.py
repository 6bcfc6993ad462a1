"""The client for programs without an event loop: the same methods, each of which waits for its result.

They are made from those of `HindsightClient`, so that the two cannot drift apart.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar, cast

from hindsight_client.client import HindsightClient
from hindsight_client.loop_thread import LoopThread

Given = ParamSpec("Given")
Result = TypeVar("Result")
_END: Final = object()


async def _next(steps: AsyncIterator[Result]) -> object:
    return await anext(steps, _END)


async def _end(steps: Any) -> None:
    await steps.aclose()


def _plain(call: Callable[Given, Result]) -> Callable[Given, Result]:
    """`wraps` points to the coroutine function, by which tools would take this for one."""
    signature = inspect.signature(call)
    del call.__wrapped__  # type: ignore[attr-defined]  # set by wraps
    call.__signature__ = signature  # type: ignore[attr-defined]  # read by inspect
    return call


def _waited(
    method: Callable[Concatenate[HindsightClient, Given], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[SyncHindsightClient, Given], Result]:
    @wraps(method)
    def call(self: SyncHindsightClient, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        return self._thread.run(method(self._client, *args, **kwargs))

    return _plain(call)


def _stepwise(
    method: Callable[Concatenate[HindsightClient, Given], AsyncIterator[Result]],
) -> Callable[Concatenate[SyncHindsightClient, Given], Iterator[Result]]:
    @wraps(method)
    def call(self: SyncHindsightClient, /, *args: Given.args, **kwargs: Given.kwargs) -> Iterator[Result]:
        steps = method(self._client, *args, **kwargs)
        try:
            while (step := self._thread.run(_next(steps))) is not _END:
                yield cast("Result", step)
        finally:
            if not self._thread.is_closed and inspect.isasyncgen(steps):
                self._thread.run(_end(steps))

    return _plain(call)


def _connected(
    connect: Callable[Given, Coroutine[Any, Any, HindsightClient]],
) -> staticmethod[Given, SyncHindsightClient]:
    @wraps(connect)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> SyncHindsightClient:
        thread = LoopThread()
        try:
            return SyncHindsightClient(thread.run(connect(*args, **kwargs)), thread)
        except BaseException:
            thread.close()
            raise

    return staticmethod(_plain(call))


class SyncHindsightClient:
    """One connection for one tenant, made by `connect`; safe to share between threads, not between processes.

    Everything is as with `HindsightClient`, whose methods these are. Close it, or use it in a `with` block.
    """

    connect = _connected(HindsightClient.connect)

    def __init__(self, client: HindsightClient, thread: LoopThread) -> None:
        self._client = client
        self._thread = thread

    @property
    def tenant(self) -> str:
        return self._client.tenant

    write = _waited(HindsightClient.write)
    publish_turn = _waited(HindsightClient.publish_turn)
    close_session = _waited(HindsightClient.close_session)
    turn = _waited(HindsightClient.turn)
    recall = _waited(HindsightClient.recall)
    inject = _waited(HindsightClient.inject)
    get = _waited(HindsightClient.get)
    decide = _waited(HindsightClient.decide)
    list = _waited(HindsightClient.list)
    list_all = _stepwise(HindsightClient.list_all)
    forget = _waited(HindsightClient.forget)
    rebuild = _stepwise(HindsightClient.rebuild)
    consolidate = _stepwise(HindsightClient.consolidate)
    status = _waited(HindsightClient.status)
    extraction = _waited(HindsightClient.extraction)
    pruning_plan = _waited(HindsightClient.pruning_plan)
    services = _waited(HindsightClient.services)

    def close(self) -> None:
        """Calls that are running in other threads end with `ClientClosed`, and so does every later one."""
        self._thread.close(self._client.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        thread = getattr(self, "_thread", None)
        if thread is not None and not thread.is_closed:
            warnings.warn(f"unclosed {type(self).__name__}", ResourceWarning, source=self, stacklevel=2)
