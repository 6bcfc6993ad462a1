"""What any test may ask for: a real NATS server of its own, and a connection to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.errors import RetryLater
from hindsight_common.messaging.connection import Bus, connect
from hindsight_common.messaging.provisioning import provision


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[NatsServer]:
    """One server a test, about 40 ms: an empty store is the only isolation that needs no cleaning up."""
    server = NatsServer(tmp_path / "nats")
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def bare_bus(nats_server: NatsServer) -> AsyncIterator[Bus]:
    """A connection to a server on which nothing was created yet."""
    bus = await connect(nats_server.url, name="test")
    yield bus
    await bus.close()


@pytest.fixture
async def bus(bare_bus: Bus) -> Bus:
    """A connection to a server with every declared stream and consumer."""
    for attempt in range(5):
        try:
            assert await provision(bare_bus.js) == []
            break
        except RetryLater:
            # a disk so busy that the server did not answer in time; a worker tries again as well
            if attempt == 4:
                raise
    return bare_bus


@pytest.fixture(scope="session", autouse=True)
def _telemetry() -> tuple[InMemorySpanExporter, InMemoryMetricReader]:
    """OpenTelemetry takes its providers once for a process and for good: these, before a test starts a program."""
    spans, metrics_reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(tracers)
    metrics.set_meter_provider(MeterProvider(metric_readers=[metrics_reader]))
    return spans, metrics_reader


@pytest.fixture
def spans(_telemetry: tuple[InMemorySpanExporter, InMemoryMetricReader]) -> InMemorySpanExporter:
    """Every span that ends during the test."""
    _telemetry[0].clear()
    return _telemetry[0]


@pytest.fixture
def metric_points(
    _telemetry: tuple[InMemorySpanExporter, InMemoryMetricReader],
) -> Callable[[str], list[tuple[dict[str, object], float]]]:
    """A function: metric name → its points so far as (attributes, sum or count)."""

    def points(name: str) -> list[tuple[dict[str, object], float]]:
        data = _telemetry[1].get_metrics_data()
        found = [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]
        return [
            (
                dict(p.attributes or {}),
                p.count if isinstance(p, HistogramDataPoint) else getattr(p, "value", 0),
            )
            for p in found
        ]

    return points
