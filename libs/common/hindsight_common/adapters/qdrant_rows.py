"""How an index row looks as a point of Qdrant, in process or on a server."""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hindsight_common.adapters.qdrant_conditions import (
    ONE_SPAN,
    OPEN,
    OWNER,
    SEVERAL_SPANS,
    has_gaps,
    microseconds,
)
from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import Hit, IndexRow, OwnerMismatch

DENSE = "dense"
WORDS = "words"
SEQUENCE = "sequence"
BATCH = 50
"""Points sent in one call. In process each takes about 0.2 ms that nothing else can use, the event loop included."""
TIES_AHEAD = 8
"""Hits asked for beyond the limit, so that equal scores at the limit are ordered by id and not by chance."""


_MEMORY_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

IndexKind = Literal["tenant", "keyword", "float"]
# what ranking needs of a row
OUTLINE = (OWNER, SEQUENCE, "type", "status", "predicate", "role_scope", "session_keys", "numbers")

PAYLOAD_INDEXES: Mapping[str, IndexKind] = {
    OWNER: "tenant",
    "status": "keyword",
    "type": "keyword",
    "predicate": "keyword",
    "role_scope": "keyword",
    "session_keys": "keyword",
    "occurred_at": "float",
    "held_from": "float",
    "held_until": "float",
    "held": "keyword",
}


def payload(row: IndexRow) -> dict[str, Any]:
    """The row without vector, words and id, as JSON values.

    What is read back comes from `numbers`: JSON as Qdrant stores it may change the last bit of a float.
    """
    held = [(start, OPEN if end is None else end) for start, end in row.intervals]
    held = [(start, end) for start, end in held if start < end]
    stored: dict[str, Any] = {
        OWNER: str(row.owner),
        SEQUENCE: row.sequence,
        "type": row.type,
        "status": row.status,
        "role_scope": _one_or_several(row.role_scope),
        "session_keys": _one_or_several(row.session_keys),
        "occurred_at": row.occurred_at,
        "numbers": _base64(_packed_numbers(row)),
        "sealed": _base64(row.sealed),
        "key_id": row.key_id,
    }
    if row.predicate is not None:
        stored["predicate"] = row.predicate
    if held:
        stored["held_from"] = min(start for start, _ in held)
        stored["held_until"] = max(end for _, end in held)
        stored["held"] = SEVERAL_SPANS if has_gaps(held) else ONE_SPAN
    if stored.get("held") == SEVERAL_SPANS:
        stored["intervals"] = [
            {"from": microseconds(start), "until": microseconds(end)} for start, end in held
        ]
    return stored


def _one_or_several(names: tuple[str, ...]) -> str | list[str]:
    """A filter treats a value like a list of one; handing a list to the engine costs as much as four values."""
    return names[0] if len(names) == 1 else list(names)


def _several(stored: str | list[str]) -> tuple[str, ...]:
    return (stored,) if isinstance(stored, str) else tuple(stored)


def _packed_numbers(row: IndexRow) -> bytes:
    numbers = [row.importance, row.confidence, row.occurred_at, row.recorded_at, row.last_confirmed_at]
    for start, end in row.intervals:
        numbers += (start, math.inf if end is None else end)
    return struct.pack(f"<{len(numbers)}d", *numbers)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def row_of(
    owner: Owner,
    point_id: object,
    stored: Mapping[str, Any],
    vector: NDArray[np.float32] | None = None,
    words: Mapping[int, float] | None = None,
) -> IndexRow:
    """The row of a point. Raises `OwnerMismatch` for a row that is not this owner's."""
    if stored[OWNER] != str(owner):
        raise OwnerMismatch(f"the index answered {owner} with a row of {stored[OWNER]}")
    packed = base64.b64decode(stored["numbers"])
    importance, confidence, occurred_at, recorded_at, confirmed_at, *ends = struct.unpack(
        f"<{len(packed) // 8}d", packed
    )
    return IndexRow(
        memory_id=str(point_id),
        owner=owner,
        sequence=stored[SEQUENCE],
        type=stored["type"],
        status=stored["status"],
        predicate=stored.get("predicate"),
        role_scope=_several(stored["role_scope"]),
        session_keys=_several(stored["session_keys"]),
        importance=importance,
        confidence=confidence,
        occurred_at=occurred_at,
        recorded_at=recorded_at,
        last_confirmed_at=confirmed_at,
        intervals=tuple(
            (start, None if end == math.inf else end)
            for start, end in zip(ends[::2], ends[1::2], strict=True)
        ),
        sealed=base64.b64decode(stored.get("sealed", "")),
        key_id=stored.get("key_id", ""),
        vector=vector,
        words=words or {},
    )


