from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hindsight_common.errors import StopAndFix
from hindsight_common.messaging.reading import last_sequence
from hindsight_common.worker import Worker
from hindsight_standalone.announcement import greeting
from hindsight_standalone.options import Options, parse
from hindsight_standalone.process import Resources, run

KEY = "ab" * 32
# nats-py takes a service's start time by a call that Python 3.12 deprecates
_OF_NATS = "ignore:datetime.datetime.utcnow() is deprecated:DeprecationWarning:nats.micro.service"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [*os.environ]:
        if name.startswith("HINDSIGHT_") or name in {"API_PORT", "MEMORY_STORE"}:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


class Probe:
    """A worker that notes what happens to it."""

    def __init__(self, name: str, notes: list[str], start: Callable[[], None] | None = None) -> None:
        self.name = name
        self.url = f"http://{name}"
        self._notes = notes
        self._start = start

    async def start(self) -> None:
        self._notes.append(f"start {self.name}")
        if self._start is not None:
            self._start()

    async def stop(self) -> None:
        self._notes.append(f"stop {self.name}")


def _options(tmp_path: Path) -> Options:
    return Options(
        data_dir=tmp_path / "data", http_port=0, nats_port=0, ready_file=tmp_path / "ready.json", config=None
    )


async def _exists(path: Path) -> None:
    async with asyncio.timeout(60):
        while not path.exists():
            await asyncio.sleep(0.01)


async def test_workers_start_in_order_then_it_is_ready_and_they_stop_in_reverse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes: list[str] = []
    options = _options(tmp_path)
    assert options.ready_file is not None
    given: list[Resources] = []

    def build(resources: Resources) -> list[Worker]:
        given.append(resources)
        return [Probe("a", notes), Probe("b", notes)]

    running = asyncio.create_task(run(options, build))
    await _exists(options.ready_file)
    assert notes == ["start a", "start b"]
    ready = json.loads(options.ready_file.read_text())
    assert ready == {
        "nats_url": given[0].bus.nc.connected_url.geturl() if given[0].bus.nc.connected_url else None,
        "http_url": "http://a",
        "pid": os.getpid(),
    }
    assert await last_sequence(given[0].bus.js, "LOG") == 0
    assert ready["nats_url"] in capsys.readouterr().out
    os.kill(os.getpid(), signal.SIGTERM)
    await running
    assert notes == ["start a", "start b", "stop b", "stop a"]
    assert not options.ready_file.exists()
    assert given[0].bus.nc.is_closed


