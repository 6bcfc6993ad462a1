"""The gateway worker, put together: HTTP in front of the bus."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from nats.aio.client import Client

from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.requester import request
from hindsight_common.messaging.roll_call import running_services
from hindsight_common.worker import BEHIND_THE_BUS
from hindsight_gateway.application.forwarding import Forward
from hindsight_gateway.application.health import WatchHealth
from hindsight_gateway.connections import Limits
from hindsight_gateway.consumers import application
from hindsight_gateway.listening import HttpListener


class _BusRequests:
    def __init__(self, nc: Client) -> None:
        self._nc = nc

    async def ask(self, subject: str, body: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        return await request(self._nc, subject, body, timeout_s=timeout_s)


class _BusWorkers:
    def __init__(self, nc: Client) -> None:
        self._nc = nc

    async def running(self) -> frozenset[str]:
        services = await running_services(self._nc, until=frozenset(BEHIND_THE_BUS))
        return frozenset(service.name for service in services)


class GatewayWorker:
    """`url` is where it listens, with the port it got once started."""

    name = "gateway"

    def __init__(self, bus: Bus, host: str, port: int, timeout_s: float, limits: Limits) -> None:
        requests = _BusRequests(bus.nc)
        health = WatchHealth(_BusWorkers(bus.nc), requests, time.monotonic)
        app = application(Forward(requests, timeout_s), health, most_in_hand=limits.requests)
        self._listener = HttpListener(app, host, port, limits)

    @property
    def url(self) -> str:
        return self._listener.url

    async def start(self) -> None:
        await self._listener.start()

    async def stop(self) -> None:
        await self._listener.stop()


def build(
    bus: Bus,
    host: str = "127.0.0.1",
    port: int = 8787,
    *,
    timeout_s: float = 10.0,
    limits: Limits | None = None,
) -> GatewayWorker:
    """It needs the bus only: no key, no store. Port 0 takes a free one; `timeout_s` is for a worker's answer."""
    return GatewayWorker(bus, host, port, timeout_s, limits or Limits())
