"""The log: everything said and decided about memory, the truth that all stores are derived from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from hindsight_common.domain.memory import LogEvent, Piece
from hindsight_common.errors import HindsightError
from hindsight_common.ids import Owner
from hindsight_common.sealing import SealingKey


@dataclass(frozen=True, slots=True)
class Logged:
    """One event as it stands in the log, opened. `kind` is what it was written as, also where it is erased."""

    sequence: int
    owner: Owner
    event_id: str
    kind: str
    accepted_at: datetime
    event: LogEvent


class Overtaken(HindsightError):
    """A tombstone came before an event that had not seen it. Look at the tombstones and append again."""


class MemoryLog(Protocol):
    """Raises `RetryLater` when the bus cannot answer, `StopAndFix` for an event of an unknown newer schema or a key
    that is missing without its marker. What can never be read (changed, cut, no event at all) is passed over by
    all that reads many events: its delivery is a dead letter, and the rest of its user's log counts.
    """

    async def append(
        self, owner: Owner, event: LogEvent, *, accepted_at: datetime, after_tombstone: int | None = None
    ) -> int:
        """Seals and appends; durable when it returns. Returns the sequence.

        Idempotent in effect: the same event has the same id wherever it is written. With `after_tombstone` it is
        appended only if the owner's newest tombstone is that one (`last_tombstone`); else raises `Overtaken`.
        """
        ...

    async def last_tombstone(self, owner: Owner) -> int:
        """The sequence of the owner's newest tombstone, 0 if there is none."""
        ...

    def read(self, owner: Owner, *, kinds: Sequence[str] = (), after: int = 0) -> AsyncIterator[Logged]:
        """The owner's events in log order, all kinds if none is named, beyond a sequence."""
        ...

    def read_all(self, *, after: int = 0) -> AsyncIterator[Logged]:
        """Everybody's events in log order, up to the log's end at the time of asking."""
        ...

    async def open(self, subject: str, data: bytes, sequence: int) -> Logged:
        """Opens one event that a delivery brought. Raises `GiveUp` or `StopAndFix` for what cannot be read."""
        ...

    async def reseal(self, owner: Owner, old: SealingKey, covered: Collection[Piece]) -> int:
        """Seals anew, under the owner's current key, what `old` sealed of turns, and of decisions about pieces, that
        are not covered; returns how many.

        For the eraser, between a key's marker and its wiping. Idempotent.
        """
        ...

    async def erase(
        self, owner: Owner, *, key_ids: Collection[str] = (), turn_keys: Collection[str] = ()
    ) -> int:
        """Removes events sealed with one of the keys or of one of the turns, bytes included; tombstones stay.

        Returns how many went. Idempotent.
        """
        ...

    async def erase_decisions(self, owner: Owner, covered: Collection[Piece]) -> int:
        """Removes decisions of which every piece is covered, bytes included; returns how many went. Idempotent."""
        ...

    async def last_sequence(self, owner: Owner) -> int:
        """The sequence of the owner's newest event, 0 if there is none."""
        ...

    async def outcomes(self, owner: Owner) -> dict[str, str]:
        """Turn key → the best outcome of that turn, of all the owner's turns, without opening an event."""
        ...

    def read_turn(self, owner: Owner, turn_key: str) -> AsyncIterator[Logged]:
        """The `turn` events of one turn and the owner's tombstones, in log order; opens nothing else."""
        ...