def newest(rows: Iterable[IndexRow]) -> list[IndexRow]:
    """Of rows with one id the one of the greatest sequence, the last said among equals."""
    kept: dict[str, IndexRow] = {}
    for row in rows:
        before = kept.get(row.memory_id)
        if before is None or before.sequence <= row.sequence:
            kept[row.memory_id] = row
    return list(kept.values())


def not_older(rows: Iterable[IndexRow], known: Mapping[str, Mapping[str, Any]]) -> list[IndexRow]:
    """The rows that may be written over `known` (id → owner and sequence as stored).

    Raises `OwnerMismatch` when a row would take the place of somebody else's.
    """
    kept = []
    for row in rows:
        stored = known.get(row.memory_id)
        if stored is not None and stored[OWNER] != str(row.owner):
            raise OwnerMismatch(f"{row.owner} would overwrite a row of {stored[OWNER]}")
        if stored is None or stored[SEQUENCE] <= row.sequence:
            kept.append(row)
    return kept


def ranked(hits: list[Hit], limit: int, asked: int) -> list[Hit] | None:
    """The best `limit`, best first, equal scores by id; None when more must be asked for to tell.

    `asked` is how many hits the store was asked for; they come best first.
    """
    if len(hits) == asked and hits[limit - 1].score == hits[-1].score:
        return None
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory_id))[:limit]


def is_memory_id(text: str) -> bool:
    """Whether this is an id as the store writes it (a UUID in lower case with hyphens)."""
    return _MEMORY_ID.fullmatch(text) is not None


def checked_cursor(cursor: str | None) -> str | None:
    if cursor is not None and not is_memory_id(cursor):
        raise RequestError("invalid_cursor", "the cursor is not one that a page returned", field="cursor")
    return cursor


def checked_rows(rows: Iterable[IndexRow], dimension: int) -> list[IndexRow]:
    """The rows with vectors of length 1 and words in order.

    Raises `ValueError` for an id or a weight that no store could keep, `StopAndFix` for a vector of another
    dimension.
    """
    return [_checked(row, dimension) for row in rows]


def _checked(row: IndexRow, dimension: int) -> IndexRow:
    if not is_memory_id(row.memory_id):
        raise ValueError("a memory id is a UUID in lower case with hyphens")
    vector = None if row.vector is None else unit_vector(row.vector, dimension)
    return replace(row, vector=vector, words=checked_words(row.words))


def checked_words(words: Mapping[int, float]) -> dict[int, float]:
    """The words in order. Raises `ValueError` for an index beyond 32 bit or a weight that is not finite."""
    ordered = dict(sorted(words.items()))
    if ordered:
        indexes = list(ordered)
        if indexes[0] < 0 or indexes[-1] >= 2**32 or not all(map(math.isfinite, ordered.values())):
            raise ValueError("words map unsigned 32 bit hashes to finite weights")
    return ordered


def unit_vector(vector: NDArray[np.float32], dimension: int) -> NDArray[np.float32]:
    """The vector with length 1; a zero vector stays one.

    Raises `StopAndFix` for another dimension and `ValueError` for numbers that are not finite.
    """
    if vector.shape != (dimension,):
        raise StopAndFix(
            f"the index holds vectors of {dimension} numbers and got one of shape {vector.shape}: "
            "embedding.model_name is not the model this index was made with"
        )
    length = math.sqrt(float(np.dot(vector, vector)))
    if not math.isfinite(length):
        raise ValueError("a vector has finite numbers")
    return (vector / length if length else vector).astype(np.float32, copy=False)
