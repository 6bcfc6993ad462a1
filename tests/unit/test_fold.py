"""The fold: total, and the same for any order, any repetition and any split into deliveries."""

from __future__ import annotations

import random
from typing import get_args

from fold_strategies import GENERATORS, evidence, given_turn, logged, moment, turn_key
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_common.domain.fold import Ledger, State, closings_of, fold
from hindsight_common.domain.memory import Consolidated, Forgotten, LogEvent, Memory, Promotion, TurnGiven
from hindsight_common.events.log import body_of, kind_of, read_body


def _log(*events: LogEvent) -> list[tuple[str, LogEvent]]:
    return [(f"id-{n}", event) for n, event in enumerate(events)]


def _only(state: State, predicate: str, object_: str) -> Memory:
    found = [m for m in state.memories.values() if m.predicate == predicate and m.object_key == object_]
    assert len(found) == 1
    return found[0]


def _forget(*pieces: tuple[str, str | None], scope: str = "items") -> Forgotten:
    return Forgotten(scope, pieces, moment(9))  # type: ignore[arg-type]


def test_every_kind_of_log_event_has_a_generator() -> None:
    assert set(GENERATORS) == set(get_args(LogEvent))


@settings(max_examples=300)
@given(st.lists(logged(), max_size=12), st.randoms(use_true_random=False), st.data())
def test_any_order_and_any_duplicates_give_the_same_state(
    events: list[tuple[str, LogEvent]], rng: random.Random, data: st.DataObject
) -> None:
    expected = fold(events)
    again = events + (data.draw(st.lists(st.sampled_from(events), max_size=6)) if events else [])
    rng.shuffle(again)
    assert fold(again) == expected


@given(st.lists(logged(), max_size=12), st.data())
def test_any_split_into_deliveries_gives_the_same_state(
    events: list[tuple[str, LogEvent]], data: st.DataObject
) -> None:
    ledger = Ledger()
    rest = list(events)
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        delivery, rest = rest[:size], rest[size:]
        for event_id, event in delivery:
            ledger.apply(event_id, event)
        ledger.memories()  # a projection looks in between; looking changes nothing
    assert ledger.state() == fold(events)


@given(st.lists(logged(), max_size=12))
def test_the_groups_that_an_event_touches_are_all_that_it_changes(events: list[tuple[str, LogEvent]]) -> None:
    """What a projection relies on: rows of other groups need no look."""
    ledger = Ledger()
    shown: dict[str, Memory] = {}
    for event_id, event in events:
        for group in ledger.apply(event_id, event):
            for memory_id in ledger.memory_ids(group):
                shown.pop(memory_id, None)
            shown |= ledger.members(group)
    assert shown == ledger.memories()


@given(st.lists(logged(), max_size=10))
def test_nothing_lives_on_evidence_that_a_tombstone_covers(events: list[tuple[str, LogEvent]]) -> None:
    ledger = Ledger()
    for event_id, event in events:
        ledger.apply(event_id, event)
    for memory in ledger.memories().values():
        assert memory.evidence
        assert not any(ledger.is_forgotten(turn, memory_id) for turn, memory_id in memory.evidence)


@given(st.lists(logged(), max_size=10))
def test_intervals_are_in_order_and_never_overlap(events: list[tuple[str, LogEvent]]) -> None:
    for memory in fold(events).memories.values():
        for (start, end), following in zip(memory.intervals, [*memory.intervals[1:], None], strict=True):
            assert end is None or start <= end
            assert following is None or (end is not None and end <= following[0])
        assert (memory.status == "superseded") <= (memory.valid_until is not None)


@given(st.one_of(*(g for kind, g in GENERATORS.items() if kind.__name__ != "Erased")))
def test_a_body_reads_back_as_the_event_that_was_written(event: LogEvent) -> None:
    assert read_body(kind_of(event), 1, body_of(event)) == event
    assert body_of(read_body(kind_of(event), 1, body_of(event))) == body_of(event)


def test_the_same_thing_said_twice_is_one_memory_with_two_sources() -> None:
    first, second = evidence("t1", confidence=0.5), evidence("t2", day=1, confidence=0.5, roles=("presales",))
    state = fold(_log(given_turn("t1", first), given_turn("t2", second)))
    memory = _only(state, "likes", "osaka")
    assert [s.turn_id for s in memory.sources] == ["t1", "t2"]
    assert memory.content == second.content
    assert memory.confidence == 0.75
    assert memory.role_scope == ("presales", "shared")


