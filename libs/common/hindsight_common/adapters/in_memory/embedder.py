"""An embedder without a model: hashed words and character pairs. For tests; it knows no synonyms."""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from hindsight_common.domain.calibration import Calibration
from hindsight_common.ports.embedding import Language

_WORDS = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+|[^\s\w]|\w", re.IGNORECASE)
_CALIBRATION = Calibration([(-1.0, 0.0), (0.2, 0.05), (0.5, 0.7), (0.999, 0.99), (1.0, 1.0)])


class HashingEmbedder:
    """Texts that share words (Chinese: characters and pairs of them) are alike, others nearly orthogonal.

    The same text gives the same vector in every process. Queries and passages are treated alike.
    """

    model_id = "hashing/1"

    def __init__(self, dimension: int = 256) -> None:
        self.dimension = dimension

    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for at, text in enumerate(texts):
            rows[at] = self._vector(text)
            await asyncio.sleep(0)  # long texts take milliseconds
        return rows

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await self.embed_queries(texts)

    def calibrate(self, cosine: float, language: Language) -> float:  # noqa: ARG002 - one scale fits both
        return _CALIBRATION(cosine)

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.dimension, np.float32)
        for feature in _features(text):
            code = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
            vector[(code >> 1) % self.dimension] += 1.0 if code & 1 else -1.0
        length = float(np.linalg.norm(vector))
        if length == 0.0:  # empty, or all features cancel
            vector[0] = length = 1.0
        return vector / np.float32(length)


def _features(text: str) -> Iterator[str]:
    for word in _WORDS.findall(text.lower()):
        if "\u3400" <= word[0] <= "\u9fff":
            yield from word
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word
