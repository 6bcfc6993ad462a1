"""What was said last, in the embedded form: heard by the next call, lost with its server and nothing else lost."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

from standalone import Plain, Standalone, turn


async def _heard(plain: Plain, user: str, session: str = "c-1") -> list[str]:
    answer = await plain.ask("inject", {"user_id": user, "session_id": session, "query": "那电池呢？"})
    assert "snapshot" in answer, answer
    return [one["content"] for one in answer["parts"]["working"]]


async def _until_heard(plain: Plain, said: dict[str, Any]) -> list[str]:
    """Writes a turn until it is heard: on a busy machine its server may need a moment more than a turn waits."""
    async with asyncio.timeout(30):
        while True:
            await plain.ask("write", said)
            if heard := await _heard(plain, said["user_id"]):
                return heard
            await asyncio.sleep(0.05)


def _exchange(turn_id: str) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": "我在看 iPhone15"},
        {"role": "assistant", "content": "它的屏幕是 6.1 英寸。"},
    ]
    return turn("u-1", turn_id, "", messages=messages)


async def test_a_killed_redis_costs_what_was_said_last_and_comes_back_by_itself(tmp_path: Path) -> None:
    standalone = Standalone(tmp_path)
    await standalone.start()
    try:
        client = await standalone.connect()
        plain = Plain(client)
        said = ["我在看 iPhone15", "它的屏幕是 6.1 英寸。"]
        assert await _until_heard(plain, _exchange("t-1")) == said
        before = standalone.child_pid("valkey-server")
        os.kill(before, signal.SIGKILL)
        # the memories are all there meanwhile
        await plain.say("u-1", "t-2", "我对花生过敏", session_id="c-2")
        assert (await plain.recall("u-1", "点菜要注意什么？"))[0]["object"] == "花生"
        assert await _until_heard(plain, _exchange("t-3")) == said
        assert standalone.child_pid("valkey-server") != before
        await client.close()
    finally:
        status = await standalone.stop()
    assert status == 0, standalone.log()


async def test_a_restart_begins_with_no_sessions_and_leaves_no_server_behind(tmp_path: Path) -> None:
    standalone = Standalone(tmp_path)
    await standalone.start()
    client = await standalone.connect()
    await _until_heard(Plain(client), _exchange("t-1"))
    child = standalone.child_pid("valkey-server")
    await client.close()
    standalone.kill()
    assert standalone.process is not None
    await standalone.process.wait()
    async with asyncio.timeout(20):
        while Path(f"/proc/{child}").exists() and "Z" not in Path(f"/proc/{child}/stat").read_text():
            await asyncio.sleep(0.02)
    await standalone.start()
    try:
        client = await standalone.connect()
        assert await _heard(Plain(client), "u-1") == []
        await client.close()
    finally:
        await standalone.stop()
    # of what was said nothing is on disk in clear
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"iPhone15" not in file.read_bytes(), file
