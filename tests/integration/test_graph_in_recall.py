"""Memories are found through the graph too: by whom a question names, for their owner alone, never at its cost."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from workers import Workers, eventually

from hindsight_common.domain.graph import UserGraph
from hindsight_common.errors import RetryLater
from hindsight_common.messaging.connection import Bus


@pytest.fixture
async def workers(bus: Bus, tmp_path: Path) -> AsyncIterator[Workers]:
    async with Workers(bus, tmp_path) as running:
        yield running


async def _consolidated(workers: Workers, user: str) -> None:
    result = (await workers.admin("consolidate", user_id=user))[-1]["result"]

    async def projected() -> bool:
        return bool(await workers.graph.position() >= result["position"])

    await eventually(projected)


async def _asked(workers: Workers, user: str, query: str, **more: Any) -> dict[str, Any]:
    return await workers.ask("recall", user_id=user, query=query, min_score=0, top_k=100, **more)


async def test_what_is_related_to_somebody_named_in_the_question_is_a_candidate(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    await workers.say("u-1", "t-2", "我喜欢川菜。")
    await _consolidated(workers, "u-1")
    found = (await _asked(workers, "u-1", "Tell me about LYON"))["memories"]
    ranks = {memory["object"]: memory["channels"].get("graph") for memory in found}
    assert ranks["Lyon"] == 1
    assert "graph" in (await _asked(workers, "u-1", "x"))["took_ms"]


async def test_the_graph_half_never_leaves_its_owner(workers: Workers) -> None:
    await workers.say("alice", "t-1", "Charlie likes apples.")
    await workers.say("bob", "t-1", "Charlie likes baseball.")
    await _consolidated(workers, "alice")
    await _consolidated(workers, "bob")
    answer = json.dumps(await _asked(workers, "alice", "What does Charlie like?"))
    assert "apples" in answer
    assert "baseball" not in answer
    for user, names in (("alice", {"Charlie", "apples"}), ("bob", {"Charlie", "baseball"})):
        graph = await workers.graph.read(workers.core.ids.owner("default", user))
        assert {node.name for node in graph.nodes} == names


async def test_a_request_keeps_what_it_excludes_out_of_the_graphs_candidates(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    await workers.say("u-1", "t-2", "I live in Porto.", occurred_at="2026-05-04T09:15:00Z")
    await _consolidated(workers, "u-1")
    found = (await _asked(workers, "u-1", "Lyon"))["memories"]
    assert "Lyon" not in {memory["object"] for memory in found}  # superseded, and not asked for
    also = (await _asked(workers, "u-1", "Lyon", include=["superseded"]))["memories"]
    assert "graph" in next(memory for memory in also if memory["object"] == "Lyon")["channels"]


async def test_a_graph_that_is_away_costs_its_part_of_the_answer_only(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    await _consolidated(workers, "u-1")

    async def away(*_: object, **__: object) -> UserGraph:
        raise RetryLater("injected")

    monkeypatch.setattr(workers.graph, "neighbourhood", away)
    answer = await _asked(workers, "u-1", "Lyon")
    assert answer["degraded"] == ["graph"]
    assert [memory["object"] for memory in answer["memories"]] == ["Lyon"]
    monkeypatch.undo()
    assert (await _asked(workers, "u-1", "Lyon"))["degraded"] == []
