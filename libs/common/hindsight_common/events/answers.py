"""What comes back from requests. Readers skip fields they do not know, so that servers may add some."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

Outcome = Literal["pending", "kept", "empty", "provisional", "failed", "rejected", "forgotten"]


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ErrorBody(Answer):
    """`field` is a path such as `messages.0.content`."""

    code: str
    message: str
    field: str | None = None


class ErrorAnswer(Answer):
    error: ErrorBody


class Source(Answer):
    """The evidence of a memory: where it was said."""

    session_id: str
    turn_id: str
    message_ids: tuple[str, ...] = ()


class ScoreParts(Answer):
    """The weighted parts of a score; they sum to it."""

    similarity: float
    importance: float
    recency: float


class MemoryOut(Answer):
    """A memory as its owner sees it. A fact has subject, predicate and object, an event has none of them;
    `negated` = said not to hold, or no longer; `people` are those whom it names.

    `valid_until` None = it still holds. `pinned` = never pruned and never cooled. Importance and confidence are 0–1.
    """

    id: str
    type: Literal["fact", "event"]
    content: str
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    negated: bool = False
    people: tuple[str, ...] = ()
    language: str | None = None
    importance: float
    confidence: float
    status: str
    role_scope: tuple[str, ...]
    occurred_at: datetime
    recorded_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    pinned: bool = False
    sources: tuple[Source, ...] = ()


class RecalledMemory(MemoryOut):
    """`channels` names what found the memory and at which rank, counted from 1."""

    score: float
    score_parts: ScoreParts
    channels: dict[str, int]


class RecallAnswer(Answer):
    """Best first. `covers_up_to` is the log position that the answer reflects, `degraded` names what is
    missing, `took_ms` is milliseconds by step, `explain` is there only if it was asked for.
    """

    memories: tuple[RecalledMemory, ...]
    covers_up_to: int
    degraded: tuple[str, ...] = ()
    took_ms: dict[str, float] = {}
    explain: dict[str, object] | None = None


class WriteAnswer(Answer):
    """`duplicate`: this turn was accepted before, nothing new was stored."""

    turn_id: str
    accepted: bool
    duplicate: bool = False


class TurnAnswer(Answer):
    """What became of a turn. `position` is where its outcome stands in the log, for `wait_for`."""

    turn_id: str
    outcome: Outcome
    memories: int = 0
    position: int | None = None
    error: ErrorBody | None = None


class ExtractionAnswer(Answer):
    """By whom turns are read. `away` and `paused`: by the rules meanwhile, for the `cause`, `since` then; `paused`
    needs a person, since key, address or model of the LLM are wrong. `model` None = no LLM is configured.
    """

    model: str | None
    state: Literal["ok", "away", "paused"]
    cause: str | None = None
    since: datetime | None = None


class VectorsStatus(Answer):
    """`position` is how far into the log the index reaches."""

    position: int
    memories: int
    model: str
    rebuilding: bool = False


class StatusAnswer(Answer):
    """How the deployment stands: `waiting` is the number of events before each projection."""

    waiting: dict[str, int] = {}
    vectors: VectorsStatus


class ListAnswer(Answer):
    """`cursor` None = nothing follows."""

    memories: tuple[MemoryOut, ...]
    cursor: str | None = None


class MemoryAnswer(Answer):
    """One memory. `position` is where the decision that was just taken stands in the log, for `wait_for`."""

    memory: MemoryOut
    position: int | None = None


class InjectAnswer(Answer):
    """`snapshot` is ready to be put into a prompt; `parts` holds what each of its layers is made of, `degraded`
    names what is missing, `took_ms` is milliseconds by step.
    """

    snapshot: str
    intent: str
    parts: dict[str, object] = {}
    degraded: tuple[str, ...] = ()
    took_ms: dict[str, float] = {}


class PlannedNode(Answer):
    """A node of the graph, named as people read it, and why it would be pruned."""

    node: str
    reason: str


class PruningPlan(Answer):
    nodes: tuple[PlannedNode, ...] = ()


class StoreReceipt(Answer):
    """What one store removed. `unreachable_at` is when nothing could be read any more, `bytes_gone_at` when
    the bytes were overwritten; None = not yet, and `detail` says why or what remains.
    """

    status: Literal["done", "pending"]
    removed: int = 0
    unreachable_at: datetime | None = None
    bytes_gone_at: datetime | None = None
    detail: str | None = None


class Receipt(Answer):
    """The proof of an erasure. It is `done` once every store is."""

    id: str
    status: Literal["done", "pending"]
    stores: dict[str, StoreReceipt]
    unreachable_at: datetime | None = None
    bytes_gone_at: datetime | None = None
    signature: str | None = None


class ForgetAnswer(Answer):
    """Either what would be forgotten (not confirmed), or the receipt."""

    would_forget: tuple[MemoryOut, ...] | None = None
    receipt: Receipt | None = None


class Progress(Answer):
    """One of the messages that answer an `admin.…` request; the last has `done` and a result or an error."""

    done: bool
    progress: dict[str, object] = {}
    result: dict[str, object] | None = None
    error: ErrorBody | None = None
