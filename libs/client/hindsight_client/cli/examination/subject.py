"""What is examined."""

from __future__ import annotations

from dataclasses import dataclass, field

from nats.aio.client import Client
from nats.js import JetStreamContext

from hindsight_common.clock import Clock, SystemClock


@dataclass(frozen=True, slots=True)
class Subject:
    """`wait_s` is how long workers have for an answer. `http_url` None = the gateway is somewhere unknown."""

    nc: Client
    wait_s: float
    http_url: str | None = None
    clock: Clock = field(default_factory=SystemClock)

    @property
    def js(self) -> JetStreamContext:
        return self.nc.jetstream()
