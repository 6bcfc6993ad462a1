"""The server form with an LLM that is away, comes back, or is asked with a wrong key: no turn waits, none is lost."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import pytest_asyncio
from nats.aio.client import Client
from server_form.deployment import PROGRAM, ServerForm, ask
from server_form.measurements import Measurements
from server_form.servers import free_port
from workers import eventually, turn

from hindsight_client.llm_stub import LlmStub
from scripts.neo4j_server import missing

pytestmark = pytest.mark.asyncio(loop_scope="module")

TURNS = 20
KEY = "sk-right"
# what the product promises
PROVISIONAL_S = 1.0
UPGRADED_S = 10.0
# A machine that is busy with something else adds to a measurement and never takes from it. So the quickest of the turns
# is held to the promise; all are held to a time by which nothing was waited for but the machine.
ON_A_BUSY_MACHINE_S = 8.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerForm]:
    """One deployment for all tests here; each starts the extractor with the LLM it wants."""
    reason = missing()
    if reason and not os.environ.get("CI"):
        pytest.skip(reason)
    async with ServerForm(tmp_path_factory.mktemp("away") / "form") as made:
        await made.start()
        yield made
        assert made.nats.refusals() == []


@asynccontextmanager
async def reading_by(form: ServerForm, url: str, key: str = KEY, **more: str) -> AsyncIterator[None]:
    """The extractor, and it alone, started anew with an LLM and what else is set."""
    form.settings_of["extractor"] = {
        "MEMORY_LLM_BASE_URL": url,
        "MEMORY_LLM_MODEL": "stub",
        "MEMORY_LLM_API_KEY": key,
        **more,
    }
    assert await form.stop_worker("extractor") == 0, form.workers["extractor"].log()
    await form.start_workers("extractor")
    yield


async def publish(nc: Client, user: str, number: int) -> None:
    said = turn(user, f"t-{number}", f"I bought a lamp in town {number}.")
    await nc.jetstream().publish("conversation.turn", json.dumps(said).encode())


async def seconds_until_recalled(nc: Client, user: str, number: int) -> float:
    """From the publish of a turn until recall answers what the rules read in it."""
    began = time.monotonic()
    await publish(nc, user, number)
    while True:
        answer = await ask(
            nc,
            "recall",
            user_id=user,
            query=f"town {number}",
            wait_for_turn=f"t-{number}",
            top_k=100,
            min_score=0,
        )
        found = [m for m in answer["memories"] if f"town {number}." in m["content"] + "."]
        if found:
            assert {memory["status"] for memory in found} == {"provisional"}, found
            return time.monotonic() - began
        assert time.monotonic() - began < 60, answer


async def outcome(nc: Client, user: str, number: int) -> str:
    return str((await ask(nc, "turn", user_id=user, turn_id=f"t-{number}")).get("outcome"))


async def all_kept(nc: Client, user: str) -> bool:
    return {await outcome(nc, user, number) for number in range(TURNS)} == {"kept"}


async def listed(nc: Client, user: str) -> list[dict[str, Any]]:
    memories: list[dict[str, Any]] = (await ask(nc, "list", user_id=user, limit=1000))["memories"]
    return memories


async def provisional_at_once(nc: Client, user: str) -> None:
    took = [await seconds_until_recalled(nc, user, number) for number in range(TURNS)]
    print(
        f"provisional after {min(took) * 1000:.0f} ms at best, {statistics.median(took) * 1000:.0f} ms in the median, "
        f"{max(took) * 1000:.0f} ms at worst"
    )
    assert min(took) < PROVISIONAL_S
    assert max(took) < ON_A_BUSY_MACHINE_S


async def upgraded_by_themselves(nc: Client, user: str) -> None:
    began = time.monotonic()
    await eventually(lambda: all_kept(nc, user), timeout_s=60)
    took = time.monotonic() - began
    print(f"upgraded {took:.1f} s after the return")
    assert took < UPGRADED_S


async def final_and_each_once(nc: Client, user: str) -> None:
    async def final() -> bool:
        return {memory["status"] for memory in await listed(nc, user)} == {"active"}

    await eventually(final)
    sources = [source["turn_id"] for memory in await listed(nc, user) for source in memory["sources"]]
    assert sorted(sources) == sorted(f"t-{number}" for number in range(TURNS))


async def test_turns_are_recalled_at_once_while_nobody_listens_and_read_once_when_somebody_does(
    shared: ServerForm,
) -> None:
    stub = LlmStub(api_key=KEY)
    await stub.start()
    # from here on connections are refused
    await stub.stop()
    async with reading_by(shared, stub.url), shared.client() as nc:
        await provisional_at_once(nc, "refused")
        try:
            await stub.start()
            await upgraded_by_themselves(nc, "refused")
            await final_and_each_once(nc, "refused")
            assert stub.calls == {200: TURNS}
        finally:
            await stub.stop()


async def test_turns_are_recalled_at_once_while_the_llm_is_overloaded_and_read_once_when_it_is_not(
    shared: ServerForm,
) -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "llm-stub", "--port", str(port), "--fault", "503", "--api-key", KEY),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        assert b"MEMORY_LLM_BASE_URL" in await process.stdout.readline()
        base = f"http://127.0.0.1:{port}"
        async with (
            reading_by(shared, f"{base}/v1"),
            shared.client() as nc,
            httpx.AsyncClient(base_url=base, trust_env=False) as stub,
        ):
            await provisional_at_once(nc, "overloaded")
            (await stub.post("/stub/script", content="[]")).raise_for_status()
            await upgraded_by_themselves(nc, "overloaded")
            await final_and_each_once(nc, "overloaded")
            calls = (await stub.get("/stub/calls")).json()
            assert calls.pop("200") == TURNS
            # few, however many turns waited
            assert set(calls) == {"503"}
            assert calls["503"] < TURNS * 2
    finally:
        process.terminate()
        await process.wait()


async def test_a_wrong_key_is_told_and_costs_no_turn(shared: ServerForm) -> None:
    with Measurements() as measured:
        await _a_wrong_key(shared, measured)


async def _a_wrong_key(shared: ServerForm, measured: Measurements) -> None:
    async with LlmStub(api_key=KEY) as stub, shared.client() as nc:
        async with reading_by(shared, stub.url, key="sk-wrong", **measured.settings):
            for number in range(TURNS):
                await seconds_until_recalled(nc, "wrong-key", number)

            async def said() -> bool:
                async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{shared.http_port}") as http:
                    health = (await http.get("/health")).json()
                told = health.get("extraction") or {}
                return (health["status"], told.get("state"), told.get("cause")) == (
                    "degraded",
                    "paused",
                    "http_401",
                )

            await eventually(said)
            paused = {"ok": 0, "away": 0, "paused": 1}
            await eventually(lambda: measured.latest("memory.llm.state", "state") == paused)
            status, told = await shared.cli("doctor", "--http-url", f"http://127.0.0.1:{shared.http_port}")
            assert status == 1, told
            assert "MEMORY_LLM_API_KEY" in told
            assert "http_401" in told
            assert stub.calls[200] == 0
            assert {await outcome(nc, "wrong-key", number) for number in range(TURNS)} == {"provisional"}
            assert (await shared.health(shared.workers["extractor"]))[0] == 200
        assert "sk-wrong" not in shared.logs()
        refused = stub.calls[401]
        assert refused <= 5, "few requests, however many turns wait: many would lock the account"
        async with reading_by(shared, stub.url):
            await upgraded_by_themselves(nc, "wrong-key")
            await final_and_each_once(nc, "wrong-key")
        assert stub.calls == {401: refused, 200: TURNS}
