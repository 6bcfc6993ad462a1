"""Turns read by a model: its replies in every shape, its absence, its return, and what each costs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from workers import QUICK, Workers, eventually, turn

from hindsight_client.cli.examination import Subject, examine
from hindsight_client.llm_stub import FAULTS, LlmStub, Step
from hindsight_common.clock import FixedClock
from hindsight_common.domain.memory import TurnGiven
from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.events.streams import EXTRACTOR_CONSUMER
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.reading import read_subject
from hindsight_common.messaging.requester import request
from hindsight_common.messaging.settlement import Pace
from hindsight_common.settings import Settings
from hindsight_extractor import bootstrap as extractor
from hindsight_extractor.application.extraction_telemetry import ExtractionTelemetry
from hindsight_extractor.application.recent_turns import RecentTurns
from hindsight_extractor.application.recording import RecordTurn
from hindsight_extractor.application.retention import FinishOverdueTurns
from hindsight_extractor.application.spoken import Spoken
from hindsight_extractor.domain.rules import RuleExtractor
from hindsight_extractor.prompt_files import load_prompts

LYON = '{"facts":[{"subject":"user","predicate":"lives_in","object":"Lyon","importance":0.7}],"events":[]}'
MetricPoints = Callable[[str], list[tuple[dict[str, object], float]]]


@pytest.fixture
async def stub() -> AsyncIterator[LlmStub]:
    async with LlmStub() as serving:
        yield serving


def reading(stub: LlmStub, bus: Bus, folder: Path, *, pace: Pace = QUICK, **llm: Any) -> Workers:
    """The workers with the stub as their model; patient, so that a busy machine makes nothing provisional."""
    said = {"base_url": stub.url, "model": "stub", "provisional_after_ms": 20_000, **llm}
    return Workers(bus, folder, pace=pace, settings=Settings.model_validate({"llm": said}))


async def final(workers: Workers, turn_id: str, user: str = "u-1") -> dict[str, Any]:
    """What `memory.turn` says once the turn is neither pending nor provisional."""

    async def settled() -> dict[str, Any] | None:
        try:
            answer = await workers.ask("turn", user_id=user, turn_id=turn_id)
        except RequestError as fault:
            if fault.code != "not_found":
                raise
            return None  # just published: it may not have been read yet
        return None if answer["outcome"] in ("pending", "provisional") else answer

    answer: dict[str, Any] = await eventually(settled)
    return answer


def state_of(workers: Workers) -> str:
    health = workers.extractor.extraction_health
    assert health is not None
    return health.state


async def events_of(workers: Workers, user: str = "u-1") -> list[TurnGiven]:
    owner = workers.core.ids.owner("default", user)
    logged = [one.event async for one in workers.core.log.read(owner, kinds=("turn",))]
    return [event for event in logged if isinstance(event, TurnGiven)]


async def dead(bus: Bus) -> list[str]:
    return [m.headers["Hindsight-Dead-Code"] async for m in read_subject(bus.js, "DEAD", "dead.>")]


async def objects(workers: Workers, user: str = "u-1") -> list[str | None]:
    return [memory["object"] for memory in (await workers.ask("list", user_id=user))["memories"]]


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{LYON}\n```\nI found one fact.",
        f"Sure! Here is what I extracted: {LYON} Let me know if {{anything}} is missing.",
        f"<think>maybe {LYON.replace('Lyon', 'WRONG DRAFT')}</think>\n{LYON}",
        LYON.replace('"Lyon"', '"Lyon",'),
    ],
    ids=["fenced", "in prose", "behind thoughts", "with a stray comma"],
)
async def test_a_wrapped_reply_is_one_fact_and_one_request(
    stub: LlmStub, bus: Bus, tmp_path: Path, reply: str
) -> None:
    stub.play(always=[Step(reply=reply)])
    async with reading(stub, bus, tmp_path) as workers:
        outcome = await workers.say("u-1", "e-1", "I live in Lyon.")
        assert (outcome["outcome"], outcome["memories"]) == ("kept", 1)
        assert await objects(workers) == ["Lyon"]
        (event,) = await events_of(workers)
        assert event.provenance.extractor == "llm/1"
        assert event.provenance.model == "stub"
        assert event.provenance.prompt_hash
        assert dict(event.provenance.usage)["calls"] == 1
        assert stub.calls == {200: 1}


async def test_a_cut_reply_keeps_what_was_finished_and_is_never_asked_for_the_same_way(
    stub: LlmStub, bus: Bus, tmp_path: Path, metric_points: MetricPoints
) -> None:
    cut = (
        '{"facts":[{"subject":"user","predicate":"job","object":"nurse","importance":0.7},'
        '{"subject":"user","predicate":"lives_in","object":"Os'
    )
    stub.play(always=[Step(reply=cut, finish_reason="length")])
    before = sum(value for _, value in metric_points("memory.llm.cut_replies"))
    async with reading(stub, bus, tmp_path) as workers:
        await workers.say("u-1", "e-1", "I work as a nurse and live in Oslo.")
        assert await objects(workers) == ["nurse"]
    budgets = [asked.body["max_tokens"] for asked in stub.asked]
    assert len(budgets) == 2
    assert budgets[1] > budgets[0]
    assert sum(value for _, value in metric_points("memory.llm.cut_replies")) == before + 2


async def test_a_cut_reply_that_fits_into_more_room_is_taken_whole(
    stub: LlmStub, bus: Bus, tmp_path: Path
) -> None:
    stub.play(Step(reply=LYON, share=0.7, finish_reason="length"), always=[Step(reply=LYON)])
    async with reading(stub, bus, tmp_path) as workers:
        await workers.say("u-1", "e-1", "I live in Lyon.")
        assert await objects(workers) == ["Lyon"]
        assert len(stub.asked) == 2


async def test_backslashes_that_were_meant_as_such_survive(stub: LlmStub, bus: Bus, tmp_path: Path) -> None:
    path = r"C:\work\new"
    reply = '{"facts":[{"subject":"user","predicate":"project_path","object":"' + path + '"}],"events":[]}'
    stub.play(always=[Step(reply=reply)])
    async with reading(stub, bus, tmp_path) as workers:
        await workers.say("u-1", "e-1", rf"My project is in {path} now.")
        assert await objects(workers) == [path]


@pytest.mark.parametrize(
    ("refused", "taken"),
    [("no-json-object", "json_schema"), ("no-json-schema", "json_object"), ("both", None)],
)
async def test_a_refused_form_leads_to_the_next_and_is_remembered(
    stub: LlmStub, bus: Bus, tmp_path: Path, refused: str, taken: str | None
) -> None:
    refusals = ["no-json-object", "no-json-schema"] if refused == "both" else [refused]
    ida = '{"memories":[{"type":"fact","subject":"user","predicate":"sister","object":"Ida"}]}'
    stub.play(always=[*(FAULTS[name] for name in refusals), Step(reply=ida)])
    async with reading(stub, bus, tmp_path) as workers:
        await workers.say("u-1", "e-1", "My sister is called Ida.")
        assert await objects(workers) == ["Ida"]
        first = len(stub.asked)
        await workers.say("u-1", "e-2", "As I said, my sister is called Ida.")
        assert len(stub.asked) == first + 1
        form = stub.asked[-1].body.get("response_format")
        assert (form and form["type"]) == taken


async def test_a_new_name_for_the_budget_and_no_temperature_are_learned(
    stub: LlmStub, bus: Bus, tmp_path: Path
) -> None:
    stub.play(
        always=[
            Step(
                status=400,
                body="'max_tokens' is not supported, use 'max_completion_tokens'",
                if_body_has='"max_tokens"',
            ),
            Step(
                status=400,
                body="'temperature' does not support 0 with this model",
                if_body_has='"temperature"',
            ),
            Step(reply=LYON),
        ]
    )
    async with reading(stub, bus, tmp_path) as workers:
        await workers.say("u-1", "e-1", "I live in Lyon.")
        await workers.say("u-1", "e-2", "I still live in Lyon.")
    assert stub.calls == {400: 2, 200: 2}
    assert stub.asked[-1].body["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    "reply",
    [
        FAULTS["refusal"].reply,
        '<think>still thinking about {"facts":',
        "",
        '{"ops":[{"op":"UPDATE","id":"12","object":"Porto"},{"op":"DELETE","id":"0000"}]}',
        '{"answer": 42}',
    ],
    ids=["refusal", "thoughts only", "empty", "ids nobody offered", "another shape"],
)
async def test_a_reply_that_says_nothing_is_a_failure_and_never_nothing_to_remember(
    stub: LlmStub, bus: Bus, tmp_path: Path, metric_points: MetricPoints, reply: str
) -> None:
    stub.play(always=[Step(reply=reply)])
    failed_before = sum(value for _, value in metric_points("extraction_failed"))
    extracted_before = sum(value for _, value in metric_points("memories_extracted"))
    async with reading(stub, bus, tmp_path) as workers:
        await workers.publish(turn("u-1", "e-1", "I moved to Porto."))
        outcome = await final(workers, "e-1")
        assert (outcome["outcome"], outcome["error"]["code"]) == ("failed", "unreadable_reply")
        assert await dead(bus) == ["unreadable_reply"]
        assert await workers.contents("u-1") == []
        # bounded, and no request was sent twice in a row
        bodies = [json.dumps(asked.body["messages"]) for asked in stub.asked]
        assert len(bodies) == 6
        assert len({len(body) for body in bodies}) == 2
        # a later turn of the same user is read
        stub.play(always=[Step(reply=LYON)])
        await workers.publish(turn("u-1", "e-2", "I live in Lyon."))
        assert (await final(workers, "e-2"))["outcome"] == "kept"
    assert sum(value for _, value in metric_points("extraction_failed")) == failed_before + 3
    assert sum(value for _, value in metric_points("memories_extracted")) == extracted_before + 1


async def test_valid_and_empty_is_no_failure(stub: LlmStub, bus: Bus, tmp_path: Path) -> None:
    stub.play(always=[FAULTS["nothing"]])
    async with reading(stub, bus, tmp_path) as workers:
        for number, text in enumerate(("嗯嗯好的", "ok thanks, bye")):
            await workers.publish(turn("u-1", f"e-{number}", text))
            assert (await final(workers, f"e-{number}"))["outcome"] == "empty"
        assert stub.calls == {200: 2}


async def test_the_examples_of_our_own_prompt_never_become_memories(
    stub: LlmStub, bus: Bus, tmp_path: Path
) -> None:
    names = {name for prompt in load_prompts().values() for name in prompt.sentinels}
    items: list[dict[str, object]] = [
        {"type": "fact", "subject": "user", "predicate": "likes", "object": name} for name in names
    ]
    items += [
        {"type": "event", "summary": f"ok thanks, went to {name} 嗯嗯好的", "people": []} for name in names
    ]
    stub.play(always=[Step(reply=json.dumps({"memories": items}, ensure_ascii=False))])
    async with reading(stub, bus, tmp_path) as workers:
        for number, text in enumerate(("嗯嗯好的", "ok thanks, bye")):
            await workers.publish(turn("u-1", f"e-{number}", text))
            assert (await final(workers, f"e-{number}"))["outcome"] == "empty"
        assert await workers.contents("u-1") == []


async def test_what_the_assistant_said_is_no_evidence(stub: LlmStub, bus: Bus, tmp_path: Path) -> None:
    stub.play(
        always=[
            Step(
                reply=json.dumps(
                    {
                        "memories": [
                            {"type": "fact", "subject": "user", "predicate": "uses", "object": "Neovim"},
                            {
                                "type": "event",
                                "summary": "The user takes the Rust course in May",
                                "people": [],
                            },
                        ]
                    }
                )
            )
        ]
    )
    said = turn("u-1", "e-1", "Explain how to reverse a linked list in groups.")
    said["messages"].append(
        {"role": "assistant", "content": "Switch to Neovim and take the Rust course in May."}
    )
    async with reading(stub, bus, tmp_path) as workers:
        await workers.publish(said)
        assert (await final(workers, "e-1"))["outcome"] == "empty"


@pytest.mark.parametrize("fault", ["500", "429", "hang", "gone"])
async def test_while_the_llm_is_away_turns_are_provisional_at_once_and_final_when_it_is_back(
    stub: LlmStub, bus: Bus, tmp_path: Path, fault: str
) -> None:
    """No hand on it; more turns than one consumer may hold; and one successful request a turn in the end."""
    number = 80
    away = FAULTS["429"] if fault == "429" else FAULTS.get(fault, FAULTS["500"])
    stub.play(always=[away])
    if fault == "gone":
        await stub.stop()
    async with reading(stub, bus, tmp_path, provisional_after_ms=300, timeout_s=2) as workers:
        began = time.monotonic()
        await workers.publish(turn("u-1", "first", "I moved to Bergen."))
        answer = await workers.ask("recall", user_id="u-1", query="Where do I live?", wait_for_turn="first")
        assert time.monotonic() - began < 1
        assert [m["status"] for m in answer["memories"]] == ["provisional"]
        for n in range(number):
            await workers.publish(turn("u-1", f"t-{n}", f"I bought a lamp in town {n}."))
        last = await workers.ask("recall", user_id="u-1", query="x", wait_for_turn=f"t-{number - 1}")
        assert last["degraded"] == []
        await eventually(lambda: state_of(workers) == "away")

        stub.play()
        stub.asked.clear()
        if fault == "gone":
            await stub.start()
        back = time.monotonic()
        for n in range(number):
            assert (await final(workers, f"t-{n}"))["outcome"] == "kept"
        assert (await final(workers, "first"))["outcome"] == "kept"
        assert time.monotonic() - back < 10
        assert state_of(workers) == "ok"
        assert stub.calls == {200: number + 1}
        statuses = {m["status"] for m in (await workers.ask("list", user_id="u-1", limit=100))["memories"]}
        assert statuses == {"active"}
        assert await dead(bus) == []


async def test_a_wrong_key_pauses_costs_no_turn_and_ends_by_itself(
    stub: LlmStub, bus: Bus, tmp_path: Path, metric_points: MetricPoints, capfd: pytest.CaptureFixture[str]
) -> None:
    stub.play(always=[FAULTS["401"]])
    async with reading(stub, bus, tmp_path, provisional_after_ms=300, api_key="sk-canary") as workers:
        for n in range(5):
            await workers.publish(turn("u-1", f"t-{n}", f"I bought a lamp in town {n}."))
            await workers.ask("recall", user_id="u-1", query="x", wait_for_turn=f"t-{n}")
            assert (await workers.ask("turn", user_id="u-1", turn_id=f"t-{n}"))["outcome"] == "provisional"
        told = await request(workers.core.bus.nc, "admin.extraction", {}, timeout_s=5)
        assert (told["model"], told["state"], told["cause"]) == ("stub", "paused", "http_401")
        (finding,) = [f for f in await examine(Subject(bus.nc, 0.3)) if f.what == "LLM stub"]
        assert finding.level == "fault"
        assert "MEMORY_LLM_API_KEY" in finding.way_out
        states = {str(labels["state"]): value for labels, value in metric_points("memory.llm.state")}
        assert states == {"ok": 0, "away": 0, "paused": 1}
        # few requests, however many turns wait
        assert stub.calls[401] <= 3
        stub.play()
        for n in range(5):
            assert (await final(workers, f"t-{n}"))["outcome"] == "kept"
        assert await dead(bus) == []
        assert stub.calls[200] == 5
    assert "sk-canary" not in "".join(capfd.readouterr())


async def test_a_slow_model_is_asked_once_a_turn_and_the_rules_answer_meanwhile(
    stub: LlmStub, bus: Bus, tmp_path: Path
) -> None:
    """Longer than the ack timer would be without its renewal is not waited for here; twice the patience is."""
    stub.play(always=[Step(delay_s=1.5)])
    async with reading(stub, bus, tmp_path, provisional_after_ms=100, concurrency=4) as workers:
        for n in range(8):
            await workers.publish(turn("u-1", f"t-{n}", f"I bought a lamp in town {n}."))
        for n in range(8):
            await workers.ask("recall", user_id="u-1", query="x", wait_for_turn=f"t-{n}")
        assert len(stub.asked) == 0
        for n in range(8):
            assert (await final(workers, f"t-{n}"))["outcome"] == "kept"
    assert stub.calls == {200: 8}


async def test_a_turn_that_the_log_has_is_not_asked_about_again(
    stub: LlmStub, bus: Bus, tmp_path: Path
) -> None:
    async with reading(stub, bus, tmp_path) as workers:
        await workers.say("u-1", "t-1", "I bought a lamp.")
        # the consumers start over, as after a restored backup
        for durable in ("extractor", "first-reading"):
            await bus.js.delete_consumer("TURNS", durable)
        await workers.say("u-1", "t-2", "I bought a table.")
        await eventually(lambda: len(stub.asked) == 2)
    async with reading(stub, bus, tmp_path) as again:
        await again.say("u-1", "t-3", "I bought a chair.")
        events = await events_of(again)
    assert [event.outcome for event in events] == ["kept"] * 3
    assert stub.calls == {200: 3}


async def test_a_provisional_turn_with_a_forgotten_item_is_not_extracted_again(
    stub: LlmStub, bus: Bus, tmp_path: Path
) -> None:
    stub.play(always=[FAULTS["500"]])
    async with reading(stub, bus, tmp_path, provisional_after_ms=0) as workers:
        await workers.ask("write", **turn("u-1", "t-1", "I live in Lyon."))
        await workers.ask("recall", user_id="u-1", query="x", wait_for_turn="t-1")
        (memory,) = (await workers.ask("list", user_id="u-1"))["memories"]
        await workers.ask("forget", user_id="u-1", memory_ids=[memory["id"]], confirm=True)
        stub.play(always=[Step(reply=LYON)])
        await workers.ask("write", **turn("u-1", "t-2", "I live in Lyon, as ever."))
        assert (await final(workers, "t-2"))["outcome"] == "kept"

        async def dropped() -> bool:
            owner = workers.core.ids.owner("default", "u-1")
            return [one async for one in workers.core.turns.list(owner)][0:1] != [] and not await _is_stored(
                workers, "t-1"
            )

        await eventually(dropped)
        assert len([asked for asked in stub.asked if asked.status == 200]) == 1


async def _is_stored(workers: Workers, turn_id: str) -> bool:
    owner = workers.core.ids.owner("default", "u-1")
    key = workers.core.ids.turn_key("default", "u-1", turn_id)
    return await workers.core.turns.find(owner, key) is not None


async def test_two_workers_ask_about_each_turn_once(stub: LlmStub, bus: Bus, tmp_path: Path) -> None:
    async with reading(stub, bus, tmp_path) as one:
        second = extractor.build(one.core, one.working)
        await second.start()
        await asyncio.gather(*(one.publish(turn("u-1", f"t-{n}", f"I bought lamp {n}.")) for n in range(20)))
        for n in range(20):
            assert (await final(one, f"t-{n}"))["outcome"] == "kept"
        await second.stop()
    assert stub.calls == {200: 20}


async def test_a_long_turn_is_read_in_parts(stub: LlmStub, bus: Bus, tmp_path: Path) -> None:
    text = "\n".join(f"On trip {n} I lost umbrella {n}." for n in range(120))
    async with reading(stub, bus, tmp_path, max_input_characters=1000) as workers:
        await workers.publish(turn("u-1", "t-1", text))
        await final(workers, "t-1")
        # parts of at most 1,000 characters
        assert len(stub.asked) == len(text) // 1000 + 1
        assert sum("umbrella 119" in asked.text for asked in stub.asked) == 1


async def test_a_turn_whose_replies_cannot_be_read_keeps_what_the_rules_read(
    stub: LlmStub, bus: Bus, tmp_path: Path
) -> None:
    stub.play(always=[FAULTS["refusal"]])
    async with reading(stub, bus, tmp_path, provisional_after_ms=0) as workers:
        await workers.publish(turn("u-1", "e-1", "I moved to Porto."))

        async def buried() -> bool:
            return await dead(bus) == ["unreadable_reply"]

        await eventually(buried)
        assert (await workers.ask("turn", user_id="u-1", turn_id="e-1"))["outcome"] == "provisional"
        assert [m["status"] for m in (await workers.ask("list", user_id="u-1"))["memories"]] == [
            "provisional"
        ]


async def test_what_no_model_has_read_in_thirty_days_becomes_final_with_the_reason(
    stub: LlmStub, bus: Bus, tmp_path: Path
) -> None:
    stub.play(always=[FAULTS["500"]])
    async with reading(stub, bus, tmp_path, provisional_after_ms=0) as workers:
        await workers.ask("write", **turn("u-1", "t-1", "I live in Lyon."))
        await workers.ask("recall", user_id="u-1", query="x", wait_for_turn="t-1")
        core = workers.core
        spoken = Spoken(workers.working, core.ids, core.clock, timedelta(hours=2))
        record = RecordTurn(core.ids, core.log, core.turns, RecentTurns(), ExtractionTelemetry(), spoken)
        for days, finished in ((29, 0), (31, 1), (31, 0)):
            later = FixedClock(core.clock.now() + timedelta(days=days))
            assert await FinishOverdueTurns(record, RuleExtractor(), later).run() == finished
        assert (await final(workers, "t-1"))["outcome"] == "kept"
        last = (await events_of(workers))[-1]
        assert (last.outcome, last.cause, last.provenance.extractor) == ("kept", "llm_away", "rules/1")
        await workers.ask(
            "recall", user_id="u-1", query="x", wait_for=(await final(workers, "t-1"))["position"]
        )
        assert [m["status"] for m in (await workers.ask("list", user_id="u-1"))["memories"]] == ["active"]


@pytest.mark.slow
async def test_a_model_slower_than_the_ack_timer_is_still_asked_once_a_turn(
    stub: LlmStub, bus: Bus, tmp_path: Path
) -> None:
    stub.play(always=[Step(delay_s=EXTRACTOR_CONSUMER.ack_wait_s + 5)])
    async with reading(stub, bus, tmp_path, provisional_after_ms=100, concurrency=10) as workers:
        for n in range(10):
            await workers.publish(turn("u-1", f"t-{n}", f"I bought a lamp in town {n}."))
        await eventually(lambda: len(stub.asked) >= 10, timeout_s=EXTRACTOR_CONSUMER.ack_wait_s * 3)
        for n in range(10):
            assert (await final(workers, f"t-{n}"))["outcome"] == "kept"
    assert stub.calls == {200: 10}


async def test_without_a_model_nothing_is_provisional_and_nothing_is_asked(bus: Bus, tmp_path: Path) -> None:
    async with Workers(bus, tmp_path) as workers:
        assert (await workers.say("u-1", "t-1", "I live in Lyon."))["outcome"] == "kept"
        told = await request(workers.core.bus.nc, "admin.extraction", {}, timeout_s=5)
        assert (told["model"], told["state"]) == (None, "ok")
        assert [event.provenance.extractor for event in await events_of(workers)] == ["rules/1"]


@pytest.mark.parametrize("half", [{"base_url": "http://127.0.0.1:1/v1"}, {"model": "m"}])
async def test_half_a_configuration_is_refused_with_what_is_missing(
    bus: Bus, tmp_path: Path, half: dict[str, str]
) -> None:
    with pytest.raises(StopAndFix, match=r"MEMORY_LLM_(MODEL|BASE_URL)"):
        Workers(bus, tmp_path, settings=Settings.model_validate({"llm": half}))
