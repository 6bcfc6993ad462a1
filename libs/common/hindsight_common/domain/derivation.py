"""The living evidence of one group, made into memories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import prod

from hindsight_common.domain.memory import Closing, Memory, Source, Status
from hindsight_common.domain.standing import CERTAIN, Standing
from hindsight_common.domain.timeline import GroupKey, Interval, disputed, intervals_of_facts


def memories_of(group: GroupKey, alive: Sequence[Standing], closings: Iterable[Closing]) -> dict[str, Memory]:
    """Memory id → memory, of all the living evidence of one group; the same for any order of `alive`.

    Evidence in quarantine closes, disputes and words nothing but what rests on it alone.
    """
    if not alive:
        return {}
    evidence = [standing.evidence for standing in alive]
    if group[0] == "event":
        began = min(min(piece.valid_from, piece.occurred_at) for piece in evidence)
        intervals: dict[str, tuple[Interval, ...]] = {evidence[0].memory_id: ((began, None),)}
        contradicting: frozenset[str] = frozenset()
    else:
        trusted = [piece for piece in evidence if not piece.quarantined]
        suspect = sorted(
            (piece for piece in evidence if piece.quarantined), key=lambda e: e.order, reverse=True
        )
        apart: dict[str, tuple[Interval, ...]] = {e.memory_id: ((e.valid_from, None),) for e in suspect}
        intervals = apart | intervals_of_facts(trusted, closings)
        contradicting = disputed(trusted, intervals) if trusted else frozenset()
    by_memory: dict[str, list[Standing]] = defaultdict(list)
    for standing in sorted(alive, key=lambda s: s.evidence.order):
        by_memory[standing.evidence.memory_id].append(standing)
    return {
        memory_id: _memory(pieces, intervals[memory_id], is_disputed=memory_id in contradicting)
        for memory_id, pieces in by_memory.items()
    }


def _memory(standing: list[Standing], intervals: tuple[Interval, ...], *, is_disputed: bool) -> Memory:
    """One memory of its living evidence, in order: of what may be shown the latest gives the text, the greatest the
    importance.
    """
    everything = [one.evidence for one in standing]
    pieces = [e for e in everything if not e.quarantined] or everything
    latest = pieces[-1]
    quarantined = bool(latest.quarantined)
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
    confidence = latest.confidence if len(certain) == 1 else min(CERTAIN, 1 - doubt)
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
        evidence=tuple(dict.fromkeys((e.turn_key, e.memory_id) for e in everything)),
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
        quarantined=latest.quarantined,
        speaker_name=latest.speaker_name,
        pinned=any(one.pinned for one in standing),
    )