def test_a_newer_home_supersedes_the_older_whatever_arrives_first() -> None:
    osaka = given_turn("t1", evidence("t1", predicate="lives_in", object_="osaka", day=0))
    berlin = given_turn("t2", evidence("t2", predicate="lives_in", object_="berlin", day=90, valid_day=60))
    for log in (_log(osaka, berlin), _log(berlin, osaka)):
        state = fold(log)
        old, new = _only(state, "lives_in", "osaka"), _only(state, "lives_in", "berlin")
        assert (old.status, old.valid_until) == ("superseded", moment(60))
        assert (new.status, new.valid_until) == ("active", None)


def test_a_fact_can_hold_in_several_intervals() -> None:
    log = [
        given_turn(f"t{n}", evidence(f"t{n}", predicate="lives_in", object_=place, day=n * 10))
        for n, place in enumerate(["osaka", "berlin", "osaka"], start=1)
    ]
    state = fold(_log(*log))
    osaka = _only(state, "lives_in", "osaka")
    assert osaka.intervals == ((moment(10), moment(20)), (moment(30), None))
    assert osaka.held_at(moment(15))
    assert not osaka.held_at(moment(25))
    assert osaka.status == "active"


def test_a_negation_ends_its_positive_twin_in_every_class() -> None:
    for predicate in ("likes", "lives_in", "email", "born_in", "an_unknown_predicate"):
        said = given_turn("t1", evidence("t1", predicate=predicate))
        no_more = given_turn("t2", evidence("t2", predicate=predicate, negated=True, day=5))
        state = fold(_log(no_more, said))
        affirmed = next(m for m in state.memories.values() if not m.negated)
        assert (affirmed.status, affirmed.valid_until) == ("superseded", moment(5)), predicate


def test_dislike_ends_like_and_liking_again_ends_the_dislike() -> None:
    log = _log(
        given_turn("t1", evidence("t1", predicate="likes")),
        given_turn("t2", evidence("t2", predicate="dislikes", day=1)),
        given_turn("t3", evidence("t3", predicate="likes", day=2)),
    )
    assert _only(fold(log[:2]), "likes", "osaka").status == "superseded"
    assert _only(fold(log), "likes", "osaka").status == "active"
    assert _only(fold(log), "dislikes", "osaka").status == "superseded"


def test_a_second_email_is_disputed_and_the_standing_one_stays() -> None:
    log = _log(
        given_turn("t2", evidence("t2", predicate="email", object_="berlin", day=1)),
        given_turn("t1", evidence("t1", predicate="email", object_="osaka", day=0)),
    )
    state = fold(log)
    assert _only(state, "email", "osaka").status == "active"
    assert _only(state, "email", "berlin").status == "disputed"


def test_a_final_result_replaces_the_provisional_one_in_either_order() -> None:
    provisional = given_turn("t1", evidence("t1", predicate="likes", provisional=True), outcome="provisional")
    final = given_turn("t1", evidence("t1", predicate="lives_in"), outcome="kept")
    for log in (_log(provisional, final), _log(final, provisional)):
        assert [m.predicate for m in fold(log).memories.values()] == ["lives_in"]
    assert fold(_log(provisional)).memories[provisional.items[0].memory_id].status == "provisional"


def test_of_two_final_results_the_smaller_event_id_wins() -> None:
    one, two = given_turn("t1", evidence("t1", predicate="likes")), given_turn("t1", outcome="empty")
    assert fold([("a", one), ("b", two)]) == fold([("b", two), ("a", one)])
    assert fold([("b", two), ("a", one)]).memories
    assert not fold([("b", one), ("a", two)]).memories


def test_a_tombstone_wins_over_what_comes_later_from_the_same_evidence() -> None:
    said = given_turn("t1", evidence("t1"), evidence("t1", 1, predicate="lives_in"))
    forgotten = _forget((turn_key("t1"), said.items[0].memory_id))
    again = given_turn("t1", evidence("t1"), extractor="llm/1")
    for log in (_log(forgotten, said, again), _log(said, forgotten, again), _log(again, said, forgotten)):
        assert all(m.predicate != "likes" for m in fold(log).memories.values())


