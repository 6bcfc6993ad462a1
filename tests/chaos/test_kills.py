"""A thousand turns while the process or its server is killed again and again: none lost, none doubled.

The same turns then go through a deployment that nobody disturbs, through a rebuild, and through a shuffled replay of
the log: recall answers the same in all of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats.errors
import nats.js.errors
import pytest
from nats.js.client import JetStreamContext
from said import END, QUESTIONS, USERS, turns
from standalone import Plain, Standalone

# place, and at which such moment after a start
FAULTS = [
    ("after_append", 10),
    ("before_ack", 20),
    ("mid_projection", 1),
    ("after_append", 25),
    ("before_ack", 50),
    ("mid_projection", 2),
    ("after_append", 40),
    ("before_ack", 75),
    ("mid_projection", 3),
]
TURNS_A_KILL = 75
SERVER_KILLS = 3
KEY = {"HINDSIGHT_MASTER_KEY": "5a" * 32}
FAULTY = Path(__file__).with_name("faulty_standalone.py")

Seen = dict[str, list[dict[str, Any]]]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def talking_to(deployment: Standalone) -> AsyncIterator[Plain]:
    nc = await deployment.connect()
    try:
        yield Plain(nc)
    finally:
        await nc.close()


class Publisher:
    """Publishes turn after turn; each again until it is acknowledged, whatever happens to the server.

    It goes on only as far as it is allowed to, so that every kill finds work in hand.
    """

    def __init__(self, url: str, said: list[dict[str, Any]]) -> None:
        self._url = url
        self._said = said
        self._allowed = asyncio.Semaphore(0)
        self.acknowledged = 0

    def allow(self, count: int) -> None:
        for _ in range(count):
            self._allowed.release()

    async def run(self) -> None:
        nc = await nats.connect(
            self._url,
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.05,
            error_cb=_ignore,
            connect_timeout=1,
        )
        waiting = iter(self._said)
        await asyncio.gather(*(self._publish(Plain(nc), waiting) for _ in range(4)))
        await nc.close()

    async def _publish(self, plain: Plain, waiting: Iterator[dict[str, Any]]) -> None:
        for turn in waiting:
            await self._allowed.acquire()
            while True:
                try:
                    await plain.publish(turn)
                except (nats.errors.Error, nats.js.errors.Error, TimeoutError):
                    await asyncio.sleep(0.05)
                else:
                    self.acknowledged += 1
                    break


async def _ignore(_: Exception) -> None:
    """Lost connections are what this is about."""


async def _until_it_dies(deployment: Standalone, place: str, after: int) -> dict[str, Any]:
    """Runs the faulty process until it has killed itself; what it wrote before."""
    fault_file = deployment.folder / "fault.json"
    fault_file.unlink(missing_ok=True)
    deployment.command = [sys.executable, str(FAULTY)]
    deployment.env |= {"FAULT_PLACE": place, "FAULT_AFTER": str(after), "FAULT_FILE": str(fault_file)}
    # not until it is ready: what waits from before may kill it while it is still starting
    await deployment.launch()
    assert deployment.process is not None
    async with asyncio.timeout(120):
        assert await deployment.process.wait() == -signal.SIGKILL, deployment.log()
    told: dict[str, Any] = json.loads(fault_file.read_text())
    return told


async def _kill_the_server_at_work(deployment: Standalone) -> int:
    """Kills nats-server while turns are being extracted or projected; how many were unacknowledged."""
    async with talking_to(deployment) as plain:
        js: JetStreamContext = plain.nc.jetstream()
        async with asyncio.timeout(60):
            while True:
                pending = 0
                for stream, durable in (("TURNS", "extractor"), ("LOG", "vectors"), ("INTAKE", "intake")):
                    pending += (await js.consumer_info(stream, durable)).num_ack_pending or 0
                if pending:
                    os.kill(deployment.nats_pid(), signal.SIGKILL)
                    return pending


async def _settled(plain: Plain, said: list[dict[str, Any]]) -> dict[str, str]:
    """Turn id → outcome, once every turn has one and recall reflects it."""
    outcomes: dict[str, str] = {}
    for turn in said:
        user, turn_id = turn["user_id"], turn["turn_id"]
        outcomes[turn_id] = (await plain.outcome(user, turn_id, timeout=120))["outcome"]
    async with asyncio.timeout(180):
        for turn in said[-len(USERS) :]:
            request = {"user_id": turn["user_id"], "query": "x", "wait_for_turn": turn["turn_id"]}
            while (await plain.ask("recall", request))["degraded"]:
                pass
    return outcomes


async def _everything(plain: Plain) -> Seen:
    """What every user remembers, and what recall answers to every question, as of the end."""
    seen: Seen = {}
    for user in USERS:
        listed = await plain.everything(user, status=["active", "superseded", "disputed"], limit=1000)
        seen[user] = [
            {k: m[k] for k in ("id", "content", "status", "sources", "valid_until")} for m in listed
        ]
        for question in QUESTIONS:
            answer = await plain.recall(user, question, min_score=0, top_k=20, valid_at=END)
            seen[f"{user}: {question}"] = [
                {"id": m["id"], "content": m["content"], "status": m["status"], "score": m["score"]}
                for m in answer
            ]
    return seen


def _assert_same(one: Seen, other: Seen) -> None:
    assert one.keys() == other.keys()
    for what, memories in one.items():
        assert [m["id"] for m in memories] == [m["id"] for m in other[what]], what
        for mine, theirs in zip(memories, other[what], strict=True):
            assert {k: v for k, v in mine.items() if k != "score"} == {
                k: v for k, v in theirs.items() if k != "score"
            }
            assert mine.get("score") == pytest.approx(theirs.get("score"), abs=1e-5)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_thousand_turns_survive_every_kill_exactly_once(tmp_path: Path) -> None:
    said = turns()
    port = free_port()
    disturbed = Standalone(tmp_path / "disturbed", "--nats-port", str(port), env=KEY)
    publisher = Publisher(f"nats://127.0.0.1:{port}", said)
    publishing: asyncio.Task[None] | None = None
    for place, after in FAULTS:
        publisher.allow(TURNS_A_KILL)
        dying = asyncio.create_task(_until_it_dies(disturbed, place, after))
        if publishing is None:
            await asyncio.wait_for(_listening(port), 60)
            publishing = asyncio.create_task(publisher.run())
        told = await dying
        assert told["place"] == place
        assert told["unacknowledged"] > 0
    disturbed.command = None
    await disturbed.start()
    for _ in range(SERVER_KILLS):
        publisher.allow(TURNS_A_KILL)
        assert await _kill_the_server_at_work(disturbed) > 0
    publisher.allow(len(said))
    assert publishing is not None
    async with asyncio.timeout(180):
        await publishing
    assert publisher.acknowledged == len(said)

    async with talking_to(disturbed) as plain:
        outcomes = await _settled(plain, said)
        assert set(outcomes.values()) == {"kept", "empty"}
        after_kills = await _everything(plain)
        log = await _messages(plain.nc.jetstream(), "LOG")
        keys = await _messages(plain.nc.jetstream(), "KEYS")

    undisturbed = Standalone(tmp_path / "undisturbed", env=KEY)
    await undisturbed.start()
    async with talking_to(undisturbed) as plain:
        for turn in said:
            await plain.publish(turn)
        assert await _settled(plain, said) == outcomes
        _assert_same(after_kills, await _everything(plain))
    assert await undisturbed.stop() == 0, undisturbed.log()

    async with talking_to(disturbed) as plain:
        await _rebuilt(plain)
        _assert_same(after_kills, await _everything(plain))
    assert await disturbed.stop() == 0, disturbed.log()

    replayed = Standalone(tmp_path / "replayed", env=KEY)
    await replayed.start()
    async with talking_to(replayed) as plain:
        js = plain.nc.jetstream()
        shuffled = log + random.Random(3).sample(log, len(log) // 4)
        random.Random(5).shuffle(shuffled)
        for subject, data in keys + shuffled:
            await js.publish(subject, data)
        end = (await js.stream_info("LOG")).state.last_seq
        async with asyncio.timeout(180):
            while ((await js.consumer_info("LOG", "vectors")).ack_floor or _NOWHERE).stream_seq < end:
                await asyncio.sleep(0.1)
        _assert_same(after_kills, await _everything(plain))
    assert await replayed.stop() == 0, replayed.log()


class _NOWHERE:
    stream_seq = 0


async def _listening(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


async def _messages(js: JetStreamContext, stream: str) -> list[tuple[str, bytes]]:
    state = (await js.stream_info(stream)).state
    found: list[tuple[str, bytes]] = []
    for sequence in range(state.first_seq, state.last_seq + 1):
        try:
            message = await js.get_msg(stream, sequence)
        except nats.js.errors.NotFoundError:
            continue
        found.append((message.subject or "", message.data or b""))
    return found


async def _rebuilt(plain: Plain) -> None:
    inbox = plain.nc.new_inbox()
    answers = await plain.nc.subscribe(inbox)
    await plain.nc.publish("admin.rebuild", b"{}", reply=inbox)
    while True:
        step = json.loads((await answers.next_msg(timeout=120)).data)
        assert "error" not in step, step
        if step["done"]:
            return
