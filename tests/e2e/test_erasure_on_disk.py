"""Forgotten means gone from the disk: a canary published, recalled, consolidated and forgotten with its user."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from standalone import Plain, Standalone, turn

from hindsight_common.core import Core
from hindsight_common.domain.memory import Erased, Forgotten
from hindsight_common.events.streams import DEAD, KEYS, LOG, TURNS
from hindsight_common.messaging.connection import connect
from hindsight_common.messaging.reading import read_subject
from hindsight_common.settings import Settings

CANARY = "Zinzanbruk"
CORRECTED = "Quorvellon"
KEY = {"HINDSIGHT_MASTER_KEY": "7b" * 32}


def _holding(folder: Path, what: str) -> list[str]:
    """Files below a folder that hold a text, in any of the forms in which it might be written."""
    forms = {what.encode(), what.lower().encode(), what.encode("utf-16-le"), json.dumps(what).encode()[1:-1]}
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(form in path.read_bytes() for form in forms)
    )


async def _admin(plain: Plain, what: str, **body: Any) -> dict[str, Any]:
    inbox = plain.nc.new_inbox()
    answers = await plain.nc.subscribe(inbox)
    await plain.nc.publish(f"admin.{what}", json.dumps(body).encode(), reply=inbox)
    while True:
        step: dict[str, Any] = json.loads((await answers.next_msg(timeout=60)).data)
        if step["done"]:
            return step


@pytest.fixture
async def deployment(tmp_path: Path) -> Any:
    running = Standalone(tmp_path, env=KEY)
    await running.start()
    yield running
    assert await running.stop() == 0, running.log()


async def test_a_canary_is_sealed_while_it_lives_and_gone_when_its_user_is(deployment: Standalone) -> None:
    nc = await deployment.connect()
    plain = Plain(nc)
    said = turn(
        "canary-user",
        "t-1",
        f"My sister is called {CANARY} and I live in {CANARY}.",
        session_id="canary-session",
    )
    await plain.publish(said)
    await plain.publish(turn("canary-user", "t-bad", f"{CANARY}", occurred_at="2026-03-04T09:15:00"))
    await plain.outcome("canary-user", "t-1")
    await plain.outcome("canary-user", "t-bad")
    await plain.publish(f"{CANARY} is not JSON".encode())
    await plain.say("neighbour", "t-1", "My sister is called Ida.")
    recalled = await plain.recall("canary-user", f"Who is {CANARY}?", wait_for_turn="t-1", min_score=0)
    assert any(CANARY in m["content"] for m in recalled)
    [home] = [m for m in await plain.everything("canary-user") if m["predicate"] == "lives_in"]
    decided = await plain.ask(
        "decide", {"user_id": "canary-user", "memory_id": home["id"], "object": f"{CORRECTED} {CANARY}"}
    )
    assert CORRECTED in decided["memory"]["content"]
    recalled = await plain.recall(
        "canary-user", f"Where is {CORRECTED}?", wait_for=decided["position"], min_score=0
    )
    assert any(CORRECTED in m["content"] for m in recalled)
    await _admin(plain, "consolidate", user_id="canary-user")
    js = nc.jetstream()
    async with asyncio.timeout(30):
        while (await js.stream_info("INTAKE")).state.messages or not _holding(
            deployment.data / "graph", CANARY
        ):
            await asyncio.sleep(0.1)
    async with asyncio.timeout(30):
        # the server writes its files behind the acknowledgement
        while [path for path in _holding(deployment.data, CANARY) if not path.startswith("graph/")]:
            await asyncio.sleep(0.2)
    assert not [path for path in _holding(deployment.data, CORRECTED) if not path.startswith("graph/")]
    assert not _holding(deployment.data, "canary-user")
    assert not _holding(deployment.data, "canary-session")

    receipt = (await plain.ask("forget", {"user_id": "canary-user", "everything": True, "confirm": True}))[
        "receipt"
    ]
    assert receipt["status"] == "done"
    assert receipt["stores"]["keys"]["removed"] == 1
    async with asyncio.timeout(30):
        while (await js.consumer_info("LOG", "eraser")).num_ack_pending:
            await asyncio.sleep(0.05)
    assert _holding(deployment.data, CANARY) == _holding(deployment.data, CORRECTED) == []
    assert CANARY not in deployment.log()
    assert CORRECTED not in deployment.log()
    await _nothing_can_be_unsealed(deployment)

    await plain.publish(said)
    await plain.say("canary-user", "t-2", "I play chess.")
    await _admin(plain, "rebuild")
    assert [m["object"] for m in await plain.everything("canary-user") if m["type"] == "fact"] == ["chess"]
    async with asyncio.timeout(30):
        while _holding(deployment.data, CANARY):
            await asyncio.sleep(0.2)
    assert await plain.everything("neighbour")
    await nc.close()


async def _nothing_can_be_unsealed(deployment: Standalone) -> None:
    """With the master key in hand, everything of the user that is still there says nothing."""
    bus = await connect(deployment.ready["nats_url"], name="auditor")
    core = Core.over(bus, Settings(), bytes.fromhex(KEY["HINDSIGHT_MASTER_KEY"]))
    owner = core.ids.owner("default", "canary-user")
    left = [logged.event async for logged in core.log.read(owner)]
    assert left
    assert all(isinstance(event, Forgotten | Erased) for event in left)
    assert all(not event.closings for event in left if isinstance(event, Forgotten))
    for stream in (TURNS.name, DEAD.name):
        assert [m async for m in read_subject(bus.js, stream, f"*.*.*.{owner.user_key}.*")] == []
        assert [m async for m in read_subject(bus.js, stream, f"*.*.*.*.{owner.user_key}")] == []
    keys = [m.subject async for m in read_subject(bus.js, KEYS.name, f"key.*.*.{owner.user_key}.*")]
    assert [subject.rsplit(".", 1)[1] for subject in keys] == ["destroyed"]
    assert LOG.name not in keys
    await bus.close()
