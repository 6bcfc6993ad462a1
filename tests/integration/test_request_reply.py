from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.errors import RequestError, RetryLater, StopAndFix
from hindsight_common.messaging.connection import Bus, connect
from hindsight_common.messaging.requester import request, request_progress
from hindsight_common.messaging.service import Request, Result, Service
from hindsight_common.observability import tracer

Points = Callable[[str], list[tuple[dict[str, object], float]]]


class Echo(BaseModel):
    tenant: str
    said: Any
    note: str | None = None


async def _echo(asked: Request) -> Echo:
    return Echo(tenant=asked.tenant, said=json.loads(asked.data))


@pytest.fixture
async def service(bare_bus: Bus) -> AsyncIterator[Service]:
    service = Service(bare_bus, "hindsight-recall", "0.1.0", "Answers what is remembered")
    yield service
    await service.stop()


async def test_a_model_or_a_mapping_is_answered_as_json_chinese_included(
    bare_bus: Bus, service: Service
) -> None:
    async def mapping(asked: Request) -> Mapping[str, Any]:
        return {"length": len(asked.data)}

    service.endpoint("recall", "memory.recall", _echo)
    service.endpoint("list", "memory.list", mapping)
    await service.start()
    answer = await request(bare_bus.nc, "memory.recall", {"query": "花生"})
    assert answer == {"tenant": "default", "said": {"query": "花生"}, "note": None}
    assert await request(bare_bus.nc, "memory.list", {}) == {"length": 2}
    raw = await bare_bus.nc.request("memory.recall", '"花生"'.encode())
    assert "花生".encode() in raw.data


async def test_the_tenant_is_the_token_behind_the_subject(bare_bus: Bus, service: Service) -> None:
    service.endpoint("recall", "memory.recall", _echo)
    await service.start()
    for subject, tenant in (("memory.recall", "default"), ("memory.recall.acme-1", "acme-1")):
        assert (await request(bare_bus.nc, subject, {}))["tenant"] == tenant


@pytest.mark.parametrize("token", ["ACME", "a_b", "x" * 33, "租户"])
async def test_a_malformed_tenant_is_refused_before_the_handler_runs(
    bare_bus: Bus, service: Service, token: str
) -> None:
    async def never(asked: Request) -> Mapping[str, Any]:
        raise AssertionError("the handler ran")

    service.endpoint("recall", "memory.recall", never)
    await service.start()
    with pytest.raises(RequestError) as refused:
        await request(bare_bus.nc, f"memory.recall.{token}", {})
    assert (refused.value.code, refused.value.status) == ("invalid_tenant", 400)


async def test_a_refusal_arrives_with_code_field_and_both_headers(bare_bus: Bus, service: Service) -> None:
    async def refuse(asked: Request) -> Mapping[str, Any]:
        raise RequestError("bad_time", "时间无效:\r\n“昨天”", status=422, field="messages.0.at")

    service.endpoint("recall", "memory.recall", refuse)
    await service.start()
    with pytest.raises(RequestError) as refused:
        await request(bare_bus.nc, "memory.recall", {})
    error = refused.value
    assert (error.code, error.status, error.field) == ("bad_time", 422, "messages.0.at")
    assert error.message == "时间无效:\r\n“昨天”"
    raw = await bare_bus.nc.request("memory.recall", b"{}")
    assert raw.headers is not None
    assert raw.headers["Nats-Service-Error-Code"] == "422"
    assert raw.headers["Nats-Service-Error"].startswith("时间无效:")
    assert json.loads(raw.data)["error"]["code"] == "bad_time"


