"""The server form as an operator runs it: five workers and four servers, each a process of its own.

Workers and servers are named, and each can be started, stopped, killed and started again by its name. Ports are free
ones and stay; logs are kept in the folder and shown where something does not come up. It ends its own processes only.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import nats
import nats.errors
from nats.aio.client import Client
from qdrant_stand_in.running import QdrantStandIn

from hindsight_common.messaging.credentials import inbox_prefix
from scripts.neo4j_server import Neo4jServer
from server_form.servers import NatsProcess, RedisProcess, Server, free_port

WORKERS = ("extractor", "recall", "consolidator", "pruner", "gateway")
SERVERS = ("nats", "redis", "qdrant", "neo4j")
READY_S = 90.0
PROGRAM = str(Path(sys.executable).with_name("hindsight-cli"))
STOPPED_S = 30.0


class Worker:
    """One worker's process. `start` does not wait for it to be at work; `ServerForm.until_ready` does."""

    def __init__(self, name: str, folder: Path, environment: Callable[[], Mapping[str, str]]) -> None:
        self.name = name
        self._folder = folder
        self._environment = environment
        self.health_port = free_port()
        self.process: asyncio.subprocess.Process | None = None
        self.starts = 0

    @property
    def log_file(self) -> Path:
        return self._folder / f"{self.name}.log"

    def log(self) -> str:
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def resident_mb(self) -> float:
        """Of its memory, what lies in the machine's now."""
        assert self.process is not None, f"{self.name} was never started"
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    async def start(self) -> None:
        assert self.process is None or self.process.returncode is not None, f"{self.name} runs already"
        self.starts += 1
        with self.log_file.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", f"hindsight_{self.name}", "--health-port", str(self.health_port)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env={**_clean_environment(), **self._environment()},
            )

    async def stop(self) -> int:
        """SIGTERM; the exit status."""
        assert self.process is not None, f"{self.name} was never started"
        with suppress(ProcessLookupError):
            self.process.terminate()
        return await self.ended()

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    async def ended(self) -> int:
        """The exit status, once it has ended."""
        assert self.process is not None, f"{self.name} was never started"
        async with asyncio.timeout(STOPPED_S):
            return await self.process.wait()


