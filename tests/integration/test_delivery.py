from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.errors import GiveUp, RetryLater, StopAndFix
from hindsight_common.events.streams import EXTRACTOR_CONSUMER
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.delivery import Consumption, Delivery, Pace, deliver_each
from hindsight_common.messaging.provisioning import ensure_consumer
from hindsight_common.messaging.publishing import publish
from hindsight_common.observability import tracer

SPEC = EXTRACTOR_CONSUMER
QUICK = Pace(scale=0.01)

Points = Callable[[str], list[tuple[dict[str, object], float]]]


class Graveyard:
    """Keeps what was buried; refuses the first `refusals` burials."""

    def __init__(self, refusals: int = 0) -> None:
        self.buried: list[tuple[Delivery, GiveUp]] = []
        self.refusals = refusals

    async def bury(self, delivery: Delivery, fault: GiveUp) -> None:
        if self.refusals > 0:
            self.refusals -= 1
            raise RetryLater("the stream of dead letters does not answer")
        self.buried.append((delivery, fault))


async def _publish(bus: Bus, *bodies: bytes) -> None:
    for body in bodies:
        await publish(bus, "turn.00.default.aa.t", body, timeout_s=60)


async def _until(condition: Callable[[], bool | Awaitable[bool]], timeout_s: float = 60) -> None:
    async with asyncio.timeout(timeout_s):
        while True:
            met = condition()
            if met is True or (met is not False and await met):
                return
            await asyncio.sleep(0.01)


async def _is_empty(bus: Bus) -> bool:
    info = await bus.js.consumer_info(SPEC.stream, SPEC.durable)
    return (info.num_pending, info.num_ack_pending) == (0, 0)


async def test_a_message_is_handed_over_whole_and_acknowledged(bus: Bus) -> None:
    seen: list[Delivery] = []

    async def handle(delivery: Delivery) -> None:
        seen.append(delivery)

    consumption = deliver_each(bus, SPEC, handle, bury=Graveyard().bury, concurrency=4)
    await consumption.start()
    await publish(bus, "turn.00.default.aa.t", "花生".encode(), headers={"Kind": "x"})
    await _until(lambda: _is_empty(bus) if seen else False)
    await consumption.stop()
    (delivery,) = seen
    assert (delivery.stream, delivery.consumer, delivery.subject) == (
        "TURNS",
        "extractor",
        "turn.00.default.aa.t",
    )
    assert (delivery.sequence, delivery.attempts, delivery.data.decode()) == (1, 1, "花生")
    assert delivery.headers["Kind"] == "x"
    assert delivery.timestamp.tzinfo is not None


async def test_a_temporary_fault_is_retried_without_end_and_never_buried(bus: Bus) -> None:
    calls = 0
    graveyard = Graveyard()

    async def handle(delivery: Delivery) -> None:
        nonlocal calls
        calls += 1
        assert delivery.attempts == calls
        if calls < 12:
            raise RetryLater("the LLM answers 503")

    consumption = deliver_each(
        bus, SPEC, handle, bury=graveyard.bury, concurrency=4, pace=Pace(delays_s=(0.01,))
    )
    await consumption.start()
    await _publish(bus, b"x")
    await _until(lambda: _is_empty(bus) if calls == 12 else False)
    await consumption.stop()
    assert graveyard.buried == []


async def test_an_unexpected_error_loses_nothing_and_is_buried_after_five_attempts(bus: Bus) -> None:
    calls: Counter[bytes] = Counter()
    graveyard = Graveyard()

    async def handle(delivery: Delivery) -> None:
        calls[delivery.data] += 1
        if delivery.data == b"poison" or (delivery.data == b"hiccup" and calls[delivery.data] < 3):
            raise KeyError("secret text")

    consumption = deliver_each(bus, SPEC, handle, bury=graveyard.bury, concurrency=4, pace=QUICK)
    await consumption.start()
    await _publish(bus, b"poison", b"hiccup", b"good")
    await _until(lambda: _is_empty(bus) if graveyard.buried else False)
    await consumption.stop()
    assert calls == {b"poison": 5, b"hiccup": 3, b"good": 1}
    ((delivery, fault),) = graveyard.buried
    assert (delivery.data, fault.code) == (b"poison", "unexpected")
    assert "KeyError" in fault.reason
    assert "secret" not in fault.reason


