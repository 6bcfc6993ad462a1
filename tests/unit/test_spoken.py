"""What a turn leaves in working memory, and that nothing about that memory keeps a turn from being accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from hindsight_common.adapters.in_memory.embedder import HashingEmbedder
from hindsight_common.adapters.in_memory.working_memory import InMemoryWorkingMemory
from hindsight_common.adapters.words import BackgroundWords
from hindsight_common.clock import FixedClock
from hindsight_common.errors import RetryLater
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.extraction import Message, Turn
from hindsight_common.ports.working_memory import SpokenTurn
from hindsight_extractor.application.spoken import Spoken
from hindsight_extractor.domain.utterances import utterances_of
from hindsight_recall.application.session_window import SessionWindow

NOW = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)
IDS = IdFactory(b"p" * 32)
OWNER = IDS.owner("default", "u-1")
SESSION = IDS.session_key("default", "u-1", "c-1")
TURN_KEY = IDS.turn_key("default", "u-1", "t-1")
TTL = timedelta(hours=2)


def turn(*messages: tuple[str, str], accepted_at: datetime = NOW) -> Turn:
    return Turn(
        tenant="default",
        user_id="u-1",
        session_id="c-1",
        turn_id="t-1",
        role=None,
        occurred_at=accepted_at,
        occurred_inferred=False,
        accepted_at=accepted_at,
        time_zone="UTC",
        messages=tuple(Message(f"m{n}", role, text) for n, (role, text) in enumerate(messages)),
    )


def test_only_what_the_user_and_the_assistant_said_is_an_utterance() -> None:
    said = turn(
        ("system", "You are a shop assistant."),
        ("user", "  屏幕多大？ "),
        ("assistant", ""),
        ("tool", '{"size": 6.1}'),
        ("assistant", "6.1 英寸"),
        ("user", "<MEMORY_SNAPSHOT>what was shown</MEMORY_SNAPSHOT>"),
    )
    assert utterances_of(said) == (("user", "屏幕多大？"), ("assistant", "6.1 英寸"))


def test_of_a_turn_with_many_or_long_messages_the_last_ones_and_both_ends_are_kept() -> None:
    many = turn(*(("user", f"message {n}") for n in range(20)))
    assert [text for _, text in utterances_of(many)] == [f"message {n}" for n in range(13, 20)]
    ((_, long),) = utterances_of(turn(("user", "begin " + "x" * 20_000 + " end")))
    assert len(long) == 8000
    assert long.startswith("begin x")
    assert long.endswith("x end")


async def test_a_turn_that_was_accepted_longer_ago_than_a_session_lasts_is_not_spoken_any_more() -> None:
    memory, clock = InMemoryWorkingMemory(), FixedClock(NOW)
    spoken = Spoken(memory, IDS, clock, TTL)
    await spoken.remember(OWNER, TURN_KEY, turn(("user", "old"), accepted_at=NOW - TTL))
    assert await memory.latest(OWNER, SESSION, 9) == ()
    # however long ago it was said: an import or a retry comes as it is
    late = replace(turn(("user", "new")), occurred_at=NOW - timedelta(days=300))
    await spoken.remember(OWNER, TURN_KEY, late)
    assert [u.text for u in await memory.latest(OWNER, SESSION, 9)] == ["new"]


class _Away(InMemoryWorkingMemory):
    async def append(self, owner: Owner, session_key: str, turn: SpokenTurn) -> bool:
        raise RetryLater("away")

    async def forget_turns(self, owner: Owner, turn_keys: object) -> int:
        raise RetryLater("away")

    async def close_session(self, owner: Owner, session_key: str) -> None:
        raise RetryLater("away")


async def test_with_the_store_away_turns_go_on_and_only_closing_waits() -> None:
    spoken = Spoken(_Away(), IDS, FixedClock(NOW), TTL)
    await spoken.remember(OWNER, TURN_KEY, turn(("user", "hello")))
    await spoken.forget(OWNER, TURN_KEY)
    with pytest.raises(RetryLater):
        await spoken.close(OWNER, SESSION)


class _Counting(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        return await super().embed_passages(texts)


async def test_an_utterance_is_embedded_once_while_its_session_goes_on() -> None:
    memory, embedder = InMemoryWorkingMemory(), _Counting()
    spoken = Spoken(memory, IDS, FixedClock(NOW), TTL)
    window = SessionWindow(memory, embedder, BackgroundWords(), size=5)
    said = turn(("user", "the battery of the phone"), ("assistant", "it is large " * 500))
    await spoken.remember(OWNER, TURN_KEY, said)
    for query in ("battery", "phone battery", "weather"):
        heard = await window.read(OWNER, SESSION)
        similarities = await window.similarities(OWNER, query, heard)
        assert (similarities[0] > 0.5) is ("battery" in query)
    assert [text[:11] for text in embedder.embedded] == ["the battery", "it is large"]
    assert max(map(len, embedder.embedded)) <= 400, "what it is about stands in its beginning"
    assert await window.similarities(OWNER, "battery", ()) == []


async def test_how_long_an_utterance_takes_tells_nobody_whether_somebody_else_said_it() -> None:
    memory, embedder = InMemoryWorkingMemory(), _Counting()
    spoken = Spoken(memory, IDS, FixedClock(NOW), TTL)
    window = SessionWindow(memory, embedder, BackgroundWords(), size=5)
    await spoken.remember(OWNER, TURN_KEY, turn(("user", "my clinic is in Elm Street")))
    heard = await window.read(OWNER, SESSION)
    for asker in (OWNER, IDS.owner("default", "somebody else"), IDS.owner("elsewhere", "u-1")):
        await window.similarities(asker, "clinic", heard)
    assert len(embedder.embedded) == 3
