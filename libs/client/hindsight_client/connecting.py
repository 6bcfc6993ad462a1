"""The connection of a client to the bus."""

from __future__ import annotations

import asyncio
from typing import Final

import nats.errors
from nats.aio.client import Client

from hindsight_client.errors import AccessDenied, NoServer
from hindsight_common.messaging.credentials import Credentials
from hindsight_common.messaging.refusals import Refusals, watch

RECONNECT_WAIT_S: Final = 0.5
# a half-open link is noticed after two unanswered pings
PING_INTERVAL_S: Final = 15


async def connected(url: str, patience_s: float, credentials: Credentials | None = None) -> Client:
    """A connection that comes back by itself from now on; `url` may list several servers, separated by commas.

    Raises `AccessDenied` as soon as a server refuses the credentials, else `NoServer` after `patience_s`.
    """
    credentials = credentials or Credentials()
    nc, refusals = Client(), Refusals(credentials.user_at(url))
    watch(nc, refusals)
    denied = asyncio.Event()

    async def notice(error: Exception) -> None:
        """Whatever fails later is told by the call that it fails; before that the client would ask for ever."""
        refusals.note(error)
        if isinstance(error, nats.errors.AuthorizationError) or "Authorization Violation" in str(error):
            denied.set()

    # -1: with a finite budget the connection would be given up for good during an outage
    opening = asyncio.ensure_future(
        nc.connect(
            url.split(","),
            name="hindsight-client",
            max_reconnect_attempts=-1,
            reconnect_time_wait=RECONNECT_WAIT_S,  # type: ignore[arg-type]  # seconds, fractions work
            ping_interval=PING_INTERVAL_S,
            error_cb=notice,
            **credentials.client_options(url),
        )
    )
    refusal = asyncio.ensure_future(denied.wait())
    try:
        await asyncio.wait({opening, refusal}, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        if opening.done():
            opening.result()
            return nc
        raise AccessDenied(places(url)) if denied.is_set() else NoServer(places(url), patience_s)
    except (nats.errors.Error, OSError, ValueError) as error:
        raise NoServer(places(url), patience_s, type(error).__name__) from error
    finally:
        for task in (opening, refusal):
            task.cancel()
        await asyncio.gather(opening, refusal, return_exceptions=True)


def places(url: str) -> str:
    """Hosts and ports only: an address may carry a password."""
    return ", ".join(one.rpartition("@")[2].rpartition("/")[2] for one in url.split(","))
