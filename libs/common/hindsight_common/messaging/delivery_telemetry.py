"""Spans and metrics of the delivery boundary. No subject, id or body in them: names come from templates."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind

from hindsight_common.events.streams import ConsumerSpec
from hindsight_common.messaging.settlement import Delivery, Verdict
from hindsight_common.messaging.tracing import extract, template_of
from hindsight_common.observability import mark_failed, meter, span, tracer

# seconds; the buckets that OpenTelemetry's messaging conventions advise
_BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)

Handled = Callable[[Delivery, Verdict], None]


class DeliveryTelemetry:
    """Of one consumer. Counter `hindsight.deliveries` and histogram `messaging.process.duration` (s), both by
    stream, consumer and outcome: processed, retried, buried, stopped."""

    def __init__(self, spec: ConsumerSpec) -> None:
        self._spec = spec
        self._deliveries = meter().create_counter(
            "hindsight.deliveries", unit="{message}", description="Deliveries by what became of them"
        )
        self._duration = meter().create_histogram(
            "messaging.process.duration",
            unit="s",
            description="Time from handing over to the verdict",
            explicit_bucket_boundaries_advisory=list(_BUCKETS_S),
        )

    @contextmanager
    def handling(self, deliveries: Sequence[Delivery]) -> Iterator[Handled]:
        """Spans the block; call what it yields with each delivery's verdict.

        One delivery continues its publisher's trace. Several share a span of their own, and each also gets one in
        its publisher's trace, linked to it.
        """
        started_s, started_ns = time.perf_counter(), time.time_ns()
        single = len(deliveries) == 1
        parent = extract(deliveries[0].headers) if single else Context()
        with span(
            f"process {template_of(deliveries[0].subject)}",
            context=parent,
            kind=SpanKind.CONSUMER,
            attributes=self._attributes(deliveries[0], len(deliveries)),
        ) as batch:

            def handled(delivery: Delivery, verdict: Verdict) -> None:
                self._count(verdict, time.perf_counter() - started_s)
                if single:
                    _mark(batch, verdict)
                else:
                    self._record(delivery, verdict, batch, started_ns)

            yield handled

    def _record(self, delivery: Delivery, verdict: Verdict, batch: Span, started_ns: int) -> None:
        if "traceparent" not in delivery.headers:
            return
        own = tracer().start_span(
            f"process {template_of(delivery.subject)}",
            context=extract(delivery.headers),
            kind=SpanKind.CONSUMER,
            attributes=self._attributes(delivery, 1),
            links=[Link(batch.get_span_context())],
            start_time=started_ns,
        )
        _mark(own, verdict)
        own.end()

    def _attributes(self, delivery: Delivery, count: int) -> dict[str, str | int]:
        return {
            "messaging.system": "nats",
            "messaging.operation.name": "process",
            "messaging.operation.type": "process",
            "messaging.destination.template": template_of(delivery.subject),
            "messaging.consumer.group.name": self._spec.durable,
            "messaging.batch.message_count": count,
        }

    def _count(self, verdict: Verdict, seconds: float) -> None:
        labels = {
            "stream": self._spec.stream,
            "consumer": self._spec.durable,
            "outcome": verdict.outcome,
        }
        self._deliveries.add(1, labels)
        self._duration.record(seconds, labels)


def _mark(handled: Span, verdict: Verdict) -> None:
    handled.set_attribute("hindsight.outcome", verdict.outcome)
    if verdict.cause is not None:
        mark_failed(handled, verdict.cause)
