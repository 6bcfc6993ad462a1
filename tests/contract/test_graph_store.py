"""What every graph store promises, held to by SQLite and by a real Neo4j server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neo4j import AsyncGraphDatabase

from hindsight_common.adapters.neo4j_graph import Neo4jGraph
from hindsight_common.adapters.sqlite_graph import SqliteGraph
from hindsight_common.domain.graph import Edge, Node, UserGraph
from hindsight_common.domain.text import normal_key
from hindsight_common.ids import Owner
from hindsight_common.ports.graph import FAN, GraphCounts, GraphStore

ALICE, BOB = Owner("default", "a" * 32), Owner("default", "b" * 32)
ALICE_ELSEWHERE = Owner("other", "a" * 32)


@pytest.fixture(params=["sqlite", "neo4j"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GraphStore]:
    graph: GraphStore
    if request.param == "sqlite":
        graph = SqliteGraph(tmp_path / "graph.sqlite")
    else:
        url = request.getfixturevalue("neo4j_url")
        await emptied(url)
        graph = Neo4jGraph(url)
    yield graph
    await graph.close()


async def emptied(url: str) -> None:
    async with AsyncGraphDatabase.driver(url) as driver, driver.session() as session:
        # in batches: a thousand nodes of ten tests are soon too many at once
        await (await session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS")).consume()


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


def edge(memory_id: str, source: str, target: str, importance: float) -> Edge:
    return Edge(
        memory_id=memory_id,
        relation="KNOWS",
        source=("Entity", source),
        target=("Entity", target),
        predicate="knows",
        negated=False,
        importance=importance,
        evidence=2,
        valid_from="2026-01-01T00:00:00+00:00",
        valid_until=None,
    )


def named(*names: str) -> UserGraph:
    """The user knows each of them."""
    nodes = [Node("Entity", "user", "user"), *(Node("Entity", normal_key(name), name) for name in names)]
    edges = [edge(f"m-{normal_key(name)}", "user", normal_key(name), 0.5) for name in names]
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


async def test_a_write_that_arrives_late_takes_nothing_newer_back(store: GraphStore) -> None:
    await store.replace(ALICE, graph("berlin"), 9)
    await store.replace(ALICE, graph("osaka"), 8)
    assert await store.read(ALICE) == graph("berlin")


async def test_nodes_and_edges_are_counted_for_one_owner(store: GraphStore) -> None:
    await store.replace(ALICE, graph("osaka", "berlin"), 1)
    await store.replace(BOB, graph("osaka"), 2)
    assert await store.counts(ALICE) == GraphCounts(nodes=3, edges=2)
    assert await store.counts(ALICE_ELSEWHERE) == GraphCounts(nodes=0, edges=0)


@pytest.mark.parametrize("spelling", ["José", "JOSE ", "ｊｏｓé", "jose\u0301", "J o s é"])
async def test_a_name_is_found_in_every_spelling(store: GraphStore, spelling: str) -> None:
    await store.replace(ALICE, named("José", "ACME"), 1)
    assert await store.find(ALICE, [spelling]) == (Node("Entity", "jose", "José"),)


async def test_traditional_and_simplified_chinese_find_the_same_and_likenesses_stay_apart(
    store: GraphStore,
) -> None:
    await store.replace(ALICE, named("深圳图书馆", "基金A", "基金B经理"), 1)
    assert [n.name for n in await store.find(ALICE, ["深圳圖書館"])] == ["深圳图书馆"]
    assert [n.name for n in await store.find(ALICE, ["基金Ａ", "基金", "nobody"])] == ["基金A"]


async def test_an_event_is_found_by_its_id(store: GraphStore) -> None:
    event = Node("Event", "0b6f6f0e-2d5c-4c4e-8a3c-1f2e3d4c5b6a", "went hiking")
    await store.replace(ALICE, UserGraph((event,), ()), 1)
    assert await store.find(ALICE, [event.key]) == (event,)


@pytest.mark.parametrize(
    "asked", ["审批流程", "ERP-7/A", "erp-7/a", 'C++ / "root" causes: AND NOT (x) ERP-7/A ~*?', "審批流程？"]
)
async def test_part_of_a_name_finds_it_whatever_signs_stand_around(store: GraphStore, asked: str) -> None:
    await store.replace(ALICE, named("订单审批流程需要财务盖章 (ERP-7/A)", "采购申请"), 1)
    await store.replace(BOB, named("审批流程 ERP-7/A"), 2)
    found = await store.search(ALICE, asked)
    assert [node.name for node in found] == ["订单审批流程需要财务盖章 (ERP-7/A)"]


async def test_the_name_that_shares_most_comes_first(store: GraphStore) -> None:
    await store.replace(ALICE, named("red bicycle", "red mountain bicycle", "red wine"), 1)
    found = await store.search(ALICE, "the red mountain bicycle", limit=2)
    assert [node.name for node in found] == ["red mountain bicycle", "red bicycle"]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=40) | st.text(alphabet='+-&|!(){}[]^"~*?:\\/ aORNDT', max_size=40))
async def test_no_text_breaks_a_look_up(store: GraphStore, text: str) -> None:
    assert await store.search(BOB, text) == ()
    assert await store.find(BOB, [text]) == ()
    assert await store.neighbourhood(BOB, [text]) == UserGraph((), ())


async def test_a_neighbourhood_reaches_two_steps_nearest_and_weightiest_first(store: GraphStore) -> None:
    chain = UserGraph(
        nodes=tuple(Node("Entity", key, key) for key in "abcdx"),
        edges=(
            edge("m1", "a", "b", 0.3),
            edge("m2", "b", "c", 0.9),
            edge("m3", "c", "d", 0.9),
            edge("m4", "x", "a", 0.8),
        ),
    )
    await store.replace(ALICE, chain, 1)
    await store.replace(BOB, chain, 2)
    one = await store.neighbourhood(ALICE, ["a"], hops=1)
    assert [e.memory_id for e in one.edges] == ["m4", "m1"]
    assert [n.key for n in one.nodes] == ["a", "b", "x"]
    two = await store.neighbourhood(ALICE, ["a"])
    assert [e.memory_id for e in two.edges] == ["m4", "m1", "m2"]
    assert two.edges[2] == chain.edges[1]
    assert [e.memory_id for e in (await store.neighbourhood(ALICE, ["a"], limit=1)).edges] == ["m4"]
    assert await store.neighbourhood(ALICE_ELSEWHERE, ["a"]) == UserGraph((), ())


async def test_the_user_is_a_start_but_never_a_step_on_the_way(store: GraphStore) -> None:
    await store.replace(ALICE, graph("osaka", "berlin"), 1)
    from_osaka = await store.neighbourhood(ALICE, ["osaka"])
    assert [e.target[1] for e in from_osaka.edges] == ["osaka"]
    from_the_user = await store.neighbourhood(ALICE, ["user"])
    assert [e.target[1] for e in from_the_user.edges] == ["berlin", "osaka"]


async def test_of_a_node_with_thousands_of_edges_the_weightiest_are_told(store: GraphStore) -> None:
    many = 3_000
    hub = UserGraph(
        nodes=(Node("Entity", "user", "user"), *(Node("Entity", f"t{n:04}", f"t{n}") for n in range(many))),
        edges=tuple(edge(f"m{n:04}", "user", f"t{n:04}", (n % 1000) / 1000) for n in range(many)),
    )
    await store.replace(ALICE, hub, 1)
    found = await store.neighbourhood(ALICE, ["user"])
    expected = sorted(hub.edges, key=lambda e: (-e.importance, e.memory_id))[:FAN]
    assert list(found.edges) == expected


async def test_odd_predicates_and_names_come_back_as_they_were_and_do_nothing_else(store: GraphStore) -> None:
    odd = [("评分项", "由...组成", "non-compliant"), ("user", "x]->() DETACH DELETE n //", "a`b'\"\\")]
    written = UserGraph(
        nodes=tuple(
            sorted(
                (Node("Entity", name, name) for source, _, target in odd for name in (source, target)),
                key=lambda n: n.key,
            )
        ),
        edges=tuple(
            replace(edge(f"m{n}", source, target, 0.4), predicate=name)
            for n, (source, name, target) in enumerate(odd)
        ),
    )
    await store.replace(ALICE, written, 1)
    await store.replace(BOB, graph("osaka"), 2)
    assert await store.read(ALICE) == written
    assert await store.read(BOB) == graph("osaka")


async def test_writers_of_one_owner_at_once_leave_each_name_once(store: GraphStore) -> None:
    """All of them mention the same person; the newest stands in the end, and nothing twice."""
    graphs = [named("Ada", *(f"friend {n}.{k}" for k in range(5))) for n in range(20)]
    await asyncio.gather(*(store.replace(ALICE, each, n) for n, each in enumerate(graphs)))
    assert await store.read(ALICE) == graphs[-1]
    assert await store.find(ALICE, ["ADA"]) == (Node("Entity", "ada", "Ada"),)


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
