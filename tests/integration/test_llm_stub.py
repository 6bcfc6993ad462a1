"""The scripted LLM endpoint: its command, its script from outside, and its counting."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from hindsight_client.llm_stub import FAULTS, LlmStub, Script, Step
from hindsight_common.errors import StopAndFix

LINE = '{"id": "m1", "speaker": "user", "text": "I live in Lyon"}'


@pytest.fixture
async def stub() -> AsyncIterator[LlmStub]:
    async with LlmStub() as serving:
        yield serving


async def complete(url: str, content: str = LINE, **more: object) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        body = {"model": "m", "messages": [{"role": "user", "content": content}], **more}
        return await client.post(f"{url}/chat/completions", json=body)


def text_of(answer: httpx.Response) -> str:
    return str(answer.json()["choices"][0]["message"]["content"])


async def test_it_echoes_what_users_said_and_nobody_else(stub: LlmStub) -> None:
    assistant = LINE.replace("m1", "m2").replace('"user"', '"assistant"')
    answer = await complete(stub.url, f"It took place:\n{LINE}\n{assistant}\nReply.")
    (memory,) = json.loads(text_of(answer))["memories"]
    assert (memory["summary"], memory["message"]) == ("I live in Lyon", "m1")


async def test_steps_are_used_up_in_order_and_those_that_do_not_apply_wait(stub: LlmStub) -> None:
    stub.play(
        Step(status=429, times=2),
        Step(reply="with a form", if_body_has='"type": "json_object"'),
        Step(reply="next"),
        always=[Step(reply="always")],
    )
    statuses = [(await complete(stub.url)).status_code for _ in range(2)]
    assert statuses == [429, 429]
    assert text_of(await complete(stub.url)) == "next"
    assert text_of(await complete(stub.url, response_format={"type": "json_object"})) == "with a form"
    assert text_of(await complete(stub.url)) == "always"
    assert stub.calls == {429: 2, 200: 3}


async def test_who_shows_another_key_gets_401_and_uses_up_no_step() -> None:
    async with LlmStub(Script([Step(reply="let in")]), api_key="right") as guarded:
        statuses = []
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer right"}):
            async with httpx.AsyncClient(trust_env=False, headers=headers) as client:
                body = {"model": "m", "messages": [{"role": "user", "content": LINE}]}
                answer = await client.post(f"{guarded.url}/chat/completions", json=body)
                statuses.append(answer.status_code)
        assert statuses == [401, 401, 200]
        assert text_of(answer) == "let in"


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in ("slow", "hang")])
async def test_every_fault_answers_as_it_says(stub: LlmStub, name: str) -> None:
    stub.play(always=[FAULTS[name]])
    answer = await complete(stub.url, response_format={"type": name.removeprefix("no-").replace("-", "_")})
    assert answer.status_code == FAULTS[name].status
    if answer.status_code == 200:
        assert answer.json()["choices"][0]["finish_reason"] == FAULTS[name].finish_reason


@pytest.mark.parametrize("script", ["{", "5", '{"step": []}', '["nonsense"]', '[{"replies": 1}]'])
def test_a_wrong_script_is_refused(script: str) -> None:
    with pytest.raises(StopAndFix):
        Script.of_json(script)


async def test_a_taken_port_is_named(stub: LlmStub) -> None:
    port = int(stub.url.split(":")[2].split("/")[0])
    with pytest.raises(StopAndFix, match=str(port)):
        await LlmStub(port=port).start()


async def test_the_command_serves_takes_scripts_counts_and_stops_in_order(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"reply": {"memories": []}}, "401"]))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from hindsight_client.cli import main; main()",
        "llm-stub",
        "--script",
        str(script),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    said = (await asyncio.wait_for(process.stdout.readline(), 30)).decode()
    url = said.split()[0].removeprefix("MEMORY_LLM_BASE_URL=")
    assert text_of(await complete(url)) == '{"memories": []}'
    assert (await complete(url)).status_code == 401
    async with httpx.AsyncClient(base_url=url.removesuffix("/v1"), trust_env=False) as client:
        assert (await client.post("/stub/script", content='["500"]')).status_code == 200
        assert (await client.post("/stub/script", content='["501"]')).status_code == 400
        assert (await complete(url)).status_code == 500
        assert (await client.get("/stub/calls")).json() == {"200": 1, "401": 1, "500": 1}
        assert (await client.get("/v1/models")).json()["data"][0]["id"] == "stub"
        assert (await client.get("/nothing")).status_code == 404
    process.send_signal(signal.SIGTERM)
    _, told = await process.communicate()
    assert process.returncode == 0
    assert "401: 1" in told.decode()
