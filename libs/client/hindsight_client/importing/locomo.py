"""Conversations in the form of LoCoMo: one utterance is one turn of one message, at the time of its session.

Both speakers are people. The first is the user; what the other says is evidence under their own name. Captions of
pictures were written by a model, not spoken, and are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from hindsight_common.errors import StopAndFix

# The form gives a time to a session only; its utterances follow each other at this distance
SPACING: Final = timedelta(seconds=10)

_SESSION: Final = re.compile(r"session_(\d+)")
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_TIME: Final = re.compile(
    rf"(\d{{1,2}}):(\d{{2}})\s*([ap])\.?m\.?\s+on\s+(\d{{1,2}})\s+({'|'.join(_MONTHS)}),?\s+(\d{{4}})",
    re.IGNORECASE,
)


def said_at(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023`, whatever the locale of this machine; the form names no zone, so UTC stands.

    Raises ValueError.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError("a time such as `1:56 pm on 8 May, 2023` is expected")
    hour, minute, half, day, month, year = match.groups()
    if not 1 <= int(hour) <= 12:
        raise ValueError("an hour of a twelve-hour clock is expected")
    hours = int(hour) % 12 + (12 if half.lower() == "p" else 0)
    return datetime(int(year), _MONTHS.index(month.lower()) + 1, int(day), hours, int(minute), tzinfo=UTC)


def read_locomo(path: Path, user_prefix: str = "") -> list[dict[str, Any]]:
    """Every utterance of the file as a turn, in order. The user of a conversation is the prefix and its
    `sample_id`. Raises `StopAndFix` that says where the file is not as it should be.
    """
    try:
        samples = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise StopAndFix(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(samples, list):
        raise StopAndFix(f"{path} is not in the form of LoCoMo: a list of conversations is expected")
    turns: list[dict[str, Any]] = []
    for number, sample in enumerate(samples, 1):
        try:
            turns += _turns(sample, user_prefix)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise StopAndFix(f"{path}, conversation {number}, is not in the form of LoCoMo: {why}") from error
    return turns


def _turns(sample: Mapping[str, Any], user_prefix: str) -> Iterator[dict[str, Any]]:
    conversation = sample["conversation"]
    numbers = sorted(int(match[1]) for name in conversation if (match := _SESSION.fullmatch(name)))
    for session in (f"session_{number}" for number in numbers):
        utterances = conversation[session]
        if not utterances:
            continue
        began = said_at(conversation[f"{session}_date_time"])
        for place, utterance in enumerate(utterances):
            yield {
                "turn_id": utterance["dia_id"],
                "user_id": f"{user_prefix}{sample['sample_id']}",
                "session_id": session,
                "occurred_at": (began + place * SPACING).isoformat(),
                "time_zone": "UTC",
                "user_name": conversation["speaker_a"],
                "messages": [
                    {"role": "user", "name": utterance["speaker"], "content": utterance.get("text") or ""}
                ],
            }