async def test_waiting_out_an_outage_does_not_use_up_the_attempts_of_an_unexpected_error(bus: Bus) -> None:
    calls = 0
    graveyard = Graveyard()

    async def handle(delivery: Delivery) -> None:
        nonlocal calls
        calls += 1
        if calls <= 8:
            raise RetryLater("away")
        if calls == 9:
            raise KeyError

    consumption = deliver_each(
        bus, SPEC, handle, bury=graveyard.bury, concurrency=1, pace=Pace(delays_s=(0.01,))
    )
    await consumption.start()
    await _publish(bus, b"x")
    await _until(lambda: _is_empty(bus) if calls == 10 else False)
    await consumption.stop()
    assert graveyard.buried == []


async def test_poison_goes_to_the_dead_letters_at_once_and_delays_nobody(bus: Bus) -> None:
    """A body that cannot be read is tried once; a reply that is always bad with growing delays; the good one now."""
    order: list[bytes] = []
    graveyard = Graveyard()

    async def handle(delivery: Delivery) -> None:
        order.append(delivery.data)
        if delivery.data == b"{not json":
            raise GiveUp("unreadable", "not JSON", field="")
        if delivery.data == b"garbage":
            raise ValueError

    consumption = deliver_each(bus, SPEC, handle, bury=graveyard.bury, concurrency=1, pace=QUICK)
    await consumption.start()
    await _publish(bus, b"{not json", b"garbage", b"good")
    await _until(lambda: len(graveyard.buried) == 2)
    await consumption.stop()
    assert order[:3] == [b"{not json", b"garbage", b"good"]
    assert order[3:] == [b"garbage"] * 4
    assert [fault.code for _, fault in graveyard.buried] == ["unreadable", "unexpected"]


def test_delays_grow_stay_within_a_fifth_of_their_base_and_then_stand() -> None:
    for jitter in (0.0, 0.5, 0.999):
        pace = Pace(jitter=partial(float, jitter))
        waits = [pace.delay_s(attempt) for attempt in range(1, 8)]
        for wait, base in zip(waits, (1, 5, 30, 120, 120, 120, 120), strict=True):
            assert base * 0.8 <= wait <= base * 1.2


async def test_what_cannot_be_buried_is_not_lost(bus: Bus) -> None:
    graveyard = Graveyard(refusals=3)

    async def handle(delivery: Delivery) -> None:
        raise GiveUp("unreadable", "not JSON")

    consumption = deliver_each(bus, SPEC, handle, bury=graveyard.bury, concurrency=1, pace=QUICK)
    await consumption.start()
    await _publish(bus, b"x")
    await _until(lambda: _is_empty(bus) if graveyard.buried else False)
    await consumption.stop()
    assert [delivery.attempts for delivery, _ in graveyard.buried] == [4]


async def test_handlers_slower_than_the_ack_timer_run_once(bus: Bus) -> None:
    spec = replace(SPEC, durable="slow", ack_wait_s=1)
    await ensure_consumer(bus.js, spec)
    calls: Counter[bytes] = Counter()
    most_pending = 0

    async def handle(delivery: Delivery) -> None:
        nonlocal most_pending
        calls[delivery.data] += 1
        info = await bus.js.consumer_info(spec.stream, spec.durable)
        most_pending = max(most_pending, info.num_ack_pending or 0)
        await asyncio.sleep(2.5)

    consumption = deliver_each(bus, spec, handle, bury=Graveyard().bury, concurrency=5)
    await _publish(bus, *(str(number).encode() for number in range(10)))
    await consumption.start()

    async def is_done() -> bool:
        info = await bus.js.consumer_info(spec.stream, spec.durable)
        return (info.num_pending, info.num_ack_pending) == (0, 0)

    await _until(is_done)
    await consumption.stop()
    assert calls == {str(number).encode(): 1 for number in range(10)}
    assert most_pending == 5


async def test_it_comes_through_a_killed_server_with_work_in_hand_and_the_loop_runs_on(
    bus: Bus, nats_server: NatsServer
) -> None:
    calls: Counter[bytes] = Counter()
    may_go_on = asyncio.Event()

    async def handle(delivery: Delivery) -> None:
        calls[delivery.data] += 1
        await may_go_on.wait()

    consumption = deliver_each(bus, SPEC, handle, bury=Graveyard().bury, concurrency=4, pace=QUICK)
    await consumption.start()
    await _publish(bus, *(str(number).encode() for number in range(12)))
    await _until(lambda: len(calls) == 4)
    assert consumption.is_consuming
    killed = nats_server.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    await _until(lambda: not bus.is_connected)
    assert not consumption.is_consuming
    ticks = 0
    while not bus.is_connected:
        await asyncio.sleep(0.01)
        ticks += 1
    assert nats_server.pid not in {killed, None}
    assert ticks > 3
    may_go_on.set()
    await _until(lambda: _is_empty(bus) if len(calls) == 12 else False)
    await consumption.stop()
    assert calls == {str(number).encode(): 1 for number in range(12)}


