"""What each `recall.gate` keeps and turns away, on the pairs that took no part in the calibration.

    python -m benchmarks.calibration.gate

Similarity is recall's own: the calibrated cosine and the share of the question's words, as `recall.meaning_share`
weighs them, for each question with its own memory, with every other memory of the same person, and with its hard
negative. The second table asks what `recall.min_score` leaves of the true pairs that pass the shipped gate, by age
and importance.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.pairs import Mismatch, Pair, hard_negatives, read_pairs, unrelated
from hindsight_common.adapters.embedding_factory import DEFAULT_MODEL, load_embedder
from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.adapters.words import BackgroundWords
from hindsight_common.ports.embedding import Language
from hindsight_common.settings.model import RecallSettings
from hindsight_recall.application.rows import ASKED_WEIGHT
from hindsight_recall.domain.language import language_of
from hindsight_recall.domain.questions import asked_in
from hindsight_recall.domain.scoring import Weights, recency, score, similarity

LANGUAGES: tuple[Language, ...] = ("zh", "en")
GATES = tuple(step / 20 for step in range(2, 13))
# A gate may cost at most so many of the true pairs of all languages. 0.1 would cost 3 in 100 and let a third of the
# user's unrelated memories through, which are returned once they are fresh and important; 0.15 costs 6, 0.2 costs 7.
# They share no word with their answer ("Could we go to a steakhouse together?" – "The user is vegan").
MOST_LOST = 0.07
_WORDS = BackgroundWords()
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Similarities:
    """Fused similarities, 0–1: of true pairs, and of memories that do not answer (the user's, a named person's)."""

    true: NDArray[np.float64]
    unrelated: NDArray[np.float64]
    unrelated_named: NDArray[np.float64]
    hard: NDArray[np.float64]


def word_coverage(query: str, memory: str, predicate: str | None) -> float:
    """Share, 0–1, of the question's weight that the memory's words carry, those one asks for its kind in included."""
    weights = _WORDS.query_weights(query)
    carried = dict.fromkeys(_WORDS.terms(asked_in(predicate)), ASKED_WEIGHT)
    for term, weight in _WORDS.document_weights(memory).items():
        carried[term] = max(weight, carried.get(term, 0.0))
    most = sum(weights.values())
    return (
        min(1.0, sum(carried.get(term, 0.0) * idf for term, idf in weights.items()) / most) if most else 0.0
    )


async def similarities(
    embedder: SideBySideEmbedder[Any], pairs: Sequence[Pair], meaning_share: float
) -> Similarities:
    queries = await embedder.embed_queries([_WORDS.without_names(pair.query) for pair in pairs])

    async def fused(crossed: Iterable[tuple[Mismatch, str | None]]) -> NDArray[np.float64]:
        every = list(crossed)
        texts = list(dict.fromkeys(one.memory for one, _ in every))
        vectors = dict(zip(texts, await embedder.embed_passages(texts), strict=True))
        values = []
        for one, predicate in every:
            query = pairs[one.asked].query
            cosine = float(queries[one.asked] @ vectors[one.memory])
            meaning = embedder.calibrate(cosine, language_of(query))
            words = word_coverage(query, one.memory, predicate)
            values.append(similarity(meaning, words, meaning_share=meaning_share))
        return np.array(values)

    crossed = [(one, pairs[one.beside].predicate) for one in unrelated(pairs)]
    return Similarities(
        true=await fused((Mismatch(at, at, pair.memory), pair.predicate) for at, pair in enumerate(pairs)),
        unrelated=await fused(one for one in crossed if pairs[one[0].asked].who is None),
        unrelated_named=await fused(one for one in crossed if pairs[one[0].asked].who is not None),
        hard=await fused((one, None) for one in hard_negatives(pairs)),
    )


def best_gate(found: Sequence[Similarities]) -> float:
    """The gate with the largest sum of true pairs kept and the user's unrelated memories turned away, languages alike,
    among those that keep enough of the true pairs.
    """
    open_enough = [
        gate for gate in GATES if np.mean([kept(one.true, gate) for one in found]) >= 1 - MOST_LOST
    ]
    return max(
        open_enough or GATES[:1],
        key=lambda gate: sum(kept(one.true, gate) - kept(one.unrelated, gate) for one in found),
    )


def kept(values: NDArray[np.float64], gate: float) -> float:
    return float((values >= gate).mean())


def _print_gates(language: str, one: Similarities) -> None:
    print(
        f"{language}: {len(one.true)} true pairs, {len(one.unrelated)} + {len(one.unrelated_named)} unrelated,"
    )
    print(f"    {len(one.hard)} hard negatives. Of 100: true kept; unrelated turned away (user, named, hard)")
    for gate in GATES:
        away = [1 - kept(values, gate) for values in (one.unrelated, one.unrelated_named, one.hard)]
        print(f"  {gate:.2f}  {100 * kept(one.true, gate):5.1f} ", *(f"{100 * share:6.1f}" for share in away))


def _print_scores(language: str, one: Similarities, settings: RecallSettings) -> None:
    given = settings.weights
    weights = Weights.of(given.similarity, given.importance, given.recency)
    passing = one.true[one.true >= settings.gate]
    print(f"{language}: of 100 true pairs past the gate of {settings.gate}, at least {settings.min_score}")
    for importance in (0.35, 0.6, 0.9):
        shares = []
        for days in (0, 30, 90, 365):
            recent = recency(_NOW - timedelta(days=days), _NOW, settings.recency_half_life_days)
            totals = np.array([score(float(value), importance, recent, weights).total for value in passing])
            shares.append(f"{days} days {100 * kept(totals, settings.min_score):5.1f}")
        print(f"  importance {importance:.2f}:", "  ".join(shares))


async def measure(model: str, cache_dir: Path | None, settings: RecallSettings) -> dict[str, Similarities]:
    embedder = load_embedder(model, cache_dir=cache_dir)
    try:
        return {
            language: await similarities(embedder, read_pairs(language, "held"), settings.meaning_share)
            for language in LANGUAGES
            if language in embedder.sound_languages
        }
    finally:
        embedder.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=DEFAULT_MODEL, help="as in embedding.model_name")
    parser.add_argument("--cache-dir", type=Path, help="where built models are kept")
    options = parser.parse_args()
    settings = RecallSettings()
    found = asyncio.run(measure(options.model, options.cache_dir, settings))
    for language, one in found.items():
        _print_gates(language, one)
    print(f"best gate: {best_gate(list(found.values())):.2f}\n")
    for language, one in found.items():
        _print_scores(language, one, settings)


if __name__ == "__main__":
    main()
