"""Asks a running Hindsight over the bus, as any client would."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

import nats
from nats.aio.client import Client

from benchmarks.recall.locomo import Conversation, Question
from benchmarks.recall.metrics import distinct

DEFAULT_WEIGHTS: Final = None
SIMILARITY_ALONE: Final = {"similarity": 1, "importance": 0, "recency": 0}
TOP_K: Final = 50  # memories, so that ten distinct source turns are among them
UNSETTLED: Final = frozenset({"pending", "provisional"})


class Refused(Exception):
    """An answer that says why there is none."""

    def __init__(self, subject: str, code: str, message: str) -> None:
        super().__init__(f"{subject}: {code}: {message}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Answer:
    """Source turns, distinct, in rank order; `took_s` as the client saw it."""

    turn_ids: list[str]
    took_s: float
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a conversation's turns, and the log position that covers them all."""

    outcomes: Counter[str]
    position: int


class Asker:
    """One client. Use as an async context manager."""

    def __init__(self, url: str, *, timeout_s: float = 10) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._client = Client()

    async def __aenter__(self) -> Asker:
        self._client = await nats.connect(self._url)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def _request(self, subject: str, body: Mapping[str, object]) -> dict[str, Any]:
        reply = await self._client.request(
            subject,
            json.dumps(body).encode(),
            timeout=self._timeout_s,
            headers={"content-type": "application/json"},
        )
        answer: dict[str, Any] = json.loads(reply.data)
        if "error" in answer and isinstance(answer["error"], dict):
            raise Refused(subject, answer["error"]["code"], answer["error"]["message"])
        return answer

    async def imported(self, conversation: Conversation, *, patience_s: float) -> Imported:
        """Waits until every turn of the conversation has its final outcome and recall covers it.

        Raises `Refused` (`not_found`) when a turn was never published, TimeoutError after `patience_s`.
        """
        outcomes: Counter[str] = Counter()
        position = 0
        async with asyncio.timeout(patience_s):
            for utterance in conversation.utterances:
                asked = {"user_id": conversation.sample_id, "turn_id": utterance.turn_id}
                answer = await self._request("memory.turn", asked)
                while answer["outcome"] in UNSETTLED:
                    await asyncio.sleep(0.2)
                    answer = await self._request("memory.turn", asked)
                outcomes[answer["outcome"]] += 1
                position = max(position, answer["position"] or 0)
            while "not_caught_up" in (await self._recall(conversation, "?", wait_for=position))["degraded"]:
                continue  # each request waits for the position itself
        return Imported(outcomes, position)

    async def ask(
        self, conversation: Conversation, question: Question, weights: Mapping[str, float] | None
    ) -> Answer:
        started = time.perf_counter()
        answer = await self._recall(conversation, question.text, weights=weights)
        took_s = time.perf_counter() - started
        ranked = (source["turn_id"] for memory in answer["memories"] for source in memory["sources"])
        return Answer(distinct(ranked), took_s, tuple(answer["degraded"]))

    async def _recall(self, conversation: Conversation, query: str, **more: object) -> dict[str, Any]:
        return await self._request(
            "memory.recall",
            {
                "user_id": conversation.sample_id,
                "query": query,
                "top_k": TOP_K,
                "min_score": 0,
                "valid_at": conversation.ended_at.isoformat(),
                **{name: value for name, value in more.items() if value is not None},
            },
        )
