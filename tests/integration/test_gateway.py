from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from nats.aio.msg import Msg
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.errors import StopAndFix
from hindsight_common.messaging.connection import Bus
from hindsight_gateway.bootstrap import GatewayWorker, build

Answers = Callable[[str, Any], Awaitable[list[tuple[str, dict[str, Any], dict[str, str]]]]]


@pytest.fixture
async def gateway(bus: Bus) -> AsyncIterator[GatewayWorker]:
    worker = build(bus, port=0)
    await worker.start()
    yield worker
    await worker.stop()


@pytest.fixture
async def http(gateway: GatewayWorker) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=gateway.url, trust_env=False) as client:
        yield client


@pytest.fixture
def answering(bus: Bus) -> Answers:
    """Somebody who answers on a subject; returns the list of what arrives: subject, body, headers."""

    async def answer(subject: str, said: Any) -> list[tuple[str, dict[str, Any], dict[str, str]]]:
        heard: list[tuple[str, dict[str, Any], dict[str, str]]] = []

        async def on_request(request: Msg) -> None:
            heard.append((request.subject, json.loads(request.data), dict(request.headers or {})))
            if isinstance(said, tuple):
                body, headers = said
                await bus.nc.publish(request.reply, json.dumps(body).encode(), headers=headers)
            elif said is not None:
                await request.respond(json.dumps(said).encode())

        await bus.nc.subscribe(subject, cb=on_request)
        await bus.nc.flush()
        return heard

    return answer


TURN = {"user_id": "u-1", "session_id": "s-1", "messages": [{"role": "user", "content": "我对花生过敏"}]}


async def test_a_turn_is_handed_on_as_it_came(http: httpx.AsyncClient, answering: Answers) -> None:
    heard = await answering("memory.write", {"turn_id": "t-1", "accepted": True, "duplicate": False})
    answer = await http.post("/v1/write", json=TURN | {"turn_id": "t-1"}, headers={"Idempotency-Key": "k"})
    assert answer.status_code == 200
    assert answer.json() == {"turn_id": "t-1", "accepted": True, "duplicate": False}
    subject, body, headers = heard[0]
    assert (subject, body) == ("memory.write", TURN | {"turn_id": "t-1"})
    assert headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://localhost:3000", 200),
        ("http://127.0.0.1:8787", 200),
        ("http://[::1]:8787", 200),
        ("http://rebound.example:8787", 403),
        ("https://localhost.example", 403),
        ("null", 403),
        ("http://[", 403),
    ],
)
async def test_a_page_of_another_site_is_refused_whatever_name_it_uses(
    http: httpx.AsyncClient, answering: Answers, origin: str | None, status: int
) -> None:
    heard = await answering("memory.forget", {})
    headers = {} if origin is None else {"Origin": origin}
    answer = await http.post("/v1/forget", json={"user_id": "u-1"}, headers=headers)
    assert answer.status_code == status
    assert len(heard) == (status == 200)


@pytest.mark.parametrize("key", ["k-7", '"k-7"'])
async def test_an_idempotency_key_stands_for_a_missing_turn_id(
    http: httpx.AsyncClient, answering: Answers, key: str
) -> None:
    heard = await answering("memory.write", {})
    await http.post("/v1/write", json=TURN, headers={"Idempotency-Key": key})
    assert heard[0][1]["turn_id"] == "k-7"


async def test_without_any_key_each_turn_gets_an_id_of_its_own(
    http: httpx.AsyncClient, answering: Answers
) -> None:
    heard = await answering("memory.write", {})
    for _ in range(2):
        await http.post("/v1/write", json=TURN)
    assert len({body["turn_id"] for _, body, _ in heard}) == 2


