"""A memory and its row in the index: searchable numbers in clear, everything that people read sealed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from hindsight_common.domain.memory import Memory
from hindsight_common.domain.predicates import declared
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.keys import Keyring
from hindsight_common.ports.memory_index import IndexRow
from hindsight_common.ports.words import WordAnalyzer
from hindsight_common.sealing import SealingKey
from hindsight_recall.domain.questions import asked_in

_MEMORY: Final = TypeAdapter(Memory)

# as much as a word that stands once in a memory of usual length: what a fact is about need not be named in it
ASKED_WEIGHT: Final = 1.0


def hashed(ids: IdFactory, owner: Owner, weights: Mapping[str, float]) -> dict[int, float]:
    """Words → keyed hashes, salted by owner; of two words that share a hash the heavier one stays."""
    indexed: dict[int, float] = {}
    for word, weight in weights.items():
        place = ids.word_index(owner, word)
        indexed[place] = max(weight, indexed.get(place, 0.0))
    return indexed


class RowMaker:
    """Makes rows of memories and reads memories back from rows."""

    def __init__(self, ids: IdFactory, keyring: Keyring, words: WordAnalyzer) -> None:
        self._ids = ids
        self._keyring = keyring
        self._words = words

    async def key(self, owner: Owner) -> SealingKey:
        return await self._keyring.current(owner)

    def row(
        self,
        owner: Owner,
        memory: Memory,
        *,
        sequence: int,
        session_keys: tuple[str, ...],
        key: SealingKey,
        vector: NDArray[np.float32] | None,
    ) -> IndexRow:
        sealed = key.seal(_MEMORY.dump_json(memory), _context(owner, memory.memory_id))
        return IndexRow(
            memory_id=memory.memory_id,
            owner=owner,
            sequence=sequence,
            type=memory.type,
            status=memory.status,
            # an undeclared predicate is somebody's words; only declared ones stand in clear
            predicate=memory.predicate if memory.predicate in declared() else None,
            role_scope=memory.role_scope,
            session_keys=session_keys,
            importance=memory.importance,
            confidence=memory.confidence,
            occurred_at=memory.occurred_at.timestamp(),
            recorded_at=memory.recorded_at.timestamp(),
            last_confirmed_at=memory.last_confirmed_at.timestamp(),
            intervals=tuple((a.timestamp(), b.timestamp() if b else None) for a, b in memory.intervals),
            sealed=sealed,
            key_id=key.key_id,
            vector=vector,
            words=hashed(self._ids, owner, self._word_weights(memory)),
        )

    def _word_weights(self, memory: Memory) -> dict[str, float]:
        """A fact is found by its own words, and as well by those in which one asks for its kind."""
        weights = dict.fromkeys(self._words.terms(asked_in(memory.predicate)), ASKED_WEIGHT)
        for term, weight in self._words.document_weights(memory.search_text).items():
            weights[term] = max(weight, weights.get(term, 0.0))
        return weights

    async def memory(self, row: IndexRow) -> Memory:
        """Opens a row. Raises `KeyDestroyed` if its user was forgotten since."""
        key = await self._keyring.find(row.owner, row.key_id)
        opened = key.unseal(row.sealed, _context(row.owner, row.memory_id))
        return _MEMORY.validate_json(opened)


def _context(owner: Owner, memory_id: str) -> bytes:
    return f"row/{owner}/{memory_id}".encode()
