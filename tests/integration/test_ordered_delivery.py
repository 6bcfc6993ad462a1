from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.errors import GiveUp, RetryLater, StopAndFix
from hindsight_common.events.streams import VECTORS_CONSUMER
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.delivery import BatchFault, Delivery, Pace, deliver_in_order
from hindsight_common.messaging.provisioning import rewind
from hindsight_common.messaging.publishing import publish
from hindsight_common.observability import tracer

SPEC = VECTORS_CONSUMER
QUICK = Pace(scale=0.01)


class Graveyard:
    def __init__(self) -> None:
        self.buried: list[tuple[int, str]] = []

    async def bury(self, delivery: Delivery, fault: GiveUp) -> None:
        self.buried.append((delivery.sequence, fault.code))


async def _publish(bus: Bus, count: int) -> None:
    for _ in range(count):
        await publish(bus, "log.00.default.aa.turn", b"x")


async def _until(condition: Callable[[], bool | Awaitable[bool]], timeout_s: float = 60) -> None:
    async with asyncio.timeout(timeout_s):
        while True:
            met = condition()
            if met is True or (met is not False and await met):
                return
            await asyncio.sleep(0.01)


async def _floor(bus: Bus) -> int:
    info = await bus.js.consumer_info(SPEC.stream, SPEC.durable)
    assert info.ack_floor is not None
    return int(info.ack_floor.stream_seq)


def _has(seen: Sequence[object], count: int) -> bool:
    return len(seen) >= count


def _sequences(batch: Sequence[Delivery]) -> list[int]:
    return [delivery.sequence for delivery in batch]


async def test_batches_come_in_stream_order_and_never_overlap(bus: Bus) -> None:
    seen: list[int] = []
    sizes: list[int] = []
    running = 0

    async def handle(batch: Sequence[Delivery]) -> None:
        nonlocal running
        running += 1
        assert running == 1
        await asyncio.sleep(0.002)
        seen.extend(_sequences(batch))
        sizes.append(len(batch))
        running -= 1

    await _publish(bus, 300)
    consumption = deliver_in_order(bus, SPEC, handle, bury=Graveyard().bury, batch_size=50)
    await consumption.start()
    await _publish(bus, 200)
    await _until(lambda: len(seen) == 500)
    await consumption.stop()
    assert seen == list(range(1, 501))
    assert max(sizes) <= 50
    assert max(sizes) > 1
    assert await _floor(bus) == 500


async def test_a_single_message_does_not_wait_for_a_batch_to_fill(bus: Bus) -> None:
    seen: list[list[int]] = []

    async def handle(batch: Sequence[Delivery]) -> None:
        seen.append(_sequences(batch))

    consumption = deliver_in_order(bus, SPEC, handle, bury=Graveyard().bury)
    await consumption.start()
    for number in range(1, 4):
        await _publish(bus, 1)
        await _until(partial(_has, seen, number), timeout_s=10)
    await consumption.stop()
    assert seen == [[1], [2], [3]]


async def test_a_temporary_fault_keeps_the_order_and_what_comes_later_waits(bus: Bus) -> None:
    attempts: list[list[int]] = []

    async def handle(batch: Sequence[Delivery]) -> None:
        attempts.append(_sequences(batch))
        if len(attempts) <= 7:
            raise RetryLater("the store is locked")

    await _publish(bus, 5)
    consumption = deliver_in_order(
        bus, SPEC, handle, bury=Graveyard().bury, pace=Pace(delays_s=(0.02,)), batch_size=5
    )
    await consumption.start()
    await _until(lambda: len(attempts) > 2)
    await _publish(bus, 3)
    await _until(lambda: [n for batch in attempts[7:] for n in batch] == [*range(1, 9)])
    await consumption.stop()
    first = attempts[0]
    assert attempts[:7] == [first] * 7


async def test_a_named_delivery_is_buried_and_the_rest_of_its_batch_is_handled(bus: Bus) -> None:
    handled: list[int] = []
    graveyard = Graveyard()

    async def handle(batch: Sequence[Delivery]) -> None:
        for delivery in batch:
            if delivery.sequence in {2, 4}:
                raise BatchFault(delivery, GiveUp("unreadable", "no such schema"))
        handled.extend(_sequences(batch))

    await _publish(bus, 5)
    consumption = deliver_in_order(bus, SPEC, handle, bury=graveyard.bury)
    await consumption.start()
    await _until(lambda: len(handled) == 3)
    await consumption.stop()
    assert handled == [1, 3, 5]
    assert graveyard.buried == [(2, "unreadable"), (4, "unreadable")]
    assert await _floor(bus) == 5


async def test_an_unexpected_error_is_narrowed_down_to_the_one_that_fails_alone(bus: Bus) -> None:
    handled: list[int] = []
    graveyard = Graveyard()
    alone = 0

    async def handle(batch: Sequence[Delivery]) -> None:
        nonlocal alone
        if 3 in _sequences(batch):
            alone += len(batch) == 1
            raise ZeroDivisionError
        handled.extend(_sequences(batch))

    await _publish(bus, 5)
    consumption = deliver_in_order(bus, SPEC, handle, bury=graveyard.bury, pace=QUICK)
    await consumption.start()
    await _until(lambda: len(handled) == 4)
    await consumption.stop()
    assert handled == [1, 2, 4, 5]
    assert graveyard.buried == [(3, "unexpected")]
    assert alone == 5


