"""Working memory in Redis: a hash a session, each turn in it sealed with its user's key.

`hindsight:working:{tenant/user_key}:s:<session key>` maps turn keys to boxes (`redis_boxes`); a closed session has the
one field `closed` instead. Beside it stand the names of the user's sessions, each with the time at which it ends by
silence (`:open`), and those of turns that were forgotten lately (`:forgotten`). The braces keep what is one user's on
one node of a cluster. Every key expires.

An erasure finds sessions by their names. A server that is full may take any key, so what is listed nowhere is not
there: it is not shown, and the next turn of that session begins it anew.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import Final, cast

import structlog

from hindsight_common.adapters.redis_boxes import (
    CHARACTERS_DIGITS,
    ORDER_DIGITS,
    boxed,
    opened,
    read_box,
)
from hindsight_common.adapters.redis_calls import RedisCalls, connect
from hindsight_common.errors import GiveUp
from hindsight_common.ids import Owner
from hindsight_common.ports.keys import Keyring
from hindsight_common.ports.memory_index import OwnerMismatch
from hindsight_common.ports.working_memory import (
    CLOSED_FOR,
    MOST_CHARACTERS,
    MOST_TURNS,
    SpokenTurn,
    Utterance,
)
from hindsight_common.sealing import KeyDestroyed

SESSION_TTL: Final = timedelta(hours=2)
_AT_ONCE: Final = 1000
_CLOSED: Final = "closed"

# KEYS: session, open, forgotten. ARGV: turn key, box, ttl (ms), session key, most turns, most characters.
_APPEND: Final = f"""
if redis.call('HEXISTS', KEYS[1], '{_CLOSED}') == 1 then return 0 end
if redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if not redis.call('ZSCORE', KEYS[2], ARGV[4]) then redis.call('DEL', KEYS[1]) end
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
local function characters(box)
  return tonumber(string.sub(box, {ORDER_DIGITS + 1}, {ORDER_DIGITS + CHARACTERS_DIGITS}))
