"""The index that answers now; a rebuild may put another in its place at any time."""

from __future__ import annotations

from typing import Protocol

from hindsight_common.ports.memory_index import MemoryIndex


class LiveIndex(Protocol):
    def now(self) -> MemoryIndex: ...
