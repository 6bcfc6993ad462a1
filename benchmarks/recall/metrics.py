"""What a ranking is worth, and how sure one can be of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

DEPTHS: Final = (1, 3, 5, 10)
METRICS: Final = (
    *(f"recall@{k}" for k in DEPTHS),
    *(f"hit@{k}" for k in DEPTHS),
    "mrr",
)

Values = NDArray[np.float64]


def distinct(turn_ids: Iterable[str]) -> list[str]:
    """Each turn once, at the rank where it first appears."""
    return list(dict.fromkeys(turn_ids))


def score(ranked: Sequence[str], evidence: Sequence[str]) -> dict[str, float]:
    """Every metric of one question over distinct turns in rank order, all in 0–1.

    recall@k is the share of the evidence among the first k, hit@k whether any of it is there, mrr the reciprocal
    rank of the first piece of evidence (0 if it was not returned).
    """
    wanted = set(evidence)
    values: dict[str, float] = {}
    for k in DEPTHS:
        found = len(wanted & set(ranked[:k]))
        values[f"recall@{k}"] = found / len(wanted)
        values[f"hit@{k}"] = float(found > 0)
    first = next((rank for rank, turn_id in enumerate(ranked, start=1) if turn_id in wanted), None)
    values["mrr"] = 1 / first if first else 0.0
    return values


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % intervals: questions drawn anew, and whole conversations drawn anew.

    Questions about one conversation resemble each other, so the second interval is the honest one where there
    are many conversations, and coarse where there are few.
    """

    mean: float
    low: float
    high: float
    clustered_low: float
    clustered_high: float


class Bootstrap:
    """Draws the same questions for every system, so that systems can be compared draw by draw.

    `clusters` names the conversation of each question. The seed is fixed: a run can be repeated exactly.
    """

    def __init__(self, clusters: Sequence[str], *, draws: int = 2000, seed: int = 20_240_229) -> None:
        random = np.random.default_rng(seed)
        size = len(clusters)
        uniform = np.full(size, 1 / size)
        self._by_question = random.multinomial(size, uniform, draws).astype(np.float64)
        names, index = np.unique(np.asarray(clusters), return_inverse=True)
        drawn = random.multinomial(len(names), np.full(len(names), 1 / len(names)), draws)
        self._by_cluster = drawn[:, index].astype(np.float64)

    def mean(self, values: Sequence[float]) -> Estimate:
        """The mean over questions, one value for each in the order of `clusters`."""
        array = np.asarray(values, dtype=np.float64)
        return Estimate(
            float(array.mean()),
            *_interval(_weighted(self._by_question, array)),
            *_interval(_weighted(self._by_cluster, array)),
        )

    def ratio(self, values: Sequence[float], against: Sequence[float]) -> Estimate:
        """Mean over mean, paired: both are taken from the same draw. `against` must not be all zero."""
        over, under = np.asarray(values, dtype=np.float64), np.asarray(against, dtype=np.float64)
        return Estimate(
            float(over.mean() / under.mean()),
            *_interval(_quotient(self._by_question, over, under)),
            *_interval(_quotient(self._by_cluster, over, under)),
        )


def _weighted(counts: Values, values: Values) -> Values:
    weighted: Values = counts @ values / counts.sum(axis=1)
    return weighted


def _quotient(counts: Values, over: Values, under: Values) -> Values:
    quotient: Values = (counts @ over) / np.maximum(counts @ under, 1e-12)
    return quotient


def _interval(draws: Values) -> tuple[float, float]:
    low, high = np.percentile(draws, (2.5, 97.5))
    return float(low), float(high)


def summarise(scores: Sequence[Mapping[str, float]], bootstrap: Bootstrap) -> dict[str, Estimate]:
    return {metric: bootstrap.mean([score[metric] for score in scores]) for metric in METRICS}
