"""What a client can draw out has an end: slow and broken requests, too many of them, and the end of the process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx
import pytest
from nats.aio.msg import Msg

from hindsight_common.messaging.connection import Bus
from hindsight_gateway.bootstrap import GatewayWorker, build
from hindsight_gateway.connections import Limits

POST = b"POST /v1/recall HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n"
# longer than any test waits
NEVER = 300.0


@asynccontextmanager
async def listening(bus: Bus, limits: Limits) -> AsyncIterator[GatewayWorker]:
    worker = build(bus, port=0, limits=limits)
    await worker.start()
    try:
        yield worker
    finally:
        await worker.stop()


@asynccontextmanager
async def connected(
    worker: GatewayWorker,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    at = urlsplit(worker.url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def said(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of all that comes until the server closes."""
    whole = await asyncio.wait_for(reader.read(), 30)
    head, _, body = whole.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(first.split()[1]), headers, body


def is_problem(answer: tuple[int, dict[str, str], bytes], status: int, code: str) -> None:
    found, headers, body = answer
    problem = json.loads(body)
    assert (found, problem["status"], problem["code"]) == (status, status, code)
    assert headers["content-type"] == "application/problem+json"
    assert headers["connection"] == "close"


async def drip(writer: asyncio.StreamWriter, data: bytes) -> None:
    """One byte after the other, so that there is never a pause in which nothing comes."""
    for at in range(len(data)):
        if writer.is_closing():
            return
        writer.write(data[at : at + 1])
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("sent", "limits"),
    [
        (b"POST /v1/recall HTTP/1.1\r\nHo", Limits(head_s=0.2, body_s=NEVER)),
        (POST, Limits(head_s=NEVER, body_s=0.2)),
        (POST + b'{"us', Limits(head_s=NEVER, body_s=0.2)),
        (POST.replace(b"Content-Length: 10", b"Transfer-Encoding: chunked"), Limits(body_s=0.2)),
        # a path that reads no body
        (b"GET /health HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n12", Limits(body_s=0.2)),
    ],
)
async def test_a_request_that_is_not_whole_in_time_is_cut_off(bus: Bus, sent: bytes, limits: Limits) -> None:
    async with listening(bus, limits) as worker, connected(worker) as (reader, writer):
        writer.write(sent)
        answer = await said(reader)
        if b"/health" in sent:  # was answered before the deadline
            assert answer[0] in (200, 408)
        else:
            is_problem(answer, 408, "too_slow")


async def test_bytes_that_trickle_in_do_not_move_the_deadline(bus: Bus) -> None:
    for head, limits in ((b"", Limits(head_s=0.3)), (POST, Limits(body_s=0.3))):
        async with listening(bus, limits) as worker, connected(worker) as (reader, writer):
            writer.write(head)
            dripping = asyncio.create_task(drip(writer, POST * 10 if not head else b" " * 9))
            is_problem(await said(reader), 408, "too_slow")
            dripping.cancel()


async def test_a_second_request_on_a_connection_has_a_deadline_of_its_own(bus: Bus) -> None:
    async with listening(bus, Limits(head_s=0.3)) as worker, connected(worker) as (reader, writer):
        writer.write(b"GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n")
        assert b"404" in await reader.readline()
        writer.write(b"GET /nowh")
        rest = await asyncio.wait_for(reader.read(), 30)
        assert b"HTTP/1.1 408" in rest


async def test_a_connection_on_which_nothing_is_asked_is_closed_without_a_word(bus: Bus) -> None:
    async with listening(bus, Limits(head_s=0.2)) as worker, connected(worker) as (reader, _):
        assert await asyncio.wait_for(reader.read(), 30) == b""


async def test_a_body_that_is_drawn_out_after_its_refusal_ends_with_its_connection(bus: Bus) -> None:
    async with listening(bus, Limits(body_s=0.3)) as worker, connected(worker) as (reader, writer):
        writer.write(POST.replace(b"application/json", b"text/plain") + b"x")
        dripping = asyncio.create_task(drip(writer, b"y" * 8))
        status, _, _ = await said(reader)
        assert status == 415
        dripping.cancel()


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "not_http"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "not_http"),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX-Tenant : a\r\n\r\n", 400, "not_http"),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX-Tenant: a\x00b\r\n\r\n", 400, "not_http"),
        (b"GET /\xe8\x8c\xb6 HTTP/1.1\r\nHost: h\r\n\r\n", 400, "not_http"),
        (POST.replace(b": 10", b": ten"), 400, "not_http"),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 100_000, 431, "headers_too_large"),
    ],
)
async def test_what_is_no_http_is_a_problem_too(bus: Bus, sent: bytes, status: int, code: str) -> None:
    async with listening(bus, Limits()) as worker, connected(worker) as (reader, writer):
        writer.write(sent)
        is_problem(await said(reader), status, code)


