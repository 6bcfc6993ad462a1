"""Measures of recall by step. No text, no id: the labels are the names of steps and parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight_common.observability import meter


class RecallTelemetry:
    def __init__(self) -> None:
        instruments = meter()
        self._duration = instruments.create_histogram(
            "memory.recall.duration", unit="s", description="Recall, by step"
        )
        self._injections = instruments.create_histogram(
            "memory.inject.duration", unit="s", description="Snapshots for a prompt, by step"
        )
        self._results = instruments.create_histogram(
            "memory.recall.results", unit="{record}", description="Memories in an answer"
        )
        self._degraded = instruments.create_counter(
            "memory.recall.degraded", unit="{request}", description="Answers with a part missing"
        )
        self._mismatches = instruments.create_counter(
            "memory.recall.owner_mismatch",
            unit="{request}",
            description="Rows of another owner stopped before an answer",
        )

    def answered(self, took_ms: Mapping[str, float], degraded: Sequence[str], results: int) -> None:
        for step, took in took_ms.items():
            self._duration.record(took / 1000, {"stage": step})
        for part in degraded:
            self._degraded.add(1, {"store": part})
        self._results.record(results)

    def injected(self, took_ms: Mapping[str, float], degraded: Sequence[str]) -> None:
        for step, took in took_ms.items():
            self._injections.record(took / 1000, {"stage": step})
        for part in degraded:
            self._degraded.add(1, {"store": part})

    def mismatch(self) -> None:
        self._mismatches.add(1)
