"""From what was published to what is extracted."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from hindsight_common.events.conversation import ConversationTurn
from hindsight_common.ports.extraction import Message, Turn


def to_turn(conversation: ConversationTurn, tenant: str, accepted_at: datetime) -> Turn:
    """The turn as accepted: its time in the speaker's zone, the time of acceptance where none was given."""
    occurred_at = conversation.occurred_at or accepted_at
    return Turn(
        tenant=tenant,
        user_id=conversation.user_id,
        session_id=conversation.session_id,
        turn_id=conversation.turn_id,
        role=conversation.role,
        occurred_at=occurred_at.astimezone(ZoneInfo(conversation.time_zone)),
        occurred_inferred=conversation.occurred_at is None,
        accepted_at=accepted_at,
        time_zone=conversation.time_zone,
        messages=tuple(
            Message(id=message.id or "", role=message.role, content=message.content, name=message.name)
            for message in conversation.messages
        ),
        user_name=conversation.user_name,
    )
