"""The wire to a real model server. What so small a model says is worth nothing; that it is asked and read is.

Runs where HINDSIGHT_TEST_LLAMA_SERVER names llama.cpp's `llama-server` and HINDSIGHT_TEST_GGUF a small instruct model.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from workers import Workers

from hindsight_common.domain.memory import TurnGiven
from hindsight_common.messaging.connection import Bus
from hindsight_common.settings import Settings

SERVER, MODEL = (os.environ.get(f"HINDSIGHT_TEST_{name}") for name in ("LLAMA_SERVER", "GGUF"))
PATIENCE_S = 240

pytestmark = [
    pytest.mark.skipif(not (SERVER and MODEL), reason="no llama-server and model are named"),
    pytest.mark.timeout(2 * PATIENCE_S),
]


@pytest.fixture
async def model_url(tmp_path: Path) -> AsyncIterator[str]:
    """A server of our own on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(SERVER),
        "-m",
        str(MODEL),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "-c",
        "8192",
        "-np",
        "1",
    ]
    with (tmp_path / "llama.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
    try:
        async with httpx.AsyncClient() as client, asyncio.timeout(PATIENCE_S):
            while True:
                assert process.returncode is None, (tmp_path / "llama.log").read_text(errors="replace")[
                    -2000:
                ]
                try:
                    if (await client.get(f"http://127.0.0.1:{port}/health")).status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.mark.parametrize("text", ["I am allergic to peanuts and I live in Lyon.", "我对花生过敏，住在里昂。"])
async def test_a_turn_is_read_by_a_real_model_to_its_end(
    model_url: str, bus: Bus, tmp_path: Path, text: str
) -> None:
    llm = {
        "base_url": model_url,
        "model": "small",
        "timeout_s": PATIENCE_S,
        "max_output_tokens": 256,
        "provisional_after_ms": PATIENCE_S * 1000,
    }
    settings = Settings.model_validate({"llm": llm})
    async with Workers(bus, tmp_path / "stores", settings=settings) as workers:
        await workers.ask(
            "write",
            user_id="u-1",
            session_id="s-1",
            turn_id="t-1",
            messages=[{"role": "user", "content": text}],
        )
        async with asyncio.timeout(PATIENCE_S):
            while (outcome := await workers.outcome("u-1", "t-1")) in ("not_found", "pending"):
                await asyncio.sleep(0.1)
        owner = workers.core.ids.owner("default", "u-1")
        events = [logged.event async for logged in workers.core.log.read(owner, kinds=("turn",))]
    assert outcome in ("kept", "empty")
    (event,) = events
    assert isinstance(event, TurnGiven)
    assert (event.provenance.extractor, event.provenance.model) == ("llm/1", "small")
    usage = dict(event.provenance.usage)
    assert usage["calls"] >= 1
    assert usage["input_tokens"] > len(text)
    assert usage["output_tokens"] > 0
