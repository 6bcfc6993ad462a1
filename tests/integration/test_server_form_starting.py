"""Starting in any order: workers wait for what is not there, say so, and end only for what waiting cannot mend."""

from __future__ import annotations

import json
import secrets
from itertools import pairwise
from typing import Any

import nats.errors
from server_form.deployment import WORKERS, ServerForm, Worker, ask
from workers import eventually, turn

NEEDS_A_STORE = ("recall", "consolidator", "pruner")


def logged(worker: Worker, event: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in worker.log().splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


async def test_workers_that_start_before_their_servers_become_ready_by_themselves(form: ServerForm) -> None:
    for worker in form.workers.values():
        await worker.start()
    for name in WORKERS:
        await form.until_missing(name, "nats")
        assert (await form.health(form.workers[name], "/live"))[0] == 200

    form.nats.jetstream = False
    await form.start_servers("nats")
    for worker in form.workers.values():
        await form.until_logged(worker, "no JetStream")
    await form.stop_server("nats")
    form.nats.jetstream = True
    await form.start_servers("nats")
    for name in ("extractor", *NEEDS_A_STORE):
        await form.until_missing(name, "streams")
    await form.until_ready([form.workers["gateway"]])

    await form.provision()
    for name in NEEDS_A_STORE:
        await form.until_missing(name, "neo4j" if name == "consolidator" else "qdrant")
    await form.start_servers("qdrant", "redis")
    await form.until_ready([form.workers["extractor"]])
    await form.until_missing("recall", "neo4j")
    async with form.client() as nc:
        # recall does not wait for the graph: it answers without
        await nc.jetstream().publish(
            "conversation.turn", json.dumps(turn("u-1", "t-1", "I am allergic to peanuts.")).encode()
        )

        async def recalled() -> bool:
            try:
                answer = await ask(
                    nc, "recall", user_id="u-1", query="allergic", wait_for_turn="t-1", min_score=0
                )
            except nats.errors.NoRespondersError:
                return False  # it is still starting
            return bool(answer.get("memories")) and "graph" in answer["degraded"]

        await eventually(recalled, timeout_s=60)

    await form.start_servers("neo4j")
    await form.until_ready()
    for worker in form.workers.values():
        told = [(line["what"], line["reason"]) for line in logged(worker, "waiting_for")]
        assert told[0][0] == "nats"
        # once for each change, however often it was tried
        assert all(before != after for before, after in pairwise(told))
        assert len(told) < 20, told


async def test_a_server_that_goes_away_shows_in_readiness_and_its_return_too(form: ServerForm) -> None:
    await form.start()
    for server, workers in (
        ("redis", ("extractor", "recall")),
        ("qdrant", ("recall", "pruner")),
        ("nats", WORKERS),
    ):
        await form.kill_server(server)
        for name in workers:
            await form.until_missing(name, server)
        await form.start_servers(server)
        await form.until_ready()
    assert all(worker.process and worker.process.returncode is None for worker in form.workers.values())


async def test_a_second_recall_stands_by_until_the_first_is_gone(form: ServerForm) -> None:
    await form.start()
    second = form.another("recall", called="second")
    await second.start()
    await form.until_logged(second, "this one stands by")
    assert await form.health(second) == (503, {"status": "waiting", "worker": "recall", "missing": ["seat"]})
    await form.kill_worker("recall")
    await form.until_ready([second])
    async with form.client() as nc:
        await nc.jetstream().publish(
            "conversation.turn", json.dumps(turn("u-1", "t-1", "I live in Osaka.")).encode()
        )

        async def recalled() -> bool:
            answer = await ask(nc, "recall", user_id="u-1", query="live", wait_for_turn="t-1", min_score=0)
            return bool(answer.get("memories"))

        await eventually(recalled, timeout_s=60)
    assert await second.stop() == 0, second.log()


async def test_what_waiting_cannot_mend_ends_a_worker_with_the_reason(form: ServerForm) -> None:
    await form.start_servers()
    await form.provision()
    await form.start_workers("extractor")
    right = form.master_key
    form.master_key = secrets.token_hex(32)
    consolidator = form.workers["consolidator"]
    await consolidator.start()
    assert await consolidator.ended() == 1
    assert "this master key" in consolidator.log()
    form.master_key = right
    for variable, name, reason in (
        ("HINDSIGHT_NEO4J_PASSWORD", "consolidator", "HINDSIGHT_NEO4J_PASSWORD"),
        ("HINDSIGHT_QDRANT_API_KEY", "pruner", "HINDSIGHT_QDRANT_API_KEY"),
        ("HINDSIGHT_NATS_PASSWORD", "pruner", "nats_password"),
    ):
        form.settings = {variable: "wrong"}
        worker = form.another(name, called=variable)
        await worker.start()
        assert await worker.ended() == 1, worker.log()
        assert reason in worker.log(), worker.log()
        assert "Traceback" not in worker.log()


async def test_a_worker_that_waits_ends_at_once_when_asked(form: ServerForm) -> None:
    worker = form.workers["recall"]
    await worker.start()
    await form.until_missing("recall", "nats")
    assert await worker.stop() == 0, worker.log()
