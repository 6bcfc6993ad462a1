"""What holds for the graph in Neo4j beyond its port: several processes, large changes, a server that is away."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neo4j import AsyncDriver, AsyncGraphDatabase
from test_graph_store import ALICE, BOB, edge, emptied, graph, named

from hindsight_common.adapters import neo4j_rows
from hindsight_common.adapters.neo4j_connection import Neo4jConnection
from hindsight_common.adapters.neo4j_cypher import SCHEMA
from hindsight_common.adapters.neo4j_graph import Neo4jGraph
from hindsight_common.adapters.neo4j_rows import Standing, Wanted, node_id
from hindsight_common.domain.graph import Node, UserGraph
from hindsight_common.errors import RetryLater
from hindsight_common.ports.graph import FAN


async def test_two_processes_that_write_one_person_at_once_leave_one_node(neo4j_url: str) -> None:
    await emptied(neo4j_url)
    stores = [Neo4jGraph(neo4j_url), Neo4jGraph(neo4j_url)]
    graphs = [named("Ada", f"friend {n}", f"friend {n + 1}") for n in range(20)]
    # every one of them ends without an error, deadlocks included
    await asyncio.gather(
        *(stores[n % 2].replace(owner, each, n) for n, each in enumerate(graphs) for owner in (ALICE, BOB))
    )
    for owner in (ALICE, BOB):
        assert await stores[0].read(owner) == graphs[-1]
    async with AsyncGraphDatabase.driver(neo4j_url) as driver:
        found = await driver.execute_query(
            "MATCH (e:Entity {key: 'ada'}) RETURN e.user AS user, count(e) AS count"
        )
    assert {record["user"]: record["count"] for record in found.records} == {
        ALICE.user_key: 1,
        BOB.user_key: 1,
    }
    for store in stores:
        await store.close()


async def test_everything_in_the_database_names_its_tenant_and_user(neo4j_url: str) -> None:
    await emptied(neo4j_url)
    store = Neo4jGraph(neo4j_url)
    await store.replace(ALICE, graph("osaka", "berlin"), 1)
    async with AsyncGraphDatabase.driver(neo4j_url) as driver:
        found = await driver.execute_query(
            "MATCH (n:Owned)-[r]->(m) RETURN [n.tenant, r.tenant, m.tenant, n.user, r.user, m.user] AS of"
        )
    tenant, user = ALICE.tenant, ALICE.user_key
    assert [record["of"] for record in found.records] == [[tenant, tenant, tenant, user, user, user]] * 2
    await store.close()


async def _without_a_schema(neo4j_url: str, *statements: str) -> None:
    await emptied(neo4j_url)
    async with AsyncGraphDatabase.driver(neo4j_url) as driver:
        for name, made in SCHEMA.items():
            await driver.execute_query(
                f"DROP {'INDEX' if 'INDEX' in made else 'CONSTRAINT'} {name} IF EXISTS"
            )
        for statement in statements:
            await driver.execute_query(statement)


async def _names_of_the_schema(neo4j_url: str) -> set[str]:
    async with AsyncGraphDatabase.driver(neo4j_url) as driver:
        constraints = (await driver.execute_query("SHOW CONSTRAINTS YIELD name")).records
        indexes = (await driver.execute_query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'")).records
    assert {record["name"] for record in constraints} <= {record["name"] for record in indexes}
    return {record["name"] for record in indexes}


async def test_processes_that_start_together_with_impatient_askers_all_get_ready(neo4j_url: str) -> None:
    """Each creation waits for the others' locks, and whoever asks gives up long before the indexes are there."""
    for _ in range(5):
        await _without_a_schema(neo4j_url)
        stores = [Neo4jGraph(neo4j_url) for _ in range(3)]

        async def impatient(store: Neo4jGraph) -> None:
            while True:
                try:
                    async with asyncio.timeout(0.05):
                        await store.answers()
                except (TimeoutError, RetryLater):
                    continue
                return

        async with asyncio.timeout(60):
            await asyncio.gather(*(impatient(store) for store in stores for _ in range(2)))
        assert await _names_of_the_schema(neo4j_url) == set(SCHEMA)
        for store in stores:
            await store.close()


@pytest.mark.parametrize("name", [name for name, made in SCHEMA.items() if "CONSTRAINT" in made])
async def test_an_index_that_lost_its_constraint_does_not_stand_in_the_way(neo4j_url: str, name: str) -> None:
    """What the server leaves of a constraint whose creation it broke off."""
    await _without_a_schema(neo4j_url, f"CREATE INDEX {name} FOR (n:Left) ON (n.behind)")
    store = Neo4jGraph(neo4j_url)
    await store.answers()
    assert await _names_of_the_schema(neo4j_url) == set(SCHEMA)
    await store.close()


async def test_a_reader_that_leaves_does_not_take_the_connection_with_it(neo4j_url: str) -> None:
    """To make another would take longer than the next reader waits, and so for ever on a busy machine."""

    async def connections(driver: AsyncDriver) -> set[str]:
        listed = await driver.execute_query(
            "CALL dbms.listConnections() YIELD connectionId, userAgent RETURN connectionId AS id, userAgent AS agent"
        )
        return {record["id"] for record in listed.records}

    connection = Neo4jConnection(neo4j_url, user=None, password=None, database="neo4j")
    async with AsyncGraphDatabase.driver(neo4j_url) as driver:
        await connection.read("RETURN 1 AS one")
        before = await connections(driver)
        for _ in range(5):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await connection.read("UNWIND range(1, 1000000) AS n RETURN count(n) AS count")
            # behind the one that nobody waits for any more
            await connection.read("RETURN 1 AS one")
        assert before <= await connections(driver)
    await connection.close()


