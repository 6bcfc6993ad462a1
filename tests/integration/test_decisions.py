"""Someone's word about a memory: corrected, pinned, read back; through rebuilds, erasures, and said twice."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from workers import QUICK, Workers, eventually

from hindsight_client.llm_stub import FAULTS, LlmStub, Step
from hindsight_common.domain.decisions import Decision
from hindsight_common.errors import RequestError
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.log import NatsMemoryLog
from hindsight_common.settings import Settings

EN = ("I live in Lyon.", "Porto", "The user lives in Porto", "Lyon", "Where do I live?")
ZH = ("我住在杭州。", "苏州", "用户住在苏州", "杭州", "我住在哪里？")


@pytest.fixture
async def workers(bus: Bus, tmp_path: Path) -> AsyncIterator[Workers]:
    async with Workers(bus, tmp_path) as running:
        yield running


async def _memories(workers: Workers, user: str = "u-1", **more: Any) -> list[dict[str, Any]]:
    return list((await workers.ask("list", user_id=user, **more))["memories"])


async def _only(workers: Workers, predicate: str, user: str = "u-1") -> dict[str, Any]:
    found = [m for m in await _memories(workers, user) if m["predicate"] == predicate]
    assert len(found) == 1, found
    return found[0]


async def _decisions(workers: Workers, user: str = "u-1") -> list[Decision]:
    owner = workers.core.ids.owner("default", user)
    logged = [one.event async for one in workers.core.log.read(owner, kinds=("decision",))]
    return [event for event in logged if isinstance(event, Decision)]


async def _settled(workers: Workers, position: int, user: str = "u-1") -> None:
    answer = await workers.ask("recall", user_id=user, query="x", wait_for=position)
    assert answer["degraded"] == []


async def _refused(workers: Workers, what: str, **body: Any) -> RequestError:
    with pytest.raises(RequestError) as refused:
        await workers.ask(what, **body)
    return refused.value


@pytest.mark.parametrize(("said", "instead", "worded", "wrong", "question"), [EN, ZH], ids=["en", "zh"])
async def test_a_corrected_address_is_recalled_and_the_wrong_one_is_not(
    workers: Workers, said: str, instead: str, worded: str, wrong: str, question: str
) -> None:
    await workers.say("u-1", "t-1", said)
    home = await _only(workers, "lives_in")
    decided = await workers.ask("decide", user_id="u-1", memory_id=home["id"], object=instead)
    corrected = decided["memory"]
    assert (corrected["content"], corrected["object"], corrected["status"]) == (worded, instead, "active")
    assert corrected["id"] != home["id"]
    for kept in ("sources", "occurred_at", "recorded_at", "valid_from", "language", "importance"):
        assert corrected[kept] == home[kept]

    async def stands() -> None:
        recalled = await workers.ask(
            "recall", user_id="u-1", query=question, wait_for=decided["position"], min_score=0, top_k=10
        )
        assert recalled["degraded"] == []
        homes = [m for m in recalled["memories"] if m["predicate"] == "lives_in"]
        assert [(m["id"], m["content"]) for m in homes] == [(corrected["id"], worded)]
        by_words = await workers.ask("recall", user_id="u-1", query=instead, min_score=0, top_k=10)
        assert "words" in by_words["memories"][0]["channels"]
        assert (await workers.ask("get", user_id="u-1", memory_id=corrected["id"]))["memory"] == corrected
        assert (await _refused(workers, "get", user_id="u-1", memory_id=home["id"])).code == "not_found"
        assert not any(wrong in c for c in await workers.contents("u-1"))

    await stands()
    await workers.admin("rebuild")
    await stands()


async def test_what_the_wrong_home_had_ended_holds_again(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.", occurred_at="2026-01-04T09:15:00+08:00")
    await workers.say("u-1", "t-2", "I live in Oslo.", occurred_at="2026-02-04T09:15:00+08:00")
    oslo = await _only(workers, "lives_in")
    # somebody corrects it to what the other says already: then it has been so all along
    decided = await workers.ask("decide", user_id="u-1", memory_id=oslo["id"], object="Lyon")
    await _settled(workers, decided["position"])
    home = await _only(workers, "lives_in")
    assert home["object"] == "Lyon"
    assert [s["turn_id"] for s in home["sources"]] == ["t-1", "t-2"]
    assert await _memories(workers, status=["superseded"]) == []


async def test_the_same_request_again_changes_nothing_also_after_more_was_decided(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    home = await _only(workers, "lives_in")
    asked: dict[str, Any] = {"user_id": "u-1", "memory_id": home["id"], "object": "Porto", "pinned": True}
    first = await workers.ask("decide", **asked)
    assert first["memory"]["pinned"]
    again = await workers.ask("decide", **asked)
    assert again == first
    new = {**asked, "memory_id": first["memory"]["id"]}
    assert await workers.ask("decide", **new) == first
    assert len(await _decisions(workers)) == 1
    # another word about what is no longer there
    assert (await _refused(workers, "decide", **{**asked, "object": "Oslo"})).code == "not_found"


async def test_corrected_twice_and_back_the_last_word_stands(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    first = await _only(workers, "lives_in")
    memory, position = first, 0
    for place in ("Porto", "Oslo", "Lyon"):
        decided = await workers.ask("decide", user_id="u-1", memory_id=memory["id"], object=place)
        memory, position = decided["memory"], decided["position"]
        assert memory["object"] == place
    assert memory["id"] == first["id"]
    await _settled(workers, position)
    assert await workers.contents("u-1") == ["The user lives in Lyon"]
    stamps = [decision.at for decision in await _decisions(workers)]
    assert stamps == sorted(set(stamps))


async def test_an_event_is_told_in_other_words_on_the_same_day(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "Yesterday I met Ida at the harbour and we argued about money.")
    [event] = [m for m in await _memories(workers) if m["type"] == "event"]
    decided = await workers.ask(
        "decide", user_id="u-1", memory_id=event["id"], content="The user met Eva at the harbour"
    )
    corrected = decided["memory"]
    assert corrected["content"] == "The user met Eva at the harbour"
    assert (corrected["type"], corrected["valid_from"]) == ("event", event["valid_from"])
    assert corrected["people"] == ["Eva"]
    await _settled(workers, decided["position"])
    assert [m["id"] for m in await _memories(workers) if m["type"] == "event"] == [corrected["id"]]


async def test_a_pin_is_shown_survives_a_rebuild_and_a_correction_and_can_be_taken_back(
    workers: Workers,
) -> None:
    await workers.say("u-1", "t-1", "我住在杭州。")
    home = await _only(workers, "lives_in")
    assert home["pinned"] is False
    pinned = await workers.ask("decide", user_id="u-1", memory_id=home["id"], pinned=True)
    assert pinned["memory"] == {**home, "pinned": True}
    await _settled(workers, pinned["position"])
    await workers.admin("rebuild")
    assert (await _only(workers, "lives_in"))["pinned"] is True
    moved = await workers.ask("decide", user_id="u-1", memory_id=home["id"], object="苏州")
    assert moved["memory"]["pinned"] is True
    freed = await workers.ask("decide", user_id="u-1", memory_id=moved["memory"]["id"], pinned=False)
    assert freed["memory"]["pinned"] is False
    got = await workers.ask("get", user_id="u-1", memory_id=moved["memory"]["id"])
    assert got["memory"]["pinned"] is False


async def test_strangers_the_unknown_and_the_forgotten_are_not_found_alike(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    await workers.say("u-2", "t-1", "I live in Oslo.")
    home = await _only(workers, "lives_in")
    await workers.ask("forget", user_id="u-1", memory_ids=[home["id"]], confirm=True)
    theirs = await _only(workers, "lives_in", "u-2")
    faults = set()
    for memory_id in (home["id"], theirs["id"], "00000000-0000-0000-0000-000000000000"):
        for what, more in (("get", {}), ("decide", {"object": "Porto"}), ("decide", {"pinned": True})):
            fault = await _refused(workers, what, user_id="u-1", memory_id=memory_id, **more)
            faults.add((fault.code, fault.status, fault.message, fault.field))
    assert faults == {("not_found", 404, "this user has no such memory", "memory_id")}
    assert await _only(workers, "lives_in", "u-2") == theirs


async def test_a_word_that_does_not_fit_the_memory_is_refused_by_name(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon. Yesterday I met Ida at the harbour and we argued.")
    home = await _only(workers, "lives_in")
    [event] = [m for m in await _memories(workers) if m["type"] == "event"]
    for memory, misplaced, right in ((home, "content", "object"), (event, "object", "content")):
        fault = await _refused(
            workers, "decide", user_id="u-1", memory_id=memory["id"], **{misplaced: "Porto"}
        )
        assert (fault.code, fault.field) == ("invalid_request", misplaced)
        assert right in fault.message
        for empty in ("\u200b", "。" if right == "object" else "\u200b\u200d"):
            fault = await _refused(workers, "decide", user_id="u-1", memory_id=memory["id"], **{right: empty})
            assert (fault.code, fault.field) == ("invalid_request", right)
    assert await _decisions(workers) == []


async def test_what_people_write_here_is_redacted_as_what_they_say(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "我住在杭州。昨天我在港口见到李雷，我们吵了一架。")
    home = await _only(workers, "lives_in")
    [event] = [m for m in await _memories(workers) if m["type"] == "event"]
    number = "11010519491231002X"
    for memory, word in ((home, "object"), (event, "content")):
        said = {word: f"身份证 {number}"}
        decided = await workers.ask("decide", user_id="u-1", memory_id=memory["id"], **said)
        assert number not in str(decided)
        assert "已填写证件" in decided["memory"]["content"]
    assert number not in str(await _decisions(workers))


@pytest.mark.parametrize("scope", ["memory", "session", "user"])
async def test_forgetting_takes_the_correction_with_it_and_nothing_comes_back(
    workers: Workers, scope: str
) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.", session_id="s-1")
    await workers.say("u-1", "t-2", "I play chess.", session_id="s-2")
    home = await _only(workers, "lives_in")
    for place in ("Porto", "Oslo"):
        decided = await workers.ask("decide", user_id="u-1", memory_id=home["id"], object=place)
        home = decided["memory"]
    ways: dict[str, dict[str, Any]] = {
        "memory": {"memory_ids": [home["id"]]},
        "session": {"session_id": "s-1"},
        "user": {"everything": True},
    }
    which = ways[scope]
    would = (await workers.ask("forget", user_id="u-1", **which))["would_forget"]
    assert home["id"] in [m["id"] for m in would]
    receipt = (await workers.ask("forget", user_id="u-1", confirm=True, **which))["receipt"]
    assert receipt["status"] == "done"
    left = [] if scope == "user" else ["The user plays chess"]

    async def swept() -> bool:
        owner = workers.core.ids.owner("default", "u-1")
        return "decision" not in [one.kind async for one in workers.core.log.read(owner)]

    await eventually(swept)
    assert await workers.contents("u-1") == left
    await workers.admin("rebuild")
    assert await workers.contents("u-1") == left
    # said again, it is new evidence, and nobody's word about the old one touches it
    await workers.say("u-1", "t-9", "I live in Lyon.", session_id="s-3")
    assert (await _only(workers, "lives_in"))["object"] == "Lyon"


async def test_a_session_takes_its_share_of_a_correction_and_leaves_the_rest(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.", session_id="s-1")
    await workers.say("u-1", "t-2", "I live in Lyon.", session_id="s-2")
    home = await _only(workers, "lives_in")
    decided = await workers.ask("decide", user_id="u-1", memory_id=home["id"], object="Porto")
    assert [s["turn_id"] for s in decided["memory"]["sources"]] == ["t-1", "t-2"]
    await workers.ask("forget", user_id="u-1", session_id="s-1", confirm=True)
    await workers.admin("rebuild")
    home = await _only(workers, "lives_in")
    assert (home["object"], [s["turn_id"] for s in home["sources"]]) == ("Porto", ["t-2"])
    await workers.ask("forget", user_id="u-1", session_id="s-2", confirm=True)

    async def swept() -> bool:
        return await _decisions(workers) == []

    await eventually(swept)
    assert await workers.contents("u-1") == []


async def test_a_correction_that_lives_on_is_sealed_anew_with_its_turn(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said and corrected after the tombstone of the user and before their key is destroyed."""
    await workers.say("u-1", "t-1", "I play chess.")
    mark_destroyed = workers.core.keyring.mark_destroyed
    due: list[str] = []

    async def late(owner: Any) -> Any:
        if not due:
            due.append("now")
            await workers.say("u-1", "t-2", "I live in Lyon.")
            home = await _only(workers, "lives_in")
            await workers.ask("decide", user_id="u-1", memory_id=home["id"], object="Porto", pinned=True)
        return await mark_destroyed(owner)

    monkeypatch.setattr(workers.core.keyring, "mark_destroyed", late)
    receipt = (await workers.ask("forget", user_id="u-1", everything=True, confirm=True))["receipt"]
    assert receipt["status"] == "done"

    async def lives() -> bool:
        return [(m["object"], m["pinned"]) for m in await _memories(workers)] == [("Porto", True)]

    await eventually(lives)
    await workers.admin("rebuild")
    assert await lives()


