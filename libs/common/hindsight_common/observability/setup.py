"""Starts traces, metrics and logs for a process. Nothing leaves it unless an OTLP endpoint is set."""

from __future__ import annotations

import importlib
import os
from typing import Any, Final

from opentelemetry import metrics, trace
from opentelemetry.metrics import Meter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer

from hindsight_common.errors import StopAndFix
from hindsight_common.observability.logs import configure_logs

_SCOPE: Final = "hindsight"
_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"

# what `setup` made, and nobody else's: a program that imports this may have providers of its own
_made: Final[list[TracerProvider | MeterProvider]] = []


def tracer() -> Tracer:
    return trace.get_tracer(_SCOPE)


def meter() -> Meter:
    return metrics.get_meter(_SCOPE)


def setup(service_name: str, *, level: str = "INFO") -> None:
    """Call once, first thing in a process. Logs go to stderr as JSON lines; spans have ids even when not exported.

    `level` is a name of the logging module. StopAndFix: an endpoint is set, but the OTLP exporter is missing.
    """
    configure_logs(service_name, level=level)
    resource = Resource.create({"service.name": service_name})
    tracers = TracerProvider(resource=resource)
    readers: list[MetricReader] = []
    if _is_set(_ENDPOINT, f"{_ENDPOINT[:-9]}_TRACES_ENDPOINT"):
        tracers.add_span_processor(BatchSpanProcessor(_exporter("trace_exporter", "OTLPSpanExporter")))
    if _is_set(_ENDPOINT, f"{_ENDPOINT[:-9]}_METRICS_ENDPOINT"):
        readers.append(PeriodicExportingMetricReader(_exporter("metric_exporter", "OTLPMetricExporter")))
    trace.set_tracer_provider(tracers)
    meters = MeterProvider(metric_readers=readers, resource=resource)
    metrics.set_meter_provider(meters)
    _made.extend((tracers, meters))


def shutdown() -> None:
    """Sends what is still queued; harmless without `setup`."""
    while _made:
        _made.pop().shutdown()


def _is_set(*names: str) -> bool:
    return any(os.environ.get(name) for name in names)


def _exporter(module: str, name: str) -> Any:
    """An optional extra: most deployments export nothing, and the exporter pulls in a good deal."""
    try:
        return getattr(importlib.import_module(f"opentelemetry.exporter.otlp.proto.http.{module}"), name)()
    except ImportError as error:
        raise StopAndFix(
            "an OTLP endpoint is set, but the exporter is not installed; "
            "install opentelemetry-exporter-otlp-proto-http or unset the endpoint"
        ) from error
