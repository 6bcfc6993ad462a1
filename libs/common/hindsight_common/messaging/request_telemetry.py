"""Spans and metrics of answered requests, by endpoint; nothing of what was asked or by whom."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.trace import SpanKind, Status, StatusCode

from hindsight_common.errors import RequestError
from hindsight_common.messaging.tracing import extract, template_of
from hindsight_common.observability import meter, span

Served = Callable[[RequestError | None], float]


class RequestTelemetry:
    """Histogram `hindsight.request.duration` (s) by endpoint and status (200 or the error's)."""

    def __init__(self, subject: str) -> None:
        self._endpoint = template_of(subject)
        self._duration = meter().create_histogram(
            "hindsight.request.duration", unit="s", description="Time from a request's arrival to its answer"
        )

    @contextmanager
    def serving(self, headers: Mapping[str, str]) -> Iterator[Served]:
        """Spans the block in the asker's trace; call what it yields with the error or None for the seconds taken."""
        started = time.perf_counter()
        with span(
            f"serve {self._endpoint}",
            context=extract(headers),
            kind=SpanKind.SERVER,
            attributes={"messaging.system": "nats", "messaging.destination.template": self._endpoint},
        ) as serving:

            def served(error: RequestError | None) -> float:
                seconds = time.perf_counter() - started
                status = 200 if error is None else error.status
                self._duration.record(seconds, {"endpoint": self._endpoint, "status": status})
                if error is not None:
                    serving.set_attribute("error.type", error.code)
                if status >= 500:
                    serving.set_status(Status(StatusCode.ERROR))
                return seconds

            yield served
