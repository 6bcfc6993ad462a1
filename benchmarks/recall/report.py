"""The result as a table and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from benchmarks.recall.locomo import CATEGORIES, Counted
from benchmarks.recall.metrics import DEPTHS, Bootstrap, Estimate, summarise

Scores = Sequence[Mapping[str, float]]
BASELINE: Final = "dense"


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds as one client saw them."""

    p50: float
    p95: float
    count: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Latency:
        p50, p95 = np.percentile(np.asarray(seconds) * 1000, (50, 95))
        return cls(float(p50), float(p95), len(seconds))


@dataclass(frozen=True, slots=True)
class Run:
    """Everything one run found. `systems` holds a score for each question, in one order for all systems."""

    language: str
    model_id: str
    conversations: int
    turns: int
    counted: Counted
    clusters: Sequence[str]
    categories: Sequence[int]
    outcomes: Counter[str]
    systems: Mapping[str, Scores]
    latency: Mapping[str, Latency]
    degraded: int
    fewer_than_ten: int


def as_json(run: Run) -> dict[str, Any]:
    bootstrap = Bootstrap(run.clusters)
    return {
        "language": run.language,
        "model": run.model_id,
        "conversations": run.conversations,
        "turns": run.turns,
        "questions": {**asdict(run.counted), "scored": run.counted.scored},
        "outcomes": dict(sorted(run.outcomes.items())),
        "systems": {
            name: {metric: asdict(estimate) for metric, estimate in summarise(scores, bootstrap).items()}
            for name, scores in run.systems.items()
        },
        "recall@5_against_dense": {
            name: asdict(_ratio(run, scores, bootstrap))
            for name, scores in run.systems.items()
            if name != BASELINE
        },
        "recall@5_by_category": {name: _by_category(run, scores) for name, scores in run.systems.items()},
        "latency_ms": {name: asdict(latency) for name, latency in run.latency.items()},
        "degraded_answers": run.degraded,
        "answers_with_fewer_than_ten_turns": run.fewer_than_ten,
    }


def as_text(run: Run) -> str:
    bootstrap = Bootstrap(run.clusters)
    width = max(len(name) for name in run.systems)
    lines = [
        f"{run.conversations} conversations ({run.language}), {run.turns} turns; {run.counted.asked} questions, "
        f"{run.counted.scored} scored ({run.counted.adversarial} adversarial and {run.counted.without_evidence} "
        "without existing evidence left out)",
        f"outcomes of the turns: {_listed(run.outcomes)}; embedder {run.model_id}",
        "",
        f"{'':{width}}  " + "".join(f"{f'recall@{k}':>20}" for k in DEPTHS) + f"{'MRR':>20}{'hit@5':>20}",
    ]
    for name, scores in run.systems.items():
        estimates = summarise(scores, bootstrap)
        shown = [*(f"recall@{k}" for k in DEPTHS), "mrr", "hit@5"]
        lines.append(f"{name:{width}}  " + "".join(f"{_percent(estimates[metric]):>20}" for metric in shown))
    lines += ["", *_comparisons(run, bootstrap), "", *_categories(run, width), ""]
    lines += [
        f"latency, one client, {name}: P50 {latency.p50:.1f} ms, P95 {latency.p95:.1f} ms over {latency.count} queries"
        for name, latency in run.latency.items()
    ]
    if run.degraded or run.fewer_than_ten:
        lines.append(
            f"answers that were degraded: {run.degraded}; with fewer than ten turns: {run.fewer_than_ten}"
        )
    lines += [
        "",
        "In percent, with 95 % bootstrap intervals over questions. Scored are the first k distinct source turns in "
        "rank order.",
        f"Baselines rank the {run.turns} raw turns, one document each, within their conversation.",
    ]
    return "\n".join(lines)


def _comparisons(run: Run, bootstrap: Bootstrap) -> list[str]:
    lines = []
    for name, scores in run.systems.items():
        if name != BASELINE:
            ratio = _ratio(run, scores, bootstrap)
            lines.append(
                f"recall@5 of {name} is {ratio.mean:.2f} times that of {BASELINE} [{ratio.low:.2f}, {ratio.high:.2f}]; "
                f"conversations drawn anew [{ratio.clustered_low:.2f}, {ratio.clustered_high:.2f}]"
            )
    return lines


def _categories(run: Run, width: int) -> list[str]:
    present = [number for number in CATEGORIES if number in run.categories]
    counts = Counter(run.categories)
    header = "".join(f"{f'{CATEGORIES[number]} ({counts[number]})':>20}" for number in present)
    lines = [f"{'recall@5':{width}}  {header}"]
    for name, scores in run.systems.items():
        by_category = _by_category(run, scores)
        values = "".join(f"{100 * by_category[CATEGORIES[number]]:>20.1f}" for number in present)
        lines.append(f"{name:{width}}  {values}")
    return lines


def _by_category(run: Run, scores: Scores) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for category, score in zip(run.categories, scores, strict=True):
        values.setdefault(CATEGORIES[category], []).append(score["recall@5"])
    return {name: sum(found) / len(found) for name, found in values.items()}


def _ratio(run: Run, scores: Scores, bootstrap: Bootstrap) -> Estimate:
    return bootstrap.ratio(
        [score["recall@5"] for score in scores], [score["recall@5"] for score in run.systems[BASELINE]]
    )


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.mean:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