async def test_an_unexpected_error_is_an_answer_without_its_details(
    bare_bus: Bus, service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail(asked: Request) -> Mapping[str, Any]:
        raise KeyError("李雷's secret")

    async def away(asked: Request) -> Mapping[str, Any]:
        raise RetryLater("LOG does not answer")

    async def misconfigured(asked: Request) -> Mapping[str, Any]:
        raise StopAndFix("a key is missing, says the secret")

    async def unserialisable(asked: Request) -> Mapping[str, Any]:
        return {"answer": object()}

    service.endpoint("fail", "memory.recall", fail)
    service.endpoint("away", "memory.list", away)
    service.endpoint("misconfigured", "memory.forget", misconfigured)
    service.endpoint("unserialisable", "memory.turn", unserialisable)
    await service.start()
    for subject, status, code in (
        ("memory.recall", 500, "internal"),
        ("memory.list", 503, "unavailable"),
        ("memory.turn", 500, "internal"),
        ("memory.forget", 500, "internal"),
    ):
        with pytest.raises(RequestError) as refused:
            await request(bare_bus.nc, subject, {})
        assert (refused.value.status, refused.value.code) == (status, code)
        assert "secret" not in refused.value.message
    logged = capsys.readouterr()
    assert "KeyError" in logged.out
    assert "StopAndFix" in logged.out
    assert "secret" not in logged.out + logged.err


async def test_an_answer_too_large_for_the_bus_is_an_error_not_a_silence(
    bare_bus: Bus, service: Service
) -> None:
    async def huge(asked: Request) -> Mapping[str, Any]:
        return {"text": "x" * (5 * 1024 * 1024)}

    service.endpoint("huge", "memory.list", huge)
    await service.start()
    with pytest.raises(RequestError) as refused:
        await request(bare_bus.nc, "memory.list", {})
    assert refused.value.code == "answer_too_large"
    with pytest.raises(RequestError) as refused:
        await request(bare_bus.nc, "memory.list", {"text": "x" * (5 * 1024 * 1024)})
    assert (refused.value.code, refused.value.status) == ("too_large", 413)


async def test_nobody_listening_and_nobody_answering_are_told_apart(bare_bus: Bus, service: Service) -> None:
    async def hang(asked: Request) -> Mapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    service.endpoint("hang", "memory.turn", hang)
    await service.start()
    with pytest.raises(RequestError) as nobody:
        await request(bare_bus.nc, "memory.recall", {})
    with pytest.raises(RequestError) as late:
        await request(bare_bus.nc, "memory.turn", {}, timeout_s=0.1)
    assert (nobody.value.status, late.value.status) == (503, 504)
    await service.stop(grace_s=0.05)


async def test_requests_run_side_by_side_up_to_the_bound(bare_bus: Bus, service: Service) -> None:
    running, most = 0, 0
    full = asyncio.Event()

    async def handle(asked: Request) -> Mapping[str, Any]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 8:
            full.set()
        await full.wait()
        running -= 1
        return {}

    service.endpoint("recall", "memory.recall", handle, concurrency=8)
    await service.start()
    await asyncio.gather(*(request(bare_bus.nc, "memory.recall", {}, timeout_s=30) for _ in range(40)))
    assert most == 8


async def test_progress_comes_step_by_step_and_ends_with_the_result(bare_bus: Bus, service: Service) -> None:
    may_finish = asyncio.Event()

    async def rebuild(asked: Request) -> AsyncIterator[Mapping[str, Any] | Result]:
        yield {"events": 1}
        await may_finish.wait()
        yield {"events": 2}
        yield Result({"position": 7})

    async def wrapped(asked: Request) -> AsyncIterator[Mapping[str, Any] | Result]:
        return rebuild(asked)

    service.endpoint("rebuild", "admin.rebuild", rebuild)
    service.endpoint("wrapped", "admin.consolidate", wrapped)
    service.endpoint("plain", "admin.status", _echo)
    await service.start()
    steps = []
    async for step in request_progress(bare_bus.nc, "admin.rebuild", {}):
        steps.append(step)
        may_finish.set()
    assert steps == [
        {"done": False, "progress": {"events": 1}},
        {"done": False, "progress": {"events": 2}},
        {"done": True, "result": {"position": 7}},
    ]
    assert [step["done"] async for step in request_progress(bare_bus.nc, "admin.consolidate", {})] == [
        False,
        False,
        True,
    ]
    (only,) = [step async for step in request_progress(bare_bus.nc, "admin.status", {})]
    assert only["done"]
    assert only["result"]["tenant"] == "default"


async def test_a_failure_in_mid_progress_reaches_the_asker(bare_bus: Bus, service: Service) -> None:
    async def rebuild(asked: Request) -> AsyncIterator[Mapping[str, Any] | Result]:
        yield {"events": 1}
        raise RequestError("gone", "the stream is gone", status=409)

    service.endpoint("rebuild", "admin.rebuild", rebuild)
    await service.start()
    asked = request_progress(bare_bus.nc, "admin.rebuild", {})
    assert await anext(asked) == {"done": False, "progress": {"events": 1}}
    with pytest.raises(RequestError) as failed:
        await anext(asked)
    assert failed.value.code == "gone"
    with pytest.raises(RequestError) as nobody:
        await anext(request_progress(bare_bus.nc, "admin.consolidate", {}))
    assert nobody.value.status == 503


async def test_the_service_is_discovered_with_its_endpoints_and_true_figures(
    bare_bus: Bus, service: Service
) -> None:
    async def refuse(asked: Request) -> Mapping[str, Any]:
        await asyncio.sleep(0.02)
        raise RequestError("bad", "no")

    service.endpoint("recall", "memory.recall", _echo)
    service.endpoint("list", "memory.list", refuse)
    await service.start()
    await request(bare_bus.nc, "memory.recall", {})
    with pytest.raises(RequestError):
        await request(bare_bus.nc, "memory.list", {})

    async def control(verb: str) -> dict[str, Any]:
        answer = await bare_bus.nc.request(f"$SRV.{verb}.hindsight-recall")
        return dict(json.loads(answer.data))

    ping, info, stats = [await control(verb) for verb in ("PING", "INFO", "STATS")]
    assert ping["type"] == "io.nats.micro.v1.ping_response"
    assert (ping["name"], ping["version"]) == ("hindsight-recall", "0.1.0")
    assert [(e["name"], e["subject"]) for e in info["endpoints"]] == [
        ("recall", "memory.recall"),
        ("list", "memory.list"),
    ]
    good, bad = stats["endpoints"]
    assert (good["num_requests"], good["num_errors"]) == (1, 0)
    assert (bad["num_requests"], bad["num_errors"], bad["last_error"]) == (1, 1, "400:bad")
    assert bad["processing_time"] > 10_000_000


async def test_two_instances_share_the_requests(bare_bus: Bus, nats_server: NatsServer) -> None:
    other = await connect(nats_server.url, name="other")
    served = {"a": 0, "b": 0}

    def handler(name: str) -> Callable[[Request], Any]:
        async def handle(asked: Request) -> Mapping[str, Any]:
            served[name] += 1
            return {}

        return handle

    services = []
    for name, bus in (("a", bare_bus), ("b", other)):
        service = Service(bus, "hindsight-recall", "0.1.0", "x")
        service.endpoint("recall", "memory.recall", handler(name))
        await service.start()
        services.append(service)
    for _ in range(60):
        await request(bare_bus.nc, "memory.recall", {})
    for service in services:
        await service.stop()
    await other.close()
    assert sum(served.values()) == 60
    assert all(served.values())


async def test_stopping_answers_what_is_in_hand_and_says_so_to_what_takes_too_long(
    bare_bus: Bus, nats_server: NatsServer
) -> None:
    asker = await connect(nats_server.url, name="asker")
    service = Service(bare_bus, "hindsight-recall", "0.1.0", "x")
    begun = asyncio.Event()
    may_finish = asyncio.Event()

    async def slow(asked: Request) -> Mapping[str, Any]:
        begun.set()
        await may_finish.wait()
        return {"finished": True}

    async def hang(asked: Request) -> Mapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    service.endpoint("slow", "memory.recall", slow)
    service.endpoint("hang", "memory.list", hang)
    await service.start()
    finishing = asyncio.create_task(request(asker.nc, "memory.recall", {}))
    hanging = asyncio.create_task(request(asker.nc, "memory.list", {}))
    await begun.wait()
    await asker.nc.flush()
    await bare_bus.nc.flush()
    stopping = asyncio.create_task(service.stop(grace_s=0.5))
    may_finish.set()
    assert await finishing == {"finished": True}
    with pytest.raises(RequestError) as refused:
        await hanging
    assert (refused.value.status, refused.value.code) == (503, "unavailable")
    await stopping
    await asker.close()


async def test_it_answers_again_after_the_server_was_killed(
    bare_bus: Bus, nats_server: NatsServer, service: Service
) -> None:
    service.endpoint("recall", "memory.recall", _echo)
    await service.start()
    assert nats_server.pid is not None
    os.kill(nats_server.pid, signal.SIGKILL)
    with pytest.raises(RequestError):
        await request(bare_bus.nc, "memory.recall", {}, timeout_s=0.2)
    async with asyncio.timeout(30):
        while not bare_bus.is_connected:
            await asyncio.sleep(0.02)
    assert (await request(bare_bus.nc, "memory.recall", {}))["tenant"] == "default"


async def test_the_answer_is_part_of_the_askers_trace_and_measured_by_endpoint(
    bare_bus: Bus, service: Service, spans: InMemorySpanExporter, metric_points: Points
) -> None:
    service.endpoint("recall", "memory.recall", _echo)
    await service.start()
    with tracer().start_as_current_span("ask") as asking:
        await request(bare_bus.nc, "memory.recall.acme", {})
    await service.stop()
    (serving,) = [s for s in spans.get_finished_spans() if s.name == "serve memory.recall"]
    assert serving.context is not None
    assert serving.context.trace_id == asking.get_span_context().trace_id
    assert "acme" not in str(dict(serving.attributes or {}))
    labels = [labels for labels, _ in metric_points("hindsight.request.duration")]
    assert {"endpoint": "memory.recall", "status": 200} in labels
