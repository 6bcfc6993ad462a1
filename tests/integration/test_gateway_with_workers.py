"""One memory and one turn over HTTP, from the first word to the last, with the real workers behind the gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from workers import Workers, eventually, turn

from hindsight_client.llm_stub import FAULTS, LlmStub
from hindsight_common.messaging.connection import Bus
from hindsight_common.settings import Settings
from hindsight_gateway.bootstrap import build


@asynccontextmanager
async def over_http(
    bus: Bus, folder: Path, settings: Settings | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    async with Workers(bus, folder, settings=settings):
        gateway = build(bus, port=0)
        await gateway.start()
        try:
            async with httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=60) as http:
                yield http
        finally:
            await gateway.stop()


async def said(http: httpx.AsyncClient, user: str, turn_id: str, text: str) -> None:
    wrote = await http.post("/v1/write", json=turn(user, turn_id, text))
    assert wrote.json() == {"turn_id": turn_id, "accepted": True, "duplicate": False}


async def recalled(http: httpx.AsyncClient, user: str, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = await http.post("/v1/recall", json={"user_id": user, "query": query, **more})
    assert answer.status_code == 200, answer.text
    memories: list[dict[str, Any]] = answer.json()["memories"]
    return memories


@pytest.mark.parametrize(
    ("told", "query", "wrong", "right"),
    [
        ("我对花生过敏", "我对什么过敏？", "花生", "核桃"),
        ("I live in Lisbon.", "Where do I live?", "Lisbon", "Porto"),
    ],
)
async def test_a_memory_is_read_pinned_corrected_and_forgotten(
    bus: Bus, tmp_path: Path, told: str, query: str, wrong: str, right: str
) -> None:
    async with over_http(bus, tmp_path) as http:
        await said(http, "u-1", "2026/1", told)
        (found,) = await recalled(http, "u-1", query, wait_for_turn="2026/1", min_score=0)
        path = f"/v1/memory/{found['id']}"
        outcome = await http.get("/v1/turns/2026%2F1", params={"user_id": "u-1"})
        assert (outcome.json()["outcome"], outcome.json()["memories"]) == ("kept", 1)

        read = await http.get(path, params={"user_id": "u-1"})
        assert read.json()["memory"]["object"] == wrong
        pinned = await http.patch(path, json={"user_id": "u-1", "pinned": True})
        assert (pinned.json()["memory"]["id"], pinned.json()["memory"]["pinned"]) == (found["id"], True)

        key = {"Idempotency-Key": "correct-1"}
        corrected = await http.patch(path, json={"user_id": "u-1", "object": right}, headers=key)
        assert corrected.json()["memory"]["object"] == right
        after = corrected.json()["position"]
        assert [m["object"] for m in await recalled(http, "u-1", query, wait_for=after, min_score=0)] == [
            right
        ]

        gone = f"/v1/memory/{corrected.json()['memory']['id']}/delete"
        receipt = await http.post(gone, json={"user_id": "u-1"})
        assert receipt.json()["receipt"]["status"] == "done"
        assert await recalled(http, "u-1", query, min_score=0) == []
        again = await http.post(gone, json={"user_id": "u-1"})
        assert (again.status_code, again.json()["field"]) == (404, "memory_id")


async def test_what_is_another_user_s_is_not_there_over_http(bus: Bus, tmp_path: Path) -> None:
    async with over_http(bus, tmp_path) as http:
        await said(http, "u-1", "t-1", "我对花生过敏")
        (found,) = await recalled(http, "u-1", "过敏", wait_for_turn="t-1", min_score=0)
        path = f"/v1/memory/{found['id']}"
        refused = [
            await http.get(path, params={"user_id": "u-2"}),
            await http.get(path, params={"user_id": "u-1"}, headers={"X-Tenant": "other"}),
            await http.patch(path, json={"user_id": "u-2", "pinned": True}),
            await http.post(f"{path}/delete", json={"user_id": "u-2"}),
            await http.get("/v1/turns/t-1", params={"user_id": "u-2"}),
        ]
        assert [answer.status_code for answer in refused] == [404] * 5
        assert not any("花生" in answer.text for answer in refused)
        misspelt = await http.get(path, params={"userID": "u-1"})
        assert (misspelt.status_code, misspelt.json()["field"]) == (400, "userID")
        assert (await recalled(http, "u-1", "过敏", min_score=0))[0]["id"] == found["id"]


async def test_the_block_for_a_prompt_is_the_same_by_both_paths(bus: Bus, tmp_path: Path) -> None:
    async with over_http(bus, tmp_path) as http:
        await said(http, "李雷", "t-1", "我对花生过敏")
        assert await recalled(http, "李雷", "过敏", wait_for_turn="t-1", min_score=0)
        asked = {"session_id": "c-9", "query": "我对花生过敏吗"}
        plain = await http.post("/v1/inject", json={"user_id": "李雷", **asked})
        named = await http.post("/api/memory/inject", json=asked, headers=[(b"X-User-Id", "李雷".encode())])
        assert "花生" in plain.json()["snapshot"]
        assert named.json()["snapshot"] == plain.json()["snapshot"]
        nobody = await http.post("/api/memory/inject", json=asked)
        assert (nobody.status_code, nobody.json()["field"]) == (400, "user_id")


async def test_a_wrong_key_shows_in_health_and_so_does_its_end(bus: Bus, tmp_path: Path) -> None:
    async with LlmStub() as stub:
        stub.play(always=[FAULTS["401"]])
        llm = {"base_url": stub.url, "model": "stub", "provisional_after_ms": 300, "api_key": "sk-canary"}
        async with over_http(bus, tmp_path, Settings.model_validate({"llm": llm})) as http:
            await said(http, "u-1", "t-1", "I live in Lisbon.")

            async def health(state: str | None) -> dict[str, Any] | None:
                found: dict[str, Any] = (await http.get("/health")).json()
                return found if found.get("extraction", {}).get("state") == state else None

            degraded = await eventually(lambda: health("paused"))
            assert (degraded["status"], degraded["missing"]) == ("degraded", [])
            assert (degraded["extraction"]["model"], degraded["extraction"]["cause"]) == ("stub", "http_401")
            assert "sk-canary" not in str(degraded)
            stub.play()
            assert await eventually(lambda: health(None)) == {"status": "ok"}
