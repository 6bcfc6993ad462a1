"""The doctor: each fault is made to happen, is found, and comes with a way out in both languages."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from workers import QUICK, Workers, eventually, turn

from hindsight_client.cli.examination import Finding, Subject, examine
from hindsight_client.cli.examination.backlog import MUCH_LAG
from hindsight_client.llm_stub import FAULTS, LlmStub, Script
from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.errors import RetryLater
from hindsight_common.messaging.connection import Bus
from hindsight_common.settings import Settings
from hindsight_gateway import bootstrap as gateway

Look = Callable[..., Awaitable[dict[str, Finding]]]
CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(params=["C.UTF-8", "zh_CN.UTF-8"])
def language(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LC_ALL", request.param)
    return str(request.param)


@pytest.fixture
def look(bus: Bus, language: str) -> Look:
    """What is found, by what was looked at; every finding that is not well has a way out in the language."""

    async def run(**more: Any) -> dict[str, Finding]:
        found = await examine(Subject(bus.nc, 0.3, **more))
        for finding in found:
            if finding.level != "ok":
                assert finding.way_out, finding
                assert bool(CHINESE.search(finding.way_out)) == language.startswith("zh"), finding
        return {finding.what: finding for finding in found}

    return run


@pytest.fixture
async def workers(bus: Bus, tmp_path: Path) -> AsyncIterator[Workers]:
    async with Workers(bus, tmp_path / "stores") as running:
        yield running


def levels(found: dict[str, Finding]) -> set[str]:
    return {finding.level for finding in found.values()}


def named(found: dict[str, Finding], *names: str) -> Finding:
    return next(found[name] for name in names if name in found)


# -- with a whole deployment ---------------------------------------------------------------------------------


async def test_a_deployment_that_is_well_gives_nothing_to_do(bus: Bus, workers: Workers, look: Look) -> None:
    serving = gateway.build(bus, port=0)
    await serving.start()
    try:
        await workers.say("u-1", "t-1", "我对花生过敏")
        found = await look(http_url=serving.url)
    finally:
        await serving.stop()
    assert levels(found) == {"ok"}, found


@pytest.mark.parametrize("name", ["extractor", "recall", "consolidator", "pruner"])
async def test_a_worker_that_is_not_there_is_named(
    bus: Bus, tmp_path: Path, name: str, language: str, look: Look
) -> None:
    running = Workers(bus, tmp_path / "stores")
    missing = next(worker for worker in running.all if worker.name == name)
    async with running:
        await missing.stop()
        found = await look()
    assert found[name].level == "fault"
    assert f"hindsight-{name}" in found[name].way_out
    others = {"extractor", "recall", "consolidator", "pruner"} - {name}
    assert {found[other].level for other in others} == {"ok"}


async def test_a_gateway_that_is_not_there_is_named(workers: Workers, look: Look) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    found = await look(http_url=address)
    assert found["gateway"].level == "fault"
    assert address in found["gateway"].found
    assert "hindsight-gateway" in found["gateway"].way_out


@pytest.mark.parametrize(
    ("fault", "level", "said"),
    [("401", "fault", "MEMORY_LLM_API_KEY"), ("503", "warning", "")],
)
async def test_an_llm_that_refuses_the_key_or_is_away_is_told_with_its_cause(
    bus: Bus, tmp_path: Path, look: Look, fault: str, level: str, said: str
) -> None:
    async with LlmStub(Script(always=[FAULTS[fault]])) as stub:
        llm = {"base_url": stub.url, "model": "stub", "api_key": "wrong", "provisional_after_ms": 300}
        settings = Settings.model_validate({"llm": llm})
        async with Workers(bus, tmp_path, pace=QUICK, settings=settings) as running:
            await running.ask("write", **turn("u-1", "t-1", "我对花生过敏"))

            async def troubled() -> bool:
                told = (await running.core.bus.nc.request("admin.extraction", b"{}")).data
                return bool(json.loads(told)["state"] != "ok")

            await eventually(troubled)
            found = (await look())["LLM stub"]
    assert found.level == level
    assert said in found.way_out


async def test_a_graph_that_does_not_answer_is_told_as_recall_sees_it(
    workers: Workers, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise RetryLater("injected")

    monkeypatch.setattr(workers.graph, "neighbourhood", away)
    found = named(await look(), "the graph store", "图存储")
    assert found.level == "fault"
    assert "neo4j_url" in found.way_out


async def test_a_redis_that_does_not_answer_is_told_as_the_snapshot_sees_it(
    bus: Bus, tmp_path: Path, look: Look
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        nowhere = f"redis://127.0.0.1:{probe.getsockname()[1]}"
    async with Workers(bus, tmp_path / "stores", redis_url=nowhere):
        found = (await look())["Redis"]
    assert found.level == "fault"
    assert "redis_url" in found.way_out


async def test_dead_letters_are_counted_by_cause(workers: Workers, look: Look) -> None:
    await workers.publish(b"not json")
    await workers.publish(json.dumps(turn("", "t-1", "x")).encode())
    await workers.publish(json.dumps(turn("", "t-2", "x")).encode())

    async def buried() -> bool:
        return (await workers.bus.js.stream_info("DEAD")).state.messages == 3

    await eventually(buried)
    found = named(await look(), "dead letters", "死信")
    assert found.level == "warning"
    assert found.found == "3: 2 × invalid_turn (INTAKE), 1 × not_json (INTAKE)"
    assert "hindsight-cli dead-letters" in found.way_out


# -- on a bus alone ------------------------------------------------------------------------------------------


async def test_messages_that_nobody_reads_are_told(bus: Bus, look: Look) -> None:
    await bus.js.publish("conversation.turn", b"{}")
    found = named(await look(), "consumer intake", "消费者 intake")
    assert found.level == "fault"
    assert "INTAKE" in found.way_out


async def test_a_consumer_far_behind_is_told(bus: Bus, look: Look) -> None:
    reader = await bus.js.pull_subscribe_bind("extractor", "TURNS")
    for number in range(MUCH_LAG + 2):
        await bus.nc.publish(f"turn.00.default.{number:032x}.key", b"x")
    await bus.nc.flush()

    async def arrived() -> bool:
        return (await bus.js.stream_info("TURNS")).state.messages == MUCH_LAG + 2

    await eventually(arrived)
    await reader.fetch(1)
    found = named(await look(), "consumer extractor", "消费者 extractor")
    assert found.level == "warning"
    assert str(MUCH_LAG + 1) in found.found


async def test_what_differs_from_its_declaration_and_what_is_missing_is_told(bus: Bus, look: Look) -> None:
    config = (await bus.js.stream_info("DEAD")).config
    config.max_age = 3600
    await bus.js.update_stream(config)
    await bus.js.delete_consumer("LOG", "graph")
    await bus.js.delete_stream("JOBS")
    found = await look()
    assert "DEAD: max_age" in named(found, "drift", "差异").found
    assert named(found, "consumer graph", "消费者 graph").level == "fault"
    missing = named(found, "streams", "流")
    assert (missing.level, missing.found.rpartition(" ")[2].rpartition("：")[2]) == ("fault", "JOBS")
    assert "hindsight-cli provision" in missing.way_out


class ShiftedClock:
    """This machine's clock, off by so many seconds."""

    def __init__(self, by_s: float) -> None:
        self._by = timedelta(seconds=by_s)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._by


