"""Raw turns that wait for intake: the only thing at rest in clear, so an erasure looks there too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from hindsight_common.ids import Owner


@dataclass(frozen=True, slots=True)
class RawTurn:
    """`turn_key` and `session_key` are None where the payload names no valid turn or session."""

    sequence: int
    turn_key: str | None
    session_key: str | None


class RawTurns(Protocol):
    def waiting(self, owner: Owner) -> AsyncIterator[RawTurn]:
        """What waits of one owner, by the user id that each payload names."""
        ...

    async def delete(self, sequence: int) -> bool:
        """Removes one, bytes included; False if intake has taken it already."""
        ...
