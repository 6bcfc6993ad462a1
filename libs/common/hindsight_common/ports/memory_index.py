"""The store of vectors and words that recall searches: a projection of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hindsight_common.errors import HindsightError
from hindsight_common.ids import Owner


class OwnerMismatch(HindsightError):
    """A store answered with, or was about to overwrite, a row of somebody else: an alert, never an answer."""


@dataclass(frozen=True, slots=True, eq=False)
class IndexRow:
    """One memory as the index keeps it. Times in seconds since 1970 (UTC). All text is sealed.

    `sequence` is the log position the row reflects; a row is never overwritten by one with a smaller sequence.
    `vector` is None while the embedding is missing. `words` maps keyed word hashes (unsigned 32 bit) to weights.
    `intervals` are the spans in which a fact held (until None = still holds); an event has one, open span from
    its time.
    """

    memory_id: str
    owner: Owner
    sequence: int
    type: str
    status: str
    predicate: str | None
    role_scope: tuple[str, ...]
    session_keys: tuple[str, ...]
    importance: float
    confidence: float
    occurred_at: float
    recorded_at: float
    last_confirmed_at: float
    intervals: tuple[tuple[float, float | None], ...]
    sealed: bytes
    key_id: str
    vector: NDArray[np.float32] | None
    words: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class IndexFilter:
    """What a search may find; None = any. Everything is ANDed; times in seconds since 1970.

    `occurred_from` is inclusive, `occurred_until` exclusive. `held_at`: some interval contains it.
    """

    ids: tuple[str, ...] | None = None
    statuses: tuple[str, ...] | None = None
    type: str | None = None
    roles: tuple[str, ...] | None = None
    session_key: str | None = None
    predicate: str | None = None
    occurred_from: float | None = None
    occurred_until: float | None = None
    held_at: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """`score` is the cosine for a dense search and the dot product for words; higher is better, always."""

    memory_id: str
    score: float


@dataclass(frozen=True, slots=True)
class IndexPage:
    rows: tuple[IndexRow, ...]
    cursor: str | None = field(default=None)


class MemoryIndex(Protocol):
    """Every method takes an owner where rows of a user are concerned; no search runs without one.

    Searches give ids and scores, best first, equal scores by id; `outline` and `get` bring what is wanted of the
    rows. Raises `RetryLater` when the store cannot answer now.
    """

    async def upsert(self, rows: Sequence[IndexRow]) -> None:
        """Idempotent; visible to the next search."""
        ...

    async def delete(self, owner: Owner, memory_ids: Sequence[str]) -> None: ...

    async def delete_owner(self, owner: Owner) -> int:
        """Removes every row of a user; returns how many there were."""
        ...

    async def search_vector(
        self, owner: Owner, vector: NDArray[np.float32], where: IndexFilter, limit: int
    ) -> list[Hit]: ...

    async def search_words(
        self, owner: Owner, words: Mapping[int, float], where: IndexFilter, limit: int
    ) -> list[Hit]: ...

    async def outline(self, owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
        """As `get`, but bare: all that ranking needs, and no vector, no words, nothing sealed, no key id."""
        ...

    async def get(self, owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
        """Rows of this owner only, whatever ids are asked, in the order asked; with vector and words."""
        ...

    async def list(self, owner: Owner, where: IndexFilter, cursor: str | None, limit: int) -> IndexPage:
        """A page of rows without vector and words, ordered by memory id.

        `cursor` None = from the start, None returned = the end.
        """
        ...

    async def count(self, owner: Owner | None = None) -> int: ...

    async def position(self) -> int:
        """The log sequence up to which everything is durably in the store; 0 for an empty one."""
        ...

    async def commit(self, position: int) -> None:
        """Makes all upserts so far durable, then records `position` after them."""
        ...

    async def close(self) -> None: ...
