"""The workers in this process, on a real server, with the embedder and extractor that a test chooses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hindsight_common.adapters.edge_home import EdgeHome
from hindsight_common.adapters.in_memory.embedder import HashingEmbedder
from hindsight_common.adapters.in_memory.working_memory import InMemoryWorkingMemory
from hindsight_common.adapters.redis_working_memory import RedisWorkingMemory
from hindsight_common.adapters.sqlite_graph import SqliteGraph
from hindsight_common.adapters.words import BackgroundWords
from hindsight_common.clock import Clock
from hindsight_common.core import Core
from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.publishing import publish
from hindsight_common.messaging.requester import request, request_progress
from hindsight_common.messaging.settlement import Pace
from hindsight_common.ports.embedding import Embedder
from hindsight_common.ports.extraction import Extractor
from hindsight_common.ports.index_home import IndexHome
from hindsight_common.ports.words import WordAnalyzer
from hindsight_common.ports.working_memory import WorkingMemory
from hindsight_common.settings import Settings
from hindsight_common.worker import Worker
from hindsight_consolidator import bootstrap as consolidator
from hindsight_extractor import bootstrap as extractor
from hindsight_extractor.domain.redaction import redact_bytes
from hindsight_pruner import bootstrap as pruner
from hindsight_recall import bootstrap as recall

SECRET = b"s" * 32
QUICK = Pace(delays_s=(0.05, 0.1, 0.2))


class Workers:
    """Four workers over one bus, or each over its own of `buses`, by their names; questions go over `bus`.

    `folder` holds their stores and survives a restart.
    """

    def __init__(
        self,
        bus: Bus,
        folder: Path,
        *,
        embedder: Embedder | None = None,
        words: WordAnalyzer | None = None,
        rules: Extractor | None = None,
        clock: Clock | None = None,
        pace: Pace = QUICK,
        settings: Settings | None = None,
        secret: bytes = SECRET,
        buses: Mapping[str, Bus] | None = None,
        redis_url: str | None = None,
        home: IndexHome | None = None,
    ) -> None:
        self.fatal: list[StopAndFix] = []
        self.bus = bus
        made: dict[int, Core] = {}

        def core_of(worker: str) -> Core:
            own = buses[worker] if buses else bus
            if id(own) not in made:
                made[id(own)] = Core.over(
                    own,
                    settings or Settings(),
                    secret,
                    clock=clock,
                    redact=redact_bytes,
                    pace=pace,
                    on_fatal=self.fatal.append,
                )
            return made[id(own)]

        self.core = core_of("extractor")
        self.embedder = embedder or HashingEmbedder()
        home = home or EdgeHome(
            folder / "vectors", dimension=self.embedder.dimension, model_id=self.embedder.model_id
        )
        self.graph = SqliteGraph(folder / "graph" / "graph.sqlite")
        self.working: WorkingMemory = (
            RedisWorkingMemory(redis_url, self.core.keyring) if redis_url else InMemoryWorkingMemory()
        )
        self.extractor = extractor.build(self.core, self.working, rules)
        self.recaller = recall.build(
            core_of("recall"),
            home,
            self.embedder,
            words or BackgroundWords(),
            self.graph,
            working=self.working,
        )
        self.consolidator = consolidator.build(core_of("consolidator"), self.graph)
        self.pruner = pruner.build(core_of("pruner"), self.recaller, self.graph, self.working)
        self.cores = tuple(made.values())
        self.all: list[Worker] = [self.recaller, self.consolidator, self.pruner, self.extractor]

    async def __aenter__(self) -> Workers:
        for core in self.cores:
            await core.start()
        for worker in self.all:
            await worker.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker in reversed(self.all):
            await worker.stop()
        await self.graph.close()
        await self.working.close()
        for core in self.cores:
            await core.stop()
        assert not self.fatal, self.fatal

    async def publish(self, turn: Mapping[str, Any] | bytes, subject: str = "conversation.turn") -> None:
        data = turn if isinstance(turn, bytes) else json.dumps(turn).encode()
        await publish(self.bus, subject, data, headers={"content-type": "application/json"})

    async def ask(self, what: str, /, **body: Any) -> dict[str, Any]:
        return await request(self.bus.nc, f"memory.{what}", body, timeout_s=15)

    async def admin(self, what: str, /, **body: Any) -> list[dict[str, Any]]:
        """All messages of the answer, progress and result."""
        return [m async for m in request_progress(self.bus.nc, f"admin.{what}", body, timeout_s=60)]

    async def say(self, user: str, turn_id: str, text: str, **more: Any) -> dict[str, Any]:
        """Writes a turn and waits until recall reflects it."""
        await self.ask("write", **turn(user, turn_id, text, **more))
        answer = await self.ask("recall", user_id=user, query="x", wait_for_turn=turn_id)
        assert "not_caught_up" not in answer["degraded"]
        return await self.ask("turn", user_id=user, turn_id=turn_id)

    async def outcome(self, user: str, turn_id: str) -> str:
        """What became of a published turn; `not_found` while it still waits for intake."""
        try:
            return str((await self.ask("turn", user_id=user, turn_id=turn_id))["outcome"])
        except RequestError as unknown:
            if unknown.code != "not_found":
                raise
            return unknown.code

    async def contents(self, user: str, **more: Any) -> list[str]:
        listed = await self.ask("list", user_id=user, **more)
        return [memory["content"] for memory in listed["memories"]]


async def eventually(reached: Callable[[], Any], *, timeout_s: float = 20) -> Any:
    """What `reached` returns (or its awaitable gives) once it is true; a test fails if that never comes."""
    async with asyncio.timeout(timeout_s):
        while True:
            found = reached()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(0.02)


def turn(user: str, turn_id: str, text: Any, **more: Any) -> dict[str, Any]:
    return {
        "turn_id": turn_id,
        "user_id": user,
        "session_id": "c-1",
        "occurred_at": "2026-03-04T09:15:00+08:00",
        "time_zone": "Asia/Shanghai",
        "messages": [{"role": "user", "content": text}],
        **more,
    }
