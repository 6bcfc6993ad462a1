"""What is said, read or broken while a user is being forgotten."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from workers import Workers, eventually, turn

from hindsight_common.ids import Owner
from hindsight_common.messaging.connection import Bus
from hindsight_common.ports.working_memory import SpokenTurn


async def test_what_is_said_before_the_key_is_destroyed_is_recalled_afterwards(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said after the tombstone and projected under the old key: its row must not stay sealed with it."""
    async with Workers(bus, tmp_path) as workers:
        await workers.say("u-1", "t-1", "I live in Lyon.")
        keyring, due, go_on = workers.core.keyring, asyncio.Event(), asyncio.Event()
        mark_destroyed = keyring.mark_destroyed

        async def late(owner: Owner) -> frozenset[str]:
            due.set()
            await go_on.wait()
            return await mark_destroyed(owner)

        monkeypatch.setattr(keyring, "mark_destroyed", late)
        forgetting = asyncio.create_task(workers.ask("forget", user_id="u-1", everything=True, confirm=True))
        await due.wait()
        await workers.say("u-1", "t-2", "I live in Porto.")
        assert await workers.contents("u-1") == ["The user lives in Porto"]
        go_on.set()
        assert (await forgetting)["receipt"]["status"] == "done"

        async def lives() -> bool:
            return await workers.contents("u-1") == ["The user lives in Porto"]

        await eventually(lives, timeout_s=5)


@pytest.mark.parametrize("scope", [{"everything": True}, {"session_id": "c-1"}], ids=["user", "session"])
async def test_what_intake_is_about_to_remember_of_a_session_does_not_come_in_behind_its_erasure(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: dict[str, object]
) -> None:
    """Accepted, read and forgotten, all before intake got to Redis."""
    async with Workers(bus, tmp_path) as workers:
        working, due, go_on = workers.working, asyncio.Event(), asyncio.Event()
        append = working.append

        async def late(owner: Owner, session_key: str, spoken: SpokenTurn) -> bool:
            due.set()
            await go_on.wait()
            return await append(owner, session_key, spoken)

        monkeypatch.setattr(working, "append", late)
        writing = asyncio.create_task(workers.ask("write", **turn("u-1", "t-1", "I live in Lyon.")))
        await due.wait()

        async def read() -> bool:
            return await workers.outcome("u-1", "t-1") == "kept"

        await eventually(read)
        answer = await workers.ask("forget", user_id="u-1", confirm=True, **scope)
        assert answer["receipt"]["status"] == "done"
        go_on.set()
        await writing
        owner = workers.core.ids.owner("default", "u-1")
        session = workers.core.ids.session_key("default", "u-1", "c-1")
        assert await working.latest(owner, session, 5) == ()
