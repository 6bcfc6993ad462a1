from __future__ import annotations

import asyncio
import gc
import json
import os
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hindsight_client import ClientClosed, RequestError, StopAndFix, SyncHindsightClient
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


@pytest.fixture
async def served(bus: Bus, nats_server: NatsServer) -> AsyncIterator[str]:
    """The address of a bus on which recalls, lists and rebuilds are answered, and outcomes only at the end."""

    async def recall(request: Request) -> Mapping[str, Any]:
        scored = MEMORY | {"content": json.loads(request.data)["query"], "score": 0.8, "channels": {}}
        parts = {"similarity": 0.3, "importance": 0.3, "recency": 0.2}
        return {"memories": [scored | {"score_parts": parts}], "covers_up_to": 7}

    async def page(request: Request) -> Mapping[str, Any]:
        cursor = json.loads(request.data).get("cursor")
        return {"memories": [MEMORY], "cursor": {None: "a", "a": "b", "b": None}[cursor]}

    async def rebuild(request: Request) -> AsyncIterator[Any]:
        yield {"events": 10}
        yield Result({"position": 20})

    ended = asyncio.Event()

    async def at_the_end(request: Request) -> Mapping[str, Any]:
        await ended.wait()
        return {"turn_id": "t-1", "outcome": "pending"}

    service = Service(bus, "recall", "0.1.0", "answers in a test")
    service.endpoint("recall", subjects.MEMORY_RECALL, recall)
    service.endpoint("list", subjects.MEMORY_LIST, page)
    service.endpoint("rebuild", subjects.ADMIN_REBUILD_VECTORS, rebuild)
    service.endpoint("turn", subjects.MEMORY_TURN, at_the_end)
    await service.start()
    yield nats_server.url
    ended.set()
    await service.stop()


async def blocking(work: Callable[[], Any]) -> Any:
    """Runs `work` in a thread, as a program without an event loop runs it."""
    return await asyncio.to_thread(work)


async def test_calls_return_what_the_async_client_does(served: str) -> None:
    def program() -> tuple[str, int, list[dict[str, object]]]:
        with SyncHindsightClient.connect(served) as client:
            found = client.recall("u-1", "茶", top_k=2).memories[0].content
            steps = [dict(step.result or step.progress) for step in client.rebuild("vectors")]
            return found, len([*client.list_all("u-1", limit=1)]), steps

    assert await blocking(program) == ("茶", 3, [{"events": 10}, {"position": 20}])


async def test_refusals_are_raised_by_field_as_by_the_async_client(served: str) -> None:
    def program() -> None:
        with SyncHindsightClient.connect(served) as client:
            client.recall("u ", "茶")

    with pytest.raises(RequestError) as refused:
        await blocking(program)
    assert refused.value.field == "user_id"


async def test_many_threads_share_a_client_and_each_has_its_own_answer(served: str) -> None:
    def program() -> list[str]:
        with SyncHindsightClient.connect(served) as client, ThreadPoolExecutor(8) as pool:
            questions = [f"question {number}" for number in range(64)]
            return [*pool.map(lambda q: client.recall("u-1", q).memories[0].content == q, questions)]

    assert all(await blocking(program))


async def test_nothing_is_left_after_close_and_every_later_call_says_that_it_is_closed(served: str) -> None:
    def program() -> None:
        client = SyncHindsightClient.connect(served)
        ours = [thread for thread in threading.enumerate() if thread.name == "hindsight-client"]
        assert len(ours) == 1
        begun = client.list_all("u-1", limit=1)
        next(begun)
        client.close()
        client.close()
        assert not ours[0].is_alive()
        with pytest.raises(ClientClosed, match="connect"):
            client.recall("u-1", "茶")
        with pytest.raises(ClientClosed):
            next(begun)

    await blocking(program)
    gc.collect()


async def test_a_call_that_waits_in_another_thread_ends_when_the_client_is_closed(served: str) -> None:
    def program() -> None:
        client = SyncHindsightClient.connect(served, timeout_s=60)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(client.turn, "u-1", "t-1")
            while not client._thread._running:
                pass
            client.close()
            with pytest.raises(ClientClosed):
                waiting.result(timeout=10)

    await blocking(program)


async def test_a_client_that_could_not_connect_leaves_no_thread_behind() -> None:
    def program() -> None:
        with pytest.raises(StopAndFix, match="within"):
            SyncHindsightClient.connect("nats://127.0.0.1:1", timeout_s=0.2)
        assert not [thread for thread in threading.enumerate() if thread.name == "hindsight-client"]

    await blocking(program)


async def test_a_loop_over_pages_may_be_left_early(served: str) -> None:
    def program() -> str:
        with SyncHindsightClient.connect(served) as client:
            for memory in client.list_all("u-1", limit=1):
                return client.recall("u-1", memory.content).memories[0].content
            raise AssertionError("no memory was listed")

    assert await blocking(program) == MEMORY["content"]


async def test_a_client_that_nobody_closed_is_told_of(served: str) -> None:
    def program() -> None:
        client = SyncHindsightClient.connect(served)
        thread, inner = client._thread, client._client
        dropped = [client]
        del client
        with pytest.warns(ResourceWarning, match="unclosed SyncHindsightClient"):
            dropped.clear()
        thread.close(inner.close())

    await blocking(program)


async def test_a_client_does_not_wait_for_ever_in_a_process_that_was_forked_from_its_own(served: str) -> None:
    def program() -> None:
        with SyncHindsightClient.connect(served) as client:
            with warnings.catch_warnings():
                # newer Pythons warn of a fork beside threads, which is what is looked at here
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                said = 1
                try:
                    client.recall("u-1", "茶")
                except StopAndFix:
                    said = 7
                finally:
                    os._exit(said)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 7
            assert client.recall("u-1", "茶").covers_up_to == 7

    await blocking(program)