async def test_the_line_to_try_works_where_it_is_pasted_in_either_language(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    await command.start()
    ready = await command.ready()
    for language, remembered in (("C.UTF-8", "allergic to peanuts"), ("zh_CN.UTF-8", "用户对花生过敏")):
        monkeypatch.setenv("LC_ALL", language)
        text = greeting(str(ready["nats_url"]), str(ready["http_url"]), Path("data"))
        line = text.splitlines()[-1].partition(":  ")[2]
        shell = await asyncio.create_subprocess_shell(line, stdout=asyncio.subprocess.PIPE)
        out, _ = await shell.communicate()
        assert shell.returncode == 0
        assert remembered in out.decode()


def test_the_line_to_try_names_no_address_that_is_the_default_one() -> None:
    assert "--nats-url" not in greeting("nats://127.0.0.1:4222", None, Path("data"))


async def test_a_worker_that_cannot_start_ends_it_with_its_reason_and_stops_the_others(
    tmp_path: Path,
) -> None:
    notes: list[str] = []

    def refuse() -> None:
        raise StopAndFix("the model is not installed")

    def build(resources: Resources) -> list[Worker]:
        return [Probe("a", notes), Probe("b", notes, refuse), Probe("c", notes)]

    with pytest.raises(StopAndFix, match="the model is not installed"):
        await run(_options(tmp_path), build)
    assert notes == ["start a", "start b", "stop b", "stop a"]


async def test_what_only_a_person_can_put_right_ends_a_running_process(tmp_path: Path) -> None:
    notes: list[str] = []
    options = _options(tmp_path)
    given: list[Resources] = []

    def build(resources: Resources) -> list[Worker]:
        given.append(resources)
        return [Probe("a", notes)]

    running = asyncio.create_task(run(options, build))
    assert options.ready_file is not None
    await _exists(options.ready_file)
    given[0].on_fatal(StopAndFix("an event of schema 9: upgrade"))
    with pytest.raises(StopAndFix, match="schema 9"):
        await running
    assert notes[-1] == "stop a"


async def test_a_key_is_made_once_private_and_kept(tmp_path: Path) -> None:
    secrets: list[bytes] = []

    def build(resources: Resources) -> list[Worker]:
        secrets.append(resources.master_secret)
        resources.on_fatal(StopAndFix("enough"))
        return []

    for _ in range(2):
        with pytest.raises(StopAndFix, match="enough"):
            await run(_options(tmp_path), build)
    assert secrets[0] == secrets[1]
    assert len(secrets[0]) == 32
    mode = stat.S_IMODE((tmp_path / "data" / "master.key").stat().st_mode)
    assert mode == 0o600
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def _enough(resources: Resources) -> list[Worker]:
    resources.on_fatal(StopAndFix("enough"))
    return []


async def test_a_key_of_the_environment_or_a_file_is_used_and_none_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_MASTER_KEY", KEY)
    with pytest.raises(StopAndFix, match="enough"):
        await run(_options(tmp_path), _enough)
    assert not (tmp_path / "data" / "master.key").exists()
    monkeypatch.delenv("HINDSIGHT_MASTER_KEY")
    (tmp_path / "secret").write_text(KEY)
    monkeypatch.setenv("HINDSIGHT_MASTER_KEY_FILE", str(tmp_path / "secret"))
    with pytest.raises(StopAndFix, match="enough"):
        await run(_options(tmp_path), _enough)


async def test_a_malformed_a_foreign_and_a_lost_key_are_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_MASTER_KEY", "not a key")
    with pytest.raises(StopAndFix, match="HINDSIGHT_MASTER_KEY") as refused:
        await run(_options(tmp_path), _enough)
    assert "not a key" not in str(refused.value)
    monkeypatch.delenv("HINDSIGHT_MASTER_KEY")
    with pytest.raises(StopAndFix, match="enough"):
        await run(_options(tmp_path), _enough)
    monkeypatch.setenv("HINDSIGHT_MASTER_KEY", KEY)
    with pytest.raises(StopAndFix, match="not the one"):
        await run(_options(tmp_path), _enough)
    monkeypatch.delenv("HINDSIGHT_MASTER_KEY")
    (tmp_path / "data" / "master.key").rename(tmp_path / "lost")
    with pytest.raises(StopAndFix, match="put it back"):
        await run(_options(tmp_path), _enough)
    (tmp_path / "data" / "master.key").write_text("damaged")
    with pytest.raises(StopAndFix, match="malformed"):
        await run(_options(tmp_path), _enough)


async def test_the_server_form_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_STORE", "server")
    monkeypatch.setenv("HINDSIGHT_REDIS_URL", "redis://127.0.0.1:6379")
    monkeypatch.setenv("HINDSIGHT_QDRANT_URL", "http://127.0.0.1:6333")
    monkeypatch.setenv("HINDSIGHT_NEO4J_URL", "bolt://127.0.0.1:7687")
    monkeypatch.setenv("HINDSIGHT_MASTER_KEY", KEY)
    with pytest.raises(StopAndFix, match="embedded form"):
        await run(_options(tmp_path), _enough)


@pytest.mark.parametrize(
    "arguments", [["--http-port", "70000"], ["--nats-port", "x"], ["--unknown"], ["--data"]]
)
def test_options_it_does_not_understand_end_it_with_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2
    assert "usage: hindsight-standalone" in capsys.readouterr().err


class Command:
    """`python -m hindsight_standalone` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ready_file = folder / "ready.json"
        self.process: asyncio.subprocess.Process | None = None

    async def start(self, *options: str) -> asyncio.subprocess.Process:
        self.process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-W",
                "error",
                "-W",
                _OF_NATS,
                "-m",
                "hindsight_standalone",
                "--data-dir",
                "data",
            ),
            *("--http-port", "0", "--nats-port", "0", "--ready-file", str(self.ready_file), *options),
            cwd=self.folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        return self.process

    async def ready(self) -> dict[str, object]:
        await _exists(self.ready_file)
        return dict(json.loads(self.ready_file.read_text()))


@pytest.fixture
async def command(tmp_path: Path) -> AsyncIterator[Command]:
    command = Command(tmp_path)
    yield command
    if command.process is not None and command.process.returncode is None:
        command.process.kill()
        await command.process.communicate()


async def test_a_second_start_says_who_holds_the_directory_and_since_when(
    command: Command, tmp_path: Path
) -> None:
    first = await command.start()
    ready = await command.ready()
    second = Command(tmp_path)
    second.ready_file = tmp_path / "second.json"
    process = await second.start()
    _, told = await process.communicate()
    assert process.returncode == 1
    assert f"process {first.pid} (since 20" in told.decode()
    assert await command.ready() == ready
    first.send_signal(signal.SIGTERM)
    out, _ = await first.communicate()
    assert first.returncode == 0
    assert str(ready["nats_url"]) in out.decode()
    assert not command.ready_file.exists()


async def test_after_kill_9_it_starts_again_on_the_same_directory(command: Command) -> None:
    first = await command.start()
    before = await command.ready()
    first.kill()
    await first.communicate()
    assert command.ready_file.exists()
    second = await command.start()
    async with asyncio.timeout(60):
        while not command.ready_file.exists() or (await command.ready()) == before:
            await asyncio.sleep(0.02)
    second.send_signal(signal.SIGINT)
    await second.communicate()
    assert second.returncode == 0


async def test_a_taken_nats_port_is_said_on_one_line(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        process = await command.start("--nats-port", str(other.getsockname()[1]))
        _, told = await process.communicate()
    assert process.returncode == 1
    last = told.decode().splitlines()[-1]
    assert last.startswith("hindsight-standalone: port")
    assert "--nats-port" in last
