"""The one connection of a process to the bus: it never gives up, and says what it goes through."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

import nats.errors
import nats.js.errors
from faststream.nats import NatsBroker
from faststream.security import SASLPlaintext
from nats.aio.client import Client
from nats.js import JetStreamContext

from hindsight_common.clock import Clock, SystemClock
from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.events.streams import INTAKE
from hindsight_common.messaging.connection_events import ConnectionEvents
from hindsight_common.messaging.credentials import Credentials
from hindsight_common.messaging.faults import JETSTREAM_NOT_ENABLED, server_faults
from hindsight_common.messaging.refusals import Refusals, watch

DEFAULT_PATIENCE_S: Final = 30.0
# a half-open link is noticed after two unanswered pings
PING_INTERVAL_S: Final = 15
RECONNECT_WAIT_S: Final = 0.5
ALLOWED_CLOCK_DIFFERENCE_S: Final = 60.0
OLDEST_SERVER: Final = (2, 14)


class BusAway(StopAndFix):
    """No server, or no JetStream on it. It may still come: one who can wait tries again, all others stop."""


@dataclass(slots=True)
class Bus:
    """FastStream's broker, the client below it and its JetStream context.

    `on_reconnect` holds functions called after each reconnection: pull requests do not survive one.
    """

    broker: NatsBroker
    nc: Client
    js: JetStreamContext
    on_reconnect: set[Callable[[], None]] = field(default_factory=set)

    @property
    def is_connected(self) -> bool:
        return self.nc.is_connected

    async def close(self) -> None:
        """Sends what is still buffered and closes; during an outage it does not wait for the server."""
        if self.nc.is_closed:
            return
        with suppress(nats.errors.Error, TimeoutError):
            await self.nc.flush(timeout=2)
        # the client drains a transport that may be broken, and raises what that gives
        with suppress(nats.errors.Error, OSError):
            await self.nc.close()


def client_of(js: JetStreamContext) -> Client:
    """The client a JetStream context speaks through; nats-py has no public way to it."""
    client: Client = js._nc
    return client


async def connect(
    url: str,
    *,
    name: str,
    credentials: Credentials | None = None,
    clock: Clock | None = None,
    patience_s: float = DEFAULT_PATIENCE_S,
) -> Bus:
    """Connects and returns once JetStream answers; from then on it reconnects for ever.

    `url` may list several servers, separated by commas. Raises BusAway when no server or no JetStream answers
    within `patience_s`, StopAndFix when credentials are refused, when the server is older than 2.14, or when the
    clocks are more than 60 s apart.
    """
    observers: set[Callable[[], None]] = set()
    credentials = credentials or Credentials()
    refusals = Refusals(credentials.user_at(url))
    events = ConnectionEvents(name, refusals, observers)
    broker = _broker(url, credentials, events)
    try:
        async with asyncio.timeout(patience_s):
            await _until_port_answers(url)
            # FastStream types it as its own context manager's result; it is the nats-py client
            nc: Client = await broker.connect()
    except nats.errors.Error as error:
        if "authorization" in str(error).lower():
            raise StopAndFix(_refused(url, error)) from error
        raise BusAway(_unreachable(url, patience_s)) from error
    except OSError:  # and out of time
        raise BusAway(_unreachable(url, patience_s)) from None
    watch(nc, refusals)
    bus = Bus(broker, nc, nc.jetstream(), observers)
    try:
        _require_version(bus, public(url))
        await _require_jetstream(bus, public(url), patience_s)
        await check_clock(bus.js, clock or SystemClock())
    except BaseException:
        await bus.close()
        raise
    events.up = True
    return bus


def public(url: str) -> str:
    """The addresses of a connection string without its credentials."""
    return ", ".join(f"{host}:{port}" for host, port in _addresses(url))


def _addresses(url: str) -> list[tuple[str, int]]:
    parts = [urlsplit(one if "://" in one else f"nats://{one}") for one in url.split(",")]
    try:
        return [(part.hostname or "127.0.0.1", part.port or 4222) for part in parts]
    except ValueError as error:
        raise StopAndFix("the NATS address is malformed; expected nats://host:port") from error


def _refused(url: str, error: nats.errors.Error) -> str:
    return (
        f"the NATS server at {public(url)} refuses the connection: {error}; see nats_user, nats_password "
        "(HINDSIGHT_NATS_USER, HINDSIGHT_NATS_PASSWORD) and nats_credentials"
    )


def _unreachable(url: str, patience_s: float) -> str:
    return (
        f"no NATS server answered at {public(url)} within {patience_s:g} s; start it, "
        "or name another with --nats-url or HINDSIGHT_NATS_URL"
    )


async def _until_port_answers(url: str) -> None:
    """Returns when one of the servers takes a connection: the client's own first retry would cost 2 s."""
    wait_s = 0.02
    while True:
        for host, port in _addresses(url):
            with suppress(OSError):
                _, writer = await asyncio.open_connection(host, port)
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
                return
        await asyncio.sleep(wait_s)
        wait_s = min(wait_s * 1.5, 1.0)


