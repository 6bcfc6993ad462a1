"""From promoted memories to nodes and relations of the closed set, none of them alone."""

from __future__ import annotations

from dataclasses import replace

from fold_strategies import evidence, given_turn, logged
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_common.domain.fold import Ledger, fold
from hindsight_common.domain.graph import Node, UserGraph, graph_of
from hindsight_common.domain.graph_checks import checked
from hindsight_common.domain.memory import Consolidated, LogEvent, Memory
from hindsight_common.domain.predicates import RELATIONS
from hindsight_consolidator.domain.promotion import RULE, promotions


def _memories(*items: object) -> list[Memory]:
    return list(fold([("e", given_turn("t1", *items))]).memories.values())  # type: ignore[arg-type]


def test_a_fact_becomes_one_relation_between_two_entities() -> None:
    graph = graph_of(_memories(evidence(predicate="lives_in", object_="osaka")))
    assert [(e.source, e.relation, e.target, e.predicate) for e in graph.edges] == [
        (("Entity", "user"), "LOCATED_IN", ("Entity", "osaka"), "lives_in")
    ]


def test_an_event_hangs_on_its_speaker_and_its_day() -> None:
    graph = graph_of(_memories(evidence(predicate=None, object_="went hiking")))
    assert {(e.relation, e.target[0]) for e in graph.edges} == {
        ("PARTICIPATED_IN", "Event"),
        ("OCCURRED_IN", "Context"),
    }
    assert ("Context", "2026-01-01") in {(n.type, n.key) for n in graph.nodes}


@settings(max_examples=100)
@given(st.lists(logged(), max_size=8), st.randoms(use_true_random=False))
def test_every_graph_is_connected_closed_and_the_same_in_any_order(
    events: list[tuple[str, LogEvent]], rng: object
) -> None:
    memories = list(fold(events).memories.values())
    graph = graph_of(memories)
    rng.shuffle(memories)  # type: ignore[attr-defined]
    assert graph_of(memories) == graph
    nodes = {(n.type, n.key) for n in graph.nodes}
    ends = {end for edge in graph.edges for end in (edge.source, edge.target)}
    assert ends == nodes
    sound = checked(graph)
    assert sound.graph == graph
    assert not sound.faults.keys() - {"conflict"}
    assert {e.relation for e in graph.edges} <= set(RELATIONS)
    assert {n.type for n in graph.nodes} <= {"Entity", "Event", "Context"}


@given(st.lists(logged(), max_size=8))
def test_a_second_consolidation_promotes_nothing(events: list[tuple[str, LogEvent]]) -> None:
    ledger = Ledger()
    for event_id, event in events:
        ledger.apply(event_id, event)
    due = promotions(ledger)
    if due:
        ledger.apply("consolidation", Consolidated(RULE, given_turn("t1").accepted_at, due))
    assert promotions(ledger) == ()


def test_what_is_in_doubt_is_not_promoted() -> None:
    ledger = Ledger()
    ledger.apply("a", given_turn("t1", evidence("t1", predicate="email", object_="osaka")))
    ledger.apply("b", given_turn("t2", evidence("t2", predicate="email", object_="berlin", day=1)))
    ledger.apply("c", given_turn("t3", evidence("t3", provisional=True), outcome="provisional"))
    ledger.apply("d", given_turn("t4", evidence("t4", predicate="born_in", quarantined="instruction")))
    promoted = {p.memory_id for p in promotions(ledger)}
    assert promoted == {evidence(predicate="email", object_="osaka").memory_id}


def test_what_cannot_stand_is_left_out_and_counted() -> None:
    sound = graph_of(_memories(evidence(predicate="lives_in", object_="osaka")))
    (edge,) = sound.edges
    backwards = replace(edge, memory_id="m2", valid_until="1999-01-01T00:00:00+00:00")
    dangling = replace(edge, memory_id="m3", target=("Entity", "nowhere"))
    broken = UserGraph(
        nodes=(*sound.nodes, Node("Entity", "alone", "alone")), edges=(edge, backwards, dangling)
    )
    assert checked(broken).graph == sound
    assert checked(broken).faults == {"backwards": 1, "dangling": 1, "orphan": 1}


def test_two_standing_values_of_what_can_have_one_are_told_and_kept() -> None:
    graph = graph_of(_memories(evidence(predicate="lives_in", object_="osaka")))
    (edge,) = graph.edges
    other = replace(edge, memory_id="m2", target=("Entity", "berlin"))
    both = UserGraph((*graph.nodes, Node("Entity", "berlin", "Berlin")), (edge, other))
    assert checked(both).graph == both
    assert checked(both).faults == {"conflict": 1}
    ended = replace(other, valid_until="2030-01-01T00:00:00+00:00")
    assert checked(replace(both, edges=(edge, ended))).faults == {}
