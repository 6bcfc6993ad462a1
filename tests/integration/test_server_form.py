"""Five workers as separate processes against NATS with permissions, Redis, Neo4j and Qdrant's stand-in."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
from server_form.deployment import WORKERS, ServerForm, ask
from workers import eventually, turn

# Resident memory. The pruner is the only one without a model that loads the clients of all three stores: that of Qdrant
# alone, which brings gRPC with it however it is asked, takes 65 MB to import, and that of Neo4j 30 MB.
AT_MOST_MB = {"extractor": 120, "consolidator": 120, "gateway": 120, "pruner": 190}


async def test_the_server_keeps_a_tenant_to_its_permissions_and_the_harness_sees_it(tmp_path: Path) -> None:
    form = ServerForm(tmp_path / "form")
    async with form:
        await form.start_servers("nats")
        async with form.client() as nc:
            await nc.publish("log.00.default.x.turn", b"{}")
            await eventually(form.nats.refusals)
    assert "log.00.default.x.turn" in form.nats.refusals()[0]


async def test_what_a_plain_client_publishes_it_recalls_and_everything_ends_cleanly(form: ServerForm) -> None:
    await form.start()
    for worker in form.workers.values():
        assert await form.health(worker, "/live") == (200, {"status": "alive", "worker": worker.name})
        assert (await form.health(worker))[1] == {"status": "ready", "worker": worker.name, "missing": []}
    async with form.client() as nc:
        said = turn("u-1", "t-1", "我对花生过敏。我住在上海。")
        await nc.jetstream().publish("conversation.turn", json.dumps(said).encode())

        async def recalled() -> bool:
            answer = await ask(
                nc, "recall", user_id="u-1", query="我对什么过敏？", wait_for_turn="t-1", min_score=0
            )
            return any("花生" in memory["content"] for memory in answer.get("memories", ()))

        await eventually(recalled, timeout_s=60)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{form.http_port}", timeout=20) as http:

            async def answered_from_all_stores() -> bool:
                asked = {"user_id": "u-1", "query": "我住在哪里？", "min_score": 0}
                answer = (await http.post("/v1/recall", json=asked)).raise_for_status().json()
                assert any("上海" in memory["content"] for memory in answer["memories"])
                return bool(answer["degraded"] == [])

            # the first questions find a cold Neo4j, and do not wait for it
            await eventually(answered_from_all_stores, timeout_s=60)
        # what intake wrote in one process, recall reads in another
        injected = await ask(nc, "inject", user_id="u-1", session_id="c-1", query="我对什么过敏？")
        assert [one["content"] for one in injected["parts"]["working"]] == ["我对花生过敏。我住在上海。"], (
            injected
        )
        forgotten = await ask(nc, "forget", timeout_s=60, user_id="u-1", everything=True, confirm=True)
        assert forgotten["receipt"]["status"] == "done", forgotten
        assert forgotten["receipt"]["stores"]["working"]["removed"] == 1
        assert (await ask(nc, "list", user_id="u-1"))["memories"] == []
    resident = {name: form.workers[name].resident_mb() for name in AT_MOST_MB}
    print(", ".join(f"{name} {megabytes:.0f} MB" for name, megabytes in resident.items()))
    assert not [name for name, most in AT_MOST_MB.items() if resident[name] > most], resident
    assert {name: await form.stop_worker(name) for name in WORKERS} == dict.fromkeys(WORKERS, 0), form.logs()
