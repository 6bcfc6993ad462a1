"""The last utterances of each session, for as long as somebody is talking; never on disk."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol

from hindsight_common.ids import Owner

Speaker = Literal["user", "assistant"]

# A turn that comes later than this after its session was closed may open it again. Publishers that retry for a day are
# covered, and a repetition of an accepted turn is recognised as one for about as long.
CLOSED_FOR: Final = timedelta(hours=24)
# The window takes 7 utterances at most, and a turn has one at least; the rest is for turns that are forgotten.
MOST_TURNS: Final = 16
# of a session, in characters; the newest turn stays whatever it weighs
MOST_CHARACTERS: Final = 64_000


@dataclass(frozen=True, slots=True)
class Utterance:
    """What one of the two said in one message, redacted. `occurred_at` is its turn's."""

    turn_id: str
    speaker: Speaker
    text: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """The utterances of one accepted turn. Turns stand in order of (occurred_at, accepted_at, turn_id)."""

    turn_key: str
    turn_id: str
    occurred_at: datetime
    accepted_at: datetime
    said: tuple[tuple[Speaker, str], ...]

    @property
    def order(self) -> tuple[datetime, datetime, str]:
        return (self.occurred_at, self.accepted_at, self.turn_id)

    @property
    def utterances(self) -> tuple[Utterance, ...]:
        return tuple(Utterance(self.turn_id, who, text, self.occurred_at) for who, text in self.said)

    @property
    def characters(self) -> int:
        return sum(len(text) for _, text in self.said)


class WorkingMemory(Protocol):
    """Every call names an owner, and a session by its keyed hash; sessions never mix.

    A session is gone after a time of silence, which every new turn begins again. Raises `RetryLater` while the store is
    away, within about a second. A call that is cancelled may have taken effect.
    """

    async def append(self, owner: Owner, session_key: str, turn: SpokenTurn) -> bool:
        """Adds a turn in its place; of more than `MOST_TURNS`, or of too much text, the oldest go. In one step.

        False if nothing was added: the turn is there already, it was forgotten, or the session is closed.
        """
        ...

    async def latest(self, owner: Owner, session_key: str, count: int) -> tuple[Utterance, ...]:
        """The last `count` utterances, oldest first; none of a session that is closed or unknown.

        Raises `OwnerMismatch` if the store returns what is not the owner's.
        """
        ...

    async def close_session(self, owner: Owner, session_key: str) -> None:
        """Releases what a session holds; a turn that comes within `CLOSED_FOR` does not reopen it. Idempotent."""
        ...

    async def forget_turns(self, owner: Owner, turn_keys: Collection[str]) -> int:
        """Removes turns from all sessions of an owner; one that is on its way does not come in. Idempotent.

        Returns how many were there.
        """
        ...

    async def forget_owner(self, owner: Owner) -> int:
        """Removes all sessions of an owner; returns how many turns they held. Idempotent."""
        ...

    async def check(self) -> None:
        """Returns if the store answers. Raises `RetryLater`, and `StopAndFix` where waiting would not help."""
        ...

    async def close(self) -> None: ...
