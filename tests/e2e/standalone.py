"""The embedded form as a user runs it: its own process, reached by a client that knows only NATS and HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client

READY_S = 60.0


class Standalone:
    """One `hindsight-standalone`. `kill` is -9, `stop` SIGTERM; `start` again continues on the same data."""

    def __init__(self, folder: Path, *options: str, env: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._options = options
        # another program in place of the console script, to be run with the same options
        self.command: list[str] | None = None
        self.env = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}
        self._ready_file = folder / "ready.json"
        self.process: asyncio.subprocess.Process | None = None
        self.ready: dict[str, Any] = {}

    async def start(self) -> None:
        await self.launch()
        await self.until_ready()

    async def launch(self) -> None:
        """The process runs; nothing says yet that it will be ready."""
        self._ready_file.unlink(missing_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        log = (self.folder / "log.txt").open("ab")
        self.process = await asyncio.create_subprocess_exec(
            *(self.command or [str(Path(sys.executable).with_name("hindsight-standalone"))]),
            *("--data-dir", str(self.data), "--http-port", "0", "--nats-port", "0"),
            *("--ready-file", str(self._ready_file), *self._options),
            stdout=log,
            stderr=log,
            env=self.env,
            cwd=self.folder,
        )
        log.close()

    async def until_ready(self) -> None:
        assert self.process is not None
        async with asyncio.timeout(READY_S):
            while not self._ready_file.exists():
                assert self.process.returncode is None, self.log()
                await asyncio.sleep(0.02)
        self.ready = json.loads(self._ready_file.read_text())
        assert self.ready["pid"] == self.process.pid

    def log(self) -> str:
        return (self.folder / "log.txt").read_text(errors="replace")

    async def connect(self, name: str = "test") -> Client:
        return await nats.connect(
            self.ready["nats_url"], name=name, max_reconnect_attempts=-1, reconnect_time_wait=0.05
        )

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)

    def nats_pid(self) -> int:
        return self.child_pid("nats-server")

    def child_pid(self, program: str) -> int:
        """The pid of the child of this process that runs the program."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in children:
            if program in Path(f"/proc/{pid}/cmdline").read_text():
                return int(pid)
        raise AssertionError(f"no {program} is running")

    async def stop(self) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            return await self.process.wait()


class Plain:
    """A client that knows only the subjects and JSON."""

    def __init__(self, nc: Client, tenant: str | None = None) -> None:
        self.nc = nc
        self._suffix = f".{tenant}" if tenant else ""

    async def publish(self, turn: Mapping[str, Any] | bytes, *, msg_id: str | None = None) -> None:
        body = turn if isinstance(turn, bytes) else json.dumps(turn).encode()
        headers = {"content-type": "application/json", **({"Nats-Msg-Id": msg_id} if msg_id else {})}
        await self.nc.jetstream().publish(f"conversation.turn{self._suffix}", body, headers=headers)

    async def ask(self, what: str, body: Mapping[str, Any] | bytes, *, timeout: float = 10) -> dict[str, Any]:
        """The answer, or the error with its header's code under `status`."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        reply = await self.nc.request(f"memory.{what}{self._suffix}", data, timeout=timeout)
        answer: dict[str, Any] = json.loads(reply.data)
        if reply.headers and "Nats-Service-Error-Code" in reply.headers:
            answer["status"] = int(reply.headers["Nats-Service-Error-Code"])
        return answer

    async def recall(self, user: str, query: str, **more: Any) -> list[dict[str, Any]]:
        answer = await self.ask("recall", {"user_id": user, "query": query, **more})
        assert "memories" in answer, answer
        memories: list[dict[str, Any]] = answer["memories"]
        return memories

    async def outcome(self, user: str, turn_id: str, *, timeout: float = 20) -> dict[str, Any]:
        """What became of a turn, once it is known."""
        async with asyncio.timeout(timeout):
            while True:
                answer = await self.ask("turn", {"user_id": user, "turn_id": turn_id})
                if answer.get("outcome") not in (None, "pending"):
                    return answer
                await asyncio.sleep(0.02)

    async def say(self, user: str, turn_id: str, text: str, **more: Any) -> dict[str, Any]:
        """Publishes one utterance and waits for its outcome, visible to recall."""
        await self.publish(turn(user, turn_id, text, **more))
        outcome = await self.outcome(user, turn_id)
        if outcome["outcome"] in ("kept", "empty"):
            answer = await self.ask(
                "recall", {"user_id": user, "query": text or "x", "wait_for_turn": turn_id}
            )
            assert "not_caught_up" not in answer.get("degraded", []), answer
        return outcome

    async def everything(self, user: str, **more: Any) -> list[dict[str, Any]]:
        """Every memory of a user that is not hidden."""
        answer = await self.ask("list", {"user_id": user, **more})
        memories: list[dict[str, Any]] = answer["memories"]
        return memories


def turn(user: Any, turn_id: str, text: Any, **more: Any) -> dict[str, Any]:
    """A turn of one message; `more` overrides any field."""
    return {
        "turn_id": turn_id,
        "user_id": user,
        "session_id": "c-1",
        "occurred_at": "2026-03-04T09:15:00+08:00",
        "time_zone": "Asia/Shanghai",
        "messages": [{"role": "user", "content": text}],
        **more,
    }
