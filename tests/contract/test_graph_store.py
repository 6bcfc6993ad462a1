"""What every graph store promises; `GRAPHS` names those that are held to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hindsight_common.adapters.sqlite_graph import SqliteGraph
from hindsight_common.domain.graph import Edge, Node, UserGraph
from hindsight_common.ids import Owner
from hindsight_common.ports.graph import GraphStore

ALICE, BOB = Owner("default", "a" * 32), Owner("default", "b" * 32)
ALICE_ELSEWHERE = Owner("other", "a" * 32)

GRAPHS: dict[str, Callable[[Path], GraphStore]] = {
    "sqlite": lambda folder: SqliteGraph(folder / "graph.sqlite")
}


@pytest.fixture(params=GRAPHS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GraphStore]:
    graph = GRAPHS[request.param](tmp_path)
    yield graph
    await graph.close()


def graph(*places: str) -> UserGraph:
    nodes = [Node("Entity", "user", "user"), *(Node("Entity", place, place.title()) for place in places)]
    edges = [
        Edge(
            memory_id=f"memory-{place}",
            relation="LOCATED_IN",
            source=("Entity", "user"),
            target=("Entity", place),
            predicate="lives_in",
            negated=False,
            importance=0.7,
            evidence=1,
            valid_from="2026-01-01T00:00:00+00:00",
            valid_until=None,
        )
        for place in places
    ]
    return UserGraph(
        tuple(sorted(nodes, key=lambda n: n.key)), tuple(sorted(edges, key=lambda e: e.memory_id))
    )


async def test_a_graph_reads_back_as_written(store: GraphStore) -> None:
    await store.replace(ALICE, graph("osaka", "上海"), 7)
    assert await store.read(ALICE) == graph("osaka", "上海")
    assert await store.position() == 7


async def test_replacing_removes_what_is_gone_and_changes_what_changed(store: GraphStore) -> None:
    await store.replace(ALICE, graph("osaka", "berlin"), 1)
    ended = graph("berlin")
    ended = replace(
        ended, edges=(replace(ended.edges[0], valid_until="2026-05-01T00:00:00+00:00", evidence=3),)
    )
    for _ in range(2):
        await store.replace(ALICE, ended, 2)
        assert await store.read(ALICE) == ended


async def test_an_older_position_never_takes_the_newer_back(store: GraphStore) -> None:
    await store.replace(ALICE, graph("osaka"), 9)
    await store.replace(BOB, graph("osaka"), 4)
    assert await store.position() == 9


async def test_owners_never_see_or_touch_each_other(store: GraphStore) -> None:
    for owner in (ALICE, BOB, ALICE_ELSEWHERE):
        await store.replace(owner, graph("osaka"), 1)
    await store.replace(BOB, graph("berlin"), 2)
    assert await store.delete_owner(ALICE) == 2
    assert await store.read(ALICE) == UserGraph((), ())
    assert await store.read(ALICE_ELSEWHERE) == graph("osaka")
    assert await store.read(BOB) == graph("berlin")


async def test_a_rebuild_answers_only_when_it_is_finished(store: GraphStore) -> None:
    await store.replace(ALICE, graph("osaka"), 5)
    await store.begin_rebuild()
    await store.replace(ALICE, graph("berlin"), 6)
    assert await store.read(ALICE) == graph("osaka")
    assert await store.position() == 5
    await store.begin_rebuild()  # an interrupted one begins again, empty
    await store.replace(BOB, graph("berlin"), 8)
    await store.finish_rebuild()
    assert await store.read(ALICE) == UserGraph((), ())
    assert await store.read(BOB) == graph("berlin")
    assert await store.position() == 8


async def test_an_abandoned_rebuild_leaves_nothing_and_the_live_graph_is_written_again(
    store: GraphStore,
) -> None:
    await store.replace(ALICE, graph("osaka"), 5)
    await store.begin_rebuild()
    await store.replace(BOB, graph("berlin"), 9)
    await store.abandon_rebuild()
    assert await store.read(BOB) == UserGraph((), ())
    assert await store.position() == 5
    await store.replace(ALICE, graph("berlin"), 6)
    assert await store.read(ALICE) == graph("berlin")
    assert await store.position() == 6


async def test_many_owners_at_once_lose_nothing(store: GraphStore) -> None:
    owners = [Owner("default", f"{n:032x}") for n in range(20)]
    await asyncio.gather(*(store.replace(owner, graph("osaka"), n) for n, owner in enumerate(owners)))
    assert [await store.read(owner) for owner in owners] == [graph("osaka")] * 20


async def test_what_is_deleted_is_gone_from_the_file(tmp_path: Path) -> None:
    store = SqliteGraph(tmp_path / "graph.sqlite")
    await store.replace(ALICE, graph("the-canary-sings"), 1)
    await store.replace(BOB, graph("osaka"), 2)

    def on_disk() -> bool:
        return any(b"canary" in path.read_bytes().lower() for path in tmp_path.iterdir())

    assert on_disk()
    await store.replace(ALICE, UserGraph((), ()), 3)
    assert not on_disk()
    await store.close()
