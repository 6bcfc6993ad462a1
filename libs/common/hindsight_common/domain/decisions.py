"""Decisions: someone's word about a memory, as the log records it.

A decision names pieces of evidence, as a tombstone does: what it says follows them into whatever memory they come to
stand for, and ends with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from hindsight_common.domain.hybrid_time import HybridTime


@dataclass(frozen=True, slots=True)
class Correction:
    """What the pieces should have said: a memory's id, its text, and of a fact the object with its key.

    `people` are those whom the text names and the evidence may not have.
    """

    memory_id: str
    content: str
    language: str
    object: str | None = None
    object_key: str | None = None
    people: tuple[str, ...] = ()
    word: Literal["correct"] = "correct"


@dataclass(frozen=True, slots=True)
class Pin:
    """Whether the pieces are kept from cooling and pruning."""

    pinned: bool
    word: Literal["pin"] = "pin"


Word = Correction | Pin


@dataclass(frozen=True, slots=True)
class Decision:
    """All that one person said at once. Of each kind of word the last one about a piece counts, by (`at`, event id).

    `memory_id` is the memory that they had before their eyes; `pieces` are (turn key, memory id) as the turns gave
    them, whatever was corrected since.
    """

    memory_id: str
    pieces: tuple[tuple[str, str], ...]
    words: tuple[Word, ...]
    at: HybridTime
    decided_at: datetime
