"""The check at start that a model and its calibration belong together."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hindsight_common.errors import StopAndFix
from hindsight_common.ports.embedding import Embedder, Language

_RELATED_AT_LEAST = 0.55
_UNRELATED_AT_MOST = 0.35

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Pair:
    language: Language
    query: str
    related: str
    unrelated: str


_PAIRS = (
    _Pair("zh", "用户对什么食物过敏？", "用户对花生过敏", "周五的火车改到了晚上八点"),
    _Pair(
        "en",
        "What food is the user allergic to?",
        "The user is allergic to peanuts",
        "The train on Friday was moved",
    ),
)


async def check_known_pairs(embedder: Embedder, sound: frozenset[Language]) -> None:
    """Embeds one related and one unrelated pair in Chinese and English.

    Raises `StopAndFix` when a vector has the wrong size or length, or when, in a language of `sound`, a calibrated
    similarity is not what it was when the table was made: a wrong prefix, pooling or table shows here and not in
    the answers of a running system. Other languages are only warned about.
    """
    for pair in _PAIRS:
        query, related, unrelated = await _vectors(embedder, pair)
        high = embedder.calibrate(float(query @ related), pair.language)
        low = embedder.calibrate(float(query @ unrelated), pair.language)
        if pair.language in sound:
            _require(embedder.model_id, pair.language, high, low)
        elif high <= low or high < _RELATED_AT_LEAST:
            _log.warning(
                "the embedding model %s is weak in %s: expect poor matches", embedder.model_id, pair.language
            )


async def _vectors(embedder: Embedder, pair: _Pair) -> list[NDArray[np.float32]]:
    vectors = [
        *await embedder.embed_queries([pair.query]),
        *await embedder.embed_passages([pair.related, pair.unrelated]),
    ]
    for vector in vectors:
        length = float(vector @ vector) ** 0.5
        if vector.shape != (embedder.dimension,) or not abs(length - 1.0) < 1e-3:
            raise StopAndFix(
                f"embedding.model_name: {embedder.model_id} gives vectors of shape {vector.shape} and length "
                f"{length:.3f}, not unit vectors of {embedder.dimension}"
            )
    return vectors


def _require(model_id: str, language: Language, high: float, low: float) -> None:
    if high < _RELATED_AT_LEAST or low > _UNRELATED_AT_MOST:
        raise StopAndFix(
            f"embedding.model_name: {model_id} is not what its calibration was measured on ({language}: related "
            f"{high:.2f}, at least {_RELATED_AT_LEAST}; unrelated {low:.2f}, at most {_UNRELATED_AT_MOST}); check "
            "prefixes, pooling and the model's files"
        )
