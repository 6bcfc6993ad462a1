"""A memory as its owner sees it."""

from __future__ import annotations

from hindsight_common.domain.memory import Memory
from hindsight_common.events.answers import MemoryOut, Source


def shown(memory: Memory) -> MemoryOut:
    return MemoryOut(
        id=memory.memory_id,
        type=memory.type,
        content=memory.content,
        subject=memory.subject,
        predicate=memory.predicate,
        object=memory.object,
        negated=memory.negated,
        people=memory.people,
        language=memory.language,
        importance=memory.importance,
        confidence=memory.confidence,
        status=memory.status,
        role_scope=memory.role_scope,
        occurred_at=memory.occurred_at,
        recorded_at=memory.recorded_at,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        pinned=memory.pinned,
        sources=tuple(
            Source(session_id=s.session_id, turn_id=s.turn_id, message_ids=s.message_ids)
            for s in memory.sources
        ),
    )