async def test_half_a_surrogate_pair_is_handed_on_for_intake_to_clean(
    http: httpx.AsyncClient, answering: Answers
) -> None:
    heard = await answering("memory.write", {})
    content = b'{"turn_id":"t-1","messages":[{"role":"user","content":"Bo \\ud83d \\u0000"}]}'
    answer = await http.post("/v1/write", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    assert heard[0][1]["messages"][0]["content"] == "Bo \ud83d \0"


async def test_a_tenant_is_asked_on_its_own_subject(http: httpx.AsyncClient, answering: Answers) -> None:
    heard = await answering("memory.recall.acme", {"memories": []})
    query = {"user_id": "u-1", "query": "茶"}
    answer = await http.post("/v1/recall", json=query, headers={"X-Tenant": "acme"})
    assert answer.json() == {"memories": []}
    assert heard[0][1] == query


@pytest.mark.parametrize("tenant", ["", "ACME", "a.b", "*", ">", "a" * 33, "a b"])
async def test_a_name_that_is_no_tenant_s_reaches_nobody(
    http: httpx.AsyncClient, answering: Answers, tenant: str
) -> None:
    heard = await answering("memory.>", {})
    answer = await http.post("/v1/recall", json={}, headers={"X-Tenant": tenant})
    assert (answer.status_code, answer.json()["field"], heard) == (400, "X-Tenant", [])


MEMORY = "5b0f6c5e-2f7a-5d1c-9a53-0d5f0e8b7c11"


@pytest.mark.parametrize(
    ("method", "path", "sent", "subject", "asked"),
    [
        (
            "POST",
            "/v1/inject",
            {"user_id": "u-1", "query": "茶"},
            "inject",
            {"user_id": "u-1", "query": "茶"},
        ),
        ("POST", "/api/memory/inject", {"user_id": "u-1"}, "inject", {"user_id": "u-1"}),
        ("GET", f"/v1/memory/{MEMORY}?user_id=u-1", None, "get", {"user_id": "u-1", "memory_id": MEMORY}),
        (
            "PATCH",
            f"/v1/memory/{MEMORY}",
            {"user_id": "u-1", "object": "核桃", "pinned": True},
            "decide",
            {"user_id": "u-1", "object": "核桃", "pinned": True, "memory_id": MEMORY},
        ),
        (
            "POST",
            f"/v1/memory/{MEMORY}/delete",
            {"user_id": "u-1"},
            "forget",
            {"user_id": "u-1", "memory_ids": [MEMORY], "confirm": True},
        ),
        ("GET", "/v1/turns/t-1?user_id=u-1", None, "turn", {"user_id": "u-1", "turn_id": "t-1"}),
        (
            "GET",
            "/v1/turns/2026%2F03%20%E8%BD%AE?user_id=%E6%9D%8E%2B1",
            None,
            "turn",
            {"user_id": "李+1", "turn_id": "2026/03 轮"},
        ),
        # what is no parameter goes on as well, for the bus to refuse it by name
        ("GET", "/v1/turns/t?userID=u", None, "turn", {"userID": "u", "turn_id": "t"}),
    ],
)
async def test_each_path_asks_on_its_subject(
    http: httpx.AsyncClient,
    answering: Answers,
    method: str,
    path: str,
    sent: dict[str, Any] | None,
    subject: str,
    asked: dict[str, Any],
) -> None:
    heard = await answering(f"memory.{subject}.acme", {"said": "好"})
    headers = {"X-Tenant": "acme"}
    answer = await http.request(method, path, json=sent, headers=headers)
    assert (answer.status_code, answer.json()) == (200, {"said": "好"})
    assert heard[0][1] == asked


@pytest.mark.parametrize(
    ("method", "path", "sent", "headers", "field"),
    [
        ("PATCH", f"/v1/memory/{MEMORY}", {"user_id": "u", "memory_id": MEMORY}, {}, "memory_id"),
        ("PATCH", f"/v1/memory/{MEMORY}", {"user_id": "u"}, {"Idempotency-Key": '" "'}, "Idempotency-Key"),
        ("GET", f"/v1/memory/{MEMORY}?user_id=u&memory_id=x", None, {}, "memory_id"),
        ("GET", "/v1/turns/t-1?user_id=u-1&user_id=u-2", None, {}, "user_id"),
        ("GET", "/v1/turns/t-1?user_id=%zz", None, {}, None),
        ("GET", "/v1/turns/t-1?user_id=%e6%9d", None, {}, None),
        ("GET", "/v1/turns/%e6%9d?user_id=u", None, {}, None),
        ("GET", "/v1/turns/%4?user_id=u", None, {}, None),
        ("GET", "/v1/turns/a%0Ab?user_id=u", None, {}, None),
        ("POST", "/v1/recall%0A", {"user_id": "u", "query": "x"}, {}, None),
        ("POST", f"/v1/memory/{MEMORY}/delete", {"user_id": "u", "everything": True}, {}, "everything"),
        ("POST", f"/v1/memory/{MEMORY}/delete", {"user_id": "u", "confirm": False}, {}, "confirm"),
        ("POST", f"/v1/memory/{MEMORY}/delete", {}, {}, "user_id"),
        ("POST", f"/v1/memory/{MEMORY}/delete", {"user_id": "u "}, {}, "user_id"),
        ("POST", "/v1/forget", {"user_id": "u"}, {"Idempotency-Key": "x" * 257}, "Idempotency-Key"),
    ],
)
async def test_what_is_doubtful_reaches_nobody(
    http: httpx.AsyncClient,
    answering: Answers,
    method: str,
    path: str,
    sent: dict[str, Any] | None,
    headers: dict[str, str],
    field: str | None,
) -> None:
    heard = await answering("memory.>", {})
    url = httpx.URL(str(http.base_url)).copy_with(raw_path=path.encode())
    answer = await http.request(method, url, json=sent, headers=headers)
    assert (answer.status_code, answer.json().get("field"), heard) == (400, field, [])
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("in_body", "in_header", "user", "field"),
    [
        ("u-1", None, "u-1", None),
        (None, "u-1", "u-1", None),
        (None, "李雷", "李雷", None),
        ("u-1", "u-1", "u-1", None),
        ("u-1", "u-2", None, "X-User-Id"),
        ("u-1", "", None, "X-User-Id"),
        (7, "7", None, "X-User-Id"),
        (None, "x" * 257, None, "X-User-Id"),
    ],
)
async def test_the_user_of_an_injection_is_named_once_or_twice_but_never_two_ways(
    http: httpx.AsyncClient,
    answering: Answers,
    in_body: object,
    in_header: str | None,
    user: str | None,
    field: str | None,
) -> None:
    heard = await answering("memory.inject", {})
    headers = [] if in_header is None else [(b"X-User-Id", in_header.encode())]
    body = {"session_id": "s-1", "query": "茶"} | ({} if in_body is None else {"user_id": in_body})
    answer = await http.post("/api/memory/inject", json=body, headers=headers)
    assert answer.json().get("field") == field
    assert answer.status_code == (200 if field is None else 400)
    assert [asked["user_id"] for _, asked, _ in heard] == ([] if user is None else [user])


