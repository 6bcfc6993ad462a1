"""Each example as its reader starts it, against an embedded Hindsight."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from standalone import Plain, Standalone

from hindsight_client.llm_stub import LlmStub, Script, Step

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@asynccontextmanager
async def example(
    name: str, running: Standalone, *options: str, env: Mapping[str, str] | None = None
) -> AsyncIterator[Process]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("HINDSIGHT_", "OPENAI_"))
    }
    own = {"HINDSIGHT_NATS_URL": running.ready["nats_url"], "PYTHONUNBUFFERED": "1", "LC_ALL": "C.UTF-8"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(EXAMPLES / name), *options),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env={**kept, **own, **(env or {})},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def until(process: Process, text: str) -> str:
    """What the process prints up to and with `text`."""
    assert process.stdout is not None
    seen = b""
    async with asyncio.timeout(60):
        while text.encode() not in seen:
            more = await process.stdout.read(4096)
            assert more, seen.decode()
            seen += more
    return seen.decode()


async def recalled(plain: Plain, user: str, query: str, wanted: str) -> None:
    async with asyncio.timeout(60):
        while not any(wanted in memory["content"] for memory in await plain.recall(user, query)):
            await asyncio.sleep(0.05)


def say(process: Process, line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n".encode())


async def test_with_plain_nats_a_user_is_remembered_and_forgotten(running: Standalone) -> None:
    async with example("plain_nats.py", running) as process:
        out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    told = out.decode()
    assert "花生" in told.splitlines()[0]
    assert "Lisbon" in told
    assert "<MEMORY_SNAPSHOT>" in told
    assert told.splitlines()[-1].endswith("done")


async def test_the_chat_shows_what_an_llm_would_be_given_and_remembers_across_sessions(
    running: Standalone, plain: Plain
) -> None:
    async with example("chat_loop.py", running, "--user", "chat-1") as process:
        await until(process, "> ")
        say(process, "我对花生过敏")
        assert "<MEMORY_SNAPSHOT>" in await until(process, "---\n> ")
        await recalled(plain, "chat-1", "我对什么过敏？", "花生")
        say(process, "/recall 我对什么过敏？")
        assert "花生" in await until(process, "\n> ")
        assert process.stdin is not None
        process.stdin.close()
        assert await process.wait() == 0
    async with example("chat_loop.py", running, "--user", "chat-1") as later:
        await until(later, "> ")
        say(later, "点菜要注意什么？我对什么过敏？")
        assert "花生" in await until(later, "---\n> ")


async def test_the_chat_answers_with_an_llm_that_is_given_what_is_remembered(
    running: Standalone, plain: Plain
) -> None:
    await plain.say("chat-2", "t-1", "I live in Lisbon.")
    async with LlmStub(Script(always=[Step(reply="By the river, as ever.")])) as llm:
        env = {"OPENAI_BASE_URL": llm.url, "OPENAI_API_KEY": "x", "OPENAI_MODEL": "stub"}
        async with example("chat_loop.py", running, "--user", "chat-2", env=env) as process:
            await until(process, "> ")
            say(process, "Where do I live?")
            await until(process, "By the river, as ever.")
        assert any("Lisbon" in asked.text for asked in llm.asked)
    assert await plain.everything("chat-2")


async def test_the_backend_asks_before_a_call_and_publishes_after_it(
    running: Standalone, plain: Plain
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    async with (
        example("fastapi_backend.py", running, "--port", str(port)) as process,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as http,
    ):
        await up(http, process)

        async def chat(text: str) -> dict[str, Any]:
            said = {"user_id": "web-1", "session_id": "s-1", "text": text}
            answered = await http.post("/chat", json=said)
            assert answered.status_code == 200, answered.text
            found: dict[str, Any] = answered.json()
            return found

        first = await chat("我对花生过敏")
        assert first["reply"] is None
        await recalled(plain, "web-1", "我对什么过敏？", "花生")
        assert "花生" in (await chat("点菜要注意什么？我对什么过敏？"))["prompt"]
        closed = await http.delete("/sessions/s-1", params={"user_id": "web-1"})
        assert closed.json() == {"closed": "s-1"}


async def up(http: httpx.AsyncClient, process: Process) -> None:
    async with asyncio.timeout(60):
        while True:
            assert process.returncode is None
            try:
                await http.get("/openapi.json")
            except httpx.TransportError:
                await asyncio.sleep(0.05)
            else:
                return
