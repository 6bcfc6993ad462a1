"""What a memory is, and the pieces of evidence it rests on.

A memory is never stored as such in the log: the log holds what turns said (`Evidence`) and what was decided, and
`domain.fold` derives memories from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from hindsight_common.domain.decisions import Decision

MemoryType = Literal["fact", "event"]
Outcome = Literal["kept", "empty", "provisional", "failed"]
Status = Literal["active", "provisional", "superseded", "disputed", "cold", "stale", "quarantined"]

# the role scope of what every role may recall
SHARED: Final = "shared"

# (turn key, memory id); a memory id of None stands for all that the turn gave
Piece = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one turn said of one memory. Times are aware; importance and confidence in 0–1.

    A fact has `subject`, `predicate` and `object`, with the keys under which they are the same for everybody who
    spells them differently; `negated` = said not to hold, or no longer. `valid_from` is when the fact began or the
    event happened, to the given `granularity`, in the words `when`.
    """

    memory_id: str
    turn_key: str
    item: int
    type: MemoryType
    content: str
    importance: float
    confidence: float
    language: str
    occurred_at: datetime
    recorded_at: datetime
    valid_from: datetime
    session_id: str
    turn_id: str
    message_ids: tuple[str, ...]
    speaker: str
    role_scope: tuple[str, ...]
    subject: str | None = None
    subject_key: str | None = None
    predicate: str | None = None
    object: str | None = None
    object_key: str | None = None
    negated: bool = False
    people: tuple[str, ...] = ()
    granularity: str | None = None
    when: str | None = None
    provisional: bool = False
    quarantined: str | None = None
    # the name under which the speaker wrote, also where the speaker is the user; searched, never shown
    speaker_name: str | None = None

    @property
    def order(self) -> tuple[datetime, datetime, str, int, str]:
        """Orders the evidence of one fact in the world's time, whatever order it arrived in."""
        return (self.valid_from, self.occurred_at, self.turn_id, self.item, self.turn_key)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who made a `turn` event of a turn: extractor and version, model and prompt where there was one."""

    extractor: str
    model: str | None = None
    prompt_hash: str | None = None
    usage: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class TurnGiven:
    """All that one turn gave, in one event: half a turn cannot exist."""

    turn_key: str
    turn_id: str
    session_key: str
    session_id: str
    outcome: Outcome
    occurred_at: datetime
    accepted_at: datetime
    provenance: Provenance
    items: tuple[Evidence, ...] = ()
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Closing:
    """A forgotten successor still ends what it ended: the memory that was closed, and when."""

    memory_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A tombstone. It names evidence, never content, and wins over all that derives from that evidence."""

    scope: Literal["items", "session", "user"]
    pieces: tuple[Piece, ...]
    decided_at: datetime
    closings: tuple[Closing, ...] = ()


@dataclass(frozen=True, slots=True)
class Promotion:
    """A memory that a consolidation took into the graph, with the evidence it rested on then."""

    memory_id: str
    evidence: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What one consolidation made, and the rule or model that made it."""

    rule: str
    decided_at: datetime
    promotions: tuple[Promotion, ...]


@dataclass(frozen=True, slots=True)
class Erased:
    """An event whose key was destroyed: only its clear header is left."""

    kind: str
    turn_key: str | None = None


LogEvent = TurnGiven | Decision | Forgotten | Consolidated | Erased


@dataclass(frozen=True, slots=True)
class Source:
    session_id: str
    turn_id: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as the fold derives it.

    `intervals` are the spans in which it held, oldest first, until None = still holds; `valid_from` and
    `valid_until` show the latest. `last_confirmed_at` is when it was last said. Sources are in order of evidence.
    `pinned` = somebody wants it kept from cooling and pruning.
    """

    memory_id: str
    type: MemoryType
    content: str
    status: Status
    importance: float
    confidence: float
    language: str
    occurred_at: datetime
    recorded_at: datetime
    last_confirmed_at: datetime
    intervals: tuple[tuple[datetime, datetime | None], ...]
    role_scope: tuple[str, ...]
    sources: tuple[Source, ...]
    evidence: tuple[Piece, ...]
    speaker: str
    subject: str | None = None
    subject_key: str | None = None
    predicate: str | None = None
    object: str | None = None
    object_key: str | None = None
    negated: bool = False
    people: tuple[str, ...] = ()
    granularity: str | None = None
    when: str | None = None
    quarantined: str | None = None
    speaker_name: str | None = None
    pinned: bool = False

    @property
    def valid_from(self) -> datetime:
        return self.intervals[-1][0]

    @property
    def valid_until(self) -> datetime | None:
        return self.intervals[-1][1]

    @property
    def search_text(self) -> str:
        """What is embedded and indexed: who said it, and what."""
        name = self.speaker_name
        return f"{name}: {self.content}" if name and name not in self.content else self.content

    def held_at(self, moment: datetime) -> bool:
        return any(start <= moment and (end is None or moment < end) for start, end in self.intervals)
