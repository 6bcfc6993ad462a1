"""Where indexes live: the live one, and another that is being built beside it."""

from __future__ import annotations

from typing import Protocol

from hindsight_common.ports.memory_index import MemoryIndex


class IndexHome(Protocol):
    async def open_live(self) -> MemoryIndex:
        """The index that answers; an empty one on the first start.

        Raises `StopAndFix` if it cannot be used, `RetryLater` while its server is away.
        """
        ...

    async def create_beside(self) -> MemoryIndex:
        """A new, empty index; whatever an interrupted build left behind is removed first."""
        ...

    async def switch(self, built: MemoryIndex, live: MemoryIndex) -> None:
        """From now on, also after a crash, `built` is the live one; the old one is closed and removed.

        Where it raises, `live` is still the live one.
        """
        ...

    async def discard(self, built: MemoryIndex) -> None:
        """Gives up an index made by `create_beside`."""
        ...
