"""Generators of log events, one for every kind: `test_fold` fails for a kind that has none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from hindsight_common.domain.decisions import Correction, Decision, Pin, Word
from hindsight_common.domain.hybrid_time import HybridTime
from hindsight_common.domain.memory import (
    Closing,
    Consolidated,
    Erased,
    Evidence,
    Forgotten,
    LogEvent,
    Promotion,
    Provenance,
    TurnGiven,
)
from hindsight_common.ids import IdFactory

IDS = IdFactory(b"p" * 32)
OWNER = IDS.owner("default", "u-1")
START = datetime(2026, 1, 1, tzinfo=UTC)
TURN_IDS = ["t1", "t2", "t3", "t4", "t5"]
PREDICATES = ["lives_in", "likes", "dislikes", "email", "born_in", "an_unknown_predicate"]
OBJECTS = ["osaka", "berlin", "川菜"]


def turn_key(turn_id: str) -> str:
    return IDS.turn_key("default", "u-1", turn_id)


def moment(days: int) -> datetime:
    return START + timedelta(days=days)


def evidence(
    turn_id: str = "t1",
    item: int = 0,
    *,
    predicate: str | None = "likes",
    object_: str = "osaka",
    negated: bool = False,
    day: int = 0,
    valid_day: int | None = None,
    importance: float = 0.5,
    confidence: float = 0.9,
    provisional: bool = False,
    quarantined: str | None = None,
    roles: tuple[str, ...] = ("shared",),
    content: str | None = None,
) -> Evidence:
    occurred_at = moment(day)
    valid_from = occurred_at if valid_day is None else moment(valid_day)
    if predicate is None:
        memory_id = IDS.memory_id(OWNER, "event", object_, valid_from.date().isoformat())
    else:
        memory_id = IDS.memory_id(OWNER, "fact", "user", predicate, object_, str(negated))
    return Evidence(
        memory_id=memory_id,
        turn_key=turn_key(turn_id),
        item=item,
        type="event" if predicate is None else "fact",
        content=content or f"{predicate} {object_} {turn_id}",
        importance=importance,
        confidence=confidence,
        language="en",
        occurred_at=occurred_at,
        recorded_at=occurred_at,
        valid_from=valid_from,
        session_id="s1",
        turn_id=turn_id,
        message_ids=("m1",),
        speaker="user",
        role_scope=roles,
        subject=None if predicate is None else "user",
        subject_key=None if predicate is None else "user",
        predicate=predicate,
        object=None if predicate is None else object_,
        object_key=None if predicate is None else object_,
        negated=negated,
        provisional=provisional,
        quarantined=quarantined,
    )


def given_turn(
    turn_id: str, *items: Evidence, outcome: str = "kept", extractor: str = "rules/1"
) -> TurnGiven:
    day = items[0].occurred_at if items else START
    return TurnGiven(
        turn_key=turn_key(turn_id),
        turn_id=turn_id,
        session_key=IDS.session_key("default", "u-1", "s1"),
        session_id="s1",
        outcome=outcome,  # type: ignore[arg-type]
        occurred_at=day,
        accepted_at=day,
        provenance=Provenance(extractor),
        items=items,
    )


@st.composite
def turns(draw: st.DrawFn) -> TurnGiven:
    turn_id = draw(st.sampled_from(TURN_IDS))
    outcome = draw(st.sampled_from(["kept", "empty", "provisional", "failed"]))
    day = TURN_IDS.index(turn_id)
    items: list[Evidence] = []
    if outcome in ("kept", "provisional"):
        for item in range(draw(st.integers(1, 3))):
            items.append(
                evidence(
                    turn_id,
                    item,
                    predicate=draw(st.sampled_from([*PREDICATES, None])),
                    object_=draw(st.sampled_from(OBJECTS)),
                    negated=draw(st.booleans()),
                    day=day,
                    valid_day=draw(st.none() | st.integers(-3, 3)),
                    importance=draw(st.sampled_from([0.2, 0.5, 0.9])),
                    confidence=draw(st.sampled_from([0.3, 0.9])),
                    provisional=outcome == "provisional",
                    quarantined=draw(st.sampled_from([None, None, None, "instruction"])),
                    roles=draw(st.sampled_from([("shared",), ("presales",), ("aftersales", "shared")])),
                )
            )
    return given_turn(turn_id, *items, outcome=outcome, extractor=draw(st.sampled_from(["rules/1", "llm/1"])))


def _memory_ids() -> st.SearchStrategy[str]:
    return st.builds(
        lambda p, o, n: evidence(predicate=p, object_=o, negated=n).memory_id,
        st.sampled_from(PREDICATES),
        st.sampled_from(OBJECTS),
        st.booleans(),
    )


_PIECES = st.tuples(st.sampled_from([turn_key(t) for t in TURN_IDS]), st.none() | _memory_ids())


def tombstones() -> st.SearchStrategy[Forgotten]:
    closings = st.builds(Closing, memory_id=_memory_ids(), at=st.integers(-3, 8).map(moment))
    return st.builds(
        Forgotten,
        scope=st.sampled_from(["items", "session", "user"]),
        pieces=st.lists(_PIECES, min_size=1, max_size=3).map(tuple),
        decided_at=st.integers(0, 9).map(moment),
        closings=st.lists(closings, max_size=2).map(tuple),
    )


def consolidations() -> st.SearchStrategy[Consolidated]:
    promotion = st.builds(
        Promotion, memory_id=_memory_ids(), evidence=st.lists(_PIECES, min_size=1, max_size=2).map(tuple)
    )
    return st.builds(
        Consolidated,
        rule=st.just("promote/1"),
        decided_at=st.integers(0, 9).map(moment),
        promotions=st.lists(promotion, min_size=1, max_size=2).map(tuple),
    )


def correction(
    predicate: str | None = "likes",
    object_: str = "berlin",
    *,
    negated: bool = False,
    content: str | None = None,
    valid_day: int = 0,
) -> Correction:
    """What evidence of that predicate should have said."""
    said = evidence(predicate=predicate, object_=object_, negated=negated, valid_day=valid_day)
    return Correction(
        memory_id=said.memory_id,
        content=content or f"{predicate} {object_}, corrected",
        language="en",
        object=said.object,
        object_key=said.object_key,
    )


def decision(
    *pieces: tuple[str, str], words: tuple[Word, ...], at: int = 0, counter: int = 0, day: int = 9
) -> Decision:
    return Decision(pieces[0][1], pieces, words, HybridTime(at, counter), moment(day))


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    """A word about one claim in some turns; a correction keeps its predicate, as the real ones do."""
    predicate = draw(st.sampled_from([*PREDICATES, None]))
    negated = draw(st.booleans()) if predicate else False
    day = draw(st.integers(-3, 3))
    wrong = evidence(
        predicate=predicate, object_=draw(st.sampled_from(OBJECTS)), negated=negated, valid_day=day
    )
    words: list[Word] = []
    if draw(st.booleans()):
        words.append(
            correction(
                predicate,
                draw(st.sampled_from(OBJECTS)),
                negated=negated,
                content=draw(st.none() | st.sampled_from(["one wording", "another"])),
                valid_day=day,
            )
        )
    if not words or draw(st.booleans()):
        words.append(Pin(draw(st.booleans())))
    turn_keys = draw(st.lists(st.sampled_from(TURN_IDS), min_size=1, max_size=3, unique=True))
    return decision(
        *((turn_key(turn_id), wrong.memory_id) for turn_id in turn_keys),
        words=tuple(words),
        at=draw(st.integers(0, 3)),
        counter=draw(st.integers(0, 1)),
    )


def erased() -> st.SearchStrategy[Erased]:
    return st.builds(
        Erased,
        kind=st.sampled_from(["turn", "decision", "forgotten", "consolidated"]),
        turn_key=st.none() | st.sampled_from([turn_key(t) for t in TURN_IDS]),
    )


GENERATORS: dict[type, st.SearchStrategy[LogEvent]] = {
    TurnGiven: turns(),
    Decision: decisions(),
    Forgotten: tombstones(),
    Consolidated: consolidations(),
    Erased: erased(),
}


def logged() -> st.SearchStrategy[tuple[str, LogEvent]]:
    """(event id, event): equal events have equal ids, as in the log."""
    return st.one_of(*GENERATORS.values()).map(lambda e: (IDS.event_id(OWNER, type(e).__name__, repr(e)), e))
