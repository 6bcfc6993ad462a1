"""What this process has just put into the log, for those who ask what became of a turn they sent a moment ago."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final

from hindsight_common.domain.fold import FINAL_OUTCOMES
from hindsight_common.domain.memory import TurnGiven
from hindsight_common.ids import Owner

_CAPACITY: Final = 10_000


class RecentTurns:
    """Final outcomes only: another may still come for the others, from anywhere."""

    def __init__(self) -> None:
        self._given: OrderedDict[tuple[Owner, str], tuple[int, TurnGiven]] = OrderedDict()
        self._awaited: dict[tuple[Owner, str], asyncio.Event] = {}

    def remember(self, owner: Owner, position: int, given: TurnGiven) -> None:
        if given.outcome not in FINAL_OUTCOMES:
            return
        self._given.setdefault((owner, given.turn_key), (position, given))
        if len(self._given) > _CAPACITY:
            self._given.popitem(last=False)
        if (awaited := self._awaited.get((owner, given.turn_key))) is not None:
            awaited.set()

    def find(self, owner: Owner, turn_key: str) -> tuple[int, TurnGiven] | None:
        """(log position, event) of a turn, None if it is not recent or not from here."""
        return self._given.get((owner, turn_key))

    async def until_final(self, owner: Owner, turn_key: str) -> None:
        """Returns once the final outcome of a turn is remembered; one waits for a turn at a time."""
        if self.find(owner, turn_key) is not None:
            return
        awaited = self._awaited.setdefault((owner, turn_key), asyncio.Event())
        try:
            await awaited.wait()
        finally:
            self._awaited.pop((owner, turn_key), None)