async def test_an_event_nobody_may_skip_stops_it_where_it_stands(bus: Bus) -> None:
    told: list[StopAndFix] = []
    handled: list[int] = []

    async def handle(batch: Sequence[Delivery]) -> None:
        for delivery in batch:
            if delivery.sequence == 3:
                raise StopAndFix("schema 9 is newer than this program: upgrade it")
        handled.extend(_sequences(batch))

    consumption = deliver_in_order(bus, SPEC, handle, bury=Graveyard().bury, on_fatal=told.append)
    await consumption.start()
    await _publish(bus, 2)
    await _until(lambda: handled == [1, 2])
    await _publish(bus, 3)
    await _until(lambda: bool(told))
    assert consumption.failure is told[0]
    await consumption.stop()
    assert handled == [1, 2]
    assert await _floor(bus) == 2


async def test_what_a_crashed_reader_left_unacknowledged_comes_first_and_at_once(bus: Bus) -> None:
    handled: list[int] = []

    async def handle(batch: Sequence[Delivery]) -> None:
        handled.extend(_sequences(batch))

    await _publish(bus, 6)
    crashed = await bus.js.pull_subscribe_bind(SPEC.durable, SPEC.stream)
    held = await crashed.fetch(4)
    await held[0].ack_sync()
    await _publish(bus, 2)
    consumption = deliver_in_order(bus, SPEC, handle, bury=Graveyard().bury)
    await consumption.start()
    # the ack timers of what the other one held would run for half a minute
    await _until(lambda: len(handled) == 7, timeout_s=15)
    await consumption.stop()
    assert handled == [2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("kills", [1, 3])
async def test_the_order_holds_through_kills_of_the_server(
    bus: Bus, nats_server: NatsServer, kills: int
) -> None:
    """What was handled but not yet acknowledged comes again, but nothing ever comes before its predecessor."""
    handled: list[int] = []

    async def handle(batch: Sequence[Delivery]) -> None:
        await asyncio.sleep(0.01)
        handled.extend(_sequences(batch))

    await _publish(bus, 200)
    consumption = deliver_in_order(bus, SPEC, handle, bury=Graveyard().bury, batch_size=10)
    await consumption.start()
    for kill in range(1, kills + 1):
        await _until(partial(_has, handled, 40 * kill))
        assert len(set(handled)) < 200
        pid = nats_server.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await _until(lambda: not bus.is_connected)
        await _until(lambda: bus.is_connected)
    await _until(lambda: len(set(handled)) == 200)
    await consumption.stop()
    reached = 0
    for sequence in handled:
        assert sequence <= reached + 1
        reached = max(reached, sequence)


async def test_stopping_in_mid_retry_returns_soon_and_keeps_the_batch_for_the_next(bus: Bus) -> None:
    attempts = 0
    handled: list[int] = []

    async def fail(batch: Sequence[Delivery]) -> None:
        nonlocal attempts
        attempts += 1
        raise RetryLater("the store is away")

    async def accept(batch: Sequence[Delivery]) -> None:
        handled.extend(_sequences(batch))

    await _publish(bus, 4)
    first = deliver_in_order(bus, SPEC, fail, bury=Graveyard().bury, pace=Pace(delays_s=(60,)))
    await first.start()
    await _until(lambda: attempts == 1)
    async with asyncio.timeout(5):
        await first.stop()
    second = deliver_in_order(bus, SPEC, accept, bury=Graveyard().bury)
    await second.start()
    await _until(lambda: handled == [1, 2, 3, 4], timeout_s=15)
    await second.stop()


async def test_a_rewound_consumption_hands_over_everything_again(bus: Bus) -> None:
    handled: list[int] = []

    async def handle(batch: Sequence[Delivery]) -> None:
        handled.extend(_sequences(batch))

    await _publish(bus, 4)
    for position, expected in ((0, [1, 2, 3, 4]), (2, [3, 4]), (0, [1, 2, 3, 4])):
        handled.clear()
        await rewind(bus.js, SPEC, position)
        consumption = deliver_in_order(bus, SPEC, handle, bury=Graveyard().bury)
        await consumption.start()
        await _until(partial(_has, handled, len(expected)))
        await consumption.stop()
        assert handled == expected


async def test_each_message_of_a_batch_gets_its_span_in_its_publishers_trace(
    bus: Bus, spans: InMemorySpanExporter
) -> None:
    traces: list[int] = []
    for _ in range(3):
        with tracer().start_as_current_span("publish") as span:
            await publish(bus, "log.00.default.aa.turn", b"x")
            traces.append(span.get_span_context().trace_id)
    done = asyncio.Event()

    async def handle(batch: Sequence[Delivery]) -> None:
        if batch[-1].sequence == 3:
            done.set()

    spec = replace(SPEC, max_ack_pending=3)
    consumption = deliver_in_order(bus, spec, handle, bury=Graveyard().bury)
    await consumption.start()
    await done.wait()
    await consumption.stop()
    seen = {span.context.trace_id for span in spans.get_finished_spans() if span.name == "process log"}
    assert set(traces) <= seen
