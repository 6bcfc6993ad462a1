"""What a turn leaves in working memory: what the user and the assistant said, not what tools returned."""

from __future__ import annotations

from typing import Final

from hindsight_common.domain.snapshot import without_snapshots
from hindsight_common.ports.extraction import Turn
from hindsight_common.ports.working_memory import Speaker

# no window is wider
_MOST_UTTERANCES: Final = 7
# of a longer utterance the beginning and the end are kept
_LONGEST: Final = 8000
_END: Final = 2000
_SPEAKERS: Final[dict[str, Speaker]] = {"user": "user", "assistant": "assistant"}


def utterances_of(turn: Turn) -> tuple[tuple[Speaker, str], ...]:
    """Who said what, in order; the last ones of a turn with many messages. None for a turn of tools alone."""
    said = [
        (_SPEAKERS[message.role], text)
        for message in turn.messages
        if message.role in _SPEAKERS and (text := without_snapshots(message.content).strip())
    ]
    return tuple((who, _shortened(text)) for who, text in said[-_MOST_UTTERANCES:])


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - _END - 3]} … {text[-_END:]}"