async def test_headers_that_name_somebody_are_read_as_sent_or_refused(
    http: httpx.AsyncClient, answering: Answers
) -> None:
    heard = await answering("memory.>", {})
    doubtful: list[list[tuple[bytes, bytes]]] = [
        [(b"X-Tenant", b"a"), (b"X-Tenant", b"b")],
        [(b"X-Tenant", b"\xff")],
        [(b"X-User-Id", b"u-1"), (b"X-User-Id", b"u-2")],
        [(b"X-User-Id", b"\xe6\x9d")],
    ]
    for headers in doubtful:
        answer = await http.post("/api/memory/inject", json={"user_id": "u-1"}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_header")
        assert answer.json()["field"] == headers[0][0].decode()
    assert heard == []


async def test_a_memory_that_is_not_there_is_named_as_the_path_names_it(
    http: httpx.AsyncClient, answering: Answers
) -> None:
    error = {"code": "not_found", "message": "this user has no such memory", "field": "memory_ids.0"}
    await answering("memory.forget", ({"error": error}, {"Nats-Service-Error-Code": "404"}))
    answer = await http.post(f"/v1/memory/{MEMORY}/delete", json={"user_id": "u-1"})
    assert (answer.status_code, answer.json()["field"]) == (404, "memory_id")


@pytest.mark.parametrize("status", ["0", "99", "200", "302", "799"])
async def test_a_status_that_is_none_of_an_error_is_a_bad_answer(
    http: httpx.AsyncClient, answering: Answers, status: str
) -> None:
    error = {"error": {"code": "odd", "message": "half of a pair \ud83d"}}
    await answering("memory.recall", (error, {"Nats-Service-Error-Code": status}))
    answer = await http.post("/v1/recall", json={})
    assert (answer.status_code, answer.json()["status"], answer.json()["code"]) == (502, 502, "odd")


async def test_an_answer_with_half_a_surrogate_pair_is_passed_on(
    http: httpx.AsyncClient, answering: Answers
) -> None:
    await answering("memory.recall", {"memories": ["Bo \ud83d"]})
    answer = await http.post("/v1/recall", json={})
    assert answer.json() == {"memories": ["Bo \ud83d"]}


async def test_what_a_worker_refuses_becomes_a_problem_with_code_and_field(
    http: httpx.AsyncClient, answering: Answers
) -> None:
    error = {"error": {"code": "invalid_request", "message": "userID is unknown", "field": "userID"}}
    headers = {"Nats-Service-Error": "userID is unknown", "Nats-Service-Error-Code": "400"}
    await answering("memory.forget", (error, headers))
    answer = await http.post("/v1/forget", json={"userID": "u-1"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "detail": "userID is unknown",
        "code": "invalid_request",
        "field": "userID",
    }


async def test_with_no_worker_there_the_answer_is_503(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/recall", json={"user_id": "u-1", "query": "茶"})
    assert (answer.status_code, answer.json()["code"]) == (503, "no_responders")
    assert answer.headers["retry-after"] == "1"


async def test_a_worker_that_stays_silent_is_504(bus: Bus, answering: Answers) -> None:
    await answering("memory.recall", None)
    worker = build(bus, port=0, timeout_s=0.05)
    await worker.start()
    try:
        async with httpx.AsyncClient(base_url=worker.url, trust_env=False) as http:
            answer = await http.post("/v1/recall", json={})
    finally:
        await worker.stop()
    assert (answer.status_code, answer.json()["code"]) == (504, "timeout")


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"{", {}, 400, "not_json"),
        (b"[]", {}, 400, "invalid_turn"),
        (b'{"a":1,"a":2}', {}, 400, "invalid_turn"),
        (json.dumps(TURN).encode(), {"Idempotency-Key": '" "'}, 400, "invalid_idempotency_key"),
        (json.dumps(TURN).encode(), {"Idempotency-Key": "x" * 257}, 400, "invalid_idempotency_key"),
        (json.dumps(TURN).encode(), {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
        (json.dumps(TURN).encode(), {"Content-Encoding": "gzip"}, 415, "unsupported_media_type"),
        (b" " * (1024 * 1024 + 1), {}, 413, "too_large"),
    ],
)
async def test_a_body_that_cannot_be_a_turn_is_refused(
    http: httpx.AsyncClient, body: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    sent = {"Content-Type": "application/json"} | headers
    answer = await http.post("/v1/write", content=body, headers=sent)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_other_paths_and_methods_are_problems_too(http: httpx.AsyncClient) -> None:
    nowhere, wrong = await http.get("/v2/recall"), await http.get("/v1/recall")
    assert (await http.post("/v1/recall/", json={})).status_code == 404  # not sent on to another address
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert "/openapi.json" in nowhere.json()["detail"]
    assert wrong.json()["detail"] == "GET is not taken here; use POST"
    assert wrong.headers["allow"] == "POST"


async def test_every_answer_ends_its_line(http: httpx.AsyncClient, answering: Answers) -> None:
    await answering("memory.recall", {"memories": []})
    answers = [await http.post("/v1/recall", json={}), await http.get("/health"), await http.get("/nowhere")]
    assert [answer.text[-2:] for answer in answers] == ["}\n"] * 3


async def test_health_says_what_is_missing_and_ok_when_nothing_is(bus: Bus) -> None:
    async def pong(request: Msg) -> None:
        for name in names[: 2 + 2 * len(answers)]:
            said = {"name": name, "id": name, "version": "0.1.0"}
            await bus.nc.publish(request.reply, json.dumps(said).encode())

    names = ("extractor", "recall", "consolidator", "pruner")
    answers: list[httpx.Response] = []
    await bus.nc.subscribe("$SRV.PING", cb=pong)
    for _ in range(2):
        worker = build(bus, port=0)
        await worker.start()
        async with httpx.AsyncClient(base_url=worker.url, trust_env=False) as http:
            answers.append(await http.get("/health"))
        await worker.stop()
    assert answers[0].json() == {"status": "degraded", "missing": ["consolidator", "pruner"]}
    assert (answers[1].status_code, answers[1].json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("state", ["paused", "away"])
async def test_health_says_that_turns_are_not_read_as_configured(
    bus: Bus, http: httpx.AsyncClient, answering: Answers, state: str
) -> None:
    async def pong(request: Msg) -> None:
        for name in ("extractor", "recall", "consolidator", "pruner"):
            said = {"name": name, "id": name, "version": "0.1.0"}
            await bus.nc.publish(request.reply, json.dumps(said).encode())

    await bus.nc.subscribe("$SRV.PING", cb=pong)
    told = {"model": "m", "state": state, "cause": "unauthorized", "since": "2026-03-04T01:15:00Z"}
    await answering("admin.extraction", told)
    answer = await http.get("/health")
    assert (answer.status_code, answer.json()) == (
        200,
        {"status": "degraded", "missing": [], "extraction": told},
    )


async def test_many_who_ask_for_health_at_once_cost_one_look(bus: Bus, http: httpx.AsyncClient) -> None:
    looks = 0

    async def pong(request: Msg) -> None:
        nonlocal looks
        looks += 1

    await bus.nc.subscribe("$SRV.PING", cb=pong)
    answers = await asyncio.gather(*(http.get("/health") for _ in range(20)))
    assert looks == 1
    assert len({answer.text for answer in answers}) == 1


async def test_a_span_names_the_route_and_nobody(
    http: httpx.AsyncClient, answering: Answers, spans: InMemorySpanExporter
) -> None:
    await answering("memory.turn", {})
    await http.get("/v1/turns/t-secret", params={"user_id": "u-secret"})
    served = [span for span in spans.get_finished_spans() if span.kind is SpanKind.SERVER]
    assert [span.name for span in served] == ["GET /v1/turns/{turn_id}"]
    assert not any("secret" in span.to_json() for span in spans.get_finished_spans())


async def test_health_is_503_while_the_bus_is_away(
    bus: Bus, http: httpx.AsyncClient, nats_server: NatsServer
) -> None:
    await nats_server.stop()
    while bus.is_connected:
        await bus.nc.flush(1)
    answer = await http.get("/health")
    assert (answer.status_code, answer.json()) == (503, {"status": "degraded", "missing": ["bus"]})


async def test_a_port_in_use_is_named_with_the_option_to_change(bus: Bus) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        worker = build(bus, port=taken.getsockname()[1])
        with pytest.raises(StopAndFix, match=r"in use.*--http-port"):
            await worker.start()


async def test_a_trace_goes_on_through_the_gateway(http: httpx.AsyncClient, answering: Answers) -> None:
    heard = await answering("memory.recall", {})
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    headers = {"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01"}
    await http.post("/v1/recall", json={}, headers=headers)
    assert trace_id in heard[0][2]["traceparent"]


async def test_a_stopped_gateway_answers_no_more(bus: Bus) -> None:
    worker = build(bus, port=0)
    await worker.start()
    await worker.stop()
    async with httpx.AsyncClient(base_url=worker.url, trust_env=False) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get("/health")
