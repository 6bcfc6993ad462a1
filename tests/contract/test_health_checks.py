"""The health checks of compose.yaml, run as they stand there against real servers; only their ports differ."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import yaml

from hindsight_common.adapters.embedded.nats_server import HOST, NatsServer
from scripts.image_requirements import ROOT

SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]


def _check(service: str, inside: int, port: int) -> list[str]:
    """The command, with the port of the test; Compose makes one `$` of two."""
    kind, *command = SERVICES[service]["healthcheck"]["test"]
    assert kind == "CMD"
    assert any(str(inside) in word for word in command)
    return [word.replace("$$", "$").replace(str(inside), str(port)) for word in command]


async def _passes(command: list[str]) -> bool:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(10):
        return await process.wait() == 0


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


@asynccontextmanager
async def _saying(answer: bytes, *, after: bytes) -> AsyncIterator[int]:
    """A server that gives everybody the same answer, once the question has ended with `after`."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(after)
        writer.write(answer)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, HOST, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_neo4j_is_healthy_when_it_speaks_bolt(neo4j_url: str) -> None:
    assert await _passes(_check("neo4j", 7687, urlsplit(neo4j_url).port or 0))


async def test_neo4j_is_not_healthy_when_nobody_or_something_else_is_there() -> None:
    assert not await _passes(_check("neo4j", 7687, _free_port()))
    # no version in common
    async with _saying(bytes(4), after=bytes(8)) as port:
        assert not await _passes(_check("neo4j", 7687, port))


@pytest.mark.parametrize(
    ("line", "healthy"), [(b"HTTP/1.1 200 OK", True), (b"HTTP/1.1 503 Service Unavailable", False)]
)
async def test_qdrant_is_healthy_when_it_says_that_it_is_ready(line: bytes, *, healthy: bool) -> None:
    async with _saying(line + b"\r\ncontent-length: 0\r\n\r\n", after=b"\r\n\r\n") as port:
        assert await _passes(_check("qdrant", 6333, port)) is healthy


async def test_qdrant_is_not_healthy_when_nobody_is_there() -> None:
    assert not await _passes(_check("qdrant", 6333, _free_port()))


async def test_nats_is_healthy_once_its_jetstream_is(tmp_path: Path) -> None:
    port = _free_port()
    url = _check("nats", 8222, port)[-1]
    server = NatsServer(tmp_path / "nats", users=f'http: "{HOST}:{port}"\n')
    await server.start()
    async with httpx.AsyncClient() as web:
        assert (await web.get(url)).json() == {"status": "ok"}
    await server.stop()
