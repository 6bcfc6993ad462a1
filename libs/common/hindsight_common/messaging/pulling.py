"""Pulls messages of one durable consumer: never more than there is room for, through every outage.

FastStream's own pull subscribers fetch a fixed number whatever is free, wait out a timeout on a partial batch, and
leave what they fetched unacknowledged when they stop; ADR 0007 has the measurements.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any, Final

import nats.errors
import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from hindsight_common.errors import HindsightError
from hindsight_common.events.streams import ConsumerSpec
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.provisioning import ensure_consumer

# the server answers an idle request every two seconds, so a lost one is noticed after three silent periods
REQUEST_EXPIRES_S: Final = 30.0
IDLE_HEARTBEAT_S: Final = 2.0
SILENCE_S: Final = 6.0
LONGEST_PAUSE_S: Final = 5.0

_HEARTBEAT: Final = "100"
_EXPIRED: Final = frozenset({"404", "408"})

_log = structlog.get_logger(__name__)


class Puller:
    """Keeps asking for as many messages as `room` leaves free; `next` hands them out in order of arrival.

    A message takes its place from arrival until `release`. One that arrives again while it is in hand (its ack
    timer ran out during an outage of the server) is dropped: the one in hand settles both.
    """

    def __init__(self, bus: Bus, spec: ConsumerSpec, room: int) -> None:
        self._bus = bus
        self._spec = spec
        self._room = room
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{spec.stream}.{spec.durable}"
        self._inbox = ""
        self._subscription: Subscription | None = None
        self._arrived: asyncio.Queue[Msg | None] = asyncio.Queue()
        self._outstanding = 0
        self._wake = asyncio.Event()
        self._asking: asyncio.Task[None] | None = None
        self._heard_at = 0.0
        self._trouble: str | None = None
        self.in_hand: dict[int, Msg] = {}
        # set when requests or deliveries may have been lost: what comes next may be out of order
        self.interrupted = False

    @property
    def heard_s_ago(self) -> float:
        """Seconds since the server last said anything about this consumer."""
        return asyncio.get_running_loop().time() - self._heard_at

    @property
    def in_trouble(self) -> bool:
        """The server refuses to deliver, as when somebody deleted the consumer; it is being put right."""
        return self._trouble is not None

    async def start(self) -> None:
        """Returns once the server knows where to send; it need not have the consumer yet."""
        await self._subscribe()
        self._bus.on_reconnect.add(self._on_reconnect)
        self._asking = asyncio.create_task(self._keep_asking(), name=f"pull {self._spec.durable}")

    async def next(self) -> Msg | None:
        """The next message; None when an interruption wants attention first."""
        return await self._arrived.get()

    def waiting(self, most: int) -> list[Msg]:
        """Up to `most` messages that have arrived and need no waiting for."""
        found: list[Msg] = []
        while len(found) < most and not self._arrived.empty():
            message = self._arrived.get_nowait()
            if message is not None:
                found.append(message)
        return found

    def release(self, message: Msg) -> None:
        """The message is settled; its place is free."""
        self.in_hand.pop(message.metadata.sequence.stream, None)
        self._wake.set()

    async def stop(self) -> list[Msg]:
        """Asks for nothing more, and returns what arrived and was not handed out; it still counts as in hand."""
        self._bus.on_reconnect.discard(self._on_reconnect)
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking])
        if self._subscription is not None:
            await self._unsubscribe(self._subscription)
        return self.waiting(most=self._arrived.qsize())

    async def drop_all(self) -> None:
        """Takes nothing more until `resume`, and forgets all in hand; for before the position is reset."""
        old, self._subscription, self._inbox = self._subscription, None, ""
        if old is not None:
            with suppress(nats.errors.Error, TimeoutError):
                await old.unsubscribe()
                # from here on the server finds nobody behind the requests of before
                await self._bus.nc.flush(timeout=2)
        self.waiting(most=self._arrived.qsize())
        self.in_hand.clear()

    async def resume(self) -> None:
        """Asks anew, after `drop_all`."""
        self.interrupted = False
        await self._subscribe()

    async def _subscribe(self) -> None:
        self._inbox = self._bus.nc.new_inbox()
        # no client-side limits: what may arrive is bounded by what was asked for
        self._subscription = await self._bus.nc.subscribe(
            self._inbox, cb=self._on_message, pending_msgs_limit=0, pending_bytes_limit=0
        )
        self._forget_requests()

    async def _unsubscribe(self, subscription: Subscription) -> None:
        """With a round trip, so that what the server had sent before is in the queue and can be given back."""
        with suppress(nats.errors.Error, TimeoutError):
            if self._bus.is_connected:
                async with asyncio.timeout(2):
                    await subscription.drain()  # type: ignore[no-untyped-call]
            else:
                await subscription.unsubscribe()

    def _forget_requests(self) -> None:
        self._outstanding = 0
        self._heard_at = asyncio.get_running_loop().time()
        self._wake.set()

    def _on_reconnect(self) -> None:
        """Pull requests live in the server's memory of a connection."""
        self._interrupt()

    def _interrupt(self) -> None:
        self.interrupted = True
        self._arrived.put_nowait(None)
        self._forget_requests()

    async def _keep_asking(self) -> None:
        pause_s = 0.1
        while True:
            with suppress(TimeoutError):
                # not wait_for: before 3.12 it can swallow a cancellation
                async with asyncio.timeout(IDLE_HEARTBEAT_S):
                    await self._wake.wait()
            self._wake.clear()
            if self._trouble is not None:
                await self._recover(pause_s)
                pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
                continue
            pause_s = 0.1
            if self._outstanding and self.heard_s_ago > SILENCE_S and self._bus.is_connected:
                _log.warning("pull_silent", stream=self._spec.stream, consumer=self._spec.durable)
                self._interrupt()
            await self._ask()

    async def _ask(self) -> None:
        if not self._inbox:
            return
        free = self._room - len(self.in_hand) - self._outstanding
        # not one request for each freed place: the server keeps a heartbeat going for every one of them
        if free < 1 or (self._outstanding and free < self._room / 2) or not self._bus.is_connected:
            return
        request = {
            "batch": free,
            "expires": int(REQUEST_EXPIRES_S * 1e9),
            "idle_heartbeat": int(IDLE_HEARTBEAT_S * 1e9),
        }
        self._outstanding += free
        try:
            await self._bus.nc.publish(self._subject, json.dumps(request).encode(), reply=self._inbox)
        except nats.errors.Error as error:
            self._outstanding -= free
            self._trouble = type(error).__name__
            self._wake.set()

    async def _recover(self, pause_s: float) -> None:
        """After a moment, makes sure the consumer exists: a deleted one answers no request."""
        _log.warning(
            "pull_interrupted", stream=self._spec.stream, consumer=self._spec.durable, reason=self._trouble
        )
        await asyncio.sleep(pause_s)
        try:
            await ensure_consumer(self._bus.js, self._spec)
        except HindsightError as error:
            self._trouble = str(error)
            self._wake.set()
            return
        self._trouble = None
        self._interrupt()

    async def _on_message(self, message: Msg) -> None:
        self._heard_at = asyncio.get_running_loop().time()
        headers: dict[Any, str] = message.headers or {}
        # a stored message has its own subject, and its publisher may have set any header
        if message.subject == self._inbox:
            self._on_status(headers.get("Status", ""), headers)
            return
        sequence = message.metadata.sequence.stream
        self._outstanding = max(self._outstanding - 1, 0)
        if sequence not in self.in_hand:
            self.in_hand[sequence] = message
            self._arrived.put_nowait(message)
        if self._outstanding == 0:
            self._wake.set()

    def _on_status(self, status: str, headers: dict[Any, str]) -> None:
        if status == _HEARTBEAT:
            return
        unused = headers.get("Nats-Pending-Messages")
        self._outstanding = max(self._outstanding - int(unused), 0) if unused else 0
        if status not in _EXPIRED:
            description = next((text for name, text in headers.items() if "Description" in str(name)), "")
            self._trouble = f"{status} {getattr(description, 'value', description)}".strip()
        self._wake.set()
