"""Nothing leaves the machine: no telemetry, no model download, no lookup, with no endpoint configured."""

from __future__ import annotations

import ipaddress
import json
import sys
from pathlib import Path

import httpx
import pytest
from standalone import Plain, Standalone, turn

pytestmark = pytest.mark.slow
OWN_SERVERS = {"nats-server", "valkey-server", "redis-server"}


def is_here(host: str) -> bool:
    """On loopback, a socket of this machine, or no host at all."""
    if host in ("localhost", "None", "") or host.startswith("/"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def threads_of(deployment: Standalone) -> int:
    assert deployment.process is not None
    status = Path(f"/proc/{deployment.process.pid}/status").read_text()
    return int(status.split("Threads:")[1].split()[0])


async def _use(http: httpx.AsyncClient, times: int) -> None:
    for number in range(times):
        asked = {"user_id": "u-1", "query": f"滑雪 {number}"}
        for path, body in (("/v1/recall", asked), ("/v1/inject", asked | {"session_id": "c-1"})):
            answer = await http.post(path, json=body)
            assert answer.status_code == 200, answer.text
        assert (await http.get("/health")).json() == {"status": "ok"}


async def test_it_works_fully_and_speaks_to_nobody_else(tmp_path: Path) -> None:
    # the framework's own way to be switched on from outside, which must have no effect here
    deployment = Standalone(tmp_path, env={"FASTAPI_OTEL_AUTO_CONFIGURE": "true"})
    notes = tmp_path / "notes.jsonl"
    deployment.command = [sys.executable, str(Path(__file__).with_name("audited.py")), str(notes)]
    await deployment.start()
    nc = await deployment.connect()
    plain = Plain(nc)
    assert (await plain.say("u-1", "e-1", "I ski."))["outcome"] in ("kept", "empty")
    await plain.say("u-1", "e-2", "我对花生过敏")
    async with httpx.AsyncClient(base_url=deployment.ready["http_url"], trust_env=False) as http:
        wrote = await http.post("/v1/write", json=turn("u-1", "e-3", "I live in Lisbon."))
        assert wrote.json()["accepted"] is True
        await _use(http, 20)
        before = threads_of(deployment)
        await _use(http, 60)
        # pools may still be filling; a thread for each request would be far more
        assert threads_of(deployment) <= before + 4
        gone = await http.post(
            "/v1/forget", json={"user_id": "u-1", "everything": True, "confirm": True}, timeout=60
        )
        assert gone.json()["receipt"]["status"] == "done"
    await nc.close()
    assert await deployment.stop() == 0, deployment.log()
    noted = [json.loads(line) for line in notes.read_text().splitlines()]
    assert any(event == "socket.connect" for event, _ in noted)
    assert [pair for pair in noted if pair[0] != "child" and not is_here(pair[1])] == []
    assert {program for event, program in noted if event == "child"} <= OWN_SERVERS


def test_what_is_not_of_this_machine_would_be_seen(tmp_path: Path) -> None:
    assert not is_here("192.0.2.1")
    assert not is_here("example.org")
    assert is_here("127.0.0.1")
    assert is_here("::1")
