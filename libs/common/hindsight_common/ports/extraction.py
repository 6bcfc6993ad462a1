"""A turn to what is worth remembering of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One cleaned and redacted message. `name` is the speaker's display name where given."""

    id: str
    role: str  # user | assistant | system | developer | tool | …
    content: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """An accepted turn, in clear. `occurred_at` is aware, in the speaker's zone (`time_zone`, an IANA name).

    `user_name` is the name the user goes by in messages, where the publisher gave it.
    """

    tenant: str
    user_id: str
    session_id: str
    turn_id: str
    role: str | None
    occurred_at: datetime
    occurred_inferred: bool
    accepted_at: datetime
    time_zone: str
    messages: tuple[Message, ...]
    user_name: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractedItem:
    """A fact or an event, before ids.

    fact: `subject` is "user" or a person's name; `predicate` a canonical name of `domain.predicates`; `object` as
    spoken. `negated` = it is said not (or no longer) to hold. event: `content` is the summary, the rest None.
    `content` is a sentence in the language spoken. `valid_from` is when the fact began or the event happened, with
    its `granularity`; None = at the turn's own time. `when` keeps the words that said so.
    """

    type: Literal["fact", "event"]
    content: str
    importance: float
    confidence: float
    language: Literal["zh", "en"]
    message_ids: tuple[str, ...]
    speaker: str  # "user" or a name
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    negated: bool = False
    people: tuple[str, ...] = ()
    valid_from: datetime | None = None
    granularity: Literal["instant", "day", "week", "month", "year"] | None = None
    when: str | None = None
    quarantined: str | None = None  # the reason, if it must not be recalled


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one turn gave. No items = the turn holds nothing worth keeping (outcome `empty`)."""

    items: tuple[ExtractedItem, ...]
    provisional: bool = False
    usage: dict[str, int] = field(default_factory=dict)


class Extractor(Protocol):
    """Raises `RetryLater` for a temporary fault and `GiveUp` for a turn that can never be read."""

    @property
    def name(self) -> str:
        """Names the extractor and its version in provenance, e.g. `rules/1`."""
        ...

    @property
    def model(self) -> str | None: ...

    @property
    def prompt_hash(self) -> str | None: ...

    async def extract(self, turn: Turn) -> Extraction: ...
