"""What the command line says of a deployment that remembers."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, runner
from workers import Workers, eventually, turn

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.events.answers import MemoryOut
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.service import Request, Result, Service

ZH = "zh_CN.UTF-8"


@pytest.fixture
async def workers(bus: Bus, tmp_path: Path) -> AsyncIterator[Workers]:
    async with Workers(bus, tmp_path / "stores") as running:
        yield running


@pytest.fixture
def cli(nats_server: NatsServer, tmp_path: Path) -> Cli:
    return runner(nats_server.url, tmp_path)


async def memory_of(workers: Workers, user: str) -> dict[str, Any]:
    (memory,) = (await workers.ask("list", user_id=user))["memories"]
    return dict(memory)


async def test_a_prompt_s_layers_are_told_a_line_each_in_the_user_s_language(
    cli: Cli, workers: Workers
) -> None:
    await workers.say("UserA", "t-1", "我更喜欢表格对比")
    await workers.admin("consolidate", user_id="UserA")

    async def told() -> list[str] | None:
        ran = await cli(
            *("inject_query", "我更喜欢什么样的对比？", "--user", "UserA", "-s", "c-2"), language=ZH
        )
        assert (ran.status, ran.err) == (0, "")
        lines = ran.out.splitlines()
        return lines if "无匹配" not in lines[2] else None

    working, episodic, semantic = await eventually(told)
    assert working == "[WORKING] 无匹配"
    assert episodic == "[EPISODIC] 匹配偏好:表格对比"
    assert re.fullmatch(r"\[SEMANTIC\] \(.+\)-\[PREFERS\]->\(.+\)", semantic)
    same_session = await cli("inject_query", "UserA", "What about tables?", "-s", "c-1")
    assert same_session.out.splitlines()[0] == "[WORKING] matched user:我更喜欢表格对比"
    block = await cli("inject_query", "UserA", "我更喜欢什么？", "--snapshot", "--log-level", "DEBUG")
    assert block.out.startswith("<MEMORY_SNAPSHOT>")
    assert "total " in block.err
    assert "connect " in block.err


async def test_what_is_updated_is_told_with_its_confidence(cli: Cli, workers: Workers) -> None:
    said = await cli("update_memory", "u-1", "I live in Lisbon.")
    assert said.status == 0, said.err
    assert re.match(r".*Lisbon.* \(confidence 0\.\d\d\)  \S+\n$", said.out)
    memory = await memory_of(workers, "u-1")
    corrected = await cli("update_memory", "--user", "u-1", "-m", memory["id"], "Porto", language=ZH)
    assert corrected.status == 0, corrected.err
    assert re.match(r".*Porto.*\(置信度 [01]\.\d\d\)", corrected.out)

    async def reflected() -> bool:
        return bool((await memory_of(workers, "u-1"))["object"] == "Porto")

    await eventually(reflected)
    memory = await memory_of(workers, "u-1")
    pinned = await cli("update_memory", "u-1", "-m", memory["id"], "--pin", "-o", "json")
    assert json.loads(pinned.out)[0]["pinned"] is True


async def test_an_update_that_says_nothing_to_remember_or_nothing_at_all_is_told(
    cli: Cli, workers: Workers
) -> None:
    nothing = await cli("update_memory", "u-1", "Thanks!")
    assert (nothing.status, nothing.out) == (0, "")
    assert "nothing to remember" in nothing.err
    assert (await cli("update_memory", "u-1")).status == 2
    assert (await cli("update_memory", "u-1", "Porto", "--pin")).status == 2
    unknown = await cli(
        "update_memory", "u-1", "Porto", "-m", "0f8fad5b-d9cb-469f-a165-70867728950e", language=ZH
    )
    assert unknown.status == 1
    assert "not_found：没有找到" in unknown.err


async def test_why_tells_the_parts_of_a_score_and_why_something_is_missing(
    cli: Cli, workers: Workers
) -> None:
    await workers.say("u-1", "t-1", "I live in Lisbon.")
    old = await memory_of(workers, "u-1")
    await workers.say("u-1", "t-2", "I live in Porto.", occurred_at="2026-05-04T09:15:00Z")
    found = await cli("why", "u-1", "Where do I live?", "--memory", old["id"])
    assert found.status == 0, found.err
    assert "similarity " in found.out
    assert "candidates " in found.out
    assert f"{old['id']} is superseded: recall shows it only with --include superseded" in found.out
    new = await memory_of(workers, "u-1")
    there = await cli("why", "u-1", "Where do I live?", "-m", new["id"], language=ZH)
    assert f"{new['id']} 在结果中，排第 1" in there.out
    far = await cli("why", "u-1", "What is the capital of Mongolia?", "-m", new["id"], "-o", "json")
    assert re.search("least score|neither meaning", json.loads(far.out)["reason"])
    strange = await cli("why", "u-2", "Where do I live?", "-m", new["id"])
    assert (strange.status, "not_found" in strange.err) == (1, True)


async def test_everything_of_a_user_is_exported_for_its_owner_s_eyes(
    cli: Cli, workers: Workers, tmp_path: Path
) -> None:
    await workers.say("u-1", "t-1", "我住在上海")
    await workers.say("u-1", "t-2", "我住在北京", occurred_at="2026-05-04T09:15:00Z")
    await workers.say("u-2", "t-1", "我住在巴黎")
    printed = await cli("export", "u-1")
    memories = [MemoryOut.model_validate_json(line) for line in printed.out.splitlines()]
    assert sorted(memory.status for memory in memories) == ["active", "superseded"]
    assert "巴黎" not in printed.out
    file = tmp_path / "mine.jsonl"
    written = await cli("export", "u-1", "--file", str(file))
    assert (written.status, written.out) == (0, "")
    assert sorted(file.read_text().splitlines()) == sorted(printed.out.splitlines())
    assert file.stat().st_mode & 0o777 == 0o600
    assert (await cli("export", "u-1", "--file", str(tmp_path / "nowhere" / "f"))).status == 2


async def test_an_export_that_breaks_off_leaves_the_file_of_before(
    cli: Cli, bus: Bus, tmp_path: Path
) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("of before\n")
    ran = await cli("export", "u-1", "--file", str(file))
    assert (ran.status, file.read_text()) == (1, "of before\n")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".mine")] == []


async def test_dead_letters_are_listed_by_cause_and_place_and_never_by_text(
    cli: Cli, workers: Workers
) -> None:
    assert "no dead letters" in (await cli("dead-letters")).err
    await workers.publish(b"my secret: not json")
    await workers.publish(json.dumps(turn("u-secret", "", "我对花生过敏")).encode(), "conversation.turn.acme")

    async def buried() -> bool:
        return bool((await workers.bus.js.stream_info("DEAD")).state.messages == 2)

    await eventually(buried)
    ran = await cli("dead-letters", language=ZH)
    assert ran.status == 0
    heading, first, second = ran.out.splitlines()
    assert heading.split() == ["时间", "原因", "字段", "租户", "流", "消费者", "序号"]
    assert first.split()[2:] == ["not_json", "default", "INTAKE", "intake", "1"]
    assert second.split()[2:] == ["invalid_turn", "turn_id", "acme", "INTAKE", "intake", "2"]
    newest = json.loads((await cli("dead_letters", "--limit", "1", "-o", "json")).out)
    assert (newest["total"], newest["dead_letters"][0]["code"]) == (2, "invalid_turn")
    for text in (ran.out, json.dumps(newest)):
        assert "secret" not in text
        assert "花生" not in text


async def test_a_pruning_plan_is_told_node_by_node_or_that_nobody_makes_one(cli: Cli, bus: Bus) -> None:
    nobody = await cli("prune_graph", "--dry-run", language=ZH)
    assert (nobody.status, nobody.out) == (1, "")
    assert "尚不生成计划" in nobody.err
    assert (await cli("prune-graph")).status == 2

    async def plan(request: Request) -> AsyncIterator[Any]:
        assert json.loads(request.data) == {"dry_run": True}
        yield {"nodes": 1}
        yield Result(
            {"nodes": [{"node": "(Entity) old phone", "reason": "degree 1, not recalled for 90 days"}]}
        )

    service = Service(bus, "pruner", "0.1.0", "makes a plan in a test")
    service.endpoint("prune", "admin.prune", plan)
    await service.start()
    ran = await cli("prune_graph", "--dry-run")
    await service.stop()
    assert (ran.status, ran.out) == (0, "(Entity) old phone: degree 1, not recalled for 90 days\n")
