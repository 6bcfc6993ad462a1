"""Every worker and every server of the server form is killed in turn while people speak and agents ask.

Nothing that was acknowledged is lost or doubled; an answer names what it had to do without, and none fails whole
except while the bus or recall itself is away; what was killed is started again, and nobody touches anything else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import nats
import nats.errors
import pytest
from kill_deployment import USERS, Asker, Heard, Speakers, said, speaking_and_asking, until
from nats.aio.client import Client
from server_form.deployment import SERVERS, WORKERS, ServerForm, ask

BEFORE, DURING = 20, 10
# forgotten while a store is away; they say nothing else
LEAVING = {"redis": "leaves-redis", "qdrant": "leaves-qdrant", "neo4j": "leaves-neo4j"}
# what an answer may, and in the end must, name while a server is away
MISSED = {"redis": {"inject": {"working"}}}
MISSED["qdrant"] = {kind: {"vectors", "words"} for kind in ("recall", "inject")}
MISSED["neo4j"] = {kind: {"graph"} for kind in ("recall", "inject")}
# beside those: an answer that waited for its store in vain says so, and so does one whose graph took longer than the
# quarter of a second that it is given, which happens on a machine that is starting a process
MAY_ALSO = {"timeout", "not_caught_up", "graph"}
# who asks while one of these goes hears that nobody is there, or that the answer did not come; no other failure
UNHEARD = {"recall", "nats"}


@dataclass
class Scene:
    form: ServerForm
    nc: Client
    operator: Client
    speakers: Speakers
    asker: Asker

    async def until(self, what: str, reached: Callable[[], Any], **more: Any) -> float:
        return await until(self.form, what, reached, lambda: self.asker.heard, **more)

    async def health(self) -> dict[str, Any]:
        """The gateway's word; empty while it does not answer."""
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.form.http_port}", timeout=10) as http:
            try:
                found: dict[str, Any] = (await http.get("/health")).json()
            except httpx.TransportError:
                return {}
        return found


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_every_worker_and_every_server_may_die_while_people_speak_and_agents_ask(
    form: ServerForm,
) -> None:
    await form.start()
    operator = await nats.connect(
        form.nats.url_of("operator"),
        inbox_prefix="_INBOX.operator",
        max_reconnect_attempts=-1,
        reconnect_time_wait=0.1,
        error_cb=_ignored,
    )
    try:
        async with speaking_and_asking(form) as (nc, speakers, asker):
            scene = Scene(form, nc, operator, speakers, asker)
            for user in LEAVING.values():
                await _tell(scene, user)
            await _whole_again(scene, "nothing")
            for name in WORKERS:
                await _kill_a_worker(scene, name)
            for name in SERVERS:
                await _kill_a_server(scene, name)
            await scene.until("every turn to be acknowledged", lambda: speakers.is_silent)
            await _every_turn_is_there_once(scene)
            # nothing but what was killed was ever started again
            assert {name: form.workers[name].starts for name in WORKERS} == dict.fromkeys(WORKERS, 2)
    finally:
        await operator.close()


async def _ignored(_: Exception) -> None:
    """Lost connections are what this is about."""


async def _tell(scene: Scene, user: str) -> None:
    turn = {**said(0), "user_id": user}
    answer = await ask(scene.nc, "write", **turn)
    assert answer.get("accepted"), answer
    await scene.until(f"{user} to be remembered", lambda: _remembered(scene, user))


async def _remembered(scene: Scene, user: str) -> bool:
    return bool((await ask(scene.nc, "list", user_id=user)).get("memories"))


async def _with_work_in_hand(scene: Scene) -> None:
    """Turns flow again, and some of them are acknowledged: what is killed now is killed at work."""
    already = len(scene.speakers.acknowledged)
    scene.speakers.allow(BEFORE)
    await scene.until("turns to flow", lambda: len(scene.speakers.acknowledged) > already)


async def _whole_again(scene: Scene, name: str) -> None:
    """Answers lack nothing, the gateway says all is well, and what was said meanwhile was read."""
    scene.asker.listen_anew()
    took = await scene.until(
        f"whole answers after {name} was killed",
        lambda: scene.asker.heard["recall"].whole >= 3 and scene.asker.heard["inject"].whole >= 3,
    )
    took += await scene.until(f"turns to flow after {name} was killed", lambda: scene.speakers.is_silent)

    async def well() -> bool:
        return (await scene.health()).get("status") == "ok"

    took += await scene.until(f"health after {name} was killed", well)
    print(f"{name}: whole again {took:.1f} s after it was started")


