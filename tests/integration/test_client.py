from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from hindsight_client import HindsightClient, RequestError, StopAndFix
from hindsight_client.options import TimeRange
from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.events import subjects
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.service import Request, Result, Service

MEMORY = {
    "id": "0f8fad5b-d9cb-469f-a165-70867728950e",
    "type": "fact",
    "content": "用户对花生过敏",
    "importance": 0.9,
    "confidence": 0.9,
    "status": "active",
    "role_scope": ["shared"],
    "occurred_at": "2026-03-04T09:15:00+08:00",
    "recorded_at": "2026-03-04T09:15:01+08:00",
}
TURN = {"user_id": "u-1", "session_id": "s-1", "messages": [{"role": "user", "content": "我对花生过敏"}]}
Handler = Callable[[Request], Any]


@pytest.fixture
async def client(bus: Bus, nats_server: NatsServer) -> AsyncIterator[HindsightClient]:
    async with await HindsightClient.connect(nats_server.url, timeout_s=2) as connected:
        yield connected


@pytest.fixture
async def answering(bus: Bus) -> AsyncIterator[Callable[[str, Handler], Any]]:
    """A service with one endpoint, stopped at the end."""
    services: list[Service] = []

    async def start(subject: str, handler: Handler) -> None:
        service = Service(bus, f"test-{len(services)}", "0.1.0", "answers in a test")
        service.endpoint("one", subject, handler)
        await service.start()
        services.append(service)

    yield start
    for service in services:
        await service.stop()


async def test_a_question_carries_only_what_was_said_and_the_answer_is_typed(
    client: HindsightClient, answering: Callable[[str, Handler], Any]
) -> None:
    heard: list[dict[str, Any]] = []

    async def recall(request: Request) -> Mapping[str, Any]:
        heard.append(json.loads(request.data))
        parts = {"similarity": 0.3, "importance": 0.3, "recency": 0.2}
        found = MEMORY | {"score": 0.8, "score_parts": parts, "channels": {"words": 1}, "colour": "new"}
        return {"memories": [found], "covers_up_to": 7}

    await answering(subjects.MEMORY_RECALL, recall)
    since: TimeRange = {"from": datetime(2026, 1, 1, tzinfo=UTC)}
    answer = await client.recall("u-1", "点菜要注意什么？", top_k=5, time_range=since)
    assert heard == [
        {
            "user_id": "u-1",
            "query": "点菜要注意什么？",
            "top_k": 5,
            "time_range": {"from": "2026-01-01T00:00:00+00:00"},
        }
    ]
    assert answer.memories[0].content == "用户对花生过敏"
    assert answer.covers_up_to == 7


async def test_a_mistake_is_told_by_field_before_anything_is_sent(client: HindsightClient) -> None:
    with pytest.raises(RequestError, match="did you mean top_k") as caught:
        await client.recall("u-1", "茶", topk=3)  # type: ignore[call-arg]  # the misspelling is the fault
    assert caught.value.field == "topk"
    with pytest.raises(RequestError) as wrong:
        await client.write(TURN | {"occurred_at": datetime(2026, 1, 1)})  # noqa: DTZ001 - naive is the fault
    assert wrong.value.field == "occurred_at"
    with pytest.raises(RequestError, match="exactly one"):
        await client.forget("u-1", confirm=True)


async def test_what_the_service_refuses_is_raised_with_code_status_and_field(
    client: HindsightClient, answering: Callable[[str, Handler], Any]
) -> None:
    async def refuse(request: Request) -> Mapping[str, Any]:
        raise RequestError("not_found", "no such turn", status=404, field="turn_id")

    await answering(subjects.MEMORY_TURN, refuse)
    with pytest.raises(RequestError) as caught:
        await client.turn("u-1", "t-1")
    found = caught.value
    assert (found.code, found.status, found.field) == ("not_found", 404, "turn_id")


