"""Failures that users of other memory systems reported, each as a small input with the right result.

The names are those of the catalogue of cases; each test handles its whole kind, not the one input.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from standalone import Plain, turn

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def _facts(plain: Plain, user: str, **more: Any) -> list[dict[str, Any]]:
    return [m for m in await plain.everything(user, **more) if m["type"] == "fact"]


@pytest.mark.parametrize(
    ("user", "love", "no_more", "question", "object_"),
    [
        (
            "b22-en",
            "I love Sichuan food.",
            "I no longer like Sichuan food, it's too spicy.",
            "Should I book a Sichuan restaurant?",
            "Sichuan",
        ),
        ("b22-zh", "我喜欢川菜。", "我现在不再喜欢川菜了，太辣。", "要订川菜馆吗？", "川菜"),
        (
            "b22-mixed",
            "I love Sichuan food.",
            "我现在不再喜欢川菜了，太辣。",
            "Should I book a Sichuan restaurant?",
            "川菜",
        ),
        ("b22-hate", "I like coffee.", "I hate coffee.", "Should I order coffee?", "coffee"),
    ],
)
async def test_b22_a_negation_ends_what_it_negates(
    plain: Plain, user: str, love: str, no_more: str, question: str, object_: str
) -> None:
    await plain.say(user, "e-1", love)
    await plain.say(user, "e-2", no_more, occurred_at="2026-04-04T09:15:00+08:00")
    current = await _facts(plain, user)
    assert len(current) == 1
    assert current[0]["negated"] or current[0]["predicate"] == "dislikes"
    assert object_ in current[0]["object"]
    old = await _facts(plain, user, status=["superseded"])
    assert [m["predicate"] for m in old] == ["likes"]
    assert old[0]["valid_until"].startswith("2026-04-0")
    recalled = await plain.recall(user, question, min_score=0)
    assert old[0]["id"] not in [m["id"] for m in recalled]
    assert current[0]["id"] in [m["id"] for m in recalled]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\t",
        "ok",
        "👍",
        "HEARTBEAT_OK",
        "嗯嗯好的",
        "ok thanks, bye",
        "你好",
        "谢谢！",
        "Hi there!",
        "哈哈哈",
        "🙏🙏",
    ],
)
async def test_b26_low_signal_leaves_nothing(plain: Plain, text: str) -> None:
    user = f"b26-{text.encode().hex() or 'empty'}"
    assert (await plain.say(user, "e-1", text))["outcome"] == "empty"
    assert await plain.everything(user) == []


async def test_b33_relative_dates_are_resolved_against_the_turn(plain: Plain) -> None:
    said = {"occurred_at": "2024-05-15T10:00:00+02:00", "time_zone": "Europe/Berlin"}
    await plain.say("b33", "e-1", "I signed the lease last Friday.", **said)
    (memory,) = await plain.everything("b33")
    assert memory["valid_from"].startswith(("2024-05-10", "2024-05-09T22:00"))
    await plain.say("b33-zh", "e-1", "我上周五签了租约。", **said)
    (memory,) = await plain.everything("b33-zh")
    assert memory["valid_from"].startswith(("2024-05-10", "2024-05-09T22:00"))


async def test_b36_naive_and_odd_times_are_refused_clearly_and_stop_nobody(plain: Plain) -> None:
    await plain.publish(turn("b36", "e-1", "I play chess.", occurred_at="2026-03-04T09:15:00"))
    await plain.publish(turn("b36", "e-2", "I play go.", occurred_at="2026-03-04T09:15:00.123+0530"))
    await plain.publish(turn("b36", "e-3", "I play shogi.", occurred_at=1772615700))
    await plain.publish(turn("b36", "e-4", "I play poker."))
    for turn_id in ("e-1", "e-3"):
        outcome = await plain.outcome("b36", turn_id)
        assert (outcome["outcome"], outcome["error"]["field"]) == ("rejected", "occurred_at")
        assert "offset" in outcome["error"]["message"] or "ISO" in outcome["error"]["message"]
    for turn_id in ("e-2", "e-4"):
        assert (await plain.outcome("b36", turn_id))["outcome"] == "kept"
    recalled = await plain.recall("b36", "games I play", wait_for_turn="e-4", top_k=10, min_score=0)
    assert {m["object"] for m in recalled if m["type"] == "fact"} == {"go", "poker"}


async def test_b39_of_two_homes_the_newer_is_current_in_any_order(plain: Plain) -> None:
    first = turn("", "e-1", "I live in Osaka.")
    second = turn("", "e-2", "I moved to Berlin last month.", occurred_at="2026-06-04T09:15:00+02:00")
    for user, order in (("b39-a", [first, second]), ("b39-b", [second, first])):
        for said in order:
            await plain.publish({**said, "user_id": user})
            await plain.outcome(user, said["turn_id"])
            await plain.recall(user, "x", wait_for_turn=said["turn_id"])
        recalled = await plain.recall(user, "Where do I live?", top_k=10)
        assert "Berlin" in recalled[0]["content"]
        assert not any("Osaka" in m["content"] for m in recalled)
        (old,) = await _facts(plain, user, status=["superseded"])
        assert (old["object"], old["valid_until"][:7]) in {("Osaka", "2026-05"), ("Osaka", "2026-04")}
        both = await plain.recall(user, "Where do I live?", include=["superseded"], min_score=0, top_k=10)
        assert both[0]["object"] == "Berlin"


async def test_b44_redelivery_and_retries_store_it_once(plain: Plain) -> None:
    said = turn("b44", "e-77", "I adopted a dog named Pip.")
    for _ in range(5):
        await plain.publish(said)
    await plain.publish(said, msg_id="b44-e-77")
    await plain.publish({**said, "turn_id": "e-78"})
    await plain.outcome("b44", "e-77")
    await plain.outcome("b44", "e-78")
    await plain.recall("b44", "x", wait_for_turn="e-78")
    memories = await plain.everything("b44")
    assert len(memories) == len({m["content"] for m in memories})
    pip = [m for m in memories if "Pip" in m["content"]]
    assert len(pip) == 1
    assert [s["turn_id"] for s in pip[0]["sources"]] == ["e-77", "e-78"]
    await plain.publish({**said, "messages": [{"role": "user", "content": "I adopted a cat."}]})
    await plain.say("b44", "e-79", "I live in Lyon.")
    assert not any("cat" in m["content"] for m in await plain.everything("b44"))


async def test_b45_two_turns_at_once_are_one_memory(plain: Plain) -> None:
    await asyncio.gather(*(plain.publish(turn("b45", f"e-{n}", "I drink oat milk.")) for n in range(8)))
    for n in range(8):
        await plain.outcome("b45", f"e-{n}")
        await plain.recall("b45", "x", wait_for_turn=f"e-{n}")
    (memory,) = await plain.everything("b45")
    assert len(memory["sources"]) == 8


async def test_b55_forgetting_one_user_leaves_the_others(plain: Plain) -> None:
    for user in ("b55-1", "b55-2"):
        await plain.say(user, "e-1", "I play the violin.")
    untouched = await plain.everything("b55-2")
    filters: tuple[dict[str, Any], ...] = (
        {},
        {"everything": None},
        {"session_id": None},
        {"session_id": "*"},
        {"session_id": ""},
        {"memory_ids": []},
        {"all": True},
        {"user_id": "*"},
    )
    for lost in filters:
        answer = await plain.ask("forget", {"user_id": "b55-1", "confirm": True, **lost})
        assert answer["status"] == 400, (lost, answer)
    assert await plain.everything("b55-1")
    receipt = (await plain.ask("forget", {"user_id": "b55-1", "everything": True, "confirm": True}))[
        "receipt"
    ]
    assert receipt["status"] == "done"
    assert await plain.everything("b55-1") == []
    assert await plain.everything("b55-2") == untouched
    assert await plain.recall("b55-2", "violin", min_score=0)


@pytest.mark.parametrize("user", ["", "   ", None, "b59 ", " b59", "b59\u200b", "b59\n", 17, "x" * 257])
async def test_b59_a_user_id_that_is_none_is_refused(plain: Plain, user: object) -> None:
    for what, body in (
        ("write", turn(user, "e-1", "I like jazz.")),
        ("recall", {"user_id": user, "query": "jazz"}),
        ("list", {"user_id": user}),
    ):
        answer = await plain.ask(what, body)
        assert (answer["status"], answer["error"]["field"]) == (400, "user_id")
    await plain.publish(turn(user, "e-1", "I like jazz."))
    await plain.say("b59-sane", f"e-{user!r}"[:40], "I like jazz.")


@pytest.mark.parametrize(
    "user", ["u.1>*", "undefined", "../u-1", "*", ">", "用户一", "a b", "u/1", "🎷", "x" * 256]
)
async def test_b59_an_odd_user_id_is_just_a_string(plain: Plain, user: str) -> None:
    assert (await plain.say(user, "e-1", "I like jazz."))["outcome"] == "kept"
    assert len(await plain.everything(user)) == 1


async def test_b63_content_of_any_shape(plain: Plain) -> None:
    parts = [
        {"type": "text", "text": "I love hiking"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    call = {"id": "t1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": parts},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "content": '{"temp":3,"owner":"Zed"}'},
    ]
    await plain.say("b63", "e-1", "", messages=messages)
    memories = await plain.everything("b63")
    assert [(m["predicate"], m["object"]) for m in memories if m["type"] == "fact"] == [("likes", "hiking")]
    assert not any(odd in m["content"] for m in memories for odd in ("Zed", "base64", "[{", "AAAA"))


async def test_b65_bad_characters_are_cleaned_and_block_nobody(plain: Plain) -> None:
    raw = (
        b'{"turn_id":"e-1","user_id":"b65","session_id":"c-1",'
        b'"messages":[{"role":"user","content":"my dog\\u0000 is Bo \\ud83d and \\u0007ok"}]}'
    )
    await plain.publish(raw)
    assert (await plain.outcome("b65", "e-1"))["outcome"] == "kept"
    await plain.say("b65", "e-2", "I play chess.")
    contents = [m["content"] for m in await plain.everything("b65")]
    assert any("Bo" in c for c in contents)
    assert any("chess" in c for c in contents)
    assert all(c.isprintable() for c in contents)


async def test_b72_similarity_is_one_for_the_same_and_none_for_the_unrelated(plain: Plain) -> None:
    only = {"weights": {"similarity": 1, "importance": 0, "recency": 0}, "min_score": 0}
    for user, text, unrelated in (
        ("b72-en", "I play the violin", "quarterly tax return deadline"),
        ("b72-zh", "我会拉小提琴", "季度税务申报截止日期"),
    ):
        await plain.say(user, "e-1", text)
        (memory,) = await plain.everything(user)
        (same, *_) = await plain.recall(user, memory["content"], **only)
        assert 0.9 <= same["score"] <= 1
        (told, *_) = await plain.recall(user, text, **only)
        assert 0.6 <= told["score"] <= 1
        other = await plain.recall(user, unrelated, **only)
        assert all(0 <= m["score"] <= 0.2 for m in other)
        assert await plain.recall(user, unrelated) == []


async def test_b89_poison_goes_aside_at_once(plain: Plain) -> None:
    for poison in (
        b"{not json",
        b"\xff\xfe",
        b"[]",
        b'"text"',
        b"null",
        json.dumps(turn("", "e-2", "x")).encode(),
    ):
        await plain.publish(poison)
    assert (await plain.say("b89", "e-3", "ok: I moved to Oslo"))["outcome"] == "kept"
    assert any("Oslo" in m["content"] for m in await plain.everything("b89"))
