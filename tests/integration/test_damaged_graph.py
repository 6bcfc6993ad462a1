"""What a person, or a disk, does to the graph's file: it is made anew from the log, and no event is lost on it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from workers import Workers, eventually

from hindsight_common.adapters.sqlite_graph import SqliteGraph
from hindsight_common.domain.graph import UserGraph
from hindsight_common.errors import StopAndFix
from hindsight_common.ids import Owner
from hindsight_common.messaging.connection import Bus


def _noise(file: Path, start: int = 0) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[:start] + random.Random(7).randbytes(len(whole) - start))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(_noise, id="noise"),
        pytest.param(lambda file: _noise(file, 4096), id="noise behind the first page"),
        pytest.param(lambda file: file.write_bytes(file.read_bytes()[:5000]), id="cut"),
        pytest.param(lambda file: file.write_bytes(b""), id="empty"),
        pytest.param(Path.unlink, id="gone"),
    ],
)
async def test_a_graph_damaged_while_nothing_runs_is_filled_from_the_log(
    bus: Bus, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    async with Workers(bus, tmp_path) as workers:
        owner = workers.core.ids.owner("default", "u-1")
        await workers.say("u-1", "t-1", "I live in Lyon.")
        result = (await workers.admin("consolidate", user_id="u-1"))[-1]["result"]

        async def projected() -> bool:
            return bool(await workers.graph.position() >= result["position"])

        await eventually(projected)
        whole = await workers.graph.read(owner)
        assert whole.edges
    damage(tmp_path / "graph" / "graph.sqlite")
    async with Workers(bus, tmp_path) as workers:

        async def the_same() -> bool:
            return await workers.graph.read(owner) == whole

        await eventually(the_same)


async def test_a_graph_damaged_in_use_stops_the_process_rather_than_costing_an_event(tmp_path: Path) -> None:
    file, owner = tmp_path / "graph.sqlite", Owner("default", "a1" * 16)
    graph = SqliteGraph(file)
    await graph.replace(owner, UserGraph((), ()), 1)
    await graph.close()
    graph = SqliteGraph(file)
    _noise(file)
    with pytest.raises(StopAndFix, match="start again"):
        await graph.replace(owner, UserGraph((), ()), 2)
    await graph.close()
    graph = SqliteGraph(file)
    assert await graph.position() == 0
    await graph.close()
