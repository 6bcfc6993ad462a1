"""Tombstones in parts: together they cover what the whole would, and only the last ends a user's key."""

from __future__ import annotations

from fold_strategies import evidence, given_turn, moment
from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.domain.fold import Ledger
from hindsight_common.domain.memory import Closing, Forgotten, LogEvent
from hindsight_pruner.domain.tombstones import parts

WHOLE = st.builds(
    Forgotten,
    scope=st.sampled_from(["items", "session", "user"]),
    pieces=st.lists(st.tuples(st.text("ab", min_size=1, max_size=4), st.none()), max_size=30).map(tuple),
    decided_at=st.just(moment(1)),
    closings=st.just((Closing("m", moment(0)),)),
)


@given(WHOLE, st.integers(1, 8))
def test_parts_cover_the_whole_in_order_and_fit(whole: Forgotten, most: int) -> None:
    split = parts(whole, most)
    assert tuple(piece for part in split for piece in part.pieces) == whole.pieces
    assert all(len(part.pieces) <= most for part in split)
    assert (split[-1].scope, split[-1].closings) == (whole.scope, whole.closings)
    assert all(part.scope != "user" and not part.closings for part in split[:-1])


def test_what_parts_cover_is_forgotten_as_by_the_whole() -> None:
    turns = [given_turn(f"t{n}", evidence(f"t{n}")) for n in range(1, 6)]
    whole = Forgotten("user", tuple((turn.turn_key, None) for turn in turns), moment(9))
    ledger = Ledger()
    events: list[LogEvent] = [*turns, *parts(whole, 2)]
    for number, event in enumerate(events):
        ledger.apply(str(number), event)
    assert ledger.memories() == {}
    assert set(ledger.outcomes().values()) == {"forgotten"}
