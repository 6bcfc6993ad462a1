"""Extractors that tests script: slow, away, poisonous, surprising; otherwise the rules."""

from __future__ import annotations

import asyncio
from collections import Counter

from hindsight_common.errors import GiveUp, RetryLater
from hindsight_common.ports.extraction import Extraction, Turn
from hindsight_extractor.domain.rules import RuleExtractor


class ScriptedExtractor(RuleExtractor):
    """Does what a turn's text says: "poison" can never be read, "surprise" raises what nobody expects.

    While `away`, nothing is read; `calls` counts the others by text.
    """

    def __init__(self, *, away: bool = False, delay_s: float = 0.0) -> None:
        super().__init__()
        self.away = away
        self.delay_s = delay_s
        self.refused = 0
        self.calls: Counter[str] = Counter()

    async def extract(self, turn: Turn) -> Extraction:
        if self.away:
            self.refused += 1
            raise RetryLater("the extractor is away")
        said = turn.messages[0].content
        self.calls[said] += 1
        await asyncio.sleep(self.delay_s)
        if said == "poison":
            raise GiveUp("poison", "this turn can never be read")
        if said == "surprise":
            raise ValueError("nobody expects this")
        return await super().extract(turn)


class GatedExtractor(RuleExtractor):
    """Stands still in the first call until `open` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.called = asyncio.Event()
        self.open = asyncio.Event()

    async def extract(self, turn: Turn) -> Extraction:
        found = await super().extract(turn)
        if not self.called.is_set():
            self.called.set()
            await self.open.wait()
        return found
