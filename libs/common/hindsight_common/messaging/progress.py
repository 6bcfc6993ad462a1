"""The projections' progress, read from their durable consumers: what is acknowledged has been applied."""

from __future__ import annotations

import asyncio
from typing import Final

from hindsight_common.errors import RetryLater
from hindsight_common.events.streams import CONSUMERS, GRAPH_CONSUMER, VECTORS_CONSUMER
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.faults import server_faults

_CONSUMERS: Final = {"vectors": VECTORS_CONSUMER, "graph": GRAPH_CONSUMER}
_FIRST_WAIT_S = 0.005
_LONGEST_WAIT_S = 0.5


class NatsProjections:
    """Implements `ports.progress.Projections`."""

    def __init__(self, bus: Bus, *, patience_s: float = 10.0) -> None:
        self._bus = bus
        self._patience_s = patience_s

    async def await_position(self, projection: str, position: int) -> None:
        spec, wait_s = _CONSUMERS[projection], _FIRST_WAIT_S
        try:
            async with asyncio.timeout(self._patience_s):
                while await self._floor(spec.stream, spec.durable) < position:
                    await asyncio.sleep(wait_s)
                    wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
        except TimeoutError as late:
            raise RetryLater(f"the {projection} have not applied a tombstone yet") from late

    async def _floor(self, stream: str, durable: str) -> int:
        with server_faults(f"asking how far {durable} is"):
            info = await self._bus.js.consumer_info(stream, durable)
        return info.ack_floor.stream_seq if info.ack_floor else 0

    async def waiting(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for spec in CONSUMERS:
            with server_faults(f"asking what waits for {spec.durable}"):
                info = await self._bus.js.consumer_info(spec.stream, spec.durable)
            counts[spec.durable] = (info.num_pending or 0) + (info.num_ack_pending or 0)
        return counts
