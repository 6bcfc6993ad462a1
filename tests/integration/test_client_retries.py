"""A turn that had to be sent more than once, against real workers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from workers import Workers, eventually

from hindsight_client import ClientClosed, HindsightClient, RequestError
from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.messaging.connection import Bus

TURN = {"user_id": "u-1", "session_id": "s-1", "messages": [{"role": "user", "content": "我对花生过敏"}]}


@pytest.fixture
async def workers(bus: Bus, tmp_path: Path) -> AsyncIterator[Workers]:
    async with Workers(bus, tmp_path / "stores") as running:
        yield running


async def accepted(bus: Bus) -> int:
    """How many turns intake has accepted."""
    return (await bus.js.stream_info("TURNS")).state.last_seq


class LossyLink:
    """Between a client and the server: while `loses` is true, what the server says never arrives."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.loses = False
        self.swallowed = 0

    async def __aenter__(self) -> LossyLink:
        self._server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        self._tasks: set[asyncio.Task[None]] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, answers: bool) -> None:
            try:
                while data := await source.read(65536):
                    if answers and self.loses and b"MSG " in data:
                        self.swallowed += 1
                    else:
                        sink.write(data)
                        await sink.drain()
            finally:
                sink.close()

        for ends, answers in (((reader, far_writer), False), ((far_reader, writer), True)):
            task = asyncio.create_task(pump(*ends, answers=answers))
            self._tasks.add(task)


@pytest.mark.parametrize("way", ["write", "publish_turn"])
async def test_a_turn_whose_answer_was_lost_is_sent_again_and_stored_once(
    bus: Bus, nats_server: NatsServer, workers: Workers, way: str
) -> None:
    port = int(nats_server.url.rpartition(":")[2])
    async with (
        LossyLink(port) as link,
        await HindsightClient.connect(link.url, timeout_s=0.5, retries=10) as client,
    ):
        send: Callable[[Any], Coroutine[Any, Any, Any]] = getattr(client, way)
        link.loses = True
        sending = asyncio.create_task(send(TURN))
        await eventually(lambda: link.swallowed >= 1)
        link.loses = False
        answer = await sending
    await eventually(lambda: settled(workers, answer.turn_id))
    assert await accepted(bus) == 1
    assert len(await workers.contents("u-1")) == 1


@pytest.mark.parametrize("way", ["write", "publish_turn"])
async def test_a_turn_sent_while_the_server_is_away_is_stored_once_when_it_is_back(
    bus: Bus, nats_server: NatsServer, workers: Workers, way: str
) -> None:
    async with await HindsightClient.connect(nats_server.url, timeout_s=0.5, retries=10) as client:
        await nats_server.stop()
        sending = asyncio.create_task(getattr(client, way)(TURN))
        await eventually(lambda: not client.nc.is_connected)
        await nats_server.start()
        answer = await sending
    await eventually(lambda: settled(workers, answer.turn_id))
    assert await accepted(bus) == 1


async def settled(workers: Workers, turn_id: str) -> bool:
    return await workers.outcome("u-1", turn_id) in ("kept", "empty")


async def test_a_session_that_is_over_is_said_on_the_bus_and_again_without_harm(
    bus: Bus, nats_server: NatsServer
) -> None:
    async with await HindsightClient.connect(nats_server.url, "acme") as client:
        await client.close_session("u-1", "s-1")
        await client.close_session("u-1", "s-1")
        with pytest.raises(RequestError) as refused:
            await client.close_session("u-1", "")
    assert refused.value.field == "session_id"
    stored = await bus.js.get_msg("INTAKE", 2)
    assert stored.subject == "conversation.closed.acme"
    assert json.loads(stored.data or b"") == {"user_id": "u-1", "session_id": "s-1"}


async def test_the_status_of_a_deployment_is_typed(nats_server: NatsServer, workers: Workers) -> None:
    async with await HindsightClient.connect(nats_server.url) as client:
        await client.write(TURN | {"turn_id": "t-1"})
        await client.recall("u-1", "花生", wait_for_turn="t-1")
        status = await client.status()
        extraction = await client.extraction()
    assert (status.vectors.memories, status.vectors.rebuilding) == (1, False)
    assert set(status.waiting) >= {"vectors", "graph"}
    assert (extraction.state, extraction.model) == ("ok", None)


async def test_a_closed_client_says_so_at_once(bus: Bus, nats_server: NatsServer) -> None:
    client = await HindsightClient.connect(nats_server.url)
    await client.close()
    with pytest.raises(ClientClosed):
        await client.recall("u-1", "茶")
    with pytest.raises(ClientClosed):
        await anext(client.rebuild("vectors"))