def test_the_same_thing_said_again_in_a_new_turn_lives() -> None:
    said, again = given_turn("t1", evidence("t1")), given_turn("t2", evidence("t2", day=3))
    state = fold(_log(said, _forget((turn_key("t1"), said.items[0].memory_id)), again))
    assert [s.turn_id for s in _only(state, "likes", "osaka").sources] == ["t2"]


def test_a_forgotten_turn_is_gone_whole_and_says_so() -> None:
    state = fold(_log(_forget((turn_key("t1"), None), scope="session"), given_turn("t1", evidence("t1"))))
    assert not state.memories
    assert state.outcomes[turn_key("t1")] == "forgotten"


def test_a_forgotten_successor_still_ends_its_predecessor() -> None:
    osaka = given_turn("t1", evidence("t1", predicate="lives_in", object_="osaka", day=0))
    berlin = given_turn("t2", evidence("t2", predicate="lives_in", object_="berlin", day=10))
    back = given_turn("t3", evidence("t3", predicate="lives_in", object_="osaka", day=20))
    for turns in ([osaka, berlin], [osaka, berlin, back]):
        before, after = Ledger(), Ledger()
        for event_id, event in _log(*turns):
            before.apply(event_id, event)
            after.apply(event_id, event)
        bare = _forget((turn_key("t2"), berlin.items[0].memory_id))
        after.apply("tombstone", bare)
        tombstone = Forgotten(bare.scope, bare.pieces, bare.decided_at, closings_of(before, after))
        for log in (_log(*turns, tombstone), _log(tombstone, *reversed(turns))):
            home = _only(fold(log), "lives_in", "osaka")
            assert home.intervals == before.memories()[home.memory_id].intervals


def test_a_promoted_memory_stays_in_the_graph_while_any_of_its_evidence_lives() -> None:
    one, two = given_turn("t1", evidence("t1")), given_turn("t2", evidence("t2", day=1))
    memory_id = one.items[0].memory_id
    pieces = ((turn_key("t1"), memory_id), (turn_key("t2"), memory_id))
    promoted = Consolidated("promote/1", moment(3), (Promotion(memory_id, pieces),))
    log = _log(one, two, promoted, _forget(pieces[0]))
    assert fold(log).promoted == {memory_id: frozenset({pieces[1]})}
    assert not fold([*log, ("last", _forget(pieces[1]))]).promoted


def test_what_is_quarantined_in_all_its_evidence_is_not_active() -> None:
    bad = given_turn("t1", evidence("t1", quarantined="instruction"))
    assert _only(fold(_log(bad)), "likes", "osaka").status == "quarantined"
    good = given_turn("t2", evidence("t2", day=1))
    assert _only(fold(_log(bad, good)), "likes", "osaka").status == "active"


def test_what_is_quarantined_neither_ends_nor_disputes_nor_words_what_was_said() -> None:
    home = given_turn("t1", evidence("t1", predicate="lives_in", object_="osaka"))
    birth = given_turn("t2", evidence("t2", predicate="born_in", object_="osaka"))
    forged = given_turn(
        "t3",
        evidence("t3", predicate="lives_in", object_="berlin", day=2, quarantined="instruction"),
        evidence("t3", predicate="born_in", object_="berlin", day=2, quarantined="instruction"),
        evidence(
            "t3", predicate="lives_in", object_="osaka", day=2, quarantined="instruction", importance=1.0
        ),
        evidence("t3", predicate="lives_in", object_="osaka", day=2, negated=True, quarantined="instruction"),
    )
    for log in (_log(home, birth, forged), _log(forged, birth, home)):
        state, without = fold(log), fold(_log(home, birth))
        for name in ("lives_in", "born_in"):
            before = _only(without, name, "osaka")
            kept = state.memories[before.memory_id]
            assert (kept.status, kept.intervals, kept.importance, kept.sources) == (
                "active",
                before.intervals,
                before.importance,
                before.sources,
            )
            assert _only(state, name, "berlin").status == "quarantined"


def test_importance_is_the_greatest_and_a_failed_turn_gives_nothing() -> None:
    log = _log(
        given_turn("t1", evidence("t1", importance=0.9)),
        given_turn("t2", evidence("t2", importance=0.2, day=1)),
        given_turn("t3", outcome="failed"),
    )
    state = fold(log)
    assert _only(state, "likes", "osaka").importance == 0.9
    assert state.outcomes[turn_key("t3")] == "failed"
    assert isinstance(log[0][1], TurnGiven)
