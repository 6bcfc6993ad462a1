"""Measures of extraction. No text, no id: the labels are names of causes, models and extractors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hindsight_common.observability import meter

# seconds; a model answers within them or not at all
_BUCKETS_S: Final = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
_STATES: Final = ("ok", "away", "paused")


class ExtractionTelemetry:
    def __init__(self) -> None:
        instruments = meter()
        self._calls = instruments.create_counter(
            "memory.llm.calls", unit="{call}", description="Requests to the LLM, by what came of them"
        )
        self._latency = instruments.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="Time to the LLM's reply",
            explicit_bucket_boundaries_advisory=list(_BUCKETS_S),
        )
        self._tokens = instruments.create_counter(
            "memory.llm.tokens", unit="{token}", description="Tokens, by direction"
        )
        self._failed = instruments.create_counter(
            "extraction_failed", unit="{attempt}", description="Readings of a turn that failed, by cause"
        )
        self._extracted = instruments.create_counter(
            "memories_extracted", unit="{memory}", description="Items of final readings, by extractor"
        )
        self._cut = instruments.create_counter(
            "memory.llm.cut_replies", unit="{reply}", description="Replies that the token budget ended"
        )
        self._dropped = instruments.create_counter(
            "memory.extraction.dropped", unit="{item}", description="Items of replies not taken, by reason"
        )
        self._state = instruments.create_gauge(
            "memory.llm.state", description="1 for the state that the LLM is in: ok, away, paused"
        )

    def answered(self, model: str, seconds: float, *, input_tokens: int, output_tokens: int) -> None:
        self._called(model, seconds, "answered")
        for direction, count in (("input", input_tokens), ("output", output_tokens)):
            self._tokens.add(count, {"gen_ai.request.model": model, "gen_ai.token.type": direction})

    def unanswered(self, model: str, seconds: float, cause: str) -> None:
        self._called(model, seconds, cause)

    def _called(self, model: str, seconds: float, result: str) -> None:
        labels = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
        self._calls.add(1, {"gen_ai.request.model": model, "result": result})
        self._latency.record(seconds, labels if result == "answered" else labels | {"error.type": result})

    def failed(self, cause: str) -> None:
        self._failed.add(1, {"cause": cause})

    def extracted(self, extractor: str, items: int) -> None:
        self._extracted.add(items, {"extractor": extractor})

    def cut(self) -> None:
        self._cut.add(1)

    def dropped(self, reasons: Mapping[str, int]) -> None:
        for reason, count in reasons.items():
            self._dropped.add(count, {"reason": reason})

    def state(self, state: str) -> None:
        for one in _STATES:
            self._state.set(int(one == state), {"state": one})