def _broker(url: str, credentials: Credentials, events: ConnectionEvents) -> NatsBroker:
    options = credentials.client_options(url)
    user, password = options.pop("user", None), options.pop("password", "")
    return NatsBroker(
        url.split(","),
        name=events.connection,
        # -1: with a finite budget the client closes for good, and FastStream's fetch loop then spins
        max_reconnect_attempts=-1,
        reconnect_time_wait=RECONNECT_WAIT_S,  # type: ignore[arg-type]  # seconds, fractions work
        ping_interval=PING_INTERVAL_S,
        max_outstanding_pings=2,
        drain_timeout=5,
        security=SASLPlaintext(username=user, password=password) if user else None,
        **options,
        error_cb=events.error,
        disconnected_cb=events.disconnected,
        reconnected_cb=events.reconnected,
        closed_cb=events.closed,
        discovered_server_cb=events.discovered,
        logger=None,
    )


def _require_version(bus: Bus, where: str) -> None:
    """Consumers are rewound by the server, which earlier ones cannot do."""
    version = bus.nc.connected_server_version
    if (version.major, version.minor) < OLDEST_SERVER:
        oldest = ".".join(map(str, OLDEST_SERVER))
        found = f"version {version.major}.{version.minor}.{version.patch}"
        raise StopAndFix(f"the NATS server at {where} is {found}; at least {oldest} is needed: upgrade it")


async def _require_jetstream(bus: Bus, where: str, patience_s: float) -> None:
    """A server that has just started may answer before its JetStream does."""
    deadline = asyncio.get_running_loop().time() + patience_s
    while True:
        try:
            await bus.js.account_info()
        except nats.js.errors.APIError as error:
            if error.err_code in JETSTREAM_NOT_ENABLED:
                raise BusAway(_no_jetstream(where)) from error
        except (nats.errors.Error, TimeoutError):
            pass
        else:
            return
        if asyncio.get_running_loop().time() >= deadline:
            raise BusAway(_no_jetstream(where))
        await asyncio.sleep(0.1)


def _no_jetstream(where: str) -> str:
    return f"the NATS server at {where} has no JetStream; start it with -js or a jetstream block"


async def check_clock(js: JetStreamContext, clock: Clock) -> float | None:
    """How many seconds this clock is ahead of the server's; None before there are streams to ask for the time.

    Raises StopAndFix when they are more than 60 s apart: times are copied into everything that is remembered.
    """
    before = clock.now()
    # of the stream that every user may ask about; what a user may not ask is answered by nobody
    server = await _server_time(js, INTAKE.name)
    after = clock.now()
    if server is None:
        return None
    ahead_s = (before + (after - before) / 2 - server).total_seconds()
    if abs(ahead_s) > ALLOWED_CLOCK_DIFFERENCE_S:
        direction = "ahead of" if ahead_s > 0 else "behind"
        raise StopAndFix(
            f"this machine's clock is {abs(ahead_s):.0f} s {direction} the NATS server's "
            f"(at most {ALLOWED_CLOCK_DIFFERENCE_S:.0f} s are allowed); synchronise both with NTP"
        )
    return ahead_s


async def _server_time(js: JetStreamContext, stream: str) -> datetime | None:
    """The server stamps every stream's description; the client's data class drops the field."""
    try:
        with server_faults("asking the server for the time"):
            answer = await client_of(js).request(f"$JS.API.STREAM.INFO.{stream}", timeout=5)
    except RetryLater:
        return None
    stamp = json.loads(answer.data).get("ts")
    return datetime.fromisoformat(stamp) if stamp else None
