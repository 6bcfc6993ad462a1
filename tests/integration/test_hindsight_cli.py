from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, runner

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.events import subjects
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.service import Request, Result, Service

MEMORY = {
    "id": "0f8fad5b-d9cb-469f-a165-70867728950e",
    "type": "fact",
    "content": "用户对[花生]过敏",
    "importance": 0.9,
    "confidence": 0.9,
    "status": "active",
    "role_scope": ["shared"],
    "occurred_at": "2026-03-04T09:15:00+08:00",
    "recorded_at": "2026-03-04T09:15:01+08:00",
    "sources": [{"session_id": "s-1", "turn_id": "t-1"}],
}
SCORED = MEMORY | {
    "score": 0.83,
    "score_parts": {"similarity": 0.3, "importance": 0.3, "recency": 0.23},
    "channels": {"words": 1},
}


@pytest.fixture
async def asked(bus: Bus) -> AsyncIterator[list[tuple[str, dict[str, Any]]]]:
    """A deployment that answers every request with something fixed; what it was asked, in order."""
    heard: list[tuple[str, dict[str, Any]]] = []
    written: set[str] = set()

    def answers(said: Mapping[str, Any]) -> Callable[[Request], Awaitable[Mapping[str, Any]]]:
        async def answer(request: Request) -> Mapping[str, Any]:
            heard.append((request.tenant, json.loads(request.data)))
            return said

        return answer

    async def write(request: Request) -> Mapping[str, Any]:
        turn = json.loads(request.data)
        heard.append((request.tenant, turn))
        known = turn["turn_id"] in written
        written.add(turn["turn_id"])
        return {"turn_id": turn["turn_id"], "accepted": True, "duplicate": known}

    async def forget(request: Request) -> Mapping[str, Any]:
        body = json.loads(request.data)
        heard.append((request.tenant, body))
        stores = {"vectors": {"status": "done", "removed": 2}}
        receipt = {"id": "r-1", "status": "done", "stores": stores}
        return {"receipt": receipt} if body["confirm"] else {"would_forget": [MEMORY]}

    async def rebuild(request: Request) -> AsyncIterator[Any]:
        yield {"events": 10}
        yield Result({"position": 20})

    service = Service(bus, "recall", "0.1.0", "answers in a test")
    service.endpoint("write", subjects.MEMORY_WRITE, write)
    recalled = {"memories": [SCORED], "covers_up_to": 1, "took_ms": {"embed": 2.5}}
    service.endpoint("recall", subjects.MEMORY_RECALL, answers(recalled))
    service.endpoint("list", subjects.MEMORY_LIST, answers({"memories": [MEMORY]}))
    outcome = {"turn_id": "t-1", "outcome": "kept", "memories": 2}
    service.endpoint("turn", subjects.MEMORY_TURN, answers(outcome))
    service.endpoint("forget", subjects.MEMORY_FORGET, forget)
    service.endpoint("rebuild", subjects.ADMIN_REBUILD_VECTORS, rebuild)
    promoted = {"promoted": 0, "position": None, "switched": True}
    service.endpoint("consolidate", subjects.ADMIN_CONSOLIDATE, answers(promoted))
    await service.start()
    yield heard
    await service.stop()


@pytest.fixture
def cli(nats_server: NatsServer, tmp_path: Path) -> Cli:
    return runner(nats_server.url, tmp_path)


Asked = list[tuple[str, dict[str, Any]]]


async def test_what_is_recalled_is_data_and_goes_to_stdout(cli: Cli, asked: Asked) -> None:
    ran = await cli("recall", "u-1", "点菜要注意什么？", "--top-k", "5", "-o", "json")
    assert (ran.status, ran.err) == (0, "")
    assert json.loads(ran.out)["memories"][0]["content"] == "用户对[花生]过敏"
    assert asked == [("default", {"user_id": "u-1", "query": "点菜要注意什么？", "top_k": 5})]
    pretty = await cli("recall", "u-1", "点菜", "--tenant", "acme")
    assert "0.83" in pretty.out
    assert "用户对[花生]过敏" in pretty.out
    assert asked[1][0] == "acme"


async def test_a_turn_is_written_and_its_outcome_shown(cli: Cli, asked: Asked) -> None:
    ran = await cli("turn", "u-1", "我对花生过敏", "-s", "s-1", "--turn-id", "t-1", "--reply", "记下了。")
    assert (ran.status, ran.out) == (0, "t-1: accepted\n")
    assert asked[0][1] == {
        "turn_id": "t-1",
        "user_id": "u-1",
        "session_id": "s-1",
        "messages": [
            {"role": "user", "content": "我对花生过敏"},
            {"role": "assistant", "content": "记下了。"},
        ],
    }
    outcome = await cli("turn", "u-1", "--outcome-of", "t-1", language="zh_CN.UTF-8")
    assert outcome.out == "t-1: 已记住, 2 条记忆\n"


async def test_forgetting_is_a_dry_run_until_it_is_confirmed(cli: Cli, asked: Asked) -> None:
    dry = await cli("forget", "u-1", "--everything")
    assert dry.status == 0
    assert "用户对[花生]过敏" in dry.out
    assert "nothing was forgotten" in dry.err
    done = await cli("forget", "u-1", "--everything", "--yes")
    assert "receipt r-1: done" in done.out
    assert [body["confirm"] for _, body in asked] == [False, True]
    vague = await cli("forget", "u-1", "--yes")
    assert (vague.status, len(asked)) == (2, 2)
    assert "--memory, --session, --everything: choose exactly one" in vague.err


