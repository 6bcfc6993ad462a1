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
    """A cache of ledgers; what does not fit is folded from the log again when it is needed.

    `capacity` is in turns and pieces of evidence over all users (`Ledger.size`); the one in use always fits.
    """

    def __init__(self, log: MemoryLog, *, capacity: int = 100_000) -> None:
        self._log = log
        self._capacity = capacity
        self._folded: OrderedDict[Owner, Folded] = OrderedDict()
        self._sizes: dict[Owner, int] = {}
        self._size = 0

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
        # an empty one weighs something too, or strangers who only ask would fill the memory
        size = folded.ledger.size + 1
        self._size += size - self._sizes.get(owner, 0)
        self._sizes[owner] = size
        while self._size > self._capacity and len(self._folded) > 1:
            self.forget(next(iter(self._folded)))
        return folded

    def cached(self, owner: Owner) -> Folded | None:
        return self._folded.get(owner)

    def forget(self, owner: Owner) -> None:
        if self._folded.pop(owner, None) is not None:
            self._size -= self._sizes.pop(owner)
