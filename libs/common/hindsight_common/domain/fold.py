"""The fold: a user's log events to the state they mean.

`Ledger` joins events one at a time; joining is commutative, associative and idempotent, so any order of arrival,
any duplicates and any split into deliveries give the same state. Nothing derived is ever joined: that one fact
supersedes another is computed from the evidence when a memory is asked for.

Of several `turn` events of one turn the better outcome wins (kept or empty over provisional over failed), then the
smaller event id, never the order of arrival.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Final

from hindsight_common.domain.memory import (
    Closing,
    Consolidated,
    Erased,
    Evidence,
    Forgotten,
    LogEvent,
    Memory,
    Piece,
    Source,
    Status,
    TurnGiven,
)
from hindsight_common.domain.timeline import GroupKey, Interval, disputed, group_of, intervals_of_facts

_RANK: Final = {"kept": 0, "empty": 0, "provisional": 1, "failed": 2}
FINAL_OUTCOMES: Final = ("kept", "empty")

_MOST_CERTAIN = 0.99


def better_outcome(standing: str | None, other: str) -> str:
    """Of two outcomes of one turn the one that the fold would take; equal ones differ by event id only."""
    return other if standing is None or _RANK[other] < _RANK[standing] else standing


@dataclass(frozen=True, slots=True)
class State:
    """What a user's log means: the memories by id, and what a comparison of two folds needs beside them."""

    memories: dict[str, Memory]
    outcomes: dict[str, str]
    promoted: dict[str, frozenset[Piece]]


class Ledger:
    """One user's events, joined. Not thread-safe; one owner at a time."""

    def __init__(self) -> None:
        self._turns: dict[str, tuple[str, TurnGiven]] = {}
        self._erased_turns: set[str] = set()
        self._forgotten: dict[str, set[str | None]] = defaultdict(set)
        self._closings: dict[str, set[Closing]] = defaultdict(set)
        self._promoted: dict[str, set[Piece]] = defaultdict(set)
        self._groups: dict[GroupKey, dict[tuple[str, int], Evidence]] = defaultdict(dict)
        self._group_of_memory: dict[str, GroupKey] = {}
        self._ids_of_group: dict[GroupKey, set[str]] = defaultdict(set)

    def apply(self, event_id: str, event: LogEvent) -> set[GroupKey]:
        """Joins one event; returns the groups whose memories may have changed."""
        match event:
            case TurnGiven():
                return self._apply_turn(event_id, event)
            case Forgotten():
                return self._apply_tombstone(event)
            case Consolidated():
                return self._apply_consolidation(event)
            case Erased():
                if event.turn_key is not None:
                    self._erased_turns.add(event.turn_key)
                return set()

    def _apply_turn(self, event_id: str, given: TurnGiven) -> set[GroupKey]:
        standing = self._turns.get(given.turn_key)
        challenger = (_RANK[given.outcome], event_id)
        if standing is not None and (_RANK[standing[1].outcome], standing[0]) <= challenger:
            return set()
        touched: set[GroupKey] = set()
        for old in standing[1].items if standing else ():
            group = group_of(old)
            self._groups[group].pop((old.turn_key, old.item), None)
            touched.add(group)
        self._turns[given.turn_key] = (event_id, given)
        for piece in given.items:
            group = group_of(piece)
            self._groups[group][piece.turn_key, piece.item] = piece
            self._group_of_memory[piece.memory_id] = group
            self._ids_of_group[group].add(piece.memory_id)
            touched.add(group)
        return touched

    def _apply_tombstone(self, tombstone: Forgotten) -> set[GroupKey]:
        touched: set[GroupKey] = set()
        for turn_key, memory_id in tombstone.pieces:
            self._forgotten[turn_key].add(memory_id)
            given = self._turns.get(turn_key)
            touched |= {
                group_of(e) for e in (given[1].items if given else ()) if memory_id in (None, e.memory_id)
            }
        for closing in tombstone.closings:
            self._closings[closing.memory_id].add(closing)
            if closing.memory_id in self._group_of_memory:
                touched.add(self._group_of_memory[closing.memory_id])
        return touched

    def _apply_consolidation(self, consolidated: Consolidated) -> set[GroupKey]:
        for promotion in consolidated.promotions:
            self._promoted[promotion.memory_id] |= set(promotion.evidence)
        known = (self._group_of_memory.get(p.memory_id) for p in consolidated.promotions)
        return {group for group in known if group is not None}

    def is_forgotten(self, turn_key: str, memory_id: str | None = None) -> bool:
        """True if a tombstone covers the whole turn, or this memory's evidence in it."""
        covered = self._forgotten.get(turn_key, ())
        return None in covered or (memory_id is not None and memory_id in covered)

    def has_forgotten_item(self, turn_key: str) -> bool:
        return bool(self._forgotten.get(turn_key))

    @property
    def size(self) -> int:
        """Turns and pieces of evidence held: what the ledger weighs in memory, about 1 KiB each."""
        return len(self._turns) + sum(len(pieces) for pieces in self._groups.values())

    def turn(self, turn_key: str) -> TurnGiven | None:
        """The winning event of a turn, whether forgotten or not."""
        winner = self._turns.get(turn_key)
        return winner[1] if winner else None

    def turns(self) -> Iterator[TurnGiven]:
        return (given for _, given in self._turns.values())

    def was_erased(self, turn_key: str) -> bool:
        return turn_key in self._erased_turns and turn_key not in self._turns

    def memory_ids(self, group: GroupKey) -> set[str]:
        """Every memory that the group ever held evidence of, alive or not: what a projection may have to remove."""
        return self._ids_of_group.get(group, set())

    def group(self, memory_id: str) -> GroupKey | None:
        return self._group_of_memory.get(memory_id)

    def members(self, group: GroupKey) -> dict[str, Memory]:
        """The living memories of one group."""
        alive = [
            e for e in self._groups.get(group, {}).values() if not self.is_forgotten(e.turn_key, e.memory_id)
        ]
        if not alive:
            return {}
        if group[0] == "event":
            intervals: dict[str, tuple[Interval, ...]] = {
                alive[0].memory_id: ((min(min(e.valid_from, e.occurred_at) for e in alive), None),)
            }
            contradicting: frozenset[str] = frozenset()
        else:
            closings = [c for e in alive for c in self._closings.get(e.memory_id, ())]
            intervals = intervals_of_facts(alive, closings)
            contradicting = disputed(alive, intervals)
        by_memory: dict[str, list[Evidence]] = defaultdict(list)
        for piece in sorted(alive, key=lambda e: e.order):
            by_memory[piece.memory_id].append(piece)
        return {
            memory_id: _memory(pieces, intervals[memory_id], is_disputed=memory_id in contradicting)
            for memory_id, pieces in by_memory.items()
        }

    def memory(self, memory_id: str) -> Memory | None:
        group = self._group_of_memory.get(memory_id)
        return self.members(group).get(memory_id) if group else None

    def memories(self) -> dict[str, Memory]:
        """Every living memory of the user, whatever its status."""
        return {
            memory_id: memory for group in self._groups for memory_id, memory in self.members(group).items()
        }

    def promoted(self) -> dict[str, frozenset[Piece]]:
        """Memories that entered the graph and still rest on some of the evidence they entered with."""
        living = {
            memory_id: frozenset(p for p in pieces if not self.is_forgotten(p[0], p[1]))
            for memory_id, pieces in self._promoted.items()
        }
        return {memory_id: pieces for memory_id, pieces in living.items() if pieces}

    def outcomes(self) -> dict[str, str]:
        """Turn key → its outcome: that of the winning event, `forgotten` where a tombstone covers the turn."""
        seen: dict[str, str] = dict.fromkeys(self._erased_turns, "erased")
        seen |= {given.turn_key: given.outcome for given in self.turns()}
        seen |= {turn_key: "forgotten" for turn_key, covered in self._forgotten.items() if None in covered}
        return seen

    def state(self) -> State:
        return State(self.memories(), self.outcomes(), self.promoted())