async def test_a_history_is_imported_and_again_without_repeating_anything(
    cli: Cli, asked: Asked, tmp_path: Path
) -> None:
    conversation = {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi!"},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "嗨！"},
        ],
    }
    file = tmp_path / "history.json"
    file.write_text(json.dumps([{"sample_id": "c-1", "conversation": conversation}]))
    first = await cli("import", str(file), "--format", "locomo", "-o", "json")
    again = await cli("import", str(file), "--format", "locomo")
    assert (first.status, again.status) == (0, 0)
    assert json.loads(first.out) == {"turns": 2, "accepted": 2, "duplicates": 0, "refused": []}
    assert again.out == "2 turns: 0 accepted, 2 already there, 0 refused\n"
    assert asked[0][1]["occurred_at"] == "2023-05-08T13:56:00+00:00"


async def test_a_refused_line_is_named_and_the_status_says_so(cli: Cli, asked: Asked, tmp_path: Path) -> None:
    turn = {"user_id": "u-1", "session_id": "s-1", "messages": [{"role": "user", "content": "x"}]}
    lines = [turn | {"turn_id": "t-1"}, turn | {"turn_id": "t-2", "user_id": ""}, turn | {"turn_id": "t-3"}]
    file = tmp_path / "turns.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    ran = await cli("import", str(file), "--format", "turns")
    assert ran.status == 1
    assert ran.out == "3 turns: 2 accepted, 0 already there, 1 refused\n"
    assert "turn 2: invalid_turn: user_id must not be empty" in ran.err


async def test_a_rebuild_ends_with_its_result(cli: Cli, asked: Asked) -> None:
    ran = await cli("rebuild", "--store", "vectors")
    assert (ran.status, ran.out) == (0, "vectors: position 20\n")


async def test_the_doctor_finds_what_is_missing_and_says_what_to_do(cli: Cli, asked: Asked) -> None:
    ran = await cli("doctor", "-o", "json", "--wait", "0.5")
    findings = {finding["what"]: finding for finding in json.loads(ran.out)["findings"]}
    assert ran.status == 1
    assert (findings["streams"]["level"], findings["recall"]["level"]) == ("ok", "ok")
    assert (findings["pruner"]["level"], findings["pruner"]["found"]) == ("fault", "does not answer")
    assert "hindsight-standalone" in findings["pruner"]["way_out"]
    assert findings["clock"]["level"] == "ok"
    assert findings["consumer vectors"]["found"] == "0 waiting, 0 in hand"
    chinese = await cli("doctor", "--wait", "0.5", language="zh_CN.UTF-8")
    assert "无应答" in chinese.out


async def test_what_is_refused_is_status_1_with_the_reason(cli: Cli, asked: Asked) -> None:
    ran = await cli("recall", "u ", "q")
    assert (ran.status, ran.out) == (1, "")
    assert "invalid_request: user_id begins or ends with white space" in ran.err
    chinese = await cli("recall", "u ", "q", language="zh_CN.UTF-8")
    assert "invalid_request：请求有误（user_id begins or ends with white space" in chinese.err


async def test_a_list_says_that_it_was_cut_only_if_something_follows(cli: Cli, asked: Asked) -> None:
    whole = await cli("list", "u-1", "--limit", "1")
    assert (whole.status, whole.err) == (0, "")
    assert str(MEMORY["id"]) in whole.out


async def test_the_times_of_the_steps_are_told_on_request_and_beside_the_data(cli: Cli, asked: Asked) -> None:
    ran = await cli("recall", "u-1", "点菜", "-o", "json", "--log-level", "debug")
    assert json.loads(ran.out)["took_ms"] == {"embed": 2.5}
    assert "embed 2.5 ms" in ran.err
    assert "connect " in ran.err


async def test_results_of_jobs_speak_the_user_s_language_and_leave_out_what_is_empty(
    cli: Cli, asked: Asked
) -> None:
    english = await cli("consolidate", "u-1")
    chinese = await cli("consolidate", "u-1", language="zh_CN.UTF-8")
    assert (english.out, chinese.out) == (
        "consolidation: promoted 0, switched yes\n",
        "整理：已整理 0，已切换 是\n",
    )


async def test_a_server_without_streams_is_one_fault_of_the_bus_and_nothing_that_looks_like_a_crash(
    cli: Cli, bus: Bus
) -> None:
    for stream in await bus.js.streams_info():
        await bus.js.delete_stream(str(stream.config.name))
    ran = await cli("doctor", "-o", "json", "--wait", "0.1")
    found = {finding["what"]: finding["level"] for finding in json.loads(ran.out)["findings"]}
    assert ran.status == 1
    assert found["streams"] == "fault"
    assert not any("consumer" in what or "failed" in what for what in found)


async def test_the_doctor_says_in_the_user_s_language_that_no_server_answers(cli: Cli) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{unused.getsockname()[1]}"
        ran = await cli("doctor", "--nats-url", f"nats://me:secret@{place}", language="zh_CN.UTF-8")
    assert ran.status == 1
    assert f"✗ NATS: {place} 在 5 秒内没有服务器应答\n    → 请先启动" in ran.out
    assert "secret" not in ran.out + ran.err
