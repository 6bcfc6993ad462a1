"""What an extractor found becomes evidence: keyed, scoped, tied to its turn."""

from __future__ import annotations

import re
from datetime import date
from typing import Final
from zoneinfo import ZoneInfo

from hindsight_common.domain.memory import SHARED, Evidence
from hindsight_common.domain.predicates import canonical, object_key, subject_key
from hindsight_common.domain.text import normal_key
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.extraction import ExtractedItem, Turn

# what belongs to the agent that dealt with it, not to everybody who talks with the user; whole words only, and of
# English ones none that is more often something else ("in order to", "I returned home")
_OF_THE_ROLE: Final = re.compile(
    r"\b(?:(?:support|service|repair)\s+tickets?|ticket\s+(?:no\.?|number|#)"
    r"|(?:my|the|an|this|that|your|last|new|online)\s+orders?|orders?\s+(?:no\.?|number|#|\d)"
    r"|complain(?:s|ed|ing|ts?)?|refund(?:s|ed|ing)?|invoices?)\b"
    r"|工单|订单|投诉|退款|退货|发票",
    re.IGNORECASE,
)


def fact_id(
    ids: IdFactory, owner: Owner, subject: str, predicate: str, said_of: str, *, negated: bool
) -> str:
    """The id of a fact by its subject's key, its canonical predicate and its object's key."""
    return ids.memory_id(owner, "fact", subject, predicate, said_of, "not" if negated else "")


def event_id(ids: IdFactory, owner: Owner, speaker: str, content: str, day: date) -> str:
    """The id of an event by who told it, its text, and its day where it was told."""
    return ids.memory_id(owner, "event", subject_key(speaker), normal_key(content), day.isoformat())


def evidence_of(
    ids: IdFactory, owner: Owner, turn: Turn, turn_key: str, *, number: int, item: ExtractedItem
) -> Evidence:
    """One item of a turn as evidence. Its memory's id is a keyed hash of what it says, so the same thing said twice
    is one memory; an event's also of its day in the speaker's zone.
    """
    valid_from = item.valid_from or turn.occurred_at
    subject = subject_key(item.subject or "user")
    predicate = canonical(item.predicate) if item.predicate else None
    said_of = object_key(predicate, item.object or "") if predicate else None
    if item.type == "fact" and predicate is not None and said_of is not None:
        memory_id = fact_id(ids, owner, subject, predicate, said_of, negated=item.negated)
    else:
        day = valid_from.astimezone(ZoneInfo(turn.time_zone)).date()
        memory_id = event_id(ids, owner, item.speaker, item.content, day)
    is_fact = item.type == "fact"
    return Evidence(
        memory_id=memory_id,
        turn_key=turn_key,
        item=number,
        type=item.type,
        content=item.content,
        importance=item.importance,
        confidence=item.confidence,
        language=item.language,
        occurred_at=turn.occurred_at,
        recorded_at=turn.accepted_at,
        valid_from=valid_from,
        session_id=turn.session_id,
        turn_id=turn.turn_id,
        message_ids=item.message_ids,
        speaker=item.speaker,
        role_scope=_scope(turn, item),
        subject=item.subject if is_fact else None,
        subject_key=subject if is_fact else None,
        predicate=predicate if is_fact else None,
        object=item.object if is_fact else None,
        object_key=said_of if is_fact else None,
        negated=item.negated,
        people=item.people,
        granularity=item.granularity,
        when=item.when,
        quarantined=item.quarantined,
        speaker_name=next((m.name for m in turn.messages if m.id in item.message_ids), None),
    )


def _scope(turn: Turn, item: ExtractedItem) -> tuple[str, ...]:
    if turn.role and item.type == "event" and _OF_THE_ROLE.search(item.content):
        return (turn.role,)
    return (SHARED,)
