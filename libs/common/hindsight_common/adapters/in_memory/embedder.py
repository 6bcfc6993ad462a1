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

_WORDS = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+|[^\s\w]|\w")
# What every question and memory shares says nothing.
_COMMON_EN = frozenset(
    re.findall(
        "[a-z]+",
        "a an the is are was were be do does did has have had of to in on at for with and or not it its this that what "
        "which who whom whose where when why how i you he she we they user s",
    )
)
_COMMON_ZH = re.compile("用户|什么|哪里|哪个|怎么|为什么|多少|[的了吗呢是在和有]")
# English words are cut here, so that "drinks" meets "drink".
_STEM_LENGTH = 5
_PAIR_WEIGHT = 0.5
_CALIBRATION = Calibration([(-1.0, 0.0), (0.1, 0.05), (0.35, 0.65), (0.6, 0.85), (0.999, 0.99), (1.0, 1.0)])


class HashingEmbedder:
    """Texts that share words (Chinese: characters and pairs of them) are alike, others nearly orthogonal.

    The same text gives the same vector in every process. Queries and passages are treated alike.
    """

    model_id = "hashing/1"

    def __init__(self, dimension: int = 512) -> None:
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
        for feature, weight in _features(text):
            code = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
            vector[(code >> 1) % self.dimension] += weight if code & 1 else -weight
        length = float(np.linalg.norm(vector))
        if length == 0.0:  # empty, or all features cancel
            vector[0] = length = 1.0
        return vector / np.float32(length)


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _WORDS.findall(_COMMON_ZH.sub(" ", text.lower())):
        if "\u3400" <= word[0] <= "\u9fff":
            yield from ((character, 1.0) for character in word)
            yield from ((word[at : at + 2], _PAIR_WEIGHT) for at in range(len(word) - 1))
        elif word not in _COMMON_EN:
            yield word[:_STEM_LENGTH], 1.0
