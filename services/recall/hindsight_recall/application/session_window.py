"""A session's last utterances, and how much each has to do with what is asked now."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from hindsight_common.ids import Owner
from hindsight_common.ports.embedding import Embedder
from hindsight_common.ports.words import WordAnalyzer
from hindsight_common.ports.working_memory import Utterance, WorkingMemory
from hindsight_recall.domain.language import language_of

# one window of any model: what an utterance is about stands in its beginning, and a long one would take a second
_LOOKED_AT: Final = 400
_REMEMBERED: Final = 4096


class _Vectors:
    """The vectors of what each user said lately, by keyed hashes: no text stays in memory for it.

    Users share nothing here, or the time of an answer would tell one whether another said the same.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._held: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    def get(self, owner: Owner, text: str) -> NDArray[np.float32] | None:
        mark = self._mark(owner, text)
        if mark in self._held:
            self._held.move_to_end(mark)
        return self._held.get(mark)

    def put(self, owner: Owner, text: str, vector: NDArray[np.float32]) -> None:
        self._held[self._mark(owner, text)] = vector
        if len(self._held) > _REMEMBERED:
            self._held.popitem(last=False)

    def _mark(self, owner: Owner, text: str) -> bytes:
        said = f"{owner}\n{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(said, key=self._key, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """`size` is how many of the last utterances are looked at."""

    working: WorkingMemory
    embedder: Embedder
    words: WordAnalyzer
    size: int
    vectors: _Vectors = field(default_factory=_Vectors)

    async def read(self, owner: Owner, session_key: str) -> tuple[Utterance, ...]:
        """Oldest first. Raises `RetryLater` while the store is away, and `OwnerMismatch`."""
        return await self.working.latest(owner, session_key, self.size)

    async def embedded(self, query: str) -> NDArray[np.float32]:
        """The query's vector, as recall makes it. Raises `RetryLater` while the model cannot answer."""
        vectors = await self.embedder.embed_queries([self.words.without_names(query)])
        return cast("NDArray[np.float32]", vectors[0])

    async def similarities(self, owner: Owner, query: str, utterances: Sequence[Utterance]) -> list[float]:
        """Calibrated, 0–1, in the order given. Raises `RetryLater` while the model cannot answer."""
        if not utterances:
            return []
        asked = await self.embedded(query)
        vectors = await self._embedded(owner, [utterance.text[:_LOOKED_AT] for utterance in utterances])
        language = language_of(query)
        return [self.embedder.calibrate(float(asked @ vector), language) for vector in vectors]

    async def _embedded(self, owner: Owner, texts: list[str]) -> list[NDArray[np.float32]]:
        """Each utterance is embedded once for as long as its session goes on: every call meets most of them again."""
        known = {text: vector for text in texts if (vector := self.vectors.get(owner, text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            for text, vector in zip(missing, await self.embedder.embed_passages(missing), strict=True):
                known[text] = vector
                self.vectors.put(owner, text, vector)
        return [known[text] for text in texts]
