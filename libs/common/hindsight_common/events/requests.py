"""What clients may ask over `memory.…`: closed schemas, so that a misspelt name never widens a request."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, WithJsonSchema, field_validator, model_validator

from hindsight_common.events.answers import (
    Answer,
    ErrorAnswer,
    ErrorBody,
    ForgetAnswer,
    InjectAnswer,
    ListAnswer,
    MemoryAnswer,
    MemoryOut,
    Outcome,
    Progress,
    RecallAnswer,
    RecalledMemory,
    Receipt,
    ScoreParts,
    Source,
    StoreReceipt,
    TurnAnswer,
    WriteAnswer,
)
from hindsight_common.events.conversation import ConversationTurn, parse_write
from hindsight_common.events.fields import AwareTime, Body, Id, not_yet, refusal
from hindsight_common.events.request_parts import MemoryId, Query, Said, TimeRange, Weights
from hindsight_common.events.request_schemas import one_filter, some_change
from hindsight_common.events.strict_json import Model, build, read_object

__all__ = [
    "Answer",
    "ConsolidateRequest",
    "DecideRequest",
    "ErrorAnswer",
    "ErrorBody",
    "ForgetAnswer",
    "ForgetRequest",
    "GetRequest",
    "InjectAnswer",
    "InjectRequest",
    "ListAnswer",
    "ListRequest",
    "MemoryAnswer",
    "MemoryOut",
    "Outcome",
    "Progress",
    "RecallAnswer",
    "RecallRequest",
    "RecalledMemory",
    "Receipt",
    "ScoreParts",
    "Source",
    "StoreReceipt",
    "TimeRange",
    "TurnAnswer",
    "TurnRequest",
    "Weights",
    "WriteAnswer",
    "WriteRequest",
    "parse_request",
    "parse_write",
]

WriteRequest = ConversationTurn
Status = Literal["active", "provisional", "superseded", "disputed", "cold", "stale", "quarantined"]
Hidden = Literal["superseded", "disputed", "cold", "stale", "quarantined"]


class RecallRequest(Body):
    """`top_k` (at most 100) and `min_score` None are the deployment's. `min_score` 0 opens the similarity gate too.
    `wait_for` is a log position, `wait_for_turn` a turn id of the same user: the answer waits until it reflects
    them. `role` None sees what is shared only.
    """

    user_id: Id
    query: Query
    top_k: int | None = Field(default=None, ge=1, le=100)
    min_score: float | None = Field(default=None, ge=0, le=1)
    memory_type: Literal["fact", "event"] | None = None
    role: Id | None = None
    session_id: Id | None = None
    valid_at: AwareTime | None = None
    time_range: TimeRange | None = None
    include: tuple[Hidden, ...] = Field(default=(), strict=False)
    weights: Weights | None = None
    wait_for: int | None = Field(default=None, ge=0)
    wait_for_turn: Id | None = None
    explain: bool = False
    as_of: Annotated[None, not_yet(None)] = None
    token_budget: Annotated[None, not_yet(None)] = None
    context: Annotated[int, not_yet(0), WithJsonSchema({"const": 0, "default": 0})] = 0


class TurnRequest(Body):
    user_id: Id
    turn_id: Id


class ListRequest(Body):
    """Every memory of a user with one of the statuses, page by page; `limit` at most 1,000."""

    user_id: Id
    status: tuple[Status, ...] = Field(default=("active", "provisional"), strict=False, min_length=1)
    cursor: str | None = None
    limit: int = Field(default=100, ge=1, le=1000)


class ForgetRequest(Body):
    """Exactly one of `memory_ids`, `session_id` and `everything`; without `confirm` nothing is forgotten.

    A filter given as null, empty or as "*" is refused rather than read as "all": a caller whose filter got
    lost must not erase a user.
    """

    model_config = ConfigDict(json_schema_extra=one_filter)

    user_id: Id
    memory_ids: tuple[MemoryId, ...] | None = Field(default=None, strict=False)
    session_id: Id | None = None
    everything: bool = False
    query: Annotated[None, not_yet(None)] = None
    time_range: Annotated[None, not_yet(None)] = None
    confirm: bool = False

    @field_validator("memory_ids")
    @classmethod
    def _some(cls, ids: tuple[str, ...] | None) -> tuple[str, ...]:
        if not ids:
            raise refusal("must list at least one memory; leave it out to choose in another way")
        if len(ids) > 1000:
            raise refusal("lists more than 1,000 memories; send several requests")
        return ids

    @field_validator("session_id")
    @classmethod
    def _one_session(cls, session_id: str | None) -> str:
        if session_id is None or session_id == "*":
            raise refusal("must name one session; leave it out to choose in another way")
        return session_id

    @field_validator("everything")
    @classmethod
    def _only_true(cls, everything: bool) -> bool:
        if not everything:
            raise refusal("may only be true; leave it out to choose in another way")
        return everything

    @model_validator(mode="after")
    def _exactly_one(self) -> ForgetRequest:
        if len({"memory_ids", "session_id", "everything"} & self.model_fields_set) != 1:
            raise refusal("say exactly one of memory_ids, session_id and everything: true")
        return self


class GetRequest(Body):
    """One memory of a user, whatever its status."""

    user_id: Id
    memory_id: MemoryId


class DecideRequest(Body):
    """Someone's word about one memory: what it should say (`object` for a fact, `content` for an event), whether it
    is pinned. At least one of them.
    """

    model_config = ConfigDict(json_schema_extra=some_change)

    user_id: Id
    memory_id: MemoryId
    object: Said | None = None
    content: Said | None = None
    pinned: bool | None = None

    @field_validator("object", "content", "pinned")
    @classmethod
    def _given(cls, value: str | bool | None) -> str | bool:
        if value is None:
            raise refusal("must not be null; leave it out to let it be")
        return value

    @model_validator(mode="after")
    def _one_at_least(self) -> DecideRequest:
        if not {"object", "content", "pinned"} & self.model_fields_set:
            raise refusal("say what to change: object, content or pinned")
        return self


class InjectRequest(Body):
    """The block of memory for one call of an LLM. `token_budget` None is the deployment's."""

    user_id: Id
    session_id: Id
    query: Query
    role: Id | None = None
    token_budget: int | None = Field(default=None, ge=64, le=100_000)
    format: Literal["snapshot"] = "snapshot"


class ConsolidateRequest(Body):
    """Whose memories to promote into the graph now."""

    user_id: Id


def parse_request(model: type[Model], data: bytes) -> Model:
    """A request of `model` from its bytes; raises `RequestError` (`not_json`, `invalid_request`,
    `not_supported` …) naming the field. A turn to write is read by `parse_write`, which knows the time.
    """
    return build(model, read_object(data, code="invalid_request"), code="invalid_request")