async def test_an_outage_of_several_reconnection_attempts_is_waited_out_with_the_loop_alive(
    bus: Bus, nats_server: NatsServer
) -> None:
    seen: list[bytes] = []

    async def handle(delivery: Delivery) -> None:
        seen.append(delivery.data)

    consumption = deliver_each(bus, SPEC, handle, bury=Graveyard().bury, concurrency=4)
    await consumption.start()
    await _publish(bus, b"before")
    await _until(lambda: seen == [b"before"])
    await nats_server.stop()
    ticks = 0
    async with asyncio.timeout(60):
        while ticks < 250:
            await asyncio.sleep(0.01)
            ticks += 1
    assert not bus.is_connected
    with pytest.raises(RetryLater):
        await publish(bus, "turn.00.default.aa.t", b"lost", timeout_s=0.1)
    await nats_server.start()
    await _until(lambda: bus.is_connected)
    await _publish(bus, b"after")
    await _until(lambda: seen[-1] == b"after")
    await consumption.stop()


async def test_what_the_server_sends_again_while_it_is_in_hand_is_not_handled_twice(
    bus: Bus, nats_server: NatsServer
) -> None:
    """The ack timers run out while the server is away; it sends everything again as soon as it is back."""
    spec = replace(SPEC, durable="outlived", ack_wait_s=0.3)
    await ensure_consumer(bus.js, spec)
    calls: Counter[bytes] = Counter()
    may_go_on = asyncio.Event()

    async def handle(delivery: Delivery) -> None:
        calls[delivery.data] += 1
        await may_go_on.wait()

    consumption = deliver_each(bus, spec, handle, bury=Graveyard().bury, concurrency=4)
    await _publish(bus, b"a", b"b")
    await consumption.start()
    await _until(lambda: len(calls) == 2)
    assert nats_server.pid is not None
    os.kill(nats_server.pid, signal.SIGSTOP)
    await asyncio.sleep(1)
    os.kill(nats_server.pid, signal.SIGCONT)
    info = await bus.js.consumer_info(spec.stream, spec.durable)
    assert info.num_ack_pending == 2
    await _publish(bus, b"c")
    await _until(lambda: len(calls) == 3)
    may_go_on.set()

    async def is_done() -> bool:
        info = await bus.js.consumer_info(spec.stream, spec.durable)
        return (info.num_pending, info.num_ack_pending) == (0, 0)

    await _until(is_done)
    await consumption.stop()
    assert calls == {b"a": 1, b"b": 1, b"c": 1}


async def test_a_deleted_consumer_is_made_again_and_work_goes_on(bus: Bus) -> None:
    seen: set[bytes] = set()

    async def handle(delivery: Delivery) -> None:
        seen.add(delivery.data)

    consumption = deliver_each(bus, SPEC, handle, bury=Graveyard().bury, concurrency=4)
    await consumption.start()
    await _publish(bus, b"before")
    await _until(lambda: b"before" in seen)
    await bus.js.delete_consumer(SPEC.stream, SPEC.durable)
    await _publish(bus, b"after")
    await _until(lambda: b"after" in seen)
    await consumption.stop()


async def test_it_may_start_before_its_stream_exists(bare_bus: Bus) -> None:
    seen: list[bytes] = []

    async def handle(delivery: Delivery) -> None:
        seen.append(delivery.data)

    consumption = deliver_each(bare_bus, SPEC, handle, bury=Graveyard().bury, concurrency=4)
    await consumption.start()
    await asyncio.sleep(0.2)
    await bare_bus.js.add_stream(name="TURNS", subjects=["turn.>"])
    await _publish(bare_bus, b"x")
    await _until(lambda: seen == [b"x"])
    await consumption.stop()


async def test_stopping_finishes_what_is_in_hand_and_strands_nothing(bus: Bus) -> None:
    """The next worker has the rest at once, though the ack timer would run for half a minute."""
    finished: list[bytes] = []
    started: list[bytes] = []
    may_go_on = asyncio.Event()

    async def slow(delivery: Delivery) -> None:
        started.append(delivery.data)
        await may_go_on.wait()
        finished.append(delivery.data)

    async def quick(delivery: Delivery) -> None:
        finished.append(delivery.data)

    bodies = [str(number).encode() for number in range(20)]
    await _publish(bus, *bodies)
    first = deliver_each(bus, SPEC, slow, bury=Graveyard().bury, concurrency=6)
    await first.start()
    await _until(lambda: len(started) == 6)
    stopping = asyncio.create_task(first.stop())
    await asyncio.sleep(0.1)
    assert not stopping.done()
    may_go_on.set()
    await stopping
    assert sorted(finished) == sorted(started)
    second = deliver_each(bus, SPEC, quick, bury=Graveyard().bury, concurrency=6)
    await second.start()
    await _until(lambda: _is_empty(bus), timeout_s=15)
    await second.stop()
    assert sorted(finished) == sorted(bodies)


