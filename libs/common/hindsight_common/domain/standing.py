"""Evidence as decisions left it: what a turn's readings said, with what somebody corrected or pinned since.

A decision names a piece of evidence as a turn gave it. When the turn is read again and better, the same claim may come
back in other words, under another memory id; the decision then holds for the one claim of the new reading that is
alike. What no reading repeats stands on by itself once it was corrected: a person said it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hindsight_common.domain.decisions import Correction, Decision, Pin
from hindsight_common.domain.graph_terms import name_terms
from hindsight_common.domain.hybrid_time import HybridTime
from hindsight_common.domain.memory import Evidence
from hindsight_common.domain.predicates import predicate
from hindsight_common.domain.text import normal_key

# what a person said in so many words is as certain as anything gets
CERTAIN: Final = 0.99

Rank = tuple[HybridTime, str]


@dataclass(slots=True)
class Ruling:
    """The last word of each kind about one piece, with its rank. Joining is commutative and idempotent."""

    correction: tuple[Rank, Correction] | None = None
    pin: tuple[Rank, Pin] | None = None

    def join(self, event_id: str, decision: Decision) -> None:
        rank = (decision.at, event_id)
        for word in decision.words:
            match word:
                case Correction():
                    if self.correction is None or self.correction[0] < rank:
                        self.correction = (rank, word)
                case Pin():
                    if self.pin is None or self.pin[0] < rank:
                        self.pin = (rank, word)


@dataclass(frozen=True, slots=True)
class Standing:
    """One piece of evidence as it stands. `roots` are the memory ids under which readings gave it, in order; a
    tombstone over any of them, or over the one it stands for now, covers it.
    """

    evidence: Evidence
    roots: tuple[str, ...]
    pinned: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Every memory id under which it is known: the roots, and the one it stands for now."""
        return (*self.roots, self.evidence.memory_id)


def standing(readings: Sequence[Sequence[Evidence]], rulings: Mapping[str, Ruling]) -> tuple[Standing, ...]:
    """What one turn's evidence is now. `readings` are the turn's, the one that counts first; `rulings` by root."""
    counting = readings[0] if readings else ()
    if not rulings:
        return tuple(Standing(piece, (piece.memory_id,)) for piece in counting)
    claims: dict[str, set[str]] = {piece.memory_id: {piece.memory_id} for piece in counting}
    alone: list[Evidence] = []
    for root in sorted(rulings.keys() - claims.keys()):
        said = _first(readings[1:], root)
        if said is None:
            continue
        again = _said_again(said, counting)
        if again is not None:
            claims[again].add(root)
        elif rulings[root].correction is not None:
            alone.append(said)
    found = [_ruled(piece, claims[piece.memory_id], rulings) for piece in counting]
    # their places among the reading's own do not matter, as long as they are the same for every order of arrival
    after = max((piece.item for piece in counting), default=-1) + 1
    found += [
        _ruled(replace(piece, item=after + place), {piece.memory_id}, rulings)
        for place, piece in enumerate(alone)
    ]
    return tuple(found)


def named_together(turn: Iterable[Standing], memory_id: str) -> set[str]:
    """All ids by which a tombstone over one memory reaches evidence of a turn, one leading to the next: each of them
    has to be in it, so that the same is covered when the decisions that tie them are gone.
    """
    found, rest = {memory_id}, list(turn)
    while tied := [one for one in rest if not found.isdisjoint(one.names)]:
        found.update(name for one in tied for name in one.names)
        rest = [one for one in rest if found.isdisjoint(one.names)]
    return found


def _first(readings: Iterable[Sequence[Evidence]], memory_id: str) -> Evidence | None:
    return next((piece for reading in readings for piece in reading if piece.memory_id == memory_id), None)


def _ruled(piece: Evidence, roots: set[str], rulings: Mapping[str, Ruling]) -> Standing:
    ruling = Ruling()
    for root in roots & rulings.keys():
        other = rulings[root]
        if other.correction and (ruling.correction is None or ruling.correction[0] < other.correction[0]):
            ruling.correction = other.correction
        if other.pin and (ruling.pin is None or ruling.pin[0] < other.pin[0]):
            ruling.pin = other.pin
    return Standing(
        _corrected(piece, ruling.correction[1]) if ruling.correction else piece,
        tuple(sorted(roots)),
        pinned=ruling.pin is not None and ruling.pin[1].pinned,
    )


def _corrected(piece: Evidence, correction: Correction) -> Evidence:
    """The same turn, message and times; a person's word is final, also where the reading was not."""
    told = normal_key(correction.content)
    still_named = [name for name in piece.people if normal_key(name) in told]
    is_fact = piece.type == "fact"
    return replace(
        piece,
        memory_id=correction.memory_id,
        content=correction.content,
        language=correction.language,
        object=correction.object if is_fact else None,
        object_key=correction.object_key if is_fact else None,
        people=tuple(dict.fromkeys((*still_named, *correction.people))),
        confidence=CERTAIN,
        provisional=False,
    )


def _said_again(said: Evidence, reading: Iterable[Evidence]) -> str | None:
    """The memory id of the one claim of another reading that is most alike; None if there is none, or no single one."""
    likeness = {piece.memory_id: _likeness(said, piece) for piece in reading}
    most = max(likeness.values(), default=0)
    best = [memory_id for memory_id, alike in likeness.items() if alike == most]
    return best[0] if most > 0 and len(best) == 1 else None


def _likeness(said: Evidence, again: Evidence) -> int:
    """0 = something else. Where a fact has one value only, any value is of the same claim; else they share words."""
    if said.type != again.type:
        return 0
    if said.type == "event":
        if said.speaker != again.speaker or not set(said.message_ids) & set(again.message_ids):
            return 0
        return _shared(said.content, again.content)
    if (said.subject_key, said.predicate, said.negated) != (
        again.subject_key,
        again.predicate,
        again.negated,
    ):
        return 0
    one_value = predicate(said.predicate or "").cardinality != "many"
    return one_value + _shared(said.object or "", again.object or "")


def _shared(one: str, other: str) -> int:
    return len(set(name_terms(one)) & set(name_terms(other)))
