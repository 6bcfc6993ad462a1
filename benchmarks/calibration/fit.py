"""Measures a model's scale of cosines on labelled pairs and writes its calibration.

    python -m benchmarks.calibration.fit multilingual-e5-small --centre
    python -m benchmarks.calibration.fit all-MiniLM-L6-v2

The pairs (see `pairs.py`) of the part "fit" shape the line, those held apart judge it; the figures of that judgement
are written beside the points. `--centre` also measures the mean vector, which is subtracted from every vector before
its length is made 1: multilingual-e5 leaves most of its range unused otherwise. Texts lie closer to the mean they
helped to make than others do, so the cosines that are fitted come from halves moved by the other half's mean.

"Unrelated" is fitted on questions about the user beside the user's other memories. A name that a question and a
memory share lifts a cosine by 0.2 to 0.25 whatever else they say; a line through those pairs as well would put true
pairs without a name below the middle. They are judged apart (`named_*`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration.pairs import (
    HERE,
    Cosines,
    Rows,
    Vectors,
    embed_pairs,
    joined,
    mean_vector,
    read_pairs,
)
from hindsight_common.adapters.calibration_tables import GENERIC_TABLES, LANGUAGES
from hindsight_common.adapters.embedding_factory import load_encoder
from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.domain.calibration import Calibration

SHIPPED = HERE.parents[1] / "libs" / "common" / "hindsight_common" / "data" / "calibration"
# Where quantiles of the fitted part go. The steepest part lies where a cosine says most: between unrelated and true.
UNRELATED_GOALS = ((0.5, 0.03), (0.75, 0.1), (0.95, 0.3))
# Half of the true pairs lie above their median: there, too, the line must rise, or the order among good
# answers is lost.
TRUE_GOALS = ((0.5, 0.79), (0.9, 0.92))
SAME_TEXT_GOALS = ((0.05, 0.97),)
# Below this separation of true pairs from the user's other memories a language is not told apart.
SOUND_FROM = 0.9


def fit_points(cosines: Cosines) -> list[tuple[float, float]]:
    """Points through the quantiles; those that would not rise, in a language the model cannot read, are left out."""
    wanted = [
        (float(np.quantile(values, share)), goal)
        for values, goals in (
            (cosines.unrelated, UNRELATED_GOALS),
            (cosines.true, TRUE_GOALS),
            (cosines.same, SAME_TEXT_GOALS),
        )
        for share, goal in goals
    ]
    points = [(-1.0, 0.0)]
    for cosine, goal in wanted:
        if points[-1][0] + 0.005 < cosine < 0.995:
            points.append((round(cosine, 4), goal))
    points.append((1.0, 1.0))
    assert all(left < right for left, right in pairwise(points))
    return points


def figures(cosines: Cosines, line: Calibration) -> dict[str, float]:
    """Calibrated quantiles."""

    def at(values: Rows, share: float) -> float:
        return round(line(float(np.quantile(values, share))), 3)

    return {
        "pairs": len(cosines.true),
        "separation": round(cosines.separation(), 4),
        "unrelated_median": at(cosines.unrelated, 0.5),
        "unrelated_p95": at(cosines.unrelated, 0.95),
        "unrelated_p99": at(cosines.unrelated, 0.99),
        "named_pairs": len(cosines.true_named),
        "named_separation": round(cosines.named_separation(), 4),
        "named_unrelated_median": at(cosines.unrelated_named, 0.5),
        "named_unrelated_p95": at(cosines.unrelated_named, 0.95),
        "named_true_median": at(cosines.true_named, 0.5),
        "hard_median": at(cosines.hard, 0.5),
        "true_p05": at(cosines.true, 0.05),
        "true_p25": at(cosines.true, 0.25),
        "true_median": at(cosines.true, 0.5),
        "same_p05": at(cosines.same, 0.05),
    }


async def measure(model_name: str, *, centred: bool, cache_dir: Path | None) -> dict[str, Any]:
    embedder = SideBySideEmbedder(load_encoder(model_name, cache_dir=cache_dir), tables=GENERIC_TABLES)
    one_half: dict[str, Vectors] = {}
    other_half: dict[str, Vectors] = {}
    held: dict[str, Vectors] = {}
    for language in LANGUAGES:
        fitted = read_pairs(language, "fit")
        one_half[language] = await embed_pairs(embedder, fitted[::2])
        other_half[language] = await embed_pairs(embedder, fitted[1::2])
        held[language] = await embed_pairs(embedder, read_pairs(language, "held"))
    embedder.close()

    def centre(*halves: dict[str, Vectors]) -> Rows:
        mean = mean_vector(vectors for half in halves for vectors in half.values())
        return mean if centred else np.zeros_like(mean)

    languages: dict[str, Any] = {}
    whole = centre(one_half, other_half)
    for language in LANGUAGES:
        crossed = [
            one_half[language].cosines(centre(other_half)),
            other_half[language].cosines(centre(one_half)),
        ]
        fitting = joined(crossed)
        points = fit_points(fitting)
        languages[language] = {
            "points": points,
            "sound": fitting.separation() >= SOUND_FROM,
            "held": figures(held[language].cosines(whole), Calibration(points)),
        }
    result: dict[str, Any] = {"model": model_name, "languages": languages}
    if centred:
        result["centre"] = [round(float(value), 4) for value in whole]
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
        line = Calibration(found["points"])
        print("  curve:", "  ".join(f"{at / 20:.2f}→{line(at / 20):.2f}" for at in range(-2, 21)))
        print("  held apart:", found["held"])


if __name__ == "__main__":
    main()
