"""What could not be processed: kept, with its cause, where an operator and its own sender find it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hindsight_common.ids import Owner


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """`stream` and `consumer` say where it failed, `code`, `reason` and `field` why."""

    sequence: int
    stream: str
    consumer: str
    code: str
    reason: str
    field: str | None


class DeadLetters(Protocol):
    """Raises `RetryLater` when the bus cannot answer."""

    async def find(self, owner: Owner, turn_key: str) -> DeadLetter | None:
        """The newest dead letter of one turn."""
        ...

    async def erase(self, owner: Owner, turn_keys: frozenset[str] | None = None) -> int:
        """Removes an owner's dead letters, all of them or those of some turns; returns how many."""
        ...