class ServerForm:
    """Use it as a context: what still runs at its end is ended. `folder` holds all data and logs.

    `settings` are environment variables for every worker that is started, over those of the deployment; `settings_of`
    are those of one kind of worker, over these.
    """

    def __init__(self, folder: Path, *, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.settings = dict(settings or {})
        self.settings_of: dict[str, dict[str, str]] = {}
        self._neo4j_password = secrets.token_hex(8)
        self._qdrant_key = secrets.token_hex(8)
        self.master_key = secrets.token_hex(32)
        self.http_port = free_port()
        self.nats = NatsProcess(folder / "nats")
        self.servers: dict[str, Server] = {
            "nats": self.nats,
            "redis": RedisProcess(folder / "redis"),
            "qdrant": QdrantStandIn(folder / "qdrant", free_port(), api_key=self._qdrant_key),
            "neo4j": Neo4jServer(folder / "neo4j", free_port(), password=self._neo4j_password),
        }
        self.workers = {name: self.another(name) for name in WORKERS}
        self._also: list[Worker] = []

    def another(self, name: str, *, called: str | None = None) -> Worker:
        """A worker's process that is not started yet; with `called` a second one of the same kind."""
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = self.folder / called if called else self.folder
        folder.mkdir(exist_ok=True)
        worker = Worker(name, folder, lambda: self.environment(name))
        if called:
            self._also.append(worker)
        return worker

    def environment(self, name: str) -> dict[str, str]:
        """The variables of a worker, as a compose file would give them: a secret only to who needs it."""
        given = {
            "MEMORY_STORE": "server",
            "OMP_NUM_THREADS": "1",
            "HINDSIGHT_NATS_URL": self.nats.url,
            "HINDSIGHT_NATS_USER": name,
            "HINDSIGHT_NATS_PASSWORD": self.nats.passwords[name],
            "HINDSIGHT_REDIS_URL": self.servers["redis"].url,
            "HINDSIGHT_QDRANT_URL": self.servers["qdrant"].url,
            "HINDSIGHT_NEO4J_URL": self.servers["neo4j"].url,
        }
        own = {**self.settings, **self.settings_of.get(name, {})}
        if name == "gateway":
            return {**given, "API_PORT": str(self.http_port), **own}
        given["HINDSIGHT_MASTER_KEY"] = self.master_key
        if name in {"recall", "pruner"}:
            given["HINDSIGHT_QDRANT_API_KEY"] = self._qdrant_key
        if name in {"recall", "pruner", "consolidator"}:
            given["HINDSIGHT_NEO4J_PASSWORD"] = self._neo4j_password
        return {**given, **own}

    async def __aenter__(self) -> ServerForm:
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker in (*self.workers.values(), *self._also):
            await worker.kill()
        for server in self.servers.values():
            await asyncio.to_thread(server.kill)

    async def start(self) -> None:
        """Servers, streams, workers; returns once every worker is at work."""
        await self.start_servers()
        await self.provision()
        await self.start_workers()

    async def start_servers(self, *names: str) -> None:
        await asyncio.gather(*(asyncio.to_thread(self.servers[name].start) for name in names or SERVERS))

    async def stop_server(self, name: str) -> None:
        await asyncio.to_thread(self.servers[name].stop)

    async def kill_server(self, name: str) -> None:
        await asyncio.to_thread(self.servers[name].kill)

    async def provision(self) -> None:
        """What the operator does once: streams, consumers, schedules."""
        status, said = await self.cli("provision")
        assert status == 0, said

    async def cli(self, *arguments: str) -> tuple[int, str]:
        """Exit status of a command as the operator runs it, and all that it printed."""
        own = {
            "HINDSIGHT_NATS_URL": self.nats.url,
            "HINDSIGHT_NATS_USER": "operator",
            "HINDSIGHT_NATS_PASSWORD": self.nats.passwords["operator"],
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "160",
        }
        process = await asyncio.create_subprocess_exec(
            *(PROGRAM, *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=self.folder,
            env={**_clean_environment(), **own},
        )
        out, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode()

    async def start_workers(self, *names: str) -> None:
        """Returns once they are at work."""
        chosen = [self.workers[name] for name in names or WORKERS]
        for worker in chosen:
            await worker.start()
        await self.until_ready(chosen)

    async def stop_worker(self, name: str) -> int:
        """SIGTERM; the exit status."""
        return await self.workers[name].stop()

    async def kill_worker(self, name: str) -> None:
        await self.workers[name].kill()

    async def health(self, worker: Worker, path: str = "/ready") -> tuple[int, dict[str, Any]]:
        """Status and body; status 0 while nobody listens."""
        async with httpx.AsyncClient(timeout=10) as asking:
            try:
                answer = await asking.get(f"http://127.0.0.1:{worker.health_port}{path}")
            except httpx.TransportError:
                return 0, {}
        return answer.status_code, answer.json()

    async def until_ready(
        self, workers: Iterable[Worker] | None = None, *, within_s: float = READY_S
    ) -> None:
        """Returns once each is ready; the log of the one that is not tells why."""
        for worker in workers or self.workers.values():
            said: dict[str, Any] = {}
            try:
                async with asyncio.timeout(within_s):
                    while True:
                        status, said = await self.health(worker)
                        if status == 200:
                            break
                        assert worker.process is not None, f"{worker.name} was never started"
                        assert worker.process.returncode is None, f"{worker.name} ended:\n{worker.log()}"
                        await asyncio.sleep(0.05)
            except TimeoutError:
                raise AssertionError(f"{worker.name} is not ready: {said}\n{worker.log()}") from None

    async def until_missing(self, name: str, what: str, *, within_s: float = 60) -> None:
        """Returns once the worker says that it misses `what`."""
        worker, said = self.workers[name], dict[str, Any]()
        try:
            async with asyncio.timeout(within_s):
                while what not in (said := (await self.health(worker))[1]).get("missing", ()):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"{name} does not miss {what}: {said}\n{worker.log()}") from None

    async def until_logged(self, worker: Worker, text: str, *, within_s: float = 60) -> None:
        """Returns once the worker's log holds the text; the log is the message if that never comes."""
        try:
            async with asyncio.timeout(within_s):
                while text not in worker.log():
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"{worker.name} never said {text!r}:\n{worker.log()}") from None

    @asynccontextmanager
    async def client(self, tenant: str = "default") -> AsyncIterator[Client]:
        """A plain connection as a tenant's application has it."""
        user = f"tenant-{tenant}"
        nc = await nats.connect(
            self.nats.url_of(user),
            inbox_prefix=inbox_prefix(user).encode(),
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.1,
            error_cb=_quiet,
        )
        try:
            yield nc
        finally:
            with suppress(nats.errors.Error, OSError):
                await nc.close()

    def logs(self, most: int = 6000) -> str:
        """Of all workers, each its last `most` characters, for the message of a failure."""
        return "\n".join(f"--- {name}\n{worker.log()[-most:]}" for name, worker in self.workers.items())


async def ask(nc: Client, what: str, /, *, timeout_s: float = 15, **body: Any) -> dict[str, Any]:
    """A request in JSON, as any language would make it; an error is an answer with `error`."""
    answer = await nc.request(f"memory.{what}", json.dumps(body).encode(), timeout=timeout_s)
    found: dict[str, Any] = json.loads(answer.data)
    return found


async def _quiet(_: Exception) -> None:
    """What goes wrong on the way is what a test brought about."""


def _clean_environment() -> dict[str, str]:
    """Without what the machine that runs the tests has configured for a Hindsight of its own."""
    named = ("HINDSIGHT_", "MEMORY_", "API_PORT", "OTEL_")
    return {name: value for name, value in os.environ.items() if not name.startswith(named)}
