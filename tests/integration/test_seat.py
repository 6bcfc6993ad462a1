"""Of a worker that a deployment has once, one process is at work and the others stand by."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from workers import eventually

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.messaging.connection import Bus, connect
from hindsight_common.messaging.seat import Seat


@pytest.fixture
async def buses(nats_server: NatsServer) -> AsyncIterator[list[Bus]]:
    async with AsyncExitStack() as opened:
        found = []
        for number in range(4):
            bus = await connect(nats_server.url, name=f"process {number}")
            opened.push_async_callback(bus.close)
            found.append(bus)
        yield found


def seats(buses: list[Bus], lost: list[StopAndFix] | None = None) -> list[Seat]:
    return [Seat(bus, "recall", (lost if lost is not None else []).append) for bus in buses]


async def taken(seat: Seat) -> bool:
    try:
        await seat.take()
    except RetryLater:
        return False
    return True


async def test_a_second_process_stands_by_and_follows_when_the_first_leaves(buses: list[Bus]) -> None:
    first, second, *_ = seats(buses)
    await first.take()
    assert not await taken(second)
    await first.leave()
    assert await taken(second)


async def test_a_process_that_is_gone_is_followed_at_once(buses: list[Bus]) -> None:
    first, second, *_ = seats(buses)
    await first.take()
    await buses[0].close()
    await eventually(lambda: taken(second))


async def test_other_workers_have_places_of_their_own(buses: list[Bus]) -> None:
    lost: list[StopAndFix] = []
    await Seat(buses[0], "recall", lost.append).take()
    await Seat(buses[1], "pruner", lost.append).take()


async def test_of_many_that_begin_together_one_is_at_work(buses: list[Bus]) -> None:
    lost: list[StopAndFix] = []
    contenders = seats(buses, lost)
    at_work: list[int] = []

    async def contend(number: int) -> None:
        while not at_work:
            if await taken(contenders[number]):
                at_work.append(number)
            await asyncio.sleep(0.05 * number)  # as real ones, they try again apart from each other

    async with asyncio.timeout(60):
        await asyncio.gather(*(contend(number) for number in range(len(contenders))))
    assert len(at_work) == 1
    assert not lost


async def test_the_place_outlasts_an_outage_of_the_server(nats_server: NatsServer, buses: list[Bus]) -> None:
    lost: list[StopAndFix] = []
    first, second, *_ = seats(buses, lost)
    await first.take()
    assert not await taken(second)
    await nats_server.stop()
    await nats_server.start()
    await eventually(lambda: all(bus.is_connected for bus in buses))
    assert not await taken(second)
    assert not lost


async def test_one_that_was_cut_off_yields_to_who_took_over(
    nats_server: NatsServer, buses: list[Bus]
) -> None:
    lost: list[StopAndFix] = []
    first, second, *_ = seats(buses, lost)
    await first.take()
    # the server forgets the first one, as after a broken line, and another comes in the meantime
    await first._subscription.unsubscribe()  # type: ignore[union-attr]
    await buses[0].nc.flush()
    assert await taken(second)
    for notify in tuple(buses[0].on_reconnect):
        notify()
    await eventually(lambda: lost)
    assert "took over" in str(lost[0])
