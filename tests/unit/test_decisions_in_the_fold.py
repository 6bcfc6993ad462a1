"""What a correction or a pin does to memories, in whatever order it meets turns, better readings and tombstones."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from fold_strategies import correction, decision, evidence, given_turn, logged, moment, turn_key
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_common.domain.decisions import Decision, Pin
from hindsight_common.domain.fold import Ledger, State, closings_of, fold
from hindsight_common.domain.memory import Consolidated, Evidence, Forgotten, LogEvent, Promotion


def _fold(*events: LogEvent) -> State:
    """The state, once it is the same for every order of these events."""
    states = [fold(order) for order in permutations(_numbered(*events))]
    assert all(state == states[0] for state in states)
    return states[0]


def _numbered(*events: LogEvent) -> list[tuple[str, LogEvent]]:
    return [(f"id-{number}", event) for number, event in enumerate(events)]


def _said(state: State) -> list[tuple[str | None, str]]:
    return sorted((m.object, m.status) for m in state.memories.values())


def _piece(said: Evidence) -> tuple[str, str]:
    return (said.turn_key, said.memory_id)


OSAKA = evidence("t1", predicate="lives_in", object_="osaka")


def test_corrected_evidence_stands_for_what_it_should_have_said() -> None:
    fixed = correction("lives_in", "berlin", content="lives in Berlin")
    state = _fold(given_turn("t1", OSAKA), decision(_piece(OSAKA), words=(fixed,)))
    [memory] = state.memories.values()
    assert (memory.memory_id, memory.object, memory.content) == (fixed.memory_id, "berlin", "lives in Berlin")
    assert (memory.occurred_at, memory.recorded_at) == (OSAKA.occurred_at, OSAKA.recorded_at)
    assert memory.evidence == ((turn_key("t1"), fixed.memory_id),)
    assert [source.turn_id for source in memory.sources] == ["t1"]
    assert memory.confidence > OSAKA.confidence


def test_the_last_word_counts_and_may_take_the_first_back() -> None:
    said = given_turn("t1", OSAKA)
    words = [correction("lives_in", place) for place in ("berlin", "川菜", "osaka")]
    decisions = [decision(_piece(OSAKA), words=(word,), at=n) for n, word in enumerate(words)]
    assert _said(_fold(said, *decisions[:2])) == [("川菜", "active")]
    assert _said(_fold(said, *decisions)) == [("osaka", "active")]


def test_of_two_words_at_the_same_time_the_event_id_decides() -> None:
    said = given_turn("t1", OSAKA)
    one = decision(_piece(OSAKA), words=(correction("lives_in", "berlin"),))
    two = decision(_piece(OSAKA), words=(correction("lives_in", "川菜"),))
    assert _said(fold([("s", said), ("a", one), ("b", two)])) == [("川菜", "active")]
    assert _said(fold([("s", said), ("b", one), ("a", two)])) == [("berlin", "active")]


def test_what_is_said_again_after_a_correction_is_new_evidence() -> None:
    again = evidence("t2", predicate="likes", object_="osaka", day=3)
    said = evidence("t1", predicate="likes", object_="osaka")
    state = _fold(
        given_turn("t1", said),
        given_turn("t2", again),
        decision(_piece(said), words=(correction("likes", "berlin"),)),
    )
    assert _said(state) == [("berlin", "active"), ("osaka", "active")]


def test_corrected_to_what_another_turn_says_it_is_one_memory_of_both() -> None:
    berlin = evidence("t2", predicate="lives_in", object_="berlin", day=3)
    fixed = decision(_piece(OSAKA), words=(correction("lives_in", "berlin"),))
    [memory] = _fold(given_turn("t1", OSAKA), given_turn("t2", berlin), fixed).memories.values()
    assert [source.turn_id for source in memory.sources] == ["t1", "t2"]
    assert memory.intervals == ((OSAKA.valid_from, None),)


def test_what_the_wrong_one_had_ended_is_open_again_unless_the_right_one_ends_it_too() -> None:
    berlin = evidence("t2", predicate="lives_in", object_="berlin", day=3)
    said = given_turn("t1", OSAKA), given_turn("t2", berlin)
    assert _said(_fold(*said)) == [("berlin", "active"), ("osaka", "superseded")]
    to_osaka = decision(_piece(berlin), words=(correction("lives_in", "osaka"),))
    assert _said(_fold(*said, to_osaka)) == [("osaka", "active")]
    elsewhere = decision(_piece(berlin), words=(correction("lives_in", "川菜"),))
    assert _said(_fold(*said, elsewhere)) == [("osaka", "superseded"), ("川菜", "active")]


def test_what_a_forgotten_successor_ended_stays_ended_when_its_name_is_corrected() -> None:
    berlin = evidence("t2", predicate="lives_in", object_="berlin", day=3)
    before, after = Ledger(), Ledger()
    for number, event in enumerate((given_turn("t1", OSAKA), given_turn("t2", berlin))):
        before.apply(str(number), event)
        after.apply(str(number), event)
    bare = Forgotten("items", (_piece(berlin),), moment(9))
    after.apply("", bare)
    forgotten = replace(bare, closings=closings_of(before, after))
    fixed = decision(_piece(OSAKA), words=(correction("lives_in", "川菜"),))
    state = _fold(given_turn("t1", OSAKA), given_turn("t2", berlin), forgotten, fixed)
    assert _said(state) == [("川菜", "superseded")]


def test_a_correction_holds_for_the_same_claim_in_a_better_reading() -> None:
    first = evidence("t1", predicate="lives_in", object_="osaka", provisional=True)
    fixed = decision(_piece(first), words=(correction("lives_in", "berlin"), Pin(True)))
    provisional = given_turn("t1", first, outcome="provisional")
    reread = evidence("t1", 4, predicate="lives_in", object_="osaka, japan", importance=0.9)
    beside = evidence("t1", 5, predicate="likes", object_="osaka")
    final = given_turn("t1", reread, beside, extractor="llm/1")
    state = _fold(provisional, fixed, final)
    assert _said(state) == [("berlin", "active"), ("osaka", "active")]
    [home] = [m for m in state.memories.values() if m.predicate == "lives_in"]
    assert (home.importance, home.pinned) == (0.9, True)
    # and later words about it count for both readings
    ledger = _ledger(_numbered(provisional, fixed, final))
    assert set(ledger.roots(home.memory_id)) == {_piece(first), _piece(reread)}
    back = decision(*ledger.roots(home.memory_id), words=(correction("lives_in", "川菜"),), at=5)
    assert _said(_fold(provisional, fixed, final, back)) == [("osaka", "active"), ("川菜", "active")]


def test_of_many_values_only_one_that_shares_words_is_the_same_claim() -> None:
    first = evidence("t1", predicate="likes", object_="sichuan food", provisional=True)
    fixed = decision(_piece(first), words=(correction("likes", "berlin"),))
    provisional = given_turn("t1", first, outcome="provisional")
    reworded = evidence("t1", 0, predicate="likes", object_="spicy food from sichuan")
    hiking = evidence("t1", 1, predicate="likes", object_="hiking")
    final = given_turn("t1", reworded, hiking, extractor="llm/1")
    assert _said(_fold(provisional, fixed, final)) == [("berlin", "active"), ("hiking", "active")]


def test_a_correction_stands_where_no_better_reading_repeats_the_claim() -> None:
    first = evidence("t1", predicate="likes", object_="osaka", provisional=True)
    fixed = decision(_piece(first), words=(correction("likes", "berlin"),))
    provisional = given_turn("t1", first, outcome="provisional")
    for final in (
        given_turn("t1", outcome="empty", extractor="llm/1"),
        given_turn("t1", evidence("t1", predicate="email", object_="a@b.org"), extractor="llm/1"),
    ):
        state = _fold(provisional, fixed, final)
        assert ("berlin", "active") in _said(state)
        assert "osaka" not in [said for said, _ in _said(state)]


def test_a_pin_goes_with_its_evidence_and_the_last_word_counts() -> None:
    said = given_turn("t1", OSAKA)
    pinned = decision(_piece(OSAKA), words=(Pin(True),), at=1)
    freed = decision(_piece(OSAKA), words=(Pin(False),), at=2)
    moved = decision(_piece(OSAKA), words=(correction("lives_in", "berlin"),), at=3)
    [memory] = _fold(said, pinned, moved).memories.values()
    assert (memory.object, memory.pinned) == ("berlin", True)
    assert not any(m.pinned for m in _fold(said, pinned, freed).memories.values())
    again = evidence("t2", predicate="lives_in", object_="osaka", day=3)
    forgotten = Forgotten("items", (_piece(OSAKA),), moment(9))
    [memory] = _fold(said, pinned, given_turn("t2", again), forgotten).memories.values()
    assert not memory.pinned


def test_a_tombstone_over_either_id_or_the_turn_wins() -> None:
    said, fixed = given_turn("t1", OSAKA), decision(_piece(OSAKA), words=(correction("lives_in", "berlin"),))
    right = evidence("t1", predicate="lives_in", object_="berlin").memory_id
    for pieces in ((_piece(OSAKA),), ((turn_key("t1"), right),), ((turn_key("t1"), None),)):
        assert not _fold(said, fixed, Forgotten("items", pieces, moment(9))).memories


def test_without_the_decision_what_was_corrected_and_forgotten_does_not_come_back() -> None:
    first = evidence("t1", predicate="lives_in", object_="osaka", provisional=True)
    reread = evidence("t1", 4, predicate="lives_in", object_="osaka, japan")
    turns = given_turn("t1", first, outcome="provisional"), given_turn("t1", reread, extractor="llm/1")
    fixed = decision(_piece(first), words=(correction("lives_in", "berlin"),))
    ledger = _ledger(_numbered(*turns, fixed))
    [memory_id] = ledger.memories()
    forgotten = Forgotten("items", ledger.pieces(memory_id), moment(9))
    assert not _fold(*turns, fixed, forgotten).memories
    # an eraser removes the decision from the log, since nothing is left that it speaks of
    assert not _fold(*turns, forgotten).memories


def test_what_two_words_tie_together_is_forgotten_together() -> None:
    """One claim is corrected to say what another, worded anew, was pinned as: a tombstone over it reaches both."""
    first = evidence("t1", predicate="likes", object_="berlin")
    other = evidence("t1", 0, predicate="likes", object_="osaka")
    reworded = evidence("t1", 1, predicate="likes", object_="berlin by night")
    turns = (
        given_turn("t1", first, outcome="provisional"),
        given_turn("t1", other, reworded, extractor="llm/1"),
    )
    words = (
        decision(_piece(first), words=(Pin(True),)),
        decision(_piece(other), words=(correction("likes", "berlin"),)),
    )
    pieces = _ledger(_numbered(*turns, *words)).pieces(first.memory_id)
    forgotten = Forgotten("items", pieces, moment(9))
    assert _fold(*turns, *words, forgotten).memories == _fold(*turns, forgotten).memories == {}


def test_what_was_promoted_wrongly_is_promoted_no_more_and_the_right_one_not_yet() -> None:
    promoted = Consolidated("promote/1", moment(1), (Promotion(OSAKA.memory_id, (_piece(OSAKA),)),))
    fixed = decision(_piece(OSAKA), words=(correction("lives_in", "berlin"),))
    state = _fold(given_turn("t1", OSAKA), promoted, fixed)
    assert not state.promoted.keys() & state.memories.keys()


def _ledger(events: list[tuple[str, LogEvent]]) -> Ledger:
    ledger = Ledger()
    for event_id, event in events:
        ledger.apply(event_id, event)
    return ledger


@given(st.lists(logged(), max_size=14))
def test_a_word_about_a_living_memory_reaches_all_of_it(events: list[tuple[str, LogEvent]]) -> None:
    """What `roots` names is all that has to be named: then no evidence of the memory is left behind."""
    for memory_id, memory in _ledger(events).memories().items():
        changed = _ledger(events)
        roots = changed.roots(memory_id)
        changed.apply("last", decision(*roots, words=(Pin(not memory.pinned),), at=99))
        after = changed.memory(memory_id)
        assert after is not None
        assert after.pinned is not memory.pinned


@settings(max_examples=300)
@given(st.lists(logged(), max_size=14))
def test_a_log_without_the_decisions_that_a_tombstone_covers_means_the_same(
    events: list[tuple[str, LogEvent]],
) -> None:
    """An eraser removes them, and no projection is told of it."""
    for memory_id in _ledger(events).memories():
        pieces = _ledger(events).pieces(memory_id)
        gone = [*events, ("gone", Forgotten("items", pieces, moment(9)))]
        covered = {piece for _, event in gone if isinstance(event, Forgotten) for piece in event.pieces}
        left = [
            (event_id, event)
            for event_id, event in gone
            if not isinstance(event, Decision)
            or not all((turn, None) in covered or (turn, said) in covered for turn, said in event.pieces)
        ]
        assert fold(gone).memories.get(memory_id) is None
        assert fold(left) == fold(gone)
