"""Measures a model's scale of cosines on labelled pairs and writes its calibration.

    python -m benchmarks.calibration.fit multilingual-e5-small --centre
    python -m benchmarks.calibration.fit all-MiniLM-L6-v2

`pairs_<language>.jsonl` holds questions with the memory that answers each and, for half of them, a memory on the
same topic that does not. Every second pair fits the line, the others check it; the figures of the check are written
beside the points. `--centre` also measures the mean vector, which is subtracted from every vector before its length
is made 1: multilingual-e5 leaves most of its range unused otherwise. Texts lie closer to the mean they helped to
make than others do, so the cosines that are fitted come from quarters moved by the other quarter's mean.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight_common.adapters.calibration_tables import GENERIC_TABLES, LANGUAGES
from hindsight_common.adapters.embedding_factory import load_encoder
from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.domain.calibration import Calibration

HERE = Path(__file__).resolve().parent
SHIPPED = HERE.parents[1] / "libs" / "common" / "hindsight_common" / "data" / "calibration"
FITTED_HALF, HELD_HALF = slice(0, None, 2), slice(1, None, 2)
FIRST_QUARTER, SECOND_QUARTER = slice(0, None, 4), slice(2, None, 4)
# Where quantiles of the fitting half go. The steepest part lies where a cosine says most: between unrelated and true.
UNRELATED_GOALS = ((0.5, 0.02), (0.75, 0.09), (0.95, 0.27))
TRUE_GOALS = ((0.25, 0.62), (0.5, 0.8))
SAME_TEXT_GOAL = 0.97
# Below this separation a language is not told apart.
SOUND_FROM = 0.95


@dataclass(frozen=True, slots=True)
class Cosines:
    """Of some pairs of one language. `same` compares each memory as a query with itself as a passage."""

    true: NDArray[np.float32]
    unrelated: NDArray[np.float32]
    hard: NDArray[np.float32]
    same: NDArray[np.float32]

    def separation(self) -> float:
        """Chance that a true pair's cosine exceeds an unrelated one's."""
        return float(np.mean([(self.unrelated < cosine).mean() for cosine in self.true]))


@dataclass(frozen=True, slots=True)
class Vectors:
    """Of all pairs of one language; `hard` rows belong to the pairs in `hard_of`."""

    queries: NDArray[np.float32]
    memories: NDArray[np.float32]
    memories_as_queries: NDArray[np.float32]
    hard: NDArray[np.float32]
    hard_of: NDArray[np.intp]

    def cosines(self, taken: slice, centre: NDArray[np.float32]) -> Cosines:
        """Of the pairs of a slice, each question also against all other memories of the slice."""
        queries, memories = _centred(self.queries[taken], centre), _centred(self.memories[taken], centre)
        every = queries @ memories.T
        mine = np.isin(self.hard_of, np.arange(len(self.queries))[taken])
        asked = _centred(self.queries[self.hard_of[mine]], centre)
        again = _centred(self.memories_as_queries[taken], centre)
        return Cosines(
            true=np.diag(every),
            unrelated=every[~np.eye(len(every), dtype=bool)],
            hard=np.sum(asked * _centred(self.hard[mine], centre), axis=1),
            same=np.sum(again * memories, axis=1),
        )


def _centred(vectors: NDArray[np.float32], centre: NDArray[np.float32]) -> NDArray[np.float32]:
    moved = vectors - centre
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), np.float32)


def _joined(parts: list[Cosines]) -> Cosines:
    columns = [[getattr(part, field.name) for part in parts] for field in fields(Cosines)]
    return Cosines(*map(np.concatenate, columns))


def mean_vector(every: Iterable[Vectors], taken: slice) -> NDArray[np.float32]:
    """Questions and memories, and the languages, weigh the same."""
    means = [rows[taken].mean(axis=0) for one in every for rows in (one.queries, one.memories)]
    return np.asarray(np.mean(means, axis=0).round(4), np.float32)


async def embed_pairs(embedder: SideBySideEmbedder[Any], language: str) -> Vectors:
    lines = (HERE / f"pairs_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    memories = [pair["memory"] for pair in pairs]
    hard = [(at, pair["hard_negative"]) for at, pair in enumerate(pairs) if "hard_negative" in pair]
    return Vectors(
        queries=await embedder.embed_queries([pair["query"] for pair in pairs]),
        memories=await embedder.embed_passages(memories),
        memories_as_queries=await embedder.embed_queries(memories),
        hard=await embedder.embed_passages([text for _, text in hard]),
        hard_of=np.array([at for at, _ in hard]),
    )


def fit_points(cosines: Cosines) -> list[tuple[float, float]]:
    """Points through the quantiles; those that would not rise, in a language the model cannot read, are left out."""
    wanted = [(float(np.quantile(cosines.unrelated, share)), goal) for share, goal in UNRELATED_GOALS]
    wanted += [(float(np.quantile(cosines.true, share)), goal) for share, goal in TRUE_GOALS]
    wanted += [(float(np.median(cosines.same)), SAME_TEXT_GOAL)]
    points = [(-1.0, 0.0)]
    for cosine, goal in wanted:
        if points[-1][0] + 0.005 < cosine < 0.995:
            points.append((round(cosine, 4), goal))
    points.append((1.0, 1.0))
    assert all(left < right for left, right in pairwise(points))
    return points


def figures(cosines: Cosines, line: Calibration) -> dict[str, float]:
    """Calibrated quantiles."""

    def at(values: NDArray[np.float32], share: float) -> float:
        return round(line(float(np.quantile(values, share))), 3)

    return {
        "pairs": len(cosines.true),
        "separation": round(cosines.separation(), 4),
        "unrelated_median": at(cosines.unrelated, 0.5),
        "unrelated_p95": at(cosines.unrelated, 0.95),
        "unrelated_p99": at(cosines.unrelated, 0.99),
        "hard_median": at(cosines.hard, 0.5),
        "true_p05": at(cosines.true, 0.05),
        "true_median": at(cosines.true, 0.5),
    }


async def measure(model_name: str, *, centred: bool, cache_dir: Path | None) -> dict[str, Any]:
    embedder = SideBySideEmbedder(load_encoder(model_name, cache_dir=cache_dir), tables=GENERIC_TABLES)
    vectors = {language: await embed_pairs(embedder, language) for language in LANGUAGES}
    embedder.close()

    def centre(taken: slice) -> NDArray[np.float32]:
        mean = mean_vector(vectors.values(), taken)
        return mean if centred else np.zeros_like(mean)

    languages: dict[str, Any] = {}
    for language, one in vectors.items():
        crossed = [
            one.cosines(FIRST_QUARTER, centre(SECOND_QUARTER)),
            one.cosines(SECOND_QUARTER, centre(FIRST_QUARTER)),
        ]
        fitting, checking = _joined(crossed), one.cosines(HELD_HALF, centre(FITTED_HALF))
        points = fit_points(fitting)
        sound = fitting.separation() >= SOUND_FROM
        languages[language] = {
            "points": points,
            "sound": sound,
            "held": figures(checking, Calibration(points)),
        }
    result: dict[str, Any] = {"model": model_name, "languages": languages}
    if centred:
        result["centre"] = [round(float(value), 4) for value in centre(FITTED_HALF)]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="as in embedding.model_name")
    parser.add_argument("--centre", action="store_true", help="measure and subtract the mean vector")
    parser.add_argument("--cache-dir", type=Path, help="where built models are kept")
    parser.add_argument("--out", type=Path, help="default: the shipped file of the model")
    options = parser.parse_args()
    result = asyncio.run(measure(options.model, centred=options.centre, cache_dir=options.cache_dir))
    out = options.out or SHIPPED / f"{Path(options.model).name}.json"
    out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for language, found in result["languages"].items():
        print(language, "sound" if found["sound"] else "not sound", found["points"])
        print("  held half:", found["held"])


if __name__ == "__main__":
    main()
