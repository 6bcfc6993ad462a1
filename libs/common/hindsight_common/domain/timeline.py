"""When facts held: the evidence about one thing, laid out in the world's time.

Evidence is taken in its own order (valid_from, occurred_at, turn id, item), so the result is the same for any
order of arrival. Three rules, by the predicate's class (`domain.predicates`):

- in every class, evidence for the opposite closes a fact: "no longer likes" ends "likes", and the reverse;
- *single*: a newer value supersedes, the older one's end is the newer one's beginning;
- *ask* and *immutable*: a second value does not close the first; it is disputed for as long as both stand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from hindsight_common.domain.memory import Closing, Evidence
from hindsight_common.domain.predicates import predicate

Interval = tuple[datetime, datetime | None]
GroupKey = tuple[str, ...]


def group_of(evidence: Evidence) -> GroupKey:
    """The key under which evidence has to be looked at together."""
    if evidence.type == "event" or evidence.predicate is None:
        return ("event", evidence.memory_id)
    declared = predicate(evidence.predicate)
    subject = evidence.subject_key or ""
    if declared.cardinality == "many":
        return ("fact", subject, declared.axis, evidence.object_key or "")
    return ("fact", subject, declared.axis)


def affirms(evidence: Evidence) -> bool:
    """True if the evidence speaks for its axis: `dislikes` speaks against `likes`, a negation turns either round."""
    declared = predicate(evidence.predicate or "")
    return (declared.sign > 0) != evidence.negated


def _closes(newer: Evidence, older: Evidence) -> bool:
    same_object = newer.object_key == older.object_key
    if same_object:
        return affirms(newer) != affirms(older)
    single = predicate(newer.predicate or "").cardinality == "single"
    return single and affirms(newer) and affirms(older)


def intervals_of_facts(
    evidence: Sequence[Evidence], closings: Iterable[Closing]
) -> dict[str, tuple[Interval, ...]]:
    """Memory id → the spans in which it held, for the facts of one group."""
    ended: dict[str, list[datetime]] = defaultdict(list)
    for closing in closings:
        ended[closing.memory_id].append(closing.at)
    spans: dict[str, list[Interval]] = defaultdict(list)
    standing: dict[str, Evidence] = {}
    for piece in sorted(evidence, key=lambda e: e.order):
        _end_by_tombstones(spans, standing, ended, until=piece.valid_from)
        for memory_id, older in list(standing.items()):
            if memory_id != piece.memory_id and _closes(piece, older):
                _end(spans, standing, memory_id, piece.valid_from)
        if piece.memory_id not in standing:
            standing[piece.memory_id] = piece
            spans[piece.memory_id].append((piece.valid_from, None))
    _end_by_tombstones(spans, standing, ended, until=None)
    return {memory_id: tuple(held) for memory_id, held in spans.items()}


def _end(
    spans: dict[str, list[Interval]], standing: dict[str, Evidence], memory_id: str, at: datetime
) -> None:
    start, _ = spans[memory_id][-1]
    spans[memory_id][-1] = (start, at)
    del standing[memory_id]


def _end_by_tombstones(
    spans: dict[str, list[Interval]],
    standing: dict[str, Evidence],
    ended: dict[str, list[datetime]],
    *,
    until: datetime | None,
) -> None:
    for memory_id in [m for m in standing if m in ended]:
        start = spans[memory_id][-1][0]
        due = [at for at in ended[memory_id] if at >= start and (until is None or at <= until)]
        if due:
            _end(spans, standing, memory_id, min(due))


def disputed(evidence: Sequence[Evidence], intervals: dict[str, tuple[Interval, ...]]) -> frozenset[str]:
    """Memory ids of one group that contradict one which stands and cannot be superseded by it.

    The standing one is the first in the world's time; it stays until somebody settles the matter.
    """
    first = min(evidence, key=lambda e: e.order)
    if first.predicate is None or predicate(first.predicate).cardinality not in ("ask", "immutable"):
        return frozenset()
    open_values: list[str] = []
    for piece in sorted(evidence, key=lambda e: e.order):
        still_open = intervals[piece.memory_id][-1][1] is None
        if still_open and affirms(piece) and piece.memory_id not in open_values:
            open_values.append(piece.memory_id)
    return frozenset(open_values[1:])
