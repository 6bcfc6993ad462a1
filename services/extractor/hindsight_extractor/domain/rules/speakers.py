"""Who says what in a turn."""

from __future__ import annotations

from collections.abc import Iterator

from hindsight_common.domain.text import normal_key
from hindsight_common.ports.extraction import Message, Turn

THE_USER = "user"


def said_by(turn: Turn) -> Iterator[tuple[str, list[Message]]]:
    """Each speaker of the turn's user side with their messages; "user" is the user, anybody else has a name.

    A message without a name is the user's, so is one under the user's id or given name. Where no name was given
    and all messages carry the same one, that is how the user calls themself.
    """
    spoken = [message for message in turn.messages if message.role == "user"]
    own = {normal_key(name) for name in (turn.user_id, turn.user_name) if name}
    names = {normal_key(message.name) for message in spoken if message.name}
    if turn.user_name is None and len(names) == 1 and all(message.name for message in spoken):
        own |= names
    by_speaker: dict[str, list[Message]] = {}
    for message in spoken:
        is_own = not message.name or normal_key(message.name) in own
        by_speaker.setdefault(THE_USER if is_own else (message.name or "").strip(), []).append(message)
    yield from by_speaker.items()
