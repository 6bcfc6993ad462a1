"""Accepted turns on their way to extraction: validated, redacted, keyed, sealed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from hindsight_common.ids import Owner
from hindsight_common.ports.extraction import Turn
from hindsight_common.sealing import SealingKey


@dataclass(frozen=True, slots=True)
class Acceptance:
    """`duplicate` = the same turn was there already; `sequence` is then that of the first."""

    sequence: int
    duplicate: bool


@dataclass(frozen=True, slots=True)
class StoredTurn:
    sequence: int
    owner: Owner
    turn_key: str
    key_id: str
    stored_at: datetime


class TurnStore(Protocol):
    """Raises `RetryLater` when the bus cannot answer."""

    async def accept(self, owner: Owner, turn_key: str, turn: Turn, digest: str) -> Acceptance:
        """Appends the turn once. Raises `GiveUp` (`turn_id_reused`) if the id is taken by other content."""
        ...

    async def open(self, subject: str, data: bytes) -> Turn | None:
        """The turn that a delivery brought; None if its user's key was destroyed since."""
        ...

    async def find(self, owner: Owner, turn_key: str) -> StoredTurn | None: ...

    async def read(self, sequence: int) -> Turn | None:
        """One stored turn, opened; None if it is gone or its user's key was destroyed."""
        ...

    def list(self, owner: Owner | None = None) -> AsyncIterator[StoredTurn]:
        """The turns of one owner, or of everybody, oldest first."""
        ...

    async def delete(self, sequence: int) -> None:
        """Removes a turn, bytes included. Idempotent."""
        ...

    async def reseal(self, stored: StoredTurn, old: SealingKey) -> None:
        """Seals a turn anew under its owner's current key, from under one that is about to be wiped."""
        ...
