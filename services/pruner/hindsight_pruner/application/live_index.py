"""The index that answers now; a rebuild may put another in its place at any time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexFilter, IndexPage, IndexRow


class Rows(Protocol):
    """Of `ports.memory_index.MemoryIndex` what one needs to look whether rows are gone."""

    async def get(self, owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]: ...

    async def list(self, owner: Owner, where: IndexFilter, cursor: str | None, limit: int) -> IndexPage: ...


class LiveIndex(Protocol):
    def now(self) -> Rows: ...
