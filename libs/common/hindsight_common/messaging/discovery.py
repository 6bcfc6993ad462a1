"""The discovery side of the NATS service protocol: `$SRV.PING`, `$SRV.INFO` and `$SRV.STATS`."""

from __future__ import annotations

from nats.aio.client import Client
from nats.micro.service import (
    DEFAULT_QUEUE_GROUP,
    EndpointInfo,
    EndpointStats,
    Service,
    ServiceConfig,
    ServiceInfo,
    ServiceStats,
)

from hindsight_common.errors import RequestError


class EndpointFigures:
    """What an endpoint reports of itself; times in nanoseconds, as the protocol has them."""

    def __init__(self, name: str, subject: str) -> None:
        self.name = name
        self.subject = subject
        self.queue_group = DEFAULT_QUEUE_GROUP
        self._requests = 0
        self._errors = 0
        self._last_error = ""
        self._nanoseconds = 0

    def count(self, seconds: float, error: RequestError | None) -> None:
        self._requests += 1
        self._nanoseconds += int(seconds * 1e9)
        if error is not None:
            self._errors += 1
            # the code, not the message: that may quote the request
            self._last_error = f"{error.status}:{error.code}"

    def info(self) -> EndpointInfo:
        return EndpointInfo(name=self.name, subject=self.subject, queue_group=self.queue_group, metadata={})

    def stats(self) -> EndpointStats:
        return EndpointStats(
            name=self.name,
            subject=self.subject,
            queue_group=self.queue_group,
            num_requests=self._requests,
            num_errors=self._errors,
            last_error=self._last_error,
            processing_time=self._nanoseconds,
            average_processing_time=self._nanoseconds // max(self._requests, 1),
        )


class Discovery(Service):
    """nats.micro's control subjects over endpoints that it does not run, with their true figures."""

    def __init__(self, nc: Client, name: str, version: str, description: str) -> None:
        super().__init__(nc, ServiceConfig(name=name, version=version, description=description))
        self.figures: list[EndpointFigures] = []

    def info(self) -> ServiceInfo:
        info = super().info()
        info.endpoints = [figures.info() for figures in self.figures]
        return info

    def stats(self) -> ServiceStats:
        stats = super().stats()
        stats.endpoints = [figures.stats() for figures in self.figures]
        return stats
