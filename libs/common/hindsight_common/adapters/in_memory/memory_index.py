"""A memory index in a dictionary, exact and without durability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import Hit, IndexFilter, IndexPage, IndexRow, OwnerMismatch


class InMemoryIndex:
    def __init__(self, *, dimension: int) -> None:
        self._dimension = dimension
        self._rows: dict[str, IndexRow] = {}
        self._position = 0

    async def upsert(self, rows: Sequence[IndexRow]) -> None:
        vectors = [None if row.vector is None else self._unit(row.vector) for row in rows]
        for row in rows:
            _check_words(row.words)
        for row, vector in zip(rows, vectors, strict=True):
            before = self._rows.get(row.memory_id)
            if before is not None and before.owner != row.owner:
                raise OwnerMismatch(f"{row.owner} would overwrite a row of {before.owner}")
            if before is None or before.sequence <= row.sequence:
                self._rows[row.memory_id] = replace(row, vector=vector, words=dict(row.words))

    async def delete(self, owner: Owner, memory_ids: Sequence[str]) -> None:
        for memory_id in memory_ids:
            row = self._rows.get(memory_id)
            if row is not None and row.owner == owner:
                del self._rows[memory_id]

    async def delete_owner(self, owner: Owner) -> int:
        doomed = [row.memory_id for row in self._rows.values() if row.owner == owner]
        await self.delete(owner, doomed)
        return len(doomed)

    async def search_vector(
        self, owner: Owner, vector: NDArray[np.float32], where: IndexFilter, limit: int
    ) -> list[Hit]:
        unit = self._unit(vector)
        return _best(
            [
                Hit(row.memory_id, float(row.vector @ unit))
                for row in self._chosen(owner, where)
                if row.vector is not None
            ],
            limit,
        )

    async def search_words(
        self, owner: Owner, words: Mapping[int, float], where: IndexFilter, limit: int
    ) -> list[Hit]:
        _check_words(words)
        return _best(
            [
                Hit(row.memory_id, sum(words[each] * row.words[each] for each in shared))
                for row in self._chosen(owner, where)
                if (shared := words.keys() & row.words.keys())
            ],
            limit,
        )

    async def outline(self, owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
        return [_bare(row) for row in await self.get(owner, memory_ids)]

    async def get(self, owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
        rows = (self._rows.get(memory_id) for memory_id in dict.fromkeys(memory_ids))
        return [row for row in rows if row is not None and row.owner == owner]

    async def list(self, owner: Owner, where: IndexFilter, cursor: str | None, limit: int) -> IndexPage:
        if cursor is not None and len(cursor) != 36:
            raise RequestError("invalid_cursor", "the cursor is not one that a page returned", field="cursor")
        rows = sorted(self._chosen(owner, where), key=lambda row: row.memory_id)
        rows = [
            replace(row, vector=None, words={}) for row in rows if cursor is None or row.memory_id >= cursor
        ]
        following = rows[limit].memory_id if 0 < limit < len(rows) else None
        return IndexPage(tuple(rows[: max(limit, 0)]), following)

    async def count(self, owner: Owner | None = None) -> int:
        return sum(owner is None or row.owner == owner for row in self._rows.values())

    async def position(self) -> int:
        return self._position

    async def commit(self, position: int) -> None:
        self._position = max(position, self._position)

    async def close(self) -> None:
        """Keeps what there is, as a store on disk would."""

    def _chosen(self, owner: Owner, where: IndexFilter) -> Sequence[IndexRow]:
        return [row for row in self._rows.values() if row.owner == owner and matches(row, where)]

    def _unit(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        if vector.shape != (self._dimension,):
            raise StopAndFix(f"the index holds vectors of {self._dimension} numbers, not {vector.shape}")
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length):
            raise ValueError("a vector has finite numbers")
        return (vector / length if length else vector).astype(np.float32)


def matches(row: IndexRow, where: IndexFilter) -> bool:
    """What `IndexFilter` says, spelled out: the reference for every store that filters by itself."""
    return (
        (where.ids is None or row.memory_id in where.ids)
        and (where.statuses is None or row.status in where.statuses)
        and (where.type is None or row.type == where.type)
        and (where.roles is None or bool(set(where.roles) & set(row.role_scope)))
        and (where.session_key is None or where.session_key in row.session_keys)
        and (where.predicate is None or row.predicate == where.predicate)
        and (where.occurred_from is None or row.occurred_at >= where.occurred_from)
        and (where.occurred_until is None or row.occurred_at < where.occurred_until)
        and (where.held_at is None or _held(row, where.held_at))
    )


def _check_words(words: Mapping[int, float]) -> None:
    if not all(0 <= index < 2**32 and np.isfinite(weight) for index, weight in words.items()):
        raise ValueError("words map unsigned 32 bit hashes to finite weights")


def _held(row: IndexRow, instant: float) -> bool:
    return any(start <= instant and (end is None or instant < end) for start, end in row.intervals)


def _bare(row: IndexRow) -> IndexRow:
    return replace(row, vector=None, words={}, sealed=b"", key_id="")


def _best(hits: list[Hit], limit: int) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory_id))[: max(limit, 0)]
