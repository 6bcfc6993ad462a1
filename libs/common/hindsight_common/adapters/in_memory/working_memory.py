"""Working memory in a dictionary: for tests, and lost with the process."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import timedelta

from hindsight_common.ids import Owner
from hindsight_common.ports.working_memory import (
    CLOSED_FOR,
    MOST_CHARACTERS,
    MOST_TURNS,
    SpokenTurn,
    Utterance,
)


class InMemoryWorkingMemory:
    """Implements `ports.working_memory.WorkingMemory`."""

    def __init__(self, session_ttl: timedelta = timedelta(hours=2)) -> None:
        self._ttl_s = session_ttl.total_seconds()
        self._sessions: dict[tuple[Owner, str], dict[str, SpokenTurn]] = {}
        self._until: dict[tuple[Owner, str], float] = {}
        self._closed: dict[tuple[Owner, str], float] = {}
        self._forgotten: dict[tuple[Owner, str], float] = {}

    async def append(self, owner: Owner, session_key: str, turn: SpokenTurn) -> bool:
        self._expire()
        place = (owner, session_key)
        if place in self._closed or (owner, turn.turn_key) in self._forgotten:
            return False
        turns = self._sessions.setdefault(place, {})
        if turn.turn_key in turns:
            return False
        turns[turn.turn_key] = turn
        self._until[place] = _now() + self._ttl_s
        oldest_first = sorted(turns.values(), key=lambda t: t.order)
        while len(oldest_first) > 1 and (
            len(oldest_first) > MOST_TURNS or sum(t.characters for t in oldest_first) > MOST_CHARACTERS
        ):
            del turns[oldest_first.pop(0).turn_key]
        return turn.turn_key in turns

    async def latest(self, owner: Owner, session_key: str, count: int) -> tuple[Utterance, ...]:
        self._expire()
        turns = self._sessions.get((owner, session_key), {}).values()
        said = [u for turn in sorted(turns, key=lambda t: t.order) for u in turn.utterances]
        return tuple(said[-count:])

    async def close_session(self, owner: Owner, session_key: str) -> None:
        self._drop((owner, session_key))
        self._closed[owner, session_key] = _now() + CLOSED_FOR.total_seconds()

    async def forget_turns(self, owner: Owner, turn_keys: Collection[str]) -> int:
        self._expire()
        self._forgotten |= {(owner, key): _now() + self._ttl_s for key in turn_keys}
        sessions = [turns for (whose, _), turns in self._sessions.items() if whose == owner]
        return sum(turns.pop(key, None) is not None for turns in sessions for key in turn_keys)

    async def forget_owner(self, owner: Owner) -> int:
        self._expire()
        places = [place for place in self._sessions if place[0] == owner]
        return sum(self._drop(place) for place in places)

    async def check(self) -> None:
        """It is always there."""

    async def close(self) -> None:
        self._sessions.clear()

    def _expire(self) -> None:
        now = _now()
        for place in [place for place, until in self._until.items() if until <= now]:
            self._drop(place)
        for marks in (self._closed, self._forgotten):
            for mark in [mark for mark, until in marks.items() if until <= now]:
                del marks[mark]

    def _drop(self, place: tuple[Owner, str]) -> int:
        self._until.pop(place, None)
        return len(self._sessions.pop(place, {}))


def _now() -> float:
    return asyncio.get_running_loop().time()
