"""Recall: a question to the memories that answer it, each with its score in parts and where it was said."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import structlog

from hindsight_common.clock import Clock
from hindsight_common.domain.memory import SHARED, Memory
from hindsight_common.errors import HindsightError
from hindsight_common.events.requests import (
    RecallAnswer,
    RecalledMemory,
    RecallRequest,
    ScoreParts,
    parse_request,
)
from hindsight_common.events.shown import shown
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.memory_index import IndexFilter, IndexRow
from hindsight_common.sealing import KeyDestroyed
from hindsight_recall.application.channels import Candidate, Channels
from hindsight_recall.application.deadline import Deadline
from hindsight_recall.application.freshness import Freshness
from hindsight_recall.application.own_data import compare_owners, own_data_only
from hindsight_recall.application.projection import Projection
from hindsight_recall.application.rows import RowMaker
from hindsight_recall.application.steps import Steps
from hindsight_recall.application.telemetry import RecallTelemetry
from hindsight_recall.domain.scoring import Score, Weights, recency, score, similarity

_log = structlog.get_logger(__name__)

_SHOWN = ("active", "provisional")
_SEARCHES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """The numbers of the configuration's `recall` section; `meaning_share` is the dense channel's in similarity.

    `timeout_s` is after how long an answer is made of what is there, beside what the request itself waits for.
    """

    top_k: int = 3
    min_score: float = 0.5
    weights: Weights = field(default_factory=Weights)
    gate: float = 0.15
    half_life_days: float = 135.0
    meaning_share: float = 0.5
    timeout_s: float = 2.0


@dataclass(frozen=True, slots=True)
class Recall:
    """The use case of `memory.recall`. Never calls an LLM, never fails whole: a part that fails is named."""

    ids: IdFactory
    projection: Projection
    freshness: Freshness
    channels: Channels
    rows: RowMaker
    clock: Clock
    policy: RecallPolicy
    telemetry: RecallTelemetry = field(default_factory=RecallTelemetry)
    # of those that wait for something to be visible there may be any number beside them
    searching: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_SEARCHES_AT_ONCE))

    async def answer(self, tenant: str, data: bytes) -> RecallAnswer:
        """Raises `RequestError` for a request that says something wrong, never for a store that is away.

        A row of somebody else, wherever it turns up, is an error (500) and an alert, not an answer.
        """
        with own_data_only("recall", self.telemetry):
            return await self.find(tenant, parse_request(RecallRequest, data))

    async def find(
        self, tenant: str, request: RecallRequest, deadline: Deadline | None = None
    ) -> RecallAnswer:
        """As `answer`, for a request that was read already, and within a time that began before. Raises
        `OwnerMismatch`.
        """
        owner, steps = self.ids.owner(tenant, request.user_id), Steps()
        await self._wait(tenant, owner, request, steps)
        steps.deadline = deadline or Deadline.within(self.policy.timeout_s)
        # a place among those that search; behind many slow ones it may not come in time
        if not await steps.run("queue", self.searching.acquire, part="vectors"):
            steps.miss("words")
            return self._answered((), 0, steps)
        try:
            return await self._answer(tenant, owner, request, steps)
        finally:
            self.searching.release()

    async def _wait(self, tenant: str, owner: Owner, request: RecallRequest, steps: Steps) -> None:
        caught_up = await steps.run(
            "wait", lambda: self.freshness.wait(owner, tenant, request), part="not_caught_up"
        )
        if not caught_up:
            steps.miss("not_caught_up")

    async def _answer(self, tenant: str, owner: Owner, request: RecallRequest, steps: Steps) -> RecallAnswer:
        # before the search: an answer may know more than it claims to cover, never less
        covered = await steps.run(
            "cover", lambda: self.freshness.covers_up_to(owner), part="not_caught_up", early=True
        )
        where = self._filter(tenant, request)
        candidates = await self.channels.search(self.projection.index, owner, request.query, where, steps)
        compare_owners(owner, [candidate.row for candidate in candidates])
        ranked = self._ranked(request, candidates)
        memories = await self._opened(owner, ranked, request.top_k or self.policy.top_k, steps)
        explained = self._explanation(request, len(candidates), len(ranked)) if request.explain else None
        return self._answered(memories, covered or 0, steps, explained)

    def _answered(
        self,
        memories: tuple[RecalledMemory, ...],
        covered: int,
        steps: Steps,
        explained: dict[str, object] | None = None,
    ) -> RecallAnswer:
        steps.finish()
        self.telemetry.answered(steps.took_ms, steps.degraded, len(memories))
        return RecallAnswer(
            memories=memories,
            covers_up_to=covered,
            degraded=tuple(steps.degraded),
            took_ms={step: round(took, 3) for step, took in steps.took_ms.items()},
            explain=explained,
        )

    def _filter(self, tenant: str, request: RecallRequest) -> IndexFilter:
        session, span, valid_at = request.session_id, request.time_range, request.valid_at
        statuses: tuple[str, ...] = (*_SHOWN, *request.include)
        if valid_at is not None:
            statuses = (*statuses, "superseded")  # it may have held then; `held_at` decides
        return IndexFilter(
            statuses=tuple(dict.fromkeys(statuses)),
            type=request.memory_type,
            roles=(SHARED, request.role) if request.role else (SHARED,),
            session_key=self.ids.session_key(tenant, request.user_id, session) if session else None,
            occurred_from=span.from_.timestamp() if span and span.from_ else None,
            occurred_until=span.until.timestamp() if span and span.until else None,
            held_at=valid_at.timestamp() if valid_at else None,
        )

    def _ranked(self, request: RecallRequest, candidates: list[Candidate]) -> list[tuple[Score, Candidate]]:
        """Best first. A candidate must pass the gate before importance and recency count; `min_score` 0 opens it."""
        asked = request.weights
        weights = (
            Weights.of(asked.similarity, asked.importance, asked.recency) if asked else self.policy.weights
        )
        reference = request.valid_at or self.clock.now()
        least = self._least(request)
        gate = self.policy.gate if least > 0 else 0.0
        scored: list[tuple[Score, Candidate]] = []
        for candidate in candidates:
            similar = similarity(candidate.meaning, candidate.words, meaning_share=self.policy.meaning_share)
            if similar < gate:
                continue
            recent = recency(_last_said(candidate.row), reference, self.policy.half_life_days)
            total = score(similar, candidate.row.importance, recent, weights)
            if total.total >= least:
                scored.append((total, candidate))
        scored.sort(key=lambda pair: (-pair[0].total, -pair[0].raw_similarity, pair[1].row.memory_id))
        return scored

    async def _opened(
        self, owner: Owner, ranked: list[tuple[Score, Candidate]], top_k: int, steps: Steps
    ) -> tuple[RecalledMemory, ...]:
        """The first `top_k`, unsealed. Every memory's owner is compared with the asker before it leaves."""
        opened: list[RecalledMemory] = []
        while ranked and len(opened) < top_k:
            wanted, ranked = ranked[: top_k - len(opened)], ranked[top_k - len(opened) :]
            ids = [candidate.row.memory_id for _, candidate in wanted]
            read = await steps.run("read", partial(self._read, owner, ids, steps), part="vectors")
            for scored, candidate in wanted:
                if (memory := (read or {}).get(candidate.row.memory_id)) is not None:
                    opened.append(_recalled(memory, scored, candidate))
        return tuple(opened)

    async def _read(self, owner: Owner, ids: list[str], steps: Steps) -> dict[str, Memory]:
        memories: dict[str, Memory] = {}
        rows = await self.projection.index.get(owner, ids)
        compare_owners(owner, rows)
        for row in rows:
            try:
                memories[row.memory_id] = await self.rows.memory(row)
            except KeyDestroyed:
                continue  # forgotten between the search and now
            except HindsightError as fault:
                # a row that does not open, or a key that cannot be had now, costs this memory and is said
                _log.error("recall.row_sealed", fault=type(fault).__name__)
                steps.miss("vectors")
        return memories

    def _least(self, request: RecallRequest) -> float:
        return self.policy.min_score if request.min_score is None else request.min_score

    def _explanation(self, request: RecallRequest, candidates: int, passed: int) -> dict[str, object]:
        return {
            "gate": self.policy.gate if self._least(request) > 0 else 0.0,
            "min_score": self._least(request),
            "meaning_share": self.policy.meaning_share,
            "candidates": candidates,
            "passed": passed,
        }


def _last_said(row: IndexRow) -> datetime:
    """A fact that still holds ages from its last confirmation, everything else from when it was said."""
    holds = row.type == "fact" and row.intervals and row.intervals[-1][1] is None
    return datetime.fromtimestamp(row.last_confirmed_at if holds else row.occurred_at, UTC)


def _recalled(memory: Memory, scored: Score, candidate: Candidate) -> RecalledMemory:
    return RecalledMemory(
        **shown(memory).model_dump(),
        score=scored.total,
        score_parts=ScoreParts(
            similarity=scored.similarity, importance=scored.importance, recency=scored.recency
        ),
        channels=candidate.channels,
    )