async def test_the_graph_loses_the_wrong_one_and_gets_the_other_at_the_next_consolidation(
    workers: Workers,
) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    owner = workers.core.ids.owner("default", "u-1")

    async def consolidated() -> None:
        await workers.admin("consolidate", user_id="u-1")

    async def homes() -> set[str]:
        return {
            edge.memory_id for edge in (await workers.graph.read(owner)).edges if edge.predicate == "lives_in"
        }

    async def until(expected: set[str]) -> None:
        async def reached() -> bool:
            return await homes() == expected

        await eventually(reached)

    home = await _only(workers, "lives_in")
    await consolidated()
    await until({home["id"]})
    decided = await workers.ask("decide", user_id="u-1", memory_id=home["id"], object="Porto")
    await until(set())
    await consolidated()
    await until({decided["memory"]["id"]})
    await workers.admin("rebuild-graph")
    assert await homes() == {decided["memory"]["id"]}
    await workers.ask("forget", user_id="u-1", memory_ids=[decided["memory"]["id"]], confirm=True)
    await until(set())


async def test_a_worker_that_dies_before_its_answer_has_decided_once_for_whoever_asks_again(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    home = await _only(workers, "lives_in")
    append = NatsMemoryLog.append
    broken: list[int] = []

    async def dies(log: NatsMemoryLog, *event: Any, **more: Any) -> int:
        position = await append(log, *event, **more)
        if not broken:
            broken.append(position)
            raise ConnectionError("the worker dies here")
        return position

    monkeypatch.setattr(NatsMemoryLog, "append", dies)
    with pytest.raises(RequestError):
        await workers.ask("decide", user_id="u-1", memory_id=home["id"], object="Porto")
    decided = await workers.ask("decide", user_id="u-1", memory_id=home["id"], object="Porto")
    assert decided["memory"]["object"] == "Porto"
    assert decided["position"] == broken[0]
    assert len(await _decisions(workers)) == 1


async def test_a_decision_overtaken_by_a_tombstone_leaves_no_word_in_the_log(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    home = await _only(workers, "lives_in")
    append = NatsMemoryLog.append
    forgotten: list[bool] = []

    async def late(log: NatsMemoryLog, owner: Any, event: Any, **more: Any) -> int:
        if isinstance(event, Decision) and not forgotten:
            forgotten.append(True)
            await workers.ask("forget", user_id="u-1", memory_ids=[home["id"]], confirm=True)
        return await append(log, owner, event, **more)

    monkeypatch.setattr(NatsMemoryLog, "append", late)
    fault = await _refused(workers, "decide", user_id="u-1", memory_id=home["id"], object="Porto")
    assert fault.code == "not_found"
    assert await _decisions(workers) == []
    assert await workers.contents("u-1") == []


@pytest.mark.parametrize(
    ("predicate", "said", "read", "instead"),
    [
        ("lives_in", "I live in Lyon.", "Lyon, France", "Porto"),
        ("likes", "我喜欢川菜。", "麻辣川菜", "粤菜"),
        ("allergic_to", "I am allergic to peanuts.", None, "walnuts"),
    ],
    ids=["reworded", "reworded-zh", "not-repeated"],
)
async def test_a_correction_of_what_the_rules_read_outlives_the_reading_of_the_model(
    bus: Bus, tmp_path: Path, predicate: str, said: str, read: str | None, instead: str
) -> None:
    facts = [{"subject": "user", "predicate": predicate, "object": read}] if read else []
    async with LlmStub() as stub:
        stub.play(always=[FAULTS["500"]])
        llm = {"base_url": stub.url, "model": "stub", "provisional_after_ms": 0}
        async with Workers(
            bus, tmp_path, pace=QUICK, settings=Settings.model_validate({"llm": llm})
        ) as workers:
            await workers.say("u-1", "t-1", said)
            wrong = await _only(workers, predicate)
            assert wrong["status"] == "provisional"
            decided = await workers.ask("decide", user_id="u-1", memory_id=wrong["id"], object=instead)
            assert decided["memory"]["status"] == "active"
            stub.play(always=[Step(reply=json.dumps({"facts": facts, "events": []}))])

            async def final() -> bool:
                answer = await workers.ask("turn", user_id="u-1", turn_id="t-1")
                return answer["outcome"] in ("kept", "empty")

            await eventually(final)
            await workers.ask("recall", user_id="u-1", query="x", wait_for_turn="t-1")
            for _ in range(2):
                got = await workers.ask("get", user_id="u-1", memory_id=decided["memory"]["id"])
                assert got["memory"]["status"] == "active"
                standing = [(m["object"], m["status"]) for m in await _memories(workers)]
                assert standing == [(instead, "active")]
                await workers.admin("rebuild")
            # and both ids go when it is forgotten
            await workers.ask("forget", user_id="u-1", memory_ids=[decided["memory"]["id"]], confirm=True)
            await workers.admin("rebuild")
            assert await workers.contents("u-1") == []