async def test_a_change_too_large_for_one_transaction_ends_in_the_same_graph(
    neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await emptied(neo4j_url)
    store = Neo4jGraph(neo4j_url)
    monkeypatch.setattr(neo4j_rows, "MOST_CHANGES", 3)
    await store.replace(ALICE, named(*(f"old {n}" for n in range(8))), 1)
    await store.replace(ALICE, named(*(f"new {n}" for n in range(8)), "old 3"), 2)
    assert await store.read(ALICE) == named(*(f"new {n}" for n in range(8)), "old 3")
    await store.close()


async def test_only_a_node_with_many_edges_remembers_the_best_of_them(neo4j_url: str) -> None:
    await emptied(neo4j_url)
    store = Neo4jGraph(neo4j_url)
    await store.replace(ALICE, named(*(f"friend {n}" for n in range(300))), 1)
    async with AsyncGraphDatabase.driver(neo4j_url) as driver:
        remembered = "MATCH (n:Owned) WHERE n.best IS NOT NULL RETURN n.key AS key, size(n.best) AS size"
        found = await driver.execute_query(remembered)
        assert [record.data() for record in found.records] == [{"key": "user", "size": FAN}]
        await store.replace(ALICE, named("friend 7"), 2)
        assert (await driver.execute_query(remembered)).records == []
    await store.close()


async def test_a_node_that_lost_most_of_its_edges_tells_those_that_are_left(neo4j_url: str) -> None:
    await emptied(neo4j_url)
    store = Neo4jGraph(neo4j_url)
    await store.replace(ALICE, named(*(f"friend {n}" for n in range(300))), 1)
    few = named("friend 7", "friend 299", "somebody new")
    await store.replace(ALICE, few, 2)
    assert sorted((await store.neighbourhood(ALICE, ["user"])).edges, key=lambda e: e.memory_id) == list(
        few.edges
    )
    await store.close()


async def test_a_server_that_is_away_costs_little_time_and_says_come_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    store = Neo4jGraph(f"bolt://127.0.0.1:{port}")
    async with asyncio.timeout(5):
        with pytest.raises(RetryLater):
            await store.neighbourhood(ALICE, ["user"])
    await store.close()


_KEYS = st.sampled_from("abcdef")


@st.composite
def _graphs(draw: st.DrawFn) -> UserGraph:
    drawn = draw(st.dictionaries(st.tuples(_KEYS, _KEYS), st.sampled_from([0.1, 0.9]), max_size=8))
    edges = tuple(edge(f"m{a}{b}", a, b, weight) for (a, b), weight in sorted(drawn.items()))
    names = {end[1] for each in edges for end in (each.source, each.target)}
    suffix = draw(st.sampled_from(["", "!"]))
    return UserGraph(tuple(Node("Entity", name, name + suffix) for name in sorted(names)), edges)


@given(before=_graphs(), after=_graphs(), most=st.integers(1, 4))
def test_changes_in_parts_end_at_the_graph_and_leave_no_node_alone_on_the_way(
    before: UserGraph, after: UserGraph, most: int
) -> None:
    nodes = {node_id(ALICE, (n.type, n.key)): n.name for n in before.nodes}
    edges = {edge_id: f"element of {edge_id}" for edge_id in Wanted(ALICE, before).edges}
    said = {**Wanted(ALICE, before).edges, **Wanted(ALICE, after).edges}
    standing, wanted = Standing(nodes, edges, frozenset()), Wanted(ALICE, after)
    for _ in range(20):
        change = wanted.change(standing, most)
        standing = standing.after(change)
        for gone in change.gone_nodes:
            assert gone in standing.nodes
            assert all(gone not in _ends(said[each]) for each in standing.edges)
        ends = {end for each in standing.edges for end in _ends(said[each])}
        assert ends <= standing.nodes.keys()
        if change.complete:
            break
        assert change.gone_nodes == []
    assert change.complete
    assert standing.edges.keys() == wanted.edges.keys()
    left = {key: name for key, name in standing.nodes.items() if key not in change.gone_nodes}
    assert left == {key: node.name for key, node in wanted.nodes.items()}


def _ends(e: object) -> set[str]:
    assert isinstance(e, type(edge("m", "a", "b", 0.5)))
    return {node_id(ALICE, e.source), node_id(ALICE, e.target)}


def test_an_edge_that_changed_is_another_and_one_that_did_not_is_the_same() -> None:
    before = named("Ada")
    changed = replace(before, edges=(replace(before.edges[0], valid_until="2026-06-01T00:00:00+00:00"),))
    assert Wanted(ALICE, before).edges.keys() == Wanted(ALICE, named("Ada")).edges.keys()
    assert not Wanted(ALICE, before).edges.keys() & Wanted(ALICE, changed).edges.keys()
    assert not Wanted(ALICE, before).edges.keys() & Wanted(BOB, before).edges.keys()
