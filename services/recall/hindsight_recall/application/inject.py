"""`memory.inject`: the block of memory for one call of an LLM, from the session, the memories and the graph."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import structlog

from hindsight_common.domain.graph import USER_KEY
from hindsight_common.events.requests import (
    InjectAnswer,
    InjectRequest,
    RecallAnswer,
    RecalledMemory,
    RecallRequest,
    parse_request,
)
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.working_memory import Utterance
from hindsight_recall.application.deadline import Deadline
from hindsight_recall.application.own_data import own_data_only
from hindsight_recall.application.recall import Recall
from hindsight_recall.application.relations import Relation, Relations
from hindsight_recall.application.session_window import SessionWindow
from hindsight_recall.application.steps import TIMEOUT, Steps
from hindsight_recall.application.telemetry import RecallTelemetry
from hindsight_recall.domain.intent import intent_of
from hindsight_recall.domain.language import language_of
from hindsight_recall.domain.snapshot import Language, Related, Remembered, Said, Snapshot, compose
from hindsight_recall.domain.window import Heard, window

_THE_USER: Final[dict[Language, str]] = {"zh": "用户", "en": "User"}
_ATTRIBUTE: Final = "HAS_ATTRIBUTE"
# of the patience, for recall: the rest is for putting together what it found
_FOR_RECALL: Final = 0.9

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class InjectPolicy:
    """The numbers of the configuration; `patience_s` is after how long the answer is made of what is there."""

    semantic_threshold: float
    token_budget: int
    patience_s: float


@dataclass(slots=True)
class _Found:
    """What the layers gave; each stays as it is here where its store is away or too slow."""

    utterances: tuple[Utterance, ...] = ()
    similarities: list[float] | None = None
    memories: tuple[RecalledMemory, ...] = ()
    relations: list[Relation] = field(default_factory=list)
    # the query's vector is there, or cannot be had
    embedded: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class Inject:
    """Never calls an LLM, never fails whole: what is missing is named. `relations` None = there is no graph."""

    ids: IdFactory
    recall: Recall
    session: SessionWindow
    relations: Relations | None
    policy: InjectPolicy
    telemetry: RecallTelemetry = field(default_factory=RecallTelemetry)

    async def answer(self, tenant: str, data: bytes) -> InjectAnswer:
        """Raises `RequestError` for a request that says something wrong, and (500) where a store returns what is
        somebody else's.
        """
        request = parse_request(InjectRequest, data)
        owner, steps = self.ids.owner(tenant, request.user_id), Steps()
        with own_data_only("inject", self.telemetry):
            found = await self._find(tenant, owner, request, steps)
        return self._composed(request, found, steps)

    async def _find(self, tenant: str, owner: Owner, request: InjectRequest, steps: Steps) -> _Found:
        found = _Found()
        # recall is done in time for what it found to be put together; the other layers end with the patience
        deadline = Deadline.within(min(self.recall.policy.timeout_s, self.policy.patience_s * _FOR_RECALL))
        steps.deadline = replace(deadline, end=None)
        layers = {
            "embedding": self._embedded_once(request.query, found, steps),
            "working": self._working(tenant, owner, request, found, steps),
            "vectors": self._episodic(tenant, request, found, steps, deadline),
            "graph": self._semantic(owner, request, found, steps),
        }
        for part in await _within(self.policy.patience_s, layers):
            # an utterance that nobody measured in time still stands in the latest exchange
            late = "embedding" if part == "working" and found.utterances else part
            steps.miss(late)
            steps.miss(TIMEOUT)
        return found

    async def _embedded_once(self, query: str, found: _Found, steps: Steps) -> None:
        """Every layer compares with the query: it is embedded for the first of them, and remembered for the others."""
        await steps.run("embed_query", lambda: self.session.embedded(query), part="embedding", early=True)
        found.embedded.set()

    async def _working(
        self, tenant: str, owner: Owner, request: InjectRequest, found: _Found, steps: Steps
    ) -> None:
        session_key = self.ids.session_key(tenant, request.user_id, request.session_id)
        found.utterances = (
            await steps.run("working", lambda: self.session.read(owner, session_key), part="working") or ()
        )
        await found.embedded.wait()
        found.similarities = await steps.run(
            "window",
            lambda: self.session.similarities(owner, request.query, found.utterances),
            part="embedding",
            early=True,
        )

    async def _episodic(
        self, tenant: str, request: InjectRequest, found: _Found, steps: Steps, deadline: Deadline
    ) -> None:
        await found.embedded.wait()
        asked = RecallRequest(user_id=request.user_id, query=request.query, role=request.role)
        answer: RecallAnswer | None = await steps.run(
            "recall", lambda: self.recall.find(tenant, asked, deadline), part="vectors"
        )
        if answer is not None:
            found.memories = answer.memories
            for part in answer.degraded:
                steps.miss(part)

    async def _semantic(self, owner: Owner, request: InjectRequest, found: _Found, steps: Steps) -> None:
        if self.relations is not None:
            await found.embedded.wait()
            found.relations = await self.relations.of(owner, request.query, request.role, steps)

    def _composed(self, request: InjectRequest, found: _Found, steps: Steps) -> InjectAnswer:
        language = language_of(request.query)
        similarities: Sequence[float | None] = found.similarities or [None] * len(found.utterances)
        heard = window(found.utterances, similarities, self.policy.semantic_threshold)
        related = [_related(relation, language) for relation in found.relations]
        snapshot = compose(
            [Said(h.utterance.speaker, h.utterance.text, h.is_latest) for h in heard],
            [Remembered(m.type, m.content, m.importance) for m in found.memories],
            related,
            language=language,
            budget=request.token_budget or self.policy.token_budget,
        )
        steps.finish()
        self.telemetry.injected(steps.took_ms, steps.degraded)
        return InjectAnswer(
            snapshot=snapshot.text,
            intent=intent_of(request.query),
            parts=_parts(heard, found, related, snapshot),
            degraded=tuple(steps.degraded),
            took_ms={step: round(took, 3) for step, took in steps.took_ms.items()},
        )


def _related(relation: Relation, language: Language) -> Related:
    def name(key: str, called: str) -> str:
        return _THE_USER[language] if key == USER_KEY else called

    edge = relation.edge
    target = name(edge.target[1], relation.target)
    # that there is an attribute says nothing without its name
    is_attribute = edge.relation == _ATTRIBUTE
    return Related(
        name(edge.source[1], relation.source),
        edge.relation,
        f"{edge.predicate}:{target}" if is_attribute else target,
    )


def _parts(
    heard: tuple[Heard, ...], found: _Found, related: list[Related], snapshot: Snapshot
) -> dict[str, object]:
    """What each layer is made of, and under `dropped` what the budget had no room for, in the same form."""
    said = [
        {
            "speaker": one.utterance.speaker,
            "content": one.utterance.text,
            "turn_id": one.utterance.turn_id,
            "occurred_at": one.utterance.occurred_at.isoformat(),
            "similarity": one.similarity,
            "shortened": place in snapshot.cut,
        }
        for place, one in enumerate(heard)
    ]
    memories = [memory.model_dump(mode="json") for memory in found.memories]
    relations = [
        {
            "line": one.line,
            "source": one.source,
            "relation": one.relation,
            "target": one.target,
            "memory_id": relation.edge.memory_id,
            "similarity": relation.similarity,
        }
        for one, relation in zip(related, found.relations, strict=True)
    ]
    layers = {
        "working": (said, snapshot.working),
        "episodic": (memories, snapshot.episodic),
        "semantic": (relations, snapshot.semantic),
    }
    shown: dict[str, object] = {name: [all_[at] for at in places] for name, (all_, places) in layers.items()}
    shown["dropped"] = {
        name: [one for at, one in enumerate(all_) if at not in places]
        for name, (all_, places) in layers.items()
    }
    return shown


async def _within(patience_s: float, layers: dict[str, Coroutine[Any, Any, None]]) -> list[str]:
    """Runs the layers side by side; returns the names of those that were not done in time and were ended."""
    tasks = {asyncio.create_task(layer): name for name, layer in layers.items()}
    try:
        done, late = await asyncio.wait(tasks, timeout=patience_s)
    except BaseException:
        for task in tasks:
            task.cancel()
        raise
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    for task in done:
        task.result()
    return [tasks[task] for task in tasks if task in late]