async def test_a_handler_that_outlasts_the_grace_period_is_cut_off_and_its_message_given_back(
    bus: Bus,
) -> None:
    seen: list[bytes] = []

    async def hang(delivery: Delivery) -> None:
        seen.append(delivery.data)
        await asyncio.Event().wait()

    async def quick(delivery: Delivery) -> None:
        seen.append(delivery.data)

    await _publish(bus, b"x")
    first = deliver_each(bus, SPEC, hang, bury=Graveyard().bury, concurrency=2, stop_grace_s=0.1)
    await first.start()
    await _until(lambda: seen == [b"x"])
    await first.stop()
    second = deliver_each(bus, SPEC, quick, bury=Graveyard().bury, concurrency=2)
    await second.start()
    await _until(lambda: seen == [b"x", b"x"], timeout_s=15)
    await second.stop()


async def test_a_fault_for_a_person_stops_the_consumption_and_keeps_the_message(bus: Bus) -> None:
    told: list[StopAndFix] = []
    seen: list[bytes] = []

    async def refuse(delivery: Delivery) -> None:
        seen.append(delivery.data)
        raise StopAndFix("an event of schema 9: upgrade first")

    async def accept(delivery: Delivery) -> None:
        seen.append(delivery.data)

    await _publish(bus, b"x")
    first = deliver_each(
        bus, SPEC, refuse, bury=Graveyard().bury, concurrency=2, pace=QUICK, on_fatal=told.append
    )
    await first.start()
    await _until(lambda: bool(told))
    assert first.failure is told[0]
    assert not first.is_consuming
    await first.stop()
    second: Consumption = deliver_each(bus, SPEC, accept, bury=Graveyard().bury, concurrency=2)
    await second.start()
    await _until(lambda: len(seen) == 2)
    await second.stop()


async def test_the_span_continues_the_publishers_trace_and_names_no_user(
    bus: Bus, spans: InMemorySpanExporter, metric_points: Points
) -> None:
    spec = replace(SPEC, durable="traced")
    await ensure_consumer(bus.js, spec)

    async def handle(delivery: Delivery) -> None:
        if delivery.attempts == 1:
            raise RetryLater("once")

    consumption = deliver_each(bus, spec, handle, bury=Graveyard().bury, concurrency=2, pace=QUICK)
    with tracer().start_as_current_span("publish") as publishing:
        await publish(bus, "turn.00.acme.deadbeef.cafe", b"x")
    # started inside no span: a worker must not inherit one from where it was started
    await consumption.start()
    await _until(lambda: len([s for s in spans.get_finished_spans() if s.name == "process turn"]) == 2)
    await consumption.stop()
    first, second = [s for s in spans.get_finished_spans() if s.name == "process turn"]
    for span in (first, second):
        assert span.parent is not None
        assert span.parent.span_id == publishing.get_span_context().span_id
        assert "deadbeef" not in str(dict(span.attributes or {}))
        assert "acme" not in str(dict(span.attributes or {}))
    assert (first.attributes or {})["hindsight.outcome"] == "retried"
    assert (second.attributes or {})["hindsight.outcome"] == "processed"
    counted = {
        str(labels["outcome"]): value
        for labels, value in metric_points("hindsight.deliveries")
        if labels["consumer"] == "traced"
    }
    assert counted == {"retried": 1, "processed": 1}
    assert any(labels["consumer"] == "traced" for labels, _ in metric_points("messaging.process.duration"))


@pytest.mark.parametrize("concurrency", [1, 16])
async def test_a_thousand_messages_pass_and_none_is_handled_twice(bus: Bus, concurrency: int) -> None:
    calls: Counter[int] = Counter()

    async def handle(delivery: Delivery) -> None:
        calls[delivery.sequence] += 1

    consumption = deliver_each(bus, SPEC, handle, bury=Graveyard().bury, concurrency=concurrency)
    await consumption.start()
    await asyncio.gather(*(_publish(bus, b"x") for _ in range(1000)))
    await _until(lambda: _is_empty(bus) if len(calls) == 1000 else False)
    await consumption.stop()
    assert set(calls.values()) == {1}
