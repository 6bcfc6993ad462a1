from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hindsight_common.adapters.embedded.child_process import command_line, reap_orphan
from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.errors import StopAndFix
from hindsight_common.messaging.connection import connect
from hindsight_common.messaging.provisioning import provision
from hindsight_common.messaging.publishing import publish
from hindsight_common.messaging.reading import last_sequence


async def _gone(pid: int) -> None:
    async with asyncio.timeout(20):
        while command_line(pid):
            await asyncio.sleep(0.01)


async def test_it_keeps_port_and_streams_when_it_is_killed(nats_server: NatsServer) -> None:
    bus = await connect(nats_server.url, name="test")
    await provision(bus.js)
    await publish(bus, "log.00.default.aa.turn", b"x")
    # what the server has synced survives a kill; the page cache survives it anyway
    before, port = nats_server.pid, nats_server.port
    assert before is not None
    os.kill(before, signal.SIGKILL)
    await _gone(before)
    async with asyncio.timeout(30):
        while nats_server.restarts < 1 or not bus.is_connected:
            await asyncio.sleep(0.01)
    assert nats_server.pid != before
    assert nats_server.port == port
    assert await last_sequence(bus.js, "LOG") == 1
    await bus.close()


async def test_it_keeps_its_streams_across_a_clean_stop(tmp_path: Path) -> None:
    for expected in (0, 1, 2):
        server = NatsServer(tmp_path)
        await server.start()
        bus = await connect(server.url, name="test")
        await provision(bus.js)
        assert await last_sequence(bus.js, "LOG") == expected
        await publish(bus, "log.00.default.aa.turn", b"x")
        await bus.close()
        pid = server.pid
        assert pid is not None
        await server.stop()
        assert command_line(pid) == ""
        await server.stop()


async def test_a_taken_port_is_named_with_the_option_to_change(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(StopAndFix, match=rf"port {port} is taken.*--nats-port"):
            await NatsServer(tmp_path, port).start()


async def test_two_servers_at_once_get_ports_of_their_own(tmp_path: Path) -> None:
    servers = [NatsServer(tmp_path / str(number)) for number in range(2)]
    await asyncio.gather(*(server.start() for server in servers))
    assert servers[0].port != servers[1].port
    await asyncio.gather(*(server.stop() for server in servers))


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere the next start ends the orphan by its pid file"
)
async def test_it_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import asyncio, sys
        from pathlib import Path
        from hindsight_common.adapters.embedded.nats_server import NatsServer
        async def main():
            server = NatsServer(Path(sys.argv[1]))
            await server.start()
            print(server.pid, flush=True)
            await asyncio.sleep(600)
        asyncio.run(main())
    """)
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    assert "nats-server" in command_line(child)
    parent.kill()
    await parent.wait()
    await _gone(child)


async def test_an_orphan_of_an_earlier_run_is_ended_but_a_stranger_with_its_pid_is_not(
    tmp_path: Path,
) -> None:
    pid_file = tmp_path / "nats.pid"
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    orphan = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)", str(tmp_path / "nats.conf")]
    )
    try:
        async with asyncio.timeout(20):
            while "nats.conf" not in command_line(orphan.pid) or not command_line(stranger.pid):
                await asyncio.sleep(0.01)
        pid_file.write_text(str(stranger.pid))
        assert not reap_orphan(pid_file, str(tmp_path / "nats.conf"))
        assert stranger.poll() is None
        pid_file.write_text(str(orphan.pid))
        assert reap_orphan(pid_file, str(tmp_path / "nats.conf"))
        assert orphan.wait(20) == -signal.SIGKILL
        assert not reap_orphan(tmp_path / "absent", "x")
    finally:
        for process in (stranger, orphan):
            process.kill()
            process.wait()


async def test_a_port_lost_to_somebody_else_is_reported_after_a_few_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindsight_common.adapters.embedded.supervised_child.FIRST_BACKOFF_S", 0.01)
    monkeypatch.setattr("hindsight_common.adapters.embedded.supervised_child.LONGEST_BACKOFF_S", 0.01)
    told: list[StopAndFix] = []
    server = NatsServer(tmp_path, on_failure=told.append)
    await server.start()
    pid = server.pid
    assert pid is not None
    # stopped first, so that the thief is there before the supervisor notices the death
    os.kill(pid, signal.SIGKILL)
    with _steal(server.port):
        async with asyncio.timeout(60):
            while not told:
                await asyncio.sleep(0.01)
        assert "is taken" in str(told[0])
    await server.stop()


def _steal(port: int) -> socket.socket:
    """Takes the port as soon as the killed one lets go of it; runs in one go, without the event loop."""
    while True:
        try:
            return socket.create_server(("127.0.0.1", port))
        except OSError:
            continue