@pytest.mark.parametrize("off_s", [-90, 90])
async def test_a_clock_more_than_a_minute_off_is_told(bus: Bus, look: Look, off_s: float) -> None:
    found = named(await look(clock=ShiftedClock(off_s)), "clock", "时钟")
    assert found.level == "fault"
    assert "NTP" in found.way_out


# -- before there is a bus: the whole program ----------------------------------------------------------------


async def told(
    folder: Path, language: str, *arguments: str, env: dict[str, str] | None = None
) -> tuple[int, list[dict[str, str]]]:
    """Exit status and findings of `hindsight-cli doctor`."""
    process = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).with_name("hindsight-cli")), "doctor", "-o", "json", "--wait", "0.1"),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "LC_ALL": language, **(env or {})},
        cwd=folder,
    )
    out, err = await process.communicate()
    assert process.returncode is not None, err
    return process.returncode, json.loads(out)["findings"]


@asynccontextmanager
async def plain_server(*options: str) -> AsyncIterator[str]:
    """The address of a NATS server started with just these options."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    binary = str(Path(sys.executable).with_name("nats-server"))
    process = await asyncio.create_subprocess_exec(
        *(binary, "-a", "127.0.0.1", "-p", str(port), *options), stderr=asyncio.subprocess.DEVNULL
    )
    try:

        async def answers() -> bool:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                return False
            writer.close()
            return True

        await eventually(answers)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def old_server() -> AsyncIterator[str]:
    """As much of a server of years ago as a client needs to feel welcome."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        info = {"server_id": "OLD", "version": "2.9.25", "proto": 1, "max_payload": 1048576, "headers": True}
        writer.write(b"INFO " + json.dumps(info).encode() + b"\r\n")
        while line := await reader.readline():
            if line.startswith(b"PING"):
                writer.write(b"PONG\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_refused_credentials_are_told_at_once_and_never_shown(tmp_path: Path, language: str) -> None:
    async with plain_server("--user", "hindsight", "--pass", "right") as place:
        status, findings = await told(tmp_path, language, "--nats-url", f"nats://hindsight:wrong@{place}")
    fault = next(finding for finding in findings if finding["what"] == "NATS")
    assert (status, fault["level"]) == (1, "fault")
    assert place in fault["found"]
    assert "HINDSIGHT_NATS_PASSWORD" in fault["way_out"]
    assert "wrong" not in json.dumps(findings)


async def test_a_server_without_jetstream_is_told_and_nothing_else_blames_it(
    tmp_path: Path, language: str
) -> None:
    async with plain_server() as place:
        status, findings = await told(tmp_path, language, "--nats-url", f"nats://{place}")
    faults = [finding for finding in findings if finding["level"] == "fault"]
    assert (status, [fault["what"] for fault in faults]) == (1, ["NATS"])
    assert "JetStream" in faults[0]["found"]
    assert "-js" in faults[0]["way_out"]


async def test_a_server_that_is_too_old_is_told(tmp_path: Path, language: str) -> None:
    async with old_server() as place:
        status, findings = await told(tmp_path, language, "--nats-url", f"nats://{place}")
    faults = [finding for finding in findings if finding["level"] == "fault"]
    assert (status, len(faults)) == (1, 1)
    assert "2.9.25" in faults[0]["found"]
    assert "2.14" in faults[0]["way_out"]


@pytest.mark.parametrize(
    ("content", "said"),
    [("recal:\n  top_k: 3\n", "recal"), ("recall: [", "config.yaml"), (None, "config.yaml")],
)
async def test_a_configuration_that_no_worker_would_take_is_told_once(
    tmp_path: Path, language: str, nats_server: NatsServer, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "config.yaml").write_text(content)
    status, findings = await told(
        tmp_path, language, "--config", "config.yaml", "--nats-url", nats_server.url
    )
    faults = [finding for finding in findings if said in finding["found"]]
    assert (status, [fault["level"] for fault in faults]) == (1, ["fault"])
    assert "config.example.yaml" in faults[0]["way_out"]


@pytest.mark.parametrize("fault", ["open", "read_only", "full", "file", "none"])
async def test_a_data_directory_that_is_open_full_or_none_is_told(
    tmp_path: Path, language: str, nats_server: NatsServer, fault: str
) -> None:
    folder = tmp_path / "data"
    options = ["--data-dir", str(folder), "--nats-url", nats_server.url]
    if fault == "file":
        folder.write_text("x")
    else:
        folder.mkdir(mode={"open": 0o755, "read_only": 0o500}.get(fault, 0o700))
    if fault == "full":
        options += ["--min-free", "1000000"]
    _, findings = await told(tmp_path, language, *options)
    found = next(one for one in findings if one["what"] in ("data directory", "数据目录"))
    assert (found["level"] == "ok") == (fault == "none")
    assert bool(found["way_out"]) == (fault != "none")
