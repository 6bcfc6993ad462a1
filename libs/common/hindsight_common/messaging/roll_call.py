"""Who answers on the bus, asked by the NATS service protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import nats.errors
from nats.aio.client import Client

from hindsight_common.errors import RequestError

PING: Final = "$SRV.PING"


@dataclass(frozen=True, slots=True)
class RunningService:
    """One instance of a service."""

    name: str
    id: str
    version: str


async def running_services(
    nc: Client, *, wait_s: float = 0.3, until: Collection[str] | None = None
) -> tuple[RunningService, ...]:
    """Every instance that answers within `wait_s`, ordered by name and id; no longer than until each name in `until`
    was heard once.

    Raises `RequestError` (503) when the bus cannot be asked.
    """
    if not nc.is_connected:
        # the client would keep the question until it is connected again
        raise RequestError("unavailable", "the bus is away; try again shortly", status=503)
    inbox = nc.new_inbox()
    found: list[RunningService] = []
    try:
        answers = await nc.subscribe(inbox)
        await nc.publish(PING, b"", reply=inbox)
        async with asyncio.timeout(wait_s):
            # an answer without a body is the server's: nobody listens
            while said := (await answers.next_msg(timeout=wait_s)).data:
                found.append(_service(said))
                if until is not None and set(until) <= {service.name for service in found}:
                    break
    except TimeoutError:
        pass
    except nats.errors.Error as error:
        raise RequestError("unavailable", "the bus is away; try again shortly", status=503) from error
    with suppress(nats.errors.Error):
        await answers.unsubscribe()
    return tuple(sorted(found, key=lambda service: (service.name, service.id)))


def _service(said: bytes) -> RunningService:
    described = json.loads(said)
    return RunningService(str(described["name"]), str(described["id"]), str(described.get("version", "")))
