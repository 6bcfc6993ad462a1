"""The four workers together, in one process: what a turn becomes, what is forgotten, what is rebuilt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scripted_extractors import GatedExtractor, ScriptedExtractor
from workers import Workers, eventually, turn

from hindsight_common.errors import RequestError
from hindsight_common.events.streams import CONSUMERS
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.reading import read_subject
from hindsight_common.messaging.requester import request
from hindsight_common.observability import tracer
from hindsight_common.ports.memory_index import Hit, IndexFilter, IndexRow
from hindsight_extractor import bootstrap as extractor
from hindsight_pruner.application import forgetting
from hindsight_pruner.domain.tombstones import parts


@pytest.fixture
async def workers(bus: Bus, tmp_path: Path) -> AsyncIterator[Workers]:
    async with Workers(bus, tmp_path) as running:
        yield running


async def test_a_written_turn_can_be_recalled_and_listed(workers: Workers) -> None:
    outcome = await workers.say("u-1", "t-1", "I am allergic to peanuts.")
    assert outcome["outcome"] == "kept"
    assert outcome["memories"] >= 1
    answer = await workers.ask("recall", user_id="u-1", query="allergic to peanuts", min_score=0)
    best = answer["memories"][0]
    assert best["predicate"] == "allergic_to"
    assert best["sources"][0]["turn_id"] == "t-1"
    assert sum(best["score_parts"].values()) == pytest.approx(best["score"])
    assert answer["covers_up_to"] == outcome["position"]
    assert answer["degraded"] == []
    assert len(await workers.contents("u-1")) == outcome["memories"]


async def test_one_forgotten_memory_is_gone_and_stays_gone(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    await workers.say("u-1", "t-2", "I am allergic to peanuts.")
    listed = (await workers.ask("list", user_id="u-1"))["memories"]
    home = next(m for m in listed if m["predicate"] == "lives_in")
    would = await workers.ask("forget", user_id="u-1", memory_ids=[home["id"]])
    assert [m["id"] for m in would["would_forget"]] == [home["id"]]
    assert home in (await workers.ask("list", user_id="u-1"))["memories"]
    receipt = (await workers.ask("forget", user_id="u-1", memory_ids=[home["id"]], confirm=True))["receipt"]
    assert receipt["status"] == "done"
    assert {s["status"] for s in receipt["stores"].values()} == {"done"}

    async def still_forgotten() -> None:
        recalled = await workers.ask("recall", user_id="u-1", query="Where do I live? Lyon", min_score=0)
        assert home["id"] not in [m["id"] for m in recalled["memories"]]
        assert not any("Lyon" in c for c in await workers.contents("u-1"))

    await still_forgotten()
    # the same turn sent again
    await workers.ask("write", **turn("u-1", "t-1", "I live in Lyon."))
    await workers.say("u-1", "t-3", "I play chess.")
    await still_forgotten()
    await workers.admin("rebuild")
    await still_forgotten()
    with pytest.raises(RequestError) as missing:
        await workers.ask("forget", user_id="u-1", memory_ids=[home["id"]], confirm=True)
    assert missing.value.status == 404
    # said again in a new turn, it lives
    await workers.say("u-1", "t-4", "I live in Lyon.")
    assert any("Lyon" in c for c in await workers.contents("u-1"))


async def test_a_forgotten_session_takes_its_turns_and_leaves_the_others(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.", session_id="gone")
    await workers.say("u-1", "t-2", "My sister is called Ida.", session_id="gone")
    await workers.say("u-1", "t-3", "I am allergic to peanuts.", session_id="kept")
    would = await workers.ask("forget", user_id="u-1", session_id="gone")
    assert {s["session_id"] for m in would["would_forget"] for s in m["sources"]} == {"gone"}
    receipt = (await workers.ask("forget", user_id="u-1", session_id="gone", confirm=True))["receipt"]
    assert receipt["status"] == "done"
    assert [m["predicate"] for m in (await workers.ask("list", user_id="u-1"))["memories"]] == ["allergic_to"]
    assert (await workers.ask("turn", user_id="u-1", turn_id="t-1"))["outcome"] == "forgotten"
    # its bytes leave the log in the background
    owner = workers.core.ids.owner("default", "u-1")

    async def kinds() -> list[str]:
        return [logged.kind async for logged in workers.core.log.read(owner)]

    async def swept() -> bool:
        return await kinds() == ["turn", "forgotten"]

    await eventually(swept)


async def test_a_forgotten_user_is_gone_whole_and_a_new_turn_begins_anew(workers: Workers) -> None:
    for user in ("u-1", "u-2"):
        await workers.say(user, "t-1", "I live in Lyon.")
        await workers.say(user, "t-2", "I am allergic to peanuts.")
        await workers.admin("consolidate", user_id=user)
    others = await workers.contents("u-2")
    owner, other = (workers.core.ids.owner("default", user) for user in ("u-1", "u-2"))

    async def promoted() -> bool:
        return bool((await workers.graph.read(owner)).edges and (await workers.graph.read(other)).edges)

    await eventually(promoted)
    key = await workers.core.keyring.current(owner)
    receipt = (await workers.ask("forget", user_id="u-1", everything=True, confirm=True))["receipt"]
    assert receipt["status"] == "done"
    assert receipt["stores"]["keys"]["removed"] == 1
    assert await workers.contents("u-1") == []
    assert (await workers.graph.read(owner)).nodes == ()
    assert await workers.core.keyring.is_destroyed(owner, key.key_id)
    assert await workers.core.keyring.doomed(owner) == []
    # nobody else lost anything
    assert await workers.contents("u-2") == others
    assert (await workers.graph.read(other)).edges
    # the same turns sent again are dropped, before and after a rebuild
    await workers.ask("write", **turn("u-1", "t-1", "I live in Lyon."))
    await workers.admin("rebuild")
    await workers.admin("rebuild-graph")
    assert await workers.contents("u-2") == others
    assert (await workers.ask("turn", user_id="u-1", turn_id="t-1"))["outcome"] == "forgotten"
    await workers.say("u-1", "t-9", "I live in Porto.")
    assert await workers.contents("u-1") == ["The user lives in Porto"]


async def test_turns_in_flight_are_covered_by_a_forgotten_user(bus: Bus, tmp_path: Path) -> None:
    """Accepted, not extracted yet: the tombstone names them, and the extractor drops them."""
    gate = GatedExtractor()
    async with Workers(bus, tmp_path, rules=gate) as workers:
        await workers.ask("write", **turn("u-1", "t-1", "I live in Lyon."))
        await gate.called.wait()
        receipt = (await workers.ask("forget", user_id="u-1", everything=True, confirm=True))["receipt"]
        assert receipt["status"] == "done"
        gate.open.set()
        await workers.ask("write", **turn("u-1", "t-2", "I live in Porto."))
        await workers.ask("recall", user_id="u-1", query="x", wait_for_turn="t-2")
        assert await workers.contents("u-1") == ["The user lives in Porto"]


async def test_consolidation_promotes_once_and_a_rebuilt_graph_is_the_same(workers: Workers) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    await workers.say("u-1", "t-2", "My sister is called Ida.")
    owner = workers.core.ids.owner("default", "u-1")
    assert (await workers.graph.read(owner)).nodes == ()
    first = (await workers.admin("consolidate", user_id="u-1"))[-1]["result"]
    assert first["promoted"] >= 2
    assert (await workers.admin("consolidate", user_id="u-1"))[-1]["result"] == {
        "promoted": 0,
        "position": None,
    }

    async def projected() -> bool:
        return bool(await workers.graph.position() >= first["position"])

    await eventually(projected)
    graph = await workers.graph.read(owner)
    assert ("lives_in", "LOCATED_IN") in {(e.predicate, e.relation) for e in graph.edges}
    assert (await workers.admin("rebuild-graph"))[-1]["done"]
    assert await workers.graph.read(owner) == graph


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, None),
        ({"memory_ids": []}, "memory_ids"),
        ({"memory_ids": None}, "memory_ids"),
        ({"session_id": "*"}, "session_id"),
        ({"session_id": ""}, "session_id"),
        ({"everything": False}, "everything"),
        ({"everything": True, "session_id": "s"}, None),
        ({"all": True}, "all"),
    ],
)
async def test_a_filter_that_got_lost_never_forgets_everything(
    workers: Workers, body: dict[str, object], field: str | None
) -> None:
    await workers.say("u-1", "t-1", "I live in Lyon.")
    with pytest.raises(RequestError) as refused:
        await workers.ask("forget", user_id="u-1", confirm=True, **body)
    assert refused.value.status == 400
    assert field is None or refused.value.field == field
    assert await workers.contents("u-1")


async def test_a_newer_home_supersedes_the_older_in_either_order(workers: Workers) -> None:
    osaka = ("I live in Osaka.", {"occurred_at": "2026-03-04T09:15:00+08:00"})
    berlin = (
        "I moved to Berlin last month.",
        {"occurred_at": "2026-06-04T09:15:00+02:00", "time_zone": "Europe/Berlin"},
    )
    for user, order in (("u-1", [osaka, berlin]), ("u-2", [berlin, osaka])):
        for number, (text, more) in enumerate(order):
            await workers.say(user, f"t-{number}", text, **more)
        assert await workers.contents(user) == ["The user lives in Berlin"]
        old = (await workers.ask("list", user_id=user, status=["superseded"]))["memories"]
        assert [m["object"] for m in old] == ["Osaka"]
        assert old[0]["valid_until"].startswith(("2026-05-01", "2026-04-30"))
        for at, home in (("2026-04-01T00:00:00Z", "Osaka"), ("2026-05-20T00:00:00Z", "Berlin")):
            answer = await workers.ask(
                "recall", user_id=user, query="Where do I live?", valid_at=at, min_score=0
            )
            assert [m["object"] for m in answer["memories"] if m["type"] == "fact"] == [home]


class _Broken:
    """Delegates to another object; named methods fail."""

    def __init__(self, whole: object, *names: str) -> None:
        self._whole = whole
        self._names = names

    def __getattr__(self, name: str) -> object:
        if name in self._names:
            raise OSError("injected")
        return getattr(self._whole, name)


@pytest.mark.parametrize(
    ("part", "missing"),
    [("vectors", ["vectors"]), ("words", ["words"]), ("embedding", ["embedding", "vectors"])],
)
async def test_a_part_that_fails_costs_its_part_and_says_so(
    workers: Workers, monkeypatch: pytest.MonkeyPatch, part: str, missing: list[str]
) -> None:
    await workers.say("u-1", "t-1", "I am allergic to peanuts.")
    question = {"user_id": "u-1", "query": "allergic to peanuts", "min_score": 0}
    whole = await workers.ask("recall", **question)
    projection, index = workers.recaller.projection, workers.recaller.projection.index
    broken = {"vectors": "search_vector", "words": "search_words"}
    if part == "embedding":

        async def fail(_: object) -> object:
            raise OSError("injected")

        monkeypatch.setattr(workers.embedder, "embed_queries", fail)
    else:
        monkeypatch.setattr(projection, "index", _Broken(index, broken[part]))
    answer = await workers.ask("recall", **question)
    assert answer["degraded"] == missing
    assert [m["id"] for m in answer["memories"]] == [m["id"] for m in whole["memories"]]
    best = answer["memories"][0]
    assert sum(best["score_parts"].values()) == pytest.approx(best["score"])
    monkeypatch.undo()
    assert (await workers.ask("recall", **question))["degraded"] == []


async def test_a_row_of_another_owner_stops_the_answer(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    await workers.say("u-1", "t-1", "I am allergic to peanuts.")
    index, stranger = workers.recaller.projection.index, workers.core.ids.owner("default", "u-2")
    found = await index.list(workers.core.ids.owner("default", "u-1"), IndexFilter(), None, 10)

    async def leak(*_: object, **__: object) -> list[Hit]:
        return [Hit(row.memory_id, 1.0) for row in found.rows]

    async def leak_rows(*_: object, **__: object) -> list[IndexRow]:
        return list(found.rows)

    monkeypatch.setattr(index, "search_vector", leak)
    monkeypatch.setattr(index, "search_words", leak)
    monkeypatch.setattr(index, "outline", leak_rows)
    with pytest.raises(RequestError) as stopped:
        await workers.ask("recall", user_id="u-2", query="peanuts", min_score=0)
    assert stopped.value.status == 500
    assert stranger != found.rows[0].owner


async def test_poison_is_kept_with_its_cause_and_delays_nobody(bus: Bus, tmp_path: Path) -> None:
    scripted = ScriptedExtractor()
    async with Workers(bus, tmp_path, rules=scripted) as workers:
        await workers.publish(b"{not json")
        await workers.publish(turn("", "e-2", "x"))
        await workers.publish(turn("u-1", "bad-time", "x", occurred_at="2026-03-04T09:15:00"))
        await workers.publish(turn("u-1", "poison", "poison"))
        await workers.publish(turn("u-1", "good", "I moved to Oslo."))
        answer = await workers.ask("recall", user_id="u-1", query="x", wait_for_turn="good")
        assert answer["degraded"] == []
        rejected = await workers.ask("turn", user_id="u-1", turn_id="bad-time")
        assert (rejected["outcome"], rejected["error"]["field"]) == ("rejected", "occurred_at")

        async def failed() -> bool:
            return await workers.outcome("u-1", "poison") == "failed"

        await eventually(failed)
        letters = [m async for m in read_subject(bus.js, "DEAD", "dead.>")]
        codes = sorted(m.headers["Hindsight-Dead-Code"] for m in letters)
        assert codes == ["invalid_turn", "invalid_turn", "not_json", "poison"]
        assert scripted.calls["poison"] == 1


async def test_an_extractor_that_is_away_loses_and_doubles_nothing(bus: Bus, tmp_path: Path) -> None:
    scripted = ScriptedExtractor(away=True)
    async with Workers(bus, tmp_path, rules=scripted) as workers:
        for n in range(10):
            await workers.publish(turn("u-1", f"t-{n}", f"I moved to city {n}."))
        await eventually(lambda: scripted.refused >= 15)
        assert (await workers.ask("turn", user_id="u-1", turn_id="t-3"))["outcome"] == "pending"
        scripted.away = False
        for n in range(10):
            answer = await workers.ask("recall", user_id="u-1", query="x", wait_for_turn=f"t-{n}")
            assert answer["degraded"] == []
        assert set(scripted.calls.values()) == {1}
        assert [m async for m in read_subject(bus.js, "DEAD", "dead.>")] == []


async def test_an_unexpected_fault_is_tried_a_few_times_and_then_kept(bus: Bus, tmp_path: Path) -> None:
    scripted = ScriptedExtractor()
    async with Workers(bus, tmp_path, rules=scripted) as workers:
        await workers.publish(turn("u-1", "t-1", "surprise"))

        async def failed() -> bool:
            return await workers.outcome("u-1", "t-1") == "failed"

        await eventually(failed)
        answer = await workers.ask("turn", user_id="u-1", turn_id="t-1")
        assert answer["error"]["code"] == "unexpected"
        assert scripted.calls["surprise"] == 5


async def test_said_twice_at_once_by_two_workers_is_one_memory(bus: Bus, tmp_path: Path) -> None:
    async with Workers(bus, tmp_path) as one:
        second = extractor.build(one.core, one.working)
        await second.start()
        for n in range(12):
            await asyncio.gather(
                one.publish(turn("u-1", f"a-{n}", "I drink oat milk.")),
                one.publish(turn("u-1", f"b-{n}", "I drink oat milk.")),
                one.publish(turn("u-1", f"a-{n}", "I drink oat milk.")),
            )
        for n in range(12):
            for side in "ab":
                answer = await one.ask("recall", user_id="u-1", query="x", wait_for_turn=f"{side}-{n}")
                assert answer["degraded"] == []
        listed = (await one.ask("list", user_id="u-1"))["memories"]
        assert len(listed) == 1
        assert len(listed[0]["sources"]) == 24
        await second.stop()


async def test_no_text_and_no_user_stands_in_logs_spans_or_metrics(
    workers: Workers,
    spans: InMemorySpanExporter,
    metric_points: Callable[[str], list[tuple[dict[str, object], float]]],
    capfd: pytest.CaptureFixture[str],
) -> None:
    user, canary = "user-of-the-canary", "canary"
    await workers.say(
        user, "turn-of-the-canary", "My canary sings in Lyon.", session_id="session-of-the-canary"
    )
    await workers.ask("recall", user_id=user, query="the canary")
    await workers.publish(turn(user, "bad-canary", "canary", occurred_at="canary"))
    await workers.publish(b"canary {")
    await workers.ask("forget", user_id=user, everything=True, confirm=True)
    finished = spans.get_finished_spans()
    told = "".join(span.to_json() for span in finished) + "".join(capfd.readouterr())
    told += str(metric_points("memory.recall.duration"))
    assert canary not in told
    owner = workers.core.ids.owner("default", user)
    assert owner.user_key not in told
    names = {span.name for span in finished}
    assert {"recall.embed", "recall.search_meaning", "recall.search_words"} <= names
    assert metric_points("memory.recall.duration")


async def test_one_trace_leads_from_the_publish_to_the_projection(
    workers: Workers, spans: InMemorySpanExporter
) -> None:
    with tracer().start_as_current_span("publisher") as publisher:
        await workers.publish(turn("u-1", "t-1", "I live in Lyon."))
    await workers.ask("recall", user_id="u-1", query="x", wait_for_turn="t-1")

    def traced() -> set[str]:
        trace_id = publisher.get_span_context().trace_id
        return {
            span.name
            for span in spans.get_finished_spans()
            if span.context.trace_id == trace_id
            or any(link.context.trace_id == trace_id for link in span.links)
        }

    await eventually(lambda: len({name for name in traced() if name.startswith("process")}) >= 3)


async def test_the_status_says_what_waits_and_how_far_the_vectors_are(workers: Workers) -> None:
    outcome = await workers.say("u-1", "t-1", "I live in Lyon.")
    status = await request(workers.core.bus.nc, "admin.status", {}, timeout_s=5)
    assert status["vectors"]["position"] == outcome["position"]
    assert status["vectors"]["memories"] == outcome["memories"]
    assert set(status["waiting"]) == {spec.durable for spec in CONSUMERS}
    assert status["waiting"]["vectors"] == 0


async def test_what_people_wrote_is_redacted_wherever_it_stands(workers: Workers) -> None:
    secret = "11010519491231002X"
    said = turn("u-1", "t-1", f"我的身份证号是{secret}，我住在上海。" * 200, user_name=f"李雷 {secret}")
    said["messages"][0]["name"] = f"李雷 {secret}"
    await workers.ask("write", **said)
    owner = workers.core.ids.owner("default", "u-1")
    (stored,) = [s async for s in workers.core.turns.list(owner)]
    accepted = await workers.core.turns.read(stored.sequence)
    assert accepted is not None
    assert secret not in str(accepted)
    assert "李雷" in str(accepted)
    await workers.ask("recall", user_id="u-1", query="x", wait_for_turn="t-1")
    assert not any(secret in content for content in await workers.contents("u-1"))


async def test_a_user_of_more_turns_than_fit_into_one_tombstone_is_forgotten_whole(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "parts", partial(parts, most=2))
    for n in range(5):
        await workers.say("u-1", f"t-{n}", f"I went to city number {n} with Ida.")
    receipt = (await workers.ask("forget", user_id="u-1", everything=True, confirm=True))["receipt"]
    assert (receipt["status"], receipt["stores"]["keys"]["removed"]) == ("done", 1)
    assert await workers.contents("u-1") == []
    await workers.admin("rebuild")
    assert await workers.contents("u-1") == []
    for n in range(5):
        assert await workers.outcome("u-1", f"t-{n}") == "forgotten"
