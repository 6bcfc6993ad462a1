"""A model that is slower than anybody waits: the words answer in time, and what is missing is named."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from workers import Workers, eventually

from hindsight_common.adapters.in_memory.embedder import HashingEmbedder
from hindsight_common.messaging.connection import Bus
from hindsight_common.settings import Settings

# asked at once: several times as many as may search side by side
CROWD = 300


class GatedEmbedder(HashingEmbedder):
    """Its queries wait at the gate while that is shut; passages pass."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = 0

    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.waiting += 1
        try:
            await self.gate.wait()
        finally:
            self.waiting -= 1
        return await super().embed_queries(texts)


def settings(**recall: Any) -> Settings:
    return Settings.model_validate({"recall": recall})


@pytest.fixture
def slow() -> GatedEmbedder:
    return GatedEmbedder()


@pytest.mark.parametrize(
    ("said", "asked", "word"),
    [
        ("I am allergic to peanuts.", "allergic to peanuts", "peanuts"),
        ("我对花生过敏。", "我对花生过敏吗？", "花生"),
    ],
)
async def test_words_answer_while_the_model_does_not(
    bus: Bus, tmp_path: Path, slow: GatedEmbedder, said: str, asked: str, word: str
) -> None:
    async with Workers(bus, tmp_path, embedder=slow, settings=settings(timeout_ms=1000)) as workers:
        await workers.say("u-1", "t-1", said)
        slow.gate.clear()
        answer = await workers.ask("recall", user_id="u-1", query=asked, min_score=0)
        assert any(word in memory["content"] for memory in answer["memories"])
        assert answer["degraded"] == ["embedding", "timeout", "vectors"]
        assert all("words" in memory["channels"] for memory in answer["memories"])
        # what nobody waits for any more goes on for nobody
        await eventually(lambda: slow.waiting == 0)
        slow.gate.set()
        assert (await workers.ask("recall", user_id="u-1", query=asked, min_score=0))["degraded"] == []


async def test_a_crowd_behind_a_slow_model_is_answered_by_words_and_nobody_is_left_waiting(
    bus: Bus, tmp_path: Path, slow: GatedEmbedder
) -> None:
    """As long as the gateway waits is what each may take: behind the first ones the others do not wait in turn."""
    async with Workers(bus, tmp_path, embedder=slow, settings=settings(timeout_ms=2000)) as workers:
        await workers.say("u-1", "t-1", "I am allergic to peanuts.")
        slow.gate.clear()
        async with asyncio.timeout(10):
            answers = await asyncio.gather(
                *(
                    workers.ask("recall", user_id="u-1", query="allergic to peanuts", min_score=0)
                    for _ in range(CROWD)
                )
            )
        assert all("timeout" in answer["degraded"] for answer in answers)
        assert sum(bool(answer["memories"]) for answer in answers) > CROWD // 2


async def test_a_graph_that_hangs_does_not_hold_up_the_rest(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Workers(bus, tmp_path, settings=settings(timeout_ms=200)) as workers:
        await workers.say("u-1", "t-1", "I am allergic to peanuts.")

        async def never(*_: object, **__: object) -> object:
            return await asyncio.Event().wait()

        monkeypatch.setattr(workers.graph, "neighbourhood", never)
        answer = await workers.ask("recall", user_id="u-1", query="allergic to peanuts", min_score=0)
        assert "graph" in answer["degraded"]
        assert "timeout" in answer["degraded"]


async def test_a_snapshot_has_what_the_words_find_while_the_model_does_not_answer(
    bus: Bus, tmp_path: Path, slow: GatedEmbedder
) -> None:
    orchestrated = Settings.model_validate(
        {"orchestrator": {"hook_timeout": 2000}, "recall": {"min_score": 0}}
    )
    async with Workers(bus, tmp_path, embedder=slow, settings=orchestrated) as workers:
        await workers.say("u-1", "t-1", "I am allergic to peanuts.")
        slow.gate.clear()
        answer = await workers.ask("inject", user_id="u-1", session_id="c-1", query="allergic to peanuts")
        assert {"embedding", "timeout"} <= set(answer["degraded"])
        assert any("peanuts" in memory["content"] for memory in answer["parts"]["episodic"])
        # the latest exchange stands there however little it was measured
        assert [one["content"] for one in answer["parts"]["working"]] == ["I am allergic to peanuts."]
        assert "peanuts" in answer["snapshot"]
        await eventually(lambda: slow.waiting == 0)
