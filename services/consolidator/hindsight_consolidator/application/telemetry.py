"""Measures of the graphs that are written. No text, no id: the labels are kinds of faults."""

from __future__ import annotations

from collections.abc import Mapping

from hindsight_common.observability import meter


class GraphTelemetry:
    def __init__(self) -> None:
        instruments = meter()
        self._nodes = instruments.create_histogram(
            "memory.graph.nodes", unit="{node}", description="Nodes of a user's graph as it is written"
        )
        self._oversized = instruments.create_counter(
            "memory.graph.oversized", unit="{write}", description="Graphs written above the configured size"
        )
        self._faults = instruments.create_counter(
            "memory.graph.faults", unit="{fault}", description="What the checks before a write found, by kind"
        )

    def written(self, nodes: int, *, oversized: bool, faults: Mapping[str, int]) -> None:
        self._nodes.record(nodes)
        if oversized:
            self._oversized.add(1)
        for kind, count in faults.items():
            self._faults.add(count, {"kind": kind})
