"""Forgetting while something else is going on: what was forgotten stays gone, and nothing else goes with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from scripted_extractors import GatedExtractor
from workers import Workers, turn

from hindsight_common.domain.memory import TurnGiven
from hindsight_common.errors import RetryLater
from hindsight_common.ids import Owner
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.keys import NatsKeyring
from hindsight_common.messaging.raw_turns import NatsRawTurns
from hindsight_common.messaging.turns import NatsTurnStore
from hindsight_common.ports.extraction import ExtractedItem, Extraction, Turn
from hindsight_common.ports.raw_turns import RawTurn
from hindsight_common.ports.turns import StoredTurn
from hindsight_common.sealing import SealingKey
from hindsight_extractor.domain.rules import RuleExtractor


async def _readable(workers: Workers, owner: Owner) -> list[TurnGiven]:
    """What somebody who holds the keys can still read of a user's turns in the log."""
    return [e.event async for e in workers.core.log.read(owner) if isinstance(e.event, TurnGiven)]


@pytest.mark.parametrize("scope", [{"everything": True}, {"session_id": "c-1"}])
async def test_a_turn_forgotten_while_it_is_extracted_leaves_nothing_in_the_log(
    bus: Bus, tmp_path: Path, scope: dict[str, object]
) -> None:
    gate = GatedExtractor()
    async with Workers(bus, tmp_path, rules=gate) as workers:
        owner = workers.core.ids.owner("default", "u-1")
        await workers.ask("write", **turn("u-1", "t-1", "I live in Lyon."))
        await gate.called.wait()
        assert (await workers.ask("forget", user_id="u-1", confirm=True, **scope))["receipt"][
            "status"
        ] == "done"
        gate.open.set()
        await workers.say("u-1", "t-2", "I live in Porto.", session_id="c-2")
        # the first one's extraction was under way before the second turn came
        assert [given.turn_id for given in await _readable(workers, owner)] == ["t-2"]
        assert await workers.contents("u-1") == ["The user lives in Porto"]


class _Rewording(RuleExtractor):
    """As a model does: the same turn in other words each time it is asked."""

    asked = 0

    async def extract(self, turn: Turn) -> Extraction:
        self.asked += 1
        said = turn.messages[0]
        worded = f"{said.content} That is what was said, as reading {self.asked} has it."
        return Extraction((ExtractedItem("event", worded, 0.9, 0.9, "en", (said.id,), "user"),))


async def test_a_turn_with_a_forgotten_item_is_not_read_again_in_other_words(
    bus: Bus, tmp_path: Path
) -> None:
    async with Workers(bus, tmp_path, rules=_Rewording()) as workers:
        # of two readings of one turn the smaller id wins, so one turn alone would show it every other time only
        said = [turn("u-1", f"t-{n}", f"I met Ida in Lyon, for the {n}th time.") for n in range(6)]
        for each in said:
            await workers.ask("write", **each)
            await workers.ask("recall", user_id="u-1", query="x", wait_for_turn=each["turn_id"])
        listed = (await workers.ask("list", user_id="u-1"))["memories"]
        await workers.ask("forget", user_id="u-1", memory_ids=[m["id"] for m in listed], confirm=True)
        for each in said:
            await workers.ask("write", **each)
        await workers.say("u-1", "t-9", "I play chess.")
        assert [c for c in await workers.contents("u-1") if "Lyon" in c] == []
        assert (await workers.ask("turn", user_id="u-1", turn_id="t-1"))["memories"] == 0


async def test_a_turn_that_moves_on_while_it_is_looked_for_is_forgotten_too(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits raw while the accepted ones are listed, and is accepted before the raw ones are."""
    async with Workers(bus, tmp_path) as workers:
        listed, waiting = NatsTurnStore.list, NatsRawTurns.waiting
        arrived = asyncio.Event()

        async def accepted(store: NatsTurnStore, owner: Owner | None = None) -> AsyncIterator[StoredTurn]:
            async for stored in listed(store, owner):
                yield stored
            if owner is not None and not arrived.is_set():
                arrived.set()
                await workers.say("u-1", "t-1", "I live in Lyon.")

        async def raw(store: NatsRawTurns, owner: Owner) -> AsyncIterator[RawTurn]:
            if not arrived.is_set():
                # what is published before the request waits here at this moment
                yield RawTurn(
                    1,
                    workers.core.ids.turn_key("default", "u-1", "t-1"),
                    workers.core.ids.session_key("default", "u-1", "c-1"),
                )
            async for found in waiting(store, owner):
                yield found

        monkeypatch.setattr(NatsTurnStore, "list", accepted)
        monkeypatch.setattr(NatsRawTurns, "waiting", raw)
        await workers.ask("forget", user_id="u-1", everything=True, confirm=True)
        assert await workers.contents("u-1") == []


async def test_what_is_said_around_the_end_of_a_key_outlives_an_eraser_that_dies_there(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old key has to stay until all that lives on is sealed anew, whoever needs the next one meanwhile."""
    async with Workers(bus, tmp_path) as workers:
        await workers.say("u-1", "t-1", "I live in Lyon.")
        mark, reseal = NatsKeyring.mark_destroyed, NatsTurnStore.reseal
        calls: list[str] = []

        async def late(keyring: NatsKeyring, owner: Owner) -> frozenset[str]:
            if "marked" not in calls:
                calls.append("marked")
                await workers.say("u-1", "t-2", "I am allergic to peanuts.")
            return await mark(keyring, owner)

        async def dies(turns: NatsTurnStore, stored: StoredTurn, old: SealingKey) -> None:
            if "died" not in calls:
                calls.append("died")
                # in need of a key, which it has to ask the store for
                await workers.ask("write", **turn("u-1", "t-3", "I play chess."))
                raise RetryLater("the eraser dies here")
            await reseal(turns, stored, old)

        monkeypatch.setattr(NatsKeyring, "mark_destroyed", late)
        monkeypatch.setattr(NatsTurnStore, "reseal", dies)
        receipt = (await workers.ask("forget", user_id="u-1", everything=True, confirm=True))["receipt"]
        assert (receipt["status"], calls) == ("done", ["marked", "died"])
        for turn_id in ("t-2", "t-3"):
            answer = await workers.ask("recall", user_id="u-1", query="x", wait_for_turn=turn_id)
            assert answer["degraded"] == []
        await workers.admin("rebuild")
        contents = await workers.contents("u-1")
        assert len(contents) == 2
        assert not [c for c in contents if "Lyon" in c]
