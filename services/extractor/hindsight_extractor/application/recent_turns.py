"""What this process has just put into the log, for those who ask what became of a turn they sent a moment ago."""

from __future__ import annotations

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

    def remember(self, owner: Owner, position: int, given: TurnGiven) -> None:
        if given.outcome not in FINAL_OUTCOMES:
            return
        self._given.setdefault((owner, given.turn_key), (position, given))
        if len(self._given) > _CAPACITY:
            self._given.popitem(last=False)

    def find(self, owner: Owner, turn_key: str) -> tuple[int, TurnGiven] | None:
        """(log position, event) of a turn, None if it is not recent or not from here."""
        return self._given.get((owner, turn_key))
