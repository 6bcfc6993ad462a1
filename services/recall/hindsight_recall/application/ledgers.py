"""The folded state of the users that are being talked to, kept for as long as there is room."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from hindsight_common.domain.fold import Ledger
from hindsight_common.ids import Owner
from hindsight_common.ports.log import MemoryLog


@dataclass(slots=True)
class Folded:
    """A user's ledger and the log position up to which it is joined."""

    ledger: Ledger
    position: int


class Ledgers:
    """A cache of ledgers; what does not fit is folded from the log again when it is needed."""

    def __init__(self, log: MemoryLog, *, capacity: int = 256) -> None:
        self._log = log
        self._capacity = capacity
        self._folded: OrderedDict[Owner, Folded] = OrderedDict()

    async def before(self, owner: Owner, sequence: int) -> Folded:
        """The owner's ledger with every event below `sequence` joined, and none at or above it.

        One that has gone further already is returned as it is: joining an event twice changes nothing.
        """
        folded = self._folded.get(owner)
        if folded is None:
            folded = Folded(Ledger(), 0)
            async for logged in self._log.read(owner):
                if logged.sequence >= sequence:
                    break
                folded.ledger.apply(logged.event_id, logged.event)
                folded.position = logged.sequence
            # somebody may have folded the same log meanwhile, and joined to it since
            folded = self._folded.get(owner, folded)
        return self._keep(owner, folded)

    def _keep(self, owner: Owner, folded: Folded) -> Folded:
        self._folded[owner] = folded
        self._folded.move_to_end(owner)
        if len(self._folded) > self._capacity:
            self._folded.popitem(last=False)
        return folded

    def cached(self, owner: Owner) -> Folded | None:
        return self._folded.get(owner)

    def forget(self, owner: Owner) -> None:
        self._folded.pop(owner, None)
