"""A worker's command line, what it demands of its configuration, its waiting and its health."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.messaging.connection import BusAway
from hindsight_common.process import waiting
from hindsight_common.process.health import HealthServer
from hindsight_common.process.options import parse
from hindsight_common.process.running import configured, run
from hindsight_common.process.settings_text import settings_read
from hindsight_common.process.waiting import Waiting
from hindsight_common.process.worker_process import WorkerProcess
from hindsight_common.settings.keys import PLAIN_NAMES, all_keys
from hindsight_consolidator.process import PROCESS as CONSOLIDATOR
from hindsight_extractor.process import PROCESS as EXTRACTOR
from hindsight_gateway.process import PROCESS as GATEWAY
from hindsight_pruner.process import PROCESS as PRUNER
from hindsight_recall.process import PROCESS as RECALL

WORKERS = [EXTRACTOR, RECALL, CONSOLIDATOR, PRUNER, GATEWAY]
BEHIND_THE_BUS = [worker for worker in WORKERS if worker is not GATEWAY]
# the folder of the embedded form, and what is a choice of its whole configuration
NOT_A_WORKERS = {"data_dir", "preset", "session_isolation"}


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.upper().startswith("HINDSIGHT_") or name in PLAIN_NAMES:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("process", WORKERS, ids=lambda process: process.name)
def test_help_names_every_setting_the_worker_reads_in_both_languages(
    process: WorkerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(process, ["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for key in settings_read(process):
        assert f"\n  {key.name}" in said
        assert key.variable in said
        assert key.english in said
        assert key.chinese in said
    assert all(name in said for name in process.needs)


def test_every_setting_that_is_read_is_named_by_a_worker() -> None:
    named = {key.name for process in WORKERS for key in settings_read(process)}
    read = {key.name for key in all_keys().values() if not key.planned}
    assert read - named == NOT_A_WORKERS


def test_who_opens_working_memory_names_how_long_it_lasts_and_only_who_writes_the_graph_its_limit() -> None:
    names = {process.name: {key.name for key in settings_read(process)} for process in WORKERS}

    def reading(setting: str) -> set[str]:
        return {worker for worker, read in names.items() if setting in read}

    assert reading("memory_layers.working.session_ttl_hours") == reading("redis_url")
    assert reading("memory_layers.semantic.max_graph_nodes") == {"consolidator"}


def test_no_pattern_of_a_worker_names_nothing() -> None:
    for process in WORKERS:
        alone = {
            key.name for key in settings_read(WorkerProcess("x", "", "", process.open, has_secret=False))
        }
        for pattern in process.reads:
            one = WorkerProcess("x", "", "", process.open, reads=(pattern,), has_secret=False)
            assert {key.name for key in settings_read(one)} - alone, pattern


@pytest.mark.parametrize("process", BEHIND_THE_BUS, ids=lambda process: process.name)
def test_what_a_worker_cannot_do_without_is_demanded_by_name_and_variable(process: WorkerProcess) -> None:
    with pytest.raises(StopAndFix) as refused:
        configured(process, parse(process, []))
    for name in process.needs:
        assert f"{name} ({all_keys()[name].variable})" in str(refused.value)


def test_a_worker_of_its_own_refuses_the_embedded_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_STORE", "embedded")
    with pytest.raises(StopAndFix, match="hindsight-standalone"):
        configured(CONSOLIDATOR, parse(CONSOLIDATOR, []))
    assert configured(GATEWAY, parse(GATEWAY, ["--http-port", "0"])).api_port == 0


async def test_without_the_deployments_secret_it_says_how_to_make_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HINDSIGHT_NEO4J_URL", "bolt://127.0.0.1:1")
    check = parse(CONSOLIDATOR, ["--check"])
    with pytest.raises(StopAndFix, match="openssl rand -hex 32"):
        await run(CONSOLIDATOR, check)
    monkeypatch.setenv("HINDSIGHT_MASTER_KEY", "ab" * 32)
    await run(CONSOLIDATOR, check)
    assert "can be used" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["--health-port", "70000"], ["--health-port", "x"], ["--unknown"], ["--check=1"]]
)
def test_options_it_does_not_understand_end_it_with_the_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(RECALL, arguments)
    assert ended.value.code == 2


async def test_waiting_says_each_reason_once_and_returns_what_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "FIRST_DELAY_S", 0.001)
    monkeypatch.setattr(waiting, "LONGEST_DELAY_S", 0.002)
    away, no_jetstream = RetryLater("away"), BusAway("no JetStream")
    faults: list[Exception] = [away, away, away, no_jetstream, no_jetstream, away]
    waits, seen = Waiting(), set[tuple[str, ...]]()

    async def attempt() -> str:
        seen.add(waits.names)
        if faults:
            raise faults.pop(0)
        return "here"

    with capture_logs() as logs:
        assert await waits.until("nats", attempt) == "here"
    assert [(log["event"], log.get("reason")) for log in logs] == [
        ("waiting_for", "away"),
        ("waiting_for", "no JetStream"),
        ("waiting_for", "away"),
        ("waited_for", None),
    ]
    assert seen == {(), ("nats",)}
    assert waits.names == ()


async def test_what_waiting_cannot_mend_is_not_waited_for() -> None:
    async def attempt() -> None:
        raise StopAndFix("the password is wrong")

    waits = Waiting()
    with pytest.raises(StopAndFix, match="password"):
        await waits.until("neo4j", attempt)
    assert waits.names == ()


@pytest.fixture
async def health() -> AsyncIterator[tuple[HealthServer, list[str]]]:
    """A server on a free port, and the list of what is missing, for the test to change."""
    missing: list[str] = []

    async def asked() -> tuple[str, ...]:
        return tuple(missing)

    server = HealthServer("recall", "127.0.0.1", 0, asked)
    await server.start()
    yield server, missing
    await server.stop()


async def exchange(server: HealthServer, said: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
    writer.write(said)
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    return answer


async def test_live_and_ready_differ(health: tuple[HealthServer, list[str]]) -> None:
    server, missing = health
    assert (await exchange(server, b"GET /ready HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 200 OK\r\n")
    missing += ["neo4j", "redis"]
    answer = await exchange(server, b"GET /ready?x=1 HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b'"missing": ["neo4j", "redis"]' in answer
    assert (await exchange(server, b"GET /live HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 200 OK\r\n")
    head = await exchange(server, b"HEAD /live HTTP/1.1\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert head.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /live HTTP/1.1\r\n\r\n", b"405"),
        (b"\r\n\r\n", b"404"),
        (b"\x00\xff\r\n\r\n", b"404"),
        (b"GET /live HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", b""),
        (b"GET /live", b""),
    ],
)
async def test_whatever_is_said_to_it_health_goes_on(
    health: tuple[HealthServer, list[str]], monkeypatch: pytest.MonkeyPatch, said: bytes, status: bytes
) -> None:
    monkeypatch.setattr("hindsight_common.process.health.READ_TIMEOUT_S", 0.05)
    server, _ = health
    try:
        answer = await exchange(server, said)
    except ConnectionResetError:
        answer = b""
    assert answer.partition(b" ")[2][:3] == status
    assert (await exchange(server, b"GET /live HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 200")


async def test_a_health_port_that_is_taken_is_named(health: tuple[HealthServer, list[str]]) -> None:
    port = int(health[0].url.rpartition(":")[2])

    async def asked() -> tuple[str, ...]:
        return ()

    with pytest.raises(StopAndFix, match="HINDSIGHT_HEALTH_PORT"):
        await HealthServer("recall", "127.0.0.1", port, asked).start()
