"""The graph is made again from the log: once for each user, and without harm when that breaks off."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from workers import Workers, eventually

from hindsight_common.errors import RequestError, RetryLater
from hindsight_common.ids import Owner
from hindsight_common.messaging.connection import Bus
from hindsight_common.ports.log import Logged
from hindsight_common.settings import Settings


@pytest.fixture
async def workers(bus: Bus, tmp_path: Path) -> AsyncIterator[Workers]:
    async with Workers(bus, tmp_path) as running:
        yield running


async def _promoted(workers: Workers, user: str) -> None:
    result = (await workers.admin("consolidate", user_id=user))[-1]["result"]

    async def projected() -> bool:
        return bool(await workers.graph.position() >= result["position"])

    await eventually(projected)


async def test_what_is_forgotten_after_a_rebuild_that_broke_off_leaves_the_graph(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    await _promoted(workers, "u-1")

    async def broken(**_: object) -> AsyncIterator[Logged]:
        raise RetryLater("injected")
        yield

    monkeypatch.setattr(workers.core.log, "read_all", broken)
    with pytest.raises(RequestError):
        await workers.admin("rebuild-graph")
    monkeypatch.undo()
    receipt = (await workers.ask("forget", user_id="u-1", everything=True, confirm=True))["receipt"]
    assert receipt["status"] == "done"
    assert (await workers.graph.read(workers.core.ids.owner("default", "u-1"))).nodes == ()


async def test_a_rebuild_reads_the_log_of_each_user_once(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n, place in enumerate(("Lyon", "Porto", "Oslo")):
        await workers.say("u-1", f"t-{n}", f"I live in {place}.", occurred_at=f"2026-0{n + 1}-04T09:15:00Z")
        await _promoted(workers, "u-1")
    graph = await workers.graph.read(workers.core.ids.owner("default", "u-1"))
    read, folded = workers.core.log.read, Counter[Owner]()

    def counted(owner: Owner) -> AsyncIterator[Logged]:
        folded[owner] += 1
        return read(owner)

    monkeypatch.setattr(workers.core.log, "read", counted)
    steps = await workers.admin("rebuild-graph")
    assert steps[-1]["result"] == {"store": "graph", "users": 1, "switched": True}
    assert set(folded.values()) == {1}
    assert await workers.graph.read(workers.core.ids.owner("default", "u-1")) == graph


async def test_a_graph_above_the_configured_size_is_written_and_counted(
    bus: Bus, tmp_path: Path, metric_points: Callable[[str], list[tuple[dict[str, object], float]]]
) -> None:
    def oversized() -> float:
        return sum(value for _, value in metric_points("memory.graph.oversized"))

    before = oversized()
    layers = {"semantic": {"max_graph_nodes": 2}}
    async with Workers(bus, tmp_path, settings=Settings(memory_layers=layers)) as workers:
        await workers.say("u-1", "t-1", "I live in Lyon.")
        await _promoted(workers, "u-1")
        assert oversized() == before
        await workers.say("u-1", "t-2", "I am allergic to peanuts.")
        await _promoted(workers, "u-1")
        assert oversized() == before + 1
        graph = await workers.graph.read(workers.core.ids.owner("default", "u-1"))
        assert len(graph.nodes) == 3
