"""The bus's nightly tick: who said something since the last one is consolidated, and a missed tick is made up once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workers import Workers, eventually

from hindsight_common.clock import FixedClock
from hindsight_common.events import subjects
from hindsight_common.events.streams import JOBS, NIGHTLY, ScheduleSpec
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.provisioning import provision
from hindsight_common.messaging.publishing import publish
from hindsight_common.messaging.reading import last_message
from hindsight_common.messaging.schedules import NatsJobRuns, ensure_schedule
from hindsight_common.ports.jobs import JobRun

AT_NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


@dataclass(frozen=True)
class EverySecond(ScheduleSpec):
    @property
    def cron(self) -> str:
        return "* * * * * *"


async def test_the_server_ticks_by_itself_and_goes_on(bus: Bus) -> None:
    assert await ensure_schedule(bus.js, EverySecond("test", hour=0, zone="Asia/Shanghai")) == []
    seen: set[int] = set()

    async def ticked_twice() -> bool:
        tick = await last_message(bus.js, JOBS.name, subjects.job("test"))
        seen.update([tick.sequence] if tick else [])
        return len(seen) >= 2

    await eventually(ticked_twice)


async def test_the_nightly_schedule_stands_and_another_one_is_told_and_left(bus: Bus) -> None:
    standing = await last_message(bus.js, JOBS.name, subjects.schedule("nightly"))
    assert standing is not None
    assert standing.headers["Nats-Schedule"] == "0 0 3 * * *"
    await bus.js.publish(
        subjects.schedule("nightly"),
        b"",
        headers={"Nats-Schedule": "0 30 4 * * *", "Nats-Schedule-Target": subjects.job("nightly")},
    )
    told = await provision(bus.js)
    assert any("schedule nightly" in sentence and "0 30 4" in sentence for sentence in told)
    assert await provision(bus.js) == told


async def _in_graph(workers: Workers, user: str) -> set[str]:
    graph = await workers.graph.read(workers.core.ids.owner("default", user))
    return {node.name for node in graph.nodes}


async def test_a_tick_consolidates_everybody_who_has_something_new(bus: Bus, tmp_path: Path) -> None:
    async with Workers(bus, tmp_path) as workers:
        runs = NatsJobRuns(bus)
        await eventually(lambda: runs.last("nightly"))
        await workers.say("u-1", "t-1", "I live in Lyon.")
        await workers.say("u-2", "t-1", "我喜欢川菜。")
        await publish(bus, subjects.job("nightly"), b"")
        await eventually(lambda: _in_graph(workers, "u-1"))
        assert "Lyon" in await _in_graph(workers, "u-1")
        await eventually(lambda: _in_graph(workers, "u-2"))

        async def seen() -> int:
            last = await runs.last("nightly")
            return last.position if last else 0

        before: int = await eventually(seen)
        await workers.say("u-1", "t-2", "I am allergic to peanuts.")
        await publish(bus, subjects.job("nightly"), b"")

        async def new_in_graph() -> bool:
            return len(await _in_graph(workers, "u-1")) == 3

        await eventually(new_in_graph)

        async def recorded() -> bool:
            return await seen() > before

        await eventually(recorded)


@pytest.mark.parametrize(("last_ran", "catches_up"), [(AT_NOON - timedelta(days=9), True), (AT_NOON, False)])
async def test_a_missed_tick_is_made_up_once_at_the_start(
    bus: Bus, tmp_path: Path, last_ran: datetime, catches_up: bool
) -> None:
    clock = FixedClock(AT_NOON)
    async with Workers(bus, tmp_path, clock=clock) as workers:
        await workers.say("u-1", "t-1", "I live in Lyon.")
    runs = NatsJobRuns(bus)
    await runs.record("nightly", JobRun(last_ran, 0))
    clock.advance(timedelta(hours=1))
    async with Workers(bus, tmp_path, clock=clock) as workers:
        if not catches_up:
            assert await workers.consolidator.nights.catch_up() is None
            assert await runs.last("nightly") == JobRun(last_ran, 0)
            return
        await eventually(lambda: _in_graph(workers, "u-1"))

        async def recorded() -> bool:
            last = await runs.last("nightly")
            return last is not None and last.at == clock.now()

        await eventually(recorded)
        assert await workers.consolidator.nights.catch_up() is None


async def test_the_first_start_of_all_misses_nothing_and_leaves_all_to_the_first_tick(
    bus: Bus, tmp_path: Path
) -> None:
    clock = FixedClock(AT_NOON)
    async with Workers(bus, tmp_path, clock=clock) as workers:
        await eventually(lambda: NatsJobRuns(bus).last("nightly"))
        await workers.say("u-1", "t-1", "I live in Lyon.")
    assert await NatsJobRuns(bus).last("nightly") == JobRun(AT_NOON, 0)


@given(
    now=st.integers(0, 2**32).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
    zone=st.sampled_from(["UTC", "Asia/Shanghai", "America/St_Johns", "Pacific/Kiritimati"]),
)
def test_the_last_time_a_tick_was_due_is_within_a_day_and_at_its_hour(
    now: datetime, hour: int, minute: int, zone: str
) -> None:
    due = ScheduleSpec("job", hour, minute, zone).last_due(now)
    assert timedelta(0) <= now - due <= timedelta(hours=25)
    assert (due.hour, due.minute) == (hour, minute)


def test_the_schedule_is_three_in_the_morning() -> None:
    assert NIGHTLY.last_due(AT_NOON) == datetime(2026, 3, 5, 3, tzinfo=UTC)
    assert NIGHTLY.last_due(datetime(2026, 3, 5, 2, 59, tzinfo=UTC)) == datetime(2026, 3, 4, 3, tzinfo=UTC)