async def _kill_a_worker(scene: Scene, name: str) -> None:
    await _with_work_in_hand(scene)
    scene.asker.listen_anew()
    await scene.form.kill_worker(name)
    scene.speakers.allow(DURING)

    async def hurts() -> bool:
        health = await scene.health()
        return name in health.get("missing", ()) if name != "gateway" else not health

    await scene.until(f"{name} to be missed", hurts)
    if name == "recall":
        await scene.until("askers to hear it", lambda: scene.asker.heard["recall"].failed)
    else:
        await scene.until("whole answers without it", lambda: scene.asker.heard["recall"].whole >= 3)
    during = scene.asker.listen_anew()
    await scene.form.start_workers(name)
    print(f"without {name}: {during}")
    if name in UNHEARD:
        _only_nobody_there(during)
    else:
        # they answer from the stores, and nothing that they lack is this worker's
        assert not any(heard.failed for heard in during.values()), during
        assert all(set(heard.degraded) <= MAY_ALSO for heard in during.values()), during
    await _whole_again(scene, name)


async def _kill_a_server(scene: Scene, name: str) -> None:
    await _with_work_in_hand(scene)
    scene.asker.listen_anew()
    await scene.form.kill_server(name)
    scene.speakers.allow(DURING)
    forgetting: Awaitable[str] | None = None
    if name == "nats":
        await scene.until("askers to hear it", lambda: scene.asker.heard["recall"].failed)
        await scene.form.until_missing("extractor", "nats")
    else:
        forgetting = asyncio.create_task(_forget(scene, LEAVING[name]))
        for kind, parts in MISSED[name].items():
            await scene.until(f"{kind} to name {parts}", partial(_names, scene.asker, kind, parts))
        assert await forgetting == "pending"
    during = scene.asker.listen_anew()
    print(f"without {name}: {during}")
    if name in UNHEARD:
        _only_nobody_there(during)
    else:
        assert not any(heard.failed for heard in during.values()), during
        for kind, heard in during.items():
            assert set(heard.degraded) <= MISSED[name].get(kind, set()) | MAY_ALSO, (name, kind, during)
    if name in {"redis", "neo4j"}:
        assert during["recall"].with_memories > 0, during
    if name == "redis":
        assert during["recall"].whole > 0, during
    await scene.form.start_servers(name)
    await _whole_again(scene, name)
    if name in LEAVING:
        await _forgotten_by_itself(scene, LEAVING[name])


def _names(asker: Asker, kind: str, parts: set[str]) -> bool:
    return parts <= set(asker.heard[kind].degraded)


def _only_nobody_there(during: dict[str, Heard]) -> None:
    """A clear error at once; what was in hand when it died is told by the asker's own time."""
    for heard in during.values():
        known = {"NoRespondersError", "TimeoutError", "ConnectionClosedError", "unavailable"}
        assert set(heard.failed) <= known, during


async def _forget(scene: Scene, user: str) -> str:
    answer = await ask(scene.nc, "forget", timeout_s=30, user_id=user, everything=True, confirm=True)
    assert "receipt" in answer, answer
    return str(answer["receipt"]["status"])


async def _forgotten_by_itself(scene: Scene, user: str) -> None:
    """The eraser has nothing left to do, before anybody asks again; then the receipt says so."""

    async def carried_out() -> bool:
        eraser = await scene.operator.jetstream().consumer_info("LOG", "eraser")
        return not eraser.num_ack_pending and not eraser.num_pending

    await scene.until(f"the erasure of {user} to be finished", carried_out)
    assert (await ask(scene.nc, "list", user_id=user))["memories"] == []
    assert await _forget(scene, user) == "done"


async def _every_turn_is_there_once(scene: Scene) -> None:
    numbers = sorted(scene.speakers.acknowledged)
    assert numbers == list(range(scene.speakers.allowed)), "what was allowed was said"
    for number in numbers:

        async def kept(number: int = number) -> bool:
            told = await ask(scene.nc, "turn", user_id=said(number)["user_id"], turn_id=f"t-{number}")
            return told.get("outcome") == "kept"

        await scene.until(f"turn {number} to be kept", kept)
    found: dict[str, list[str]] = {}
    for user in USERS:
        last = max(number for number in numbers if said(number)["user_id"] == user)
        answer = await ask(scene.nc, "recall", user_id=user, query="x", wait_for_turn=f"t-{last}")
        assert "not_caught_up" not in answer["degraded"], answer
        listed = await ask(
            scene.nc,
            "list",
            user_id=user,
            limit=1000,
            status=["active", "superseded", "disputed", "provisional"],
        )
        assert listed["cursor"] is None
        for memory in listed["memories"]:
            for source in memory["sources"]:
                found.setdefault(source["turn_id"], []).append(memory["content"])
    assert sorted(found) == sorted(f"t-{number}" for number in numbers)
    for number in numbers:
        contents = found[f"t-{number}"]
        assert len(contents) == 1, (number, contents)
        assert str(number) in contents[0], (number, contents)
