"""A turn goes in, a memory comes out: what a program sees that knows only NATS and the contract."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import time
from pathlib import Path

import nats.errors
import pytest
from standalone import Plain, Standalone, turn

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_turn_in_chinese_and_one_in_english_come_back_on_another_connection(
    running: Standalone, plain: Plain
) -> None:
    other = await running.connect("other")
    reader = Plain(other)
    for user, text, query, object_ in (
        ("zh", "我对花生过敏", "点菜要注意什么？", "花生"),
        ("en", "I'm allergic to peanuts.", "What should I avoid when ordering food?", "peanuts"),
    ):
        published = time.monotonic()
        await plain.publish(turn(user, "t-1", text))
        memories = await reader.recall(user, query, wait_for_turn="t-1")
        assert time.monotonic() - published < 2
        best = memories[0]
        assert (best["type"], best["predicate"], best["object"], best["subject"]) == (
            "fact",
            "allergic_to",
            object_,
            "user",
        )
        assert best["sources"] == [{"session_id": "c-1", "turn_id": "t-1", "message_ids": ["m1"]}]
        assert math.isclose(sum(best["score_parts"].values()), best["score"], abs_tol=1e-9)
        assert set(best["channels"]) <= {"meaning", "words"}
        assert best["status"] == "active"
    await other.close()


async def test_what_one_waits_for_is_covered(plain: Plain) -> None:
    outcome = await plain.say("waiting", "t-1", "I live in Lyon.")
    answer = await plain.ask(
        "recall", {"user_id": "waiting", "query": "home", "min_score": 0, "wait_for": outcome["position"]}
    )
    assert answer["degraded"] == []
    assert answer["covers_up_to"] >= outcome["position"]
    late = await plain.ask("recall", {"user_id": "waiting", "query": "home", "wait_for_turn": "never-sent"})
    assert late["degraded"] == ["not_caught_up"]


async def test_tenants_and_users_with_the_same_turn_id_and_words_never_meet(
    running: Standalone, plain: Plain
) -> None:
    nc = await running.connect("tenant")
    acme = Plain(nc, "acme")
    said = [(plain, "same-1", "Lyon"), (plain, "same-2", "Porto"), (acme, "same-1", "Oslo")]
    for client, user, city in said:
        await client.publish(turn(user, "t-1", f"I live in {city}."))
        await client.publish(turn(user, "t-2", "I play chess every Sunday."))
    for client, user, city in said:
        await client.outcome(user, "t-1")
        await client.outcome(user, "t-2")
        await client.recall(user, "x", wait_for_turn="t-2")
        contents = " ".join(m["content"] for m in await client.everything(user))
        assert city in contents
        assert "chess" in contents
        assert not any(other in contents for other in {"Lyon", "Porto", "Oslo"} - {city})
        recalled = await client.recall(user, "Where do I live? Lyon, Porto or Oslo?", min_score=0, top_k=100)
        assert not any(
            other in m["content"] for m in recalled for other in {"Lyon", "Porto", "Oslo"} - {city}
        )
    await nc.close()


async def test_errors_are_answers_with_headers_and_the_field(plain: Plain) -> None:
    for what, body, field in (
        ("recall", {"userID": "u-1", "query": "x"}, "userID"),
        ("recall", {"user_id": "u-1"}, "query"),
        ("recall", {"user_id": "u-1", "query": "x", "top_k": 101}, "top_k"),
        ("list", {"user_id": " "}, "user_id"),
        ("forget", {"user_id": "u-1"}, None),
        ("write", {"user_id": "u-1"}, None),
    ):
        answer = await plain.ask(what, body)
        assert 400 <= answer["status"] < 500, (what, body, answer)
        assert answer["error"]["code"]
        if field:
            assert answer["error"]["field"] == field
            assert field in answer["error"]["message"] or answer["error"]["field"] == field
    assert (await plain.ask("recall", b"\xff{")).get("status") == 400
    missing = await plain.ask("turn", {"user_id": "u-1", "turn_id": "nobody-sent-it"})
    assert (missing["status"], missing["error"]["code"]) == (404, "not_found")


async def test_workers_are_discoverable_by_the_service_protocol(plain: Plain) -> None:
    inbox = plain.nc.new_inbox()
    replies = await plain.nc.subscribe(inbox)
    await plain.nc.publish("$SRV.PING", b"", reply=inbox)
    names: set[str] = set()
    try:
        while True:
            names.add(json.loads((await replies.next_msg(timeout=1)).data)["name"])
    except (nats.errors.TimeoutError, TimeoutError):
        pass
    assert {"extractor", "recall", "consolidator", "pruner"} <= names


async def test_a_written_turn_is_acknowledged_and_a_repetition_is_seen(plain: Plain) -> None:
    said = turn("writer", "t-1", "I live in Lyon.")
    assert await plain.ask("write", said) == {"turn_id": "t-1", "accepted": True, "duplicate": False}
    assert await plain.ask("write", said) == {"turn_id": "t-1", "accepted": True, "duplicate": True}
    refused = await plain.ask("write", turn("writer", "t-1", "I live in Porto."))
    assert (refused["status"], refused["error"]["code"]) == (409, "turn_id_reused")


async def test_sigterm_and_kill_both_come_back_with_everything(folder: Path) -> None:
    deployment = Standalone(folder)
    await deployment.start()
    nc = await deployment.connect()
    await Plain(nc).say("u-1", "t-1", "My sister is called Ida.")
    before = await Plain(nc).everything("u-1")
    assert before
    await nc.close()
    assert await deployment.stop() == 0, deployment.log()
    await deployment.start()
    nc = await deployment.connect()
    assert await Plain(nc).everything("u-1") == before
    await Plain(nc).say("u-1", "t-2", "I live in Lyon.")
    more = await Plain(nc).everything("u-1")
    await nc.close()
    deployment.kill()
    await deployment.stop()
    await deployment.start()
    nc = await deployment.connect()
    await Plain(nc).recall("u-1", "x", wait_for_turn="t-2")
    assert await Plain(nc).everything("u-1") == more
    await nc.close()
    assert await deployment.stop() == 0, deployment.log()


async def test_a_second_start_on_the_same_data_says_who_holds_it(running: Standalone) -> None:
    second = Standalone(running.folder.parent / "second")
    second.data = running.data
    with pytest.raises(AssertionError, match=str(running.ready["pid"])):
        await second.start()


async def test_the_embedded_server_is_started_again_when_it_dies(running: Standalone, plain: Plain) -> None:
    await plain.say("survivor", "t-1", "I live in Bergen.")
    os.kill(running.nats_pid(), signal.SIGKILL)
    # a publisher gets an error for what is not acknowledged; it never believes in a lost turn
    with pytest.raises((nats.errors.Error, TimeoutError)):
        await asyncio.wait_for(plain.publish(turn("survivor", "t-2", "I like rain.")), 0.05)
    async with asyncio.timeout(30):
        while True:
            try:
                await plain.publish(turn("survivor", "t-3", "I play the violin."))
                break
            except (nats.errors.Error, TimeoutError):
                await asyncio.sleep(0.1)
    async with asyncio.timeout(30):
        # the workers come back a moment after the server: until then nobody answers, and the client is told so
        while True:
            try:
                await plain.outcome("survivor", "t-3")
                break
            except nats.errors.NoRespondersError:
                await asyncio.sleep(0.1)
    contents = {m["content"] for m in await plain.everything("survivor")}
    assert any("Bergen" in c for c in contents)


@pytest.mark.parametrize("pause_s", [0.0, 0.2])
async def test_it_stops_cleanly_while_its_server_is_away(folder: Path, pause_s: float) -> None:
    deployment = Standalone(folder)
    await deployment.start()
    os.kill(deployment.nats_pid(), signal.SIGKILL)
    await asyncio.sleep(pause_s)
    assert await deployment.stop() == 0, deployment.log()
