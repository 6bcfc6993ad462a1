"""The fold: a user's log events to the state they mean.

`Ledger` joins events one at a time; joining is commutative, associative and idempotent, so any order of arrival,
any duplicates and any split into deliveries give the same state. Nothing derived is ever joined: that one fact
supersedes another is computed from the evidence when a memory is asked for.

Of several `turn` events of one turn the better outcome wins (kept or empty over provisional over failed), then the
smaller event id, never the order of arrival. Of several decisions about one piece of evidence the last one counts, by
(hybrid time, event id).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hindsight_common.domain.decisions import Decision
from hindsight_common.domain.derivation import memories_of
from hindsight_common.domain.hybrid_time import HybridTime
from hindsight_common.domain.memory import (
    Closing,
    Consolidated,
    Erased,
    Evidence,
    Forgotten,
    LogEvent,
    Memory,
    Piece,
    TurnGiven,
)
from hindsight_common.domain.standing import Ruling, Standing, named_together, standing
from hindsight_common.domain.timeline import GroupKey, group_of

_RANK: Final = {"kept": 0, "empty": 0, "provisional": 1, "failed": 2}
FINAL_OUTCOMES: Final = ("kept", "empty")


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
        # turn key → event id → that reading of the turn
        self._readings: dict[str, dict[str, TurnGiven]] = defaultdict(dict)
        self._erased_turns: set[str] = set()
        # turn key → memory id as a reading gave it → what was decided about that piece
        self._rulings: dict[str, dict[str, Ruling]] = defaultdict(dict)
        self._decided_at: HybridTime | None = None
        self._forgotten: dict[str, set[str | None]] = defaultdict(set)
        self._closings: dict[str, set[Closing]] = defaultdict(set)
        self._promoted: dict[str, set[Piece]] = defaultdict(set)
        # turn key → its evidence as it stands, also where it is forgotten; and the same by group
        self._standing: dict[str, tuple[Standing, ...]] = {}
        self._groups: dict[GroupKey, dict[tuple[str, int], Standing]] = defaultdict(dict)
        self._groups_of_memory: dict[str, set[GroupKey]] = defaultdict(set)
        self._ids_of_group: dict[GroupKey, set[str]] = defaultdict(set)

    def apply(self, event_id: str, event: LogEvent) -> set[GroupKey]:
        """Joins one event; returns the groups whose memories may have changed, also where it comes again."""
        match event:
            case TurnGiven():
                self._readings[event.turn_key].setdefault(event_id, event)
                return self._settle(event.turn_key)
            case Decision():
                return self._apply_decision(event_id, event)
            case Forgotten():
                return self._apply_tombstone(event)
            case Consolidated():
                return self._apply_consolidation(event)
            case Erased():
                if event.turn_key is not None:
                    self._erased_turns.add(event.turn_key)
                return set()

    def _settle(self, turn_key: str) -> set[GroupKey]:
        """Lays out one turn's evidence again; returns every group that it was or is in."""
        before = self._standing.get(turn_key, ())
        readings = [given.items for _, given in self._ranked(turn_key)]
        after = standing(readings, self._rulings.get(turn_key, {}))
        touched = {group_of(one.evidence) for one in (*before, *after)}
        if after == before:
            return touched
        for place, one in enumerate(before):
            self._groups[group_of(one.evidence)].pop((turn_key, place), None)
        for place, one in enumerate(after):
            group = group_of(one.evidence)
            self._groups[group][turn_key, place] = one
            self._ids_of_group[group].add(one.evidence.memory_id)
            for name in one.names:
                self._groups_of_memory[name].add(group)
        self._standing[turn_key] = after
        return touched

    def _ranked(self, turn_key: str) -> list[tuple[str, TurnGiven]]:
        """(event id, reading) of a turn, the one that counts first."""
        readings = self._readings.get(turn_key, {})
        return sorted(readings.items(), key=lambda found: (_RANK[found[1].outcome], found[0]))

    def _apply_decision(self, event_id: str, decision: Decision) -> set[GroupKey]:
        if self._decided_at is None or self._decided_at < decision.at:
            self._decided_at = decision.at
        touched: set[GroupKey] = set()
        for turn_key, root in decision.pieces:
            self._rulings[turn_key].setdefault(root, Ruling()).join(event_id, decision)
            touched |= self._groups_of_memory.get(root, set())
        for turn_key in {turn_key for turn_key, _ in decision.pieces}:
            touched |= self._settle(turn_key)
        return touched

    def _apply_tombstone(self, tombstone: Forgotten) -> set[GroupKey]:
        touched: set[GroupKey] = set()
        for turn_key, memory_id in tombstone.pieces:
            self._forgotten[turn_key].add(memory_id)
            if memory_id is None:
                touched |= {group_of(one.evidence) for one in self._standing.get(turn_key, ())}
            else:
                touched |= self._groups_of_memory.get(memory_id, set())
        for closing in tombstone.closings:
            self._closings[closing.memory_id].add(closing)
            touched |= self._groups_of_memory.get(closing.memory_id, set())
        return touched

    def _apply_consolidation(self, consolidated: Consolidated) -> set[GroupKey]:
        touched: set[GroupKey] = set()
        for promotion in consolidated.promotions:
            self._promoted[promotion.memory_id] |= set(promotion.evidence)
            touched |= self._groups_of_memory.get(promotion.memory_id, set())
        return touched

    def is_forgotten(self, turn_key: str, memory_id: str | None = None) -> bool:
        """True if a tombstone covers the whole turn, or this memory's evidence in it."""
        covered = self._forgotten.get(turn_key, ())
        return None in covered or (memory_id is not None and memory_id in covered)

    def has_forgotten_item(self, turn_key: str) -> bool:
        return bool(self._forgotten.get(turn_key))

    def _lives(self, one: Standing) -> bool:
        covered = self._forgotten.get(one.evidence.turn_key)
        return not covered or (None not in covered and covered.isdisjoint(one.names))

    @property
    def size(self) -> int:
        """Readings and pieces of evidence held: what the ledger weighs in memory, about 1 KiB each."""
        readings = sum(len(of_turn) for of_turn in self._readings.values())
        return readings + sum(len(of_turn) for of_turn in self._standing.values())

    @property
    def decided_at(self) -> HybridTime | None:
        """The time of the last decision, None without one: who decides now has to be behind it."""
        return self._decided_at

    def turn(self, turn_key: str) -> TurnGiven | None:
        """The winning event of a turn, whether forgotten or not."""
        ranked = self._ranked(turn_key)
        return ranked[0][1] if ranked else None

    def turns(self) -> Iterator[TurnGiven]:
        return (self._ranked(turn_key)[0][1] for turn_key in self._readings)

    def was_erased(self, turn_key: str) -> bool:
        return turn_key in self._erased_turns and turn_key not in self._readings

    def memory_ids(self, group: GroupKey) -> set[str]:
        """Every memory that the group ever held evidence of, alive or not: what a projection may have to remove."""
        return self._ids_of_group.get(group, set())

    def members(self, group: GroupKey) -> dict[str, Memory]:
        """The living memories of one group."""
        alive = [one for one in self._groups.get(group, {}).values() if self._lives(one)]
        # what ended a memory ends what it was corrected to
        closings = {
            Closing(one.evidence.memory_id, closing.at)
            for one in alive
            for name in one.names
            for closing in self._closings.get(name, ())
        }
        return memories_of(group, alive, closings)

    def memory(self, memory_id: str) -> Memory | None:
        for group in self._groups_of_memory.get(memory_id, ()):
            if (found := self.members(group).get(memory_id)) is not None:
                return found
        return None

    def memories(self) -> dict[str, Memory]:
        """Every living memory of the user, whatever its status."""
        return {
            memory_id: memory for group in self._groups for memory_id, memory in self.members(group).items()
        }

    def evidence(self, memory_id: str) -> tuple[Evidence, ...]:
        """The living evidence of a memory as it stands, in its order."""
        return tuple(sorted((one.evidence for one in self._alive(memory_id)), key=lambda e: e.order))

    def roots(self, memory_id: str) -> tuple[tuple[str, str], ...]:
        """The pieces of a living memory as the turns gave them, in order: what a decision about it names."""
        return tuple(sorted((one.evidence.turn_key, r) for one in self._alive(memory_id) for r in one.roots))

    def pieces(self, memory_id: str) -> tuple[Piece, ...]:
        """The pieces of a living memory under every id they are known by, in order: what a tombstone over it names."""
        found: set[Piece] = set()
        for turn_key in {one.evidence.turn_key for one in self._alive(memory_id)}:
            found |= {(turn_key, name) for name in named_together(self._standing[turn_key], memory_id)}
        return tuple(sorted(found, key=lambda piece: (piece[0], piece[1] or "")))

    def _alive(self, memory_id: str) -> Iterator[Standing]:
        for group in self._groups_of_memory.get(memory_id, ()):
            for one in self._groups[group].values():
                if one.evidence.memory_id == memory_id and self._lives(one):
                    yield one

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
