"""How often working memory had to be done without. No text, no id."""

from __future__ import annotations

from hindsight_common.observability import meter


class SpokenTelemetry:
    def __init__(self) -> None:
        self._missed = meter().create_counter(
            "memory.working.missed",
            unit="{turn}",
            description="Turns that working memory could not take or drop",
        )

    def missed(self, operation: str) -> None:
        self._missed.add(1, {"operation": operation})