async def test_a_body_that_is_announced_as_too_large_is_not_waited_for(bus: Bus) -> None:
    async with listening(bus, Limits()) as worker, connected(worker) as (reader, writer):
        writer.write(POST.replace(b": 10", b": 99999999\r\nConnection: close\r\nExpect: 100-continue"))
        is_problem(await said(reader), 413, "too_large")


async def test_more_requests_than_can_be_in_hand_are_refused_at_once_and_health_is_not(bus: Bus) -> None:
    waiting: asyncio.Queue[Msg] = asyncio.Queue()
    await bus.nc.subscribe("memory.recall", cb=waiting.put)
    await bus.nc.flush()
    async with (
        listening(bus, Limits(requests=2)) as worker,
        httpx.AsyncClient(base_url=worker.url, trust_env=False) as http,
    ):
        asked = [asyncio.create_task(http.post("/v1/recall", json={})) for _ in range(2)]
        taken = [await asyncio.wait_for(waiting.get(), 10) for _ in asked]
        refused = await http.post("/v1/recall", json={})
        assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
        assert refused.headers["retry-after"] == "1"
        assert (await http.get("/health")).status_code == 200
        for message in taken:
            await message.respond(b"{}")
        assert [answer.status_code for answer in await asyncio.gather(*asked)] == [200, 200]
        again = asyncio.create_task(http.post("/v1/recall", json={}))
        await (await asyncio.wait_for(waiting.get(), 10)).respond(b"{}")
        assert (await again).status_code == 200


async def test_more_connections_than_may_be_open_are_told_to_come_back(bus: Bus) -> None:
    async with (
        listening(bus, Limits(connections=1)) as worker,
        connected(worker),
        connected(worker) as (reader, _),
    ):
        is_problem(await said(reader), 503, "overloaded")


async def test_a_client_that_does_not_read_its_answer_loses_it(bus: Bus) -> None:
    async def answer(request: Msg) -> None:
        await request.respond(json.dumps({"memories": ["x" * 900_000]}).encode())

    await bus.nc.subscribe("memory.recall", cb=answer)
    await bus.nc.flush()
    async with (
        listening(bus, Limits(read_s=0.2)) as worker,
        connected(worker) as (reader, writer),
    ):
        # more answers than the buffers of both sides hold
        writer.write((POST.replace(b": 10", b": 2") + b"{}") * 20)
        reader._transport.pause_reading()  # type: ignore[attr-defined] # the stream would read ahead
        await asyncio.wait_for(_gone(writer), 30)


async def _gone(writer: asyncio.StreamWriter) -> None:
    """Returns once the other side has ended the connection."""
    while not writer.is_closing():
        writer.write(b"\n")
        await asyncio.sleep(0.02)


async def test_a_stop_finishes_what_is_in_hand(bus: Bus) -> None:
    waiting: asyncio.Queue[Msg] = asyncio.Queue()
    await bus.nc.subscribe("memory.recall", cb=waiting.put)
    await bus.nc.flush()
    worker = build(bus, port=0)
    await worker.start()
    async with httpx.AsyncClient(base_url=worker.url, trust_env=False) as http:
        asked = asyncio.create_task(http.post("/v1/recall", json={}))
        taken = await asyncio.wait_for(waiting.get(), 10)
        stopping = asyncio.create_task(worker.stop())
        await taken.respond(b'{"memories": []}')
        assert (await asked).json() == {"memories": []}
        await stopping


async def test_a_stop_tells_those_it_has_no_time_for(bus: Bus) -> None:
    waiting: asyncio.Queue[Msg] = asyncio.Queue()
    await bus.nc.subscribe("memory.recall", cb=waiting.put)
    await bus.nc.flush()
    worker = build(bus, port=0, limits=Limits(stop_s=1), timeout_s=NEVER)
    await worker.start()
    async with httpx.AsyncClient(base_url=worker.url, trust_env=False, timeout=30) as http:
        asked = asyncio.create_task(http.post("/v1/recall", json={}))
        await asyncio.wait_for(waiting.get(), 10)
        await worker.stop()
        answer = await asked
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


async def test_a_client_that_leaves_is_no_fault(bus: Bus, caplog: pytest.LogCaptureFixture) -> None:
    async with listening(bus, Limits()) as worker:
        async with connected(worker) as (_, writer):
            writer.write(POST)
            await writer.drain()
        async with httpx.AsyncClient(base_url=worker.url, trust_env=False) as http:
            assert (await http.get("/nowhere")).status_code == 404
    assert not caplog.records