end
local flat, turns, total = redis.call('HGETALL', KEYS[1]), {{}}, 0
for i = 1, #flat, 2 do
  local size = characters(flat[i + 1])
  turns[#turns + 1] = {{string.sub(flat[i + 1], 1, {ORDER_DIGITS}) .. flat[i], flat[i], size}}
  total = total + size
end
table.sort(turns, function(a, b) return a[1] < b[1] end)
local first = 1
while first < #turns and (#turns - first + 1 > tonumber(ARGV[5]) or total > tonumber(ARGV[6])) do
  redis.call('HDEL', KEYS[1], turns[first][2])
  total = total - turns[first][3]
  first = first + 1
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[4])
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
return redis.call('HEXISTS', KEYS[1], ARGV[1])
"""

_log = structlog.get_logger(__name__)


class RedisWorkingMemory:
    """Implements `ports.working_memory.WorkingMemory`. Made inside the event loop that uses it."""

    def __init__(self, url: str, keyring: Keyring, *, session_ttl: timedelta = SESSION_TTL) -> None:
        self._redis = connect(url)
        self._keyring = keyring
        self._ttl_ms = int(session_ttl.total_seconds() * 1000)
        self._calls = RedisCalls()
        self._append = self._redis.register_script(_APPEND)

    async def append(self, owner: Owner, session_key: str, turn: SpokenTurn) -> bool:
        box = boxed(owner, session_key, turn, await self._keyring.current(owner))
        keys = [_session(owner, session_key), _open(owner), _forgotten(owner)]
        arguments: list[str | bytes | int] = [turn.turn_key, box, self._ttl_ms, session_key]
        arguments += [MOST_TURNS, MOST_CHARACTERS]
        return bool(await self._calls.run(lambda: self._append(keys=keys, args=arguments)))

    async def latest(self, owner: Owner, session_key: str, count: int) -> tuple[Utterance, ...]:
        async def read() -> dict[bytes, bytes]:
            async with self._redis.pipeline(transaction=True) as step:
                step.hgetall(_session(owner, session_key))
                step.zscore(_open(owner), session_key)
                held, listed = await step.execute()
                return {} if listed is None else cast("dict[bytes, bytes]", held)

        found = await self._calls.run(read)
        turns = [turn async for turn in self._opened(owner, session_key, found)]
        turns.sort(key=lambda turn: turn.order)
        return tuple(utterance for turn in turns for utterance in turn.utterances)[-count:]

    async def close_session(self, owner: Owner, session_key: str) -> None:
        place = _session(owner, session_key)

        async def release() -> None:
            async with self._redis.pipeline(transaction=True) as step:
                step.delete(place)
                step.hset(place, _CLOSED, str(owner))
                step.pexpire(place, CLOSED_FOR)
                step.zrem(_open(owner), session_key)
                await step.execute()

        await self._calls.run(release)

    async def forget_turns(self, owner: Owner, turn_keys: Collection[str]) -> int:
        removed = 0
        for some in _chunks(turn_keys, _AT_ONCE):
            # the mark first: what is appended behind it is refused, what was before it is found
            removed += await self._remove(owner, some, await self._mark(owner, some))
        return removed

    async def forget_owner(self, owner: Owner) -> int:
        async def listed() -> list[bytes]:
            return cast("list[bytes]", await self._redis.zrange(_open(owner), 0, -1))

        names = await self._calls.run(listed)
        keys = [_session(owner, name.decode()) for name in names]

        async def remove() -> int:
            async with self._redis.pipeline(transaction=True) as step:
                for key in keys:
                    step.hlen(key)
                # these names alone: a session that began meanwhile stays listed, so that it is found again
                step.zrem(_open(owner), *names)
                step.delete(*keys)
                *held, _, _ = await step.execute()
                return sum(held)

        return await self._calls.run(remove) if names else 0

    async def check(self) -> None:
        await self._calls.check(self._redis.ping)

    async def close(self) -> None:
        await self._calls.close()
        await self._redis.aclose()

    async def _opened(
        self, owner: Owner, session_key: str, found: Mapping[bytes, bytes]
    ) -> AsyncIterator[SpokenTurn]:
        for field, value in found.items():
            turn_key = field.decode()
            if turn_key == _CLOSED:
                continue
            try:
                box = read_box(value)
                if box.owner != str(owner):
                    raise OwnerMismatch("working memory returned another owner's turn")
                key = await self._keyring.find(owner, box.key_id)
                yield opened(box, owner, session_key, turn_key, key)
            except KeyDestroyed:
                continue  # its user was forgotten since
            except GiveUp as fault:
                # it costs this turn; the others stand
                _log.error("working_memory.turn_unreadable", code=fault.code)

    async def _mark(self, owner: Owner, turn_keys: list[str]) -> list[bytes]:
        """Marks turns as forgotten; returns the names of the owner's sessions."""

        async def mark() -> list[bytes]:
            async with self._redis.pipeline(transaction=True) as step:
                step.sadd(_forgotten(owner), *turn_keys)
                step.pexpire(_forgotten(owner), self._ttl_ms)
                step.zrange(_open(owner), 0, -1)
                *_, names = await step.execute()
                return cast("list[bytes]", names)

        return await self._calls.run(mark)

    async def _remove(self, owner: Owner, turn_keys: list[str], sessions: Iterable[bytes]) -> int:
        places = [_session(owner, name.decode()) for name in sessions]

        async def remove() -> int:
            async with self._redis.pipeline(transaction=True) as step:
                for place in places:
                    step.hdel(place, *turn_keys)
                return sum(await step.execute())

        return await self._calls.run(remove) if places else 0


def _base(owner: Owner) -> str:
    return f"hindsight:working:{{{owner}}}"


def _session(owner: Owner, session_key: str) -> str:
    return f"{_base(owner)}:s:{session_key}"


def _open(owner: Owner) -> str:
    return f"{_base(owner)}:open"


def _forgotten(owner: Owner) -> str:
    return f"{_base(owner)}:forgotten"


def _chunks(values: Iterable[str], size: int) -> Iterator[list[str]]:
    rest = iter(values)
    while some := list(islice(rest, size)):
        yield some
