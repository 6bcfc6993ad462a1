"""Hears what workers measure, as a collector does: OTLP over HTTP on the loopback interface."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest


class Measurements:
    """`with Measurements() as heard:` listens; workers started with `heard.settings` send several times a second."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, str], dict[str, float]] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/v1/metrics":
                    outer._note(body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
                """Nothing: the tests say what they see."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def settings(self) -> dict[str, str]:
        host, port = self._server.server_address[:2]
        return {
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"http://{host!s}:{port}/v1/metrics",
            "OTEL_METRIC_EXPORT_INTERVAL": "250",
        }

    def latest(self, metric: str, label: str) -> dict[str, float]:
        """Last value of a gauge or sum by a label's values; empty until it was heard."""
        return dict(self._latest.get((metric, label), {}))

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _note(self, body: bytes) -> None:
        request = ExportMetricsServiceRequest.FromString(body)
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in [*metric.gauge.data_points, *metric.sum.data_points]:
                        value = point.as_double if point.HasField("as_double") else float(point.as_int)
                        for each in point.attributes:
                            labelled = self._latest.setdefault((metric.name, each.key), {})
                            labelled[each.value.string_value] = value