def _memory(pieces: list[Evidence], intervals: tuple[Interval, ...], *, is_disputed: bool) -> Memory:
    """One memory of its living evidence, in order: the latest gives the text, the greatest the importance."""
    latest = pieces[-1]
    quarantined = all(e.quarantined for e in pieces)
    status: Status = "active"
    if quarantined:
        status = "quarantined"
    elif intervals[-1][1] is not None:
        status = "superseded"
    elif is_disputed:
        status = "disputed"
    elif all(e.provisional for e in pieces):
        status = "provisional"
    certain = {e.turn_key: e.confidence for e in pieces}
    doubt = prod(1 - certain[turn_key] for turn_key in sorted(certain))
    confidence = latest.confidence if len(certain) == 1 else min(_MOST_CERTAIN, 1 - doubt)
    return Memory(
        memory_id=latest.memory_id,
        type=latest.type,
        content=latest.content,
        status=status,
        importance=max(e.importance for e in pieces),
        confidence=confidence,
        language=latest.language,
        occurred_at=latest.occurred_at,
        recorded_at=latest.recorded_at,
        last_confirmed_at=max(e.occurred_at for e in pieces),
        intervals=intervals,
        role_scope=tuple(sorted({role for e in pieces for role in e.role_scope})),
        sources=tuple(dict.fromkeys(Source(e.session_id, e.turn_id, e.message_ids) for e in pieces)),
        evidence=tuple(dict.fromkeys((e.turn_key, e.memory_id) for e in pieces)),
        speaker=latest.speaker,
        subject=latest.subject,
        subject_key=latest.subject_key,
        predicate=latest.predicate,
        object=latest.object,
        object_key=latest.object_key,
        negated=latest.negated,
        people=tuple(sorted({person for e in pieces for person in e.people})),
        granularity=latest.granularity,
        when=latest.when,
        quarantined=latest.quarantined if quarantined else None,
        speaker_name=latest.speaker_name,
    )


def fold(events: Iterable[tuple[str, LogEvent]]) -> State:
    """(event id, event) pairs in any order, with any repetitions → what they mean."""
    ledger = Ledger()
    for event_id, event in events:
        ledger.apply(event_id, event)
    return ledger.state()


def closings_of(before: Ledger, after: Ledger) -> tuple[Closing, ...]:
    """What a tombstone must keep so that a forgotten successor still ends its predecessors.

    `after` is `before` with the tombstone joined, without closings: every end of an interval that `before` knows
    and `after` lost is kept, for each memory that lives on.
    """
    old = before.memories()
    kept: list[Closing] = []
    for memory_id, memory in after.memories().items():
        ends_now = {end for _, end in memory.intervals}
        ends_then = [end for _, end in old[memory_id].intervals if end is not None]
        kept += [Closing(memory_id, end) for end in ends_then if end not in ends_now]
    return tuple(sorted(kept, key=lambda c: (c.memory_id, c.at)))
