"""The one place of a worker that a deployment has once: who has it answers on the bus, and the next one stands by.

The server knows at once when a process is gone, since nobody is subscribed any more: a killed worker is followed
without waiting for anything to run out. Two that take the place at the same time see each other and both let go.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import nats.errors
import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.events.subjects import seat
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.faults import server_faults

_ANSWER_S: Final = 2.0
# time for another that takes the place in the same moment to be seen
_LOOK_AROUND_S: Final = 0.3
# after an outage of the server, time for the one that had the place to come back to it
_COME_BACK_S: Final = 1.5

_log = structlog.get_logger(__name__)


class Seat:
    """`take` it before anything is written, `leave` it when nothing is written any more.

    `on_lost` is told if another took it while this process was cut off from the bus.
    """

    def __init__(self, bus: Bus, worker: str, on_lost: Callable[[StopAndFix], None]) -> None:
        self._bus = bus
        self._worker = worker
        self._subject = seat(worker)
        self._on_lost = on_lost
        self._id = uuid.uuid4().hex
        self._subscription: Subscription | None = None
        self._ours = False
        self._stood_by = False
        self._looking: asyncio.Task[None] | None = None

    async def take(self) -> None:
        """Returns once the place is ours. Raises `RetryLater` while another has it."""
        with server_faults("asking who is at work"):
            await self._only_if_free()
            self._subscription = await self._bus.nc.subscribe(self._subject, cb=self._on_message)
            await self._bus.nc.flush()
            others = await self._others(_COME_BACK_S if self._stood_by else _LOOK_AROUND_S)
        if others:
            await self._let_go()
            raise RetryLater(self._taken())
        self._ours = True
        self._bus.on_reconnect.add(self._on_reconnect)

    async def leave(self) -> None:
        self._bus.on_reconnect.discard(self._on_reconnect)
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        await self._let_go()

    async def _only_if_free(self) -> None:
        try:
            await self._bus.nc.request(self._subject, b"", timeout=_ANSWER_S)
        except nats.errors.NoRespondersError:
            return
        except TimeoutError:
            pass  # it is connected and too busy to answer
        self._stood_by = True
        raise RetryLater(self._taken())

    def _taken(self) -> str:
        return (
            f"another hindsight-{self._worker} of this deployment is at work, and there is one at a time: "
            "this one stands by until the other is gone"
        )

    async def _others(self, within_s: float) -> list[bool]:
        """Of each other process at this place, whether it has taken it for good."""
        found: list[bool] = []
        inbox = self._bus.nc.new_inbox()
        answers = await self._bus.nc.subscribe(inbox)
        try:
            await self._bus.nc.publish(self._subject, b"", reply=inbox)
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    while True:
                        said = json.loads((await answers.next_msg(timeout=within_s)).data or b"{}")
                        if said.get("id") not in {None, self._id}:
                            found.append(bool(said["ours"]))
        finally:
            await answers.unsubscribe()
        return found

    async def _on_message(self, message: Msg) -> None:
        if message.reply:
            answer = json.dumps({"id": self._id, "ours": self._ours}).encode()
            with suppress(nats.errors.Error):
                await self._bus.nc.publish(message.reply, answer)

    async def _let_go(self) -> None:
        subscription, self._subscription, self._ours = self._subscription, None, False
        if subscription is not None and self._bus.is_connected:
            with suppress(nats.errors.Error, TimeoutError):
                await subscription.unsubscribe()
                await self._bus.nc.flush(timeout=2)

    def _on_reconnect(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_again(), name=f"seat {self._worker}")

    async def _look_again(self) -> None:
        """One that has only begun to take the place sees us and lets go; to one that has it, we yield."""
        with suppress(nats.errors.Error):
            if any(await self._others(_COME_BACK_S)):
                _log.error("seat_lost", worker=self._worker)
                self._on_lost(
                    StopAndFix(
                        f"another hindsight-{self._worker} took over while this one was cut off from the bus: "
                        "start this one again if it is to stand by"
                    )
                )
