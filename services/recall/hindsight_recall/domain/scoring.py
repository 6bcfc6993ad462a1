"""How a candidate is scored: calibrated similarity, importance and recency, each a part that can be shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares of the three parts; they sum to 1."""

    similarity: float = 0.4
    importance: float = 0.3
    recency: float = 0.3

    @staticmethod
    def of(similarity: float, importance: float, recency: float) -> Weights:
        """Only the proportions count."""
        total = similarity + importance + recency
        return Weights(similarity / total, importance / total, recency / total)


@dataclass(frozen=True, slots=True)
class Score:
    """The weighted parts, which sum to `total`; `raw_similarity` is before its weight, 0–1."""

    similarity: float
    importance: float
    recency: float
    raw_similarity: float

    @property
    def total(self) -> float:
        return self.similarity + self.importance + self.recency


def recency(moment: datetime, reference: datetime, half_life_days: float) -> float:
    """1.0 at the moment itself and for the future, halved every `half_life_days`."""
    age_days = max(0.0, (reference - moment).total_seconds() / 86_400)
    return float(0.5 ** (age_days / half_life_days))


def similarity(meaning: float | None, words: float | None, *, meaning_share: float) -> float:
    """One similarity, 0–1, of the two channels.

    `meaning` is the calibrated cosine, `words` the share of the question's weight (background idf) that the memory's
    words carry; None = that channel could not be asked, and the other one stands alone.
    """
    if meaning is None:
        return words or 0.0
    if words is None:
        return meaning
    return meaning_share * meaning + (1 - meaning_share) * words


def score(similar: float, importance: float, recent: float, weights: Weights) -> Score:
    return Score(
        similarity=weights.similarity * similar,
        importance=weights.importance * importance,
        recency=weights.recency * recent,
        raw_similarity=similar,
    )
