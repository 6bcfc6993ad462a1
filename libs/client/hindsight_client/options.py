"""What may be added to a call, by name and type. Left out means: as the deployment has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, Required, TypedDict

from hindsight_common.events.requests import Hidden, Status

# with an offset; text is ISO 8601
Time = datetime | str


class Message(TypedDict, total=False):
    """One message of a turn; fields that are not listed (`tool_calls` …) may be there and are ignored."""

    role: Required[str]
    content: Required[str | Sequence[Mapping[str, Any]] | None]
    id: str | None
    name: str | None


class Turn(TypedDict):
    """What was said and answered. Without a `turn_id` the client makes one, without `occurred_at` it is now."""

    user_id: str
    session_id: str
    messages: Sequence[Message]
    turn_id: NotRequired[str]
    role: NotRequired[str | None]
    occurred_at: NotRequired[Time | None]
    time_zone: NotRequired[str | None]
    user_name: NotRequired[str | None]


# from inclusive, until exclusive; `from` is a keyword of Python
TimeRange = TypedDict("TimeRange", {"from": Time | None, "until": Time | None}, total=False)


class Weights(TypedDict):
    """Only their proportions count."""

    similarity: float
    importance: float
    recency: float


class RecallOptions(TypedDict, total=False):
    """`wait_for` is a position of the log and `wait_for_turn` a turn: the answer waits until it reflects them."""

    top_k: int | None
    min_score: float | None
    memory_type: Literal["fact", "event"] | None
    role: str | None
    session_id: str | None
    valid_at: Time | None
    time_range: TimeRange | None
    include: Sequence[Hidden]
    weights: Weights | None
    wait_for: int | None
    wait_for_turn: str | None
    explain: bool


class InjectOptions(TypedDict, total=False):
    role: str | None
    token_budget: int | None
    format: Literal["snapshot"]


class ListOptions(TypedDict, total=False):
    """`limit` is the size of a page, at most 1,000."""

    status: Sequence[Status]
    limit: int


class PageOptions(ListOptions, total=False):
    """`cursor` comes from the page before."""

    cursor: str | None


class DecideOptions(TypedDict, total=False):
    """At least one: what a fact should say, what an event should say, whether it is pinned."""

    object: str
    content: str
    pinned: bool