async def test_a_write_that_ran_out_of_time_is_repeated_under_the_same_turn_id(
    bus: Bus, nats_server: NatsServer, answering: Callable[[str, Handler], Any]
) -> None:
    seen: list[str] = []

    async def write(request: Request) -> Mapping[str, Any]:
        turn_id = json.loads(request.data)["turn_id"]
        seen.append(turn_id)
        if len(seen) == 1:
            await asyncio.sleep(1)
        return {"turn_id": turn_id, "accepted": True, "duplicate": len(seen) > 1}

    await answering(subjects.MEMORY_WRITE, write)
    async with await HindsightClient.connect(nats_server.url, timeout_s=0.2) as client:
        answer = await client.write(TURN)
    assert len(seen) >= 2
    assert len(set(seen)) == 1
    assert (answer.turn_id, answer.duplicate) == (seen[0], True)


async def test_a_published_turn_is_in_the_stream_as_it_was_sent(bus: Bus, client: HindsightClient) -> None:
    turn = TURN | {"turn_id": "t-1"}
    first = await client.publish_turn(turn)
    stored = await bus.js.get_msg("INTAKE", first.sequence)
    assert json.loads(stored.data or b"") == turn
    assert (stored.subject, (stored.headers or {})["content-type"]) == (
        "conversation.turn",
        "application/json",
    )


async def test_a_tenant_s_client_speaks_on_its_own_subjects(
    bus: Bus, nats_server: NatsServer, answering: Callable[[str, Handler], Any]
) -> None:
    tenants: list[str] = []

    async def write(request: Request) -> Mapping[str, Any]:
        tenants.append(request.tenant)
        return {"turn_id": "t-1", "accepted": True}

    await answering(subjects.MEMORY_WRITE, write)
    async with await HindsightClient.connect(nats_server.url, "acme") as client:
        await client.write(TURN)
        published = await client.publish_turn(TURN)
    assert tenants == ["acme"]
    assert (await bus.js.get_msg("INTAKE", published.sequence)).subject == "conversation.turn.acme"
    with pytest.raises(StopAndFix, match="tenant"):
        await HindsightClient.connect(nats_server.url, "A.b")


async def test_all_pages_of_a_list_are_read(
    client: HindsightClient, answering: Callable[[str, Handler], Any]
) -> None:
    async def page(request: Request) -> Mapping[str, Any]:
        cursor = json.loads(request.data).get("cursor")
        return {"memories": [MEMORY], "cursor": {None: "a", "a": "b", "b": None}[cursor]}

    await answering(subjects.MEMORY_LIST, page)
    assert len([memory async for memory in client.list_all("u-1", limit=1)]) == 3


async def test_a_job_reports_its_steps_and_ends_with_the_result(
    client: HindsightClient, answering: Callable[[str, Handler], Any]
) -> None:
    async def rebuild(request: Request) -> AsyncIterator[Any]:
        yield {"events": 10}
        yield {"events": 20}
        yield Result({"position": 20})

    await answering(subjects.ADMIN_REBUILD_VECTORS, rebuild)
    steps = [step async for step in client.rebuild("vectors")]
    assert [step.progress for step in steps[:-1]] == [{"events": 10}, {"events": 20}]
    assert (steps[-1].done, steps[-1].result) == (True, {"position": 20})


async def test_with_nobody_there_the_answer_is_503_after_the_retries(client: HindsightClient) -> None:
    with pytest.raises(RequestError) as caught:
        await client.recall("u-1", "茶")
    assert caught.value.status == 503


async def test_an_address_where_nobody_listens_is_named_without_its_password() -> None:
    with pytest.raises(StopAndFix, match=r"at 127\.0\.0\.1:1 within") as caught:
        await HindsightClient.connect("nats://me:secret@127.0.0.1:1", timeout_s=0.2)
    assert "secret" not in str(caught.value)


async def test_the_client_comes_back_after_the_server_did(
    bus: Bus, client: HindsightClient, nats_server: NatsServer, answering: Callable[[str, Handler], Any]
) -> None:
    async def write(request: Request) -> Mapping[str, Any]:
        return {"turn_id": "t-1", "accepted": True}

    await answering(subjects.MEMORY_WRITE, write)
    await nats_server.stop()
    await nats_server.start()
    assert (await client.write(TURN)).accepted
