"""What a service says about itself so that it can be run as a process of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from hindsight_common.core import Core
from hindsight_common.messaging.connection import Bus
from hindsight_common.settings import Settings
from hindsight_common.worker import Worker


@dataclass(frozen=True, slots=True)
class Store:
    """A server that a worker uses beside the bus.

    `answers` returns while it can be used, raises `RetryLater` while it cannot, and `StopAndFix` if it never will.
    Without `awaited` the worker begins while it is away, and does without what it would have given.
    """

    name: str
    answers: Callable[[], Awaitable[object]]
    close: Callable[[], Awaitable[object]]
    awaited: bool = True


@dataclass(frozen=True, slots=True)
class Ground:
    """What the process gives a worker; `core` is None for one that works without the master secret."""

    settings: Settings
    bus: Bus
    core: Core | None = None

    @property
    def whole(self) -> Core:
        assert self.core is not None, "this worker is declared to work without the master secret"
        return self.core


class Parts(Protocol):
    """What one worker is made of; made without asking a server. `build` is called again after a start that failed."""

    @property
    def stores(self) -> Sequence[Store]: ...

    async def prepare(self) -> None:
        """What takes time and needs no server, such as loading a model. Raises `StopAndFix`."""
        ...

    def build(self) -> Worker: ...


@dataclass(frozen=True, slots=True)
class Flag:
    """An option of the command line that overrides one setting by a whole number."""

    option: str
    setting: str
    english: str
    chinese: str


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """`reads` are patterns of the settings it reads beside those that all read; `needs` must be given.

    `alone`: a second process of this worker in one deployment stands by until the first is gone.
    """

    name: str
    english: str
    chinese: str
    open: Callable[[Ground], Parts]
    reads: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    redact: Callable[[bytes], bytes] | None = None
    has_secret: bool = True
    alone: bool = False

    @property
    def command(self) -> str:
        return f"hindsight-{self.name}"
