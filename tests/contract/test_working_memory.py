"""What working memory promises, held to by the dictionary and by a real server."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from hindsight_common.adapters.embedded.redis_server import RedisServer
from hindsight_common.adapters.in_memory.working_memory import InMemoryWorkingMemory
from hindsight_common.adapters.redis_working_memory import SESSION_TTL, RedisWorkingMemory
from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import OwnerMismatch
from hindsight_common.ports.working_memory import (
    MOST_CHARACTERS,
    MOST_TURNS,
    SpokenTurn,
    WorkingMemory,
)
from hindsight_common.sealing import KeyDestroyed, KeyMissing, SealingKey, new_user_key

ALICE, BOB = Owner("default", "a" * 32), Owner("default", "b" * 32)
ALICE_ELSEWHERE = Owner("other", "a" * 32)
MORNING = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)
ALL = 100


class Keys:
    """A keyring in a dictionary."""

    def __init__(self) -> None:
        self.keys: dict[Owner, SealingKey] = {}
        self.gone: set[str] = set()

    async def current(self, owner: Owner) -> SealingKey:
        return self.keys.setdefault(owner, new_user_key())

    async def find(self, owner: Owner, key_id: str) -> SealingKey:
        if key_id in self.gone:
            raise KeyDestroyed(key_id)
        if (key := self.keys.get(owner)) is None or key.key_id != key_id:
            raise KeyMissing(key_id)
        return key

    async def is_destroyed(self, owner: Owner, key_id: str) -> bool:
        return key_id in self.gone

    async def destroyed(self, owner: Owner) -> frozenset[str]:
        return frozenset(self.gone)

    async def mark_destroyed(self, owner: Owner) -> frozenset[str]:
        self.gone.add(self.keys.pop(owner).key_id)
        return frozenset(self.gone)

    async def doomed(self, owner: Owner) -> list[SealingKey]:
        return []

    async def wipe(self, owner: Owner, key: SealingKey) -> None:
        return None


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with running(tmp_path) as server:
        yield server


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[RedisServer]:
    server = RedisServer(folder / "redis")
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def over(
    server: RedisServer, keys: Keys | None = None, *, ttl: timedelta = SESSION_TTL
) -> AsyncIterator[RedisWorkingMemory]:
    memory = RedisWorkingMemory(server.url, keys or Keys(), session_ttl=ttl)
    try:
        yield memory
    finally:
        await memory.close()


@pytest.fixture(params=["in_memory", "redis"])
async def memory(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[WorkingMemory]:
    if request.param == "in_memory":
        yield InMemoryWorkingMemory()
    else:
        async with running(tmp_path) as server, over(server) as memory:
            yield memory


def spoken(number: int, *said: str, at: datetime | None = None, turn_id: str | None = None) -> SpokenTurn:
    """A turn whose utterances are of the user and the assistant by turns."""
    happened = at or MORNING + timedelta(minutes=number)
    lines = said or (f"question {number}", f"answer {number}")
    return SpokenTurn(
        turn_key=f"{number:032x}",
        turn_id=turn_id or f"t-{number}",
        occurred_at=happened,
        accepted_at=happened,
        said=tuple(zip(itertools.cycle(("user", "assistant")), lines)),
    )


async def texts(
    memory: WorkingMemory, owner: Owner = ALICE, session: str = "s-1", count: int = ALL
) -> list[str]:
    return [utterance.text for utterance in await memory.latest(owner, session, count)]


async def test_the_last_utterances_come_back_oldest_first_with_who_said_them(memory: WorkingMemory) -> None:
    assert await memory.append(ALICE, "s-1", spoken(1, "我想买手机", "什么预算？"))
    assert await memory.append(ALICE, "s-1", spoken(2, "五千 \U0001f642", "好的"))
    last = await memory.latest(ALICE, "s-1", 3)
    assert [(u.speaker, u.text, u.turn_id) for u in last] == [
        ("assistant", "什么预算？", "t-1"),
        ("user", "五千 \U0001f642", "t-2"),
        ("assistant", "好的", "t-2"),
    ]
    assert last[-1].occurred_at == MORNING + timedelta(minutes=2)


async def test_a_turn_that_comes_twice_stands_once_and_keeps_its_first_form(memory: WorkingMemory) -> None:
    assert await memory.append(ALICE, "s-1", spoken(1, "first"))
    assert not await memory.append(ALICE, "s-1", spoken(1, "again"))
    assert await texts(memory) == ["first"]


async def test_turns_stand_in_the_order_in_which_they_were_said_however_they_come(
    memory: WorkingMemory,
) -> None:
    turns = [spoken(n) for n in range(6)]
    # at the same moment the id of the turn decides
    turns += [
        spoken(90 - n, f"same {n}", at=MORNING + timedelta(hours=1), turn_id=f"t-{n}") for n in range(3)
    ]
    random.Random(7).shuffle(turns)
    await asyncio.gather(*(memory.append(ALICE, "s-1", turn) for turn in turns))
    expected = [line for n in range(6) for line in (f"question {n}", f"answer {n}")]
    assert await texts(memory) == [*expected, "same 0", "same 1", "same 2"]


async def test_of_many_turns_the_latest_are_kept_whatever_their_order_of_arrival(
    memory: WorkingMemory,
) -> None:
    turns = [spoken(n, f"said {n}") for n in range(MOST_TURNS + 10)]
    random.Random(3).shuffle(turns)
    for turn in turns:
        await memory.append(ALICE, "s-1", turn)
    assert await texts(memory) == [f"said {n}" for n in range(10, MOST_TURNS + 10)]
    assert not await memory.append(ALICE, "s-1", spoken(0, "said 0"))


async def test_much_text_pushes_old_turns_out_but_never_the_newest(memory: WorkingMemory) -> None:
    for n in range(3):
        await memory.append(ALICE, "s-1", spoken(n, str(n) * (MOST_CHARACTERS // 2)))
    assert [text[0] for text in await texts(memory)] == ["1", "2"]
    await memory.append(ALICE, "s-1", spoken(9, "9" * (MOST_CHARACTERS + 1)))
    assert [text[0] for text in await texts(memory)] == ["9"]


async def test_sessions_users_and_tenants_never_mix(memory: WorkingMemory) -> None:
    places = [(ALICE, "s-1"), (ALICE, "s-2"), (BOB, "s-1"), (ALICE_ELSEWHERE, "s-1")]
    for n, (owner, session) in enumerate(places):
        await memory.append(owner, session, spoken(1, f"secret {n}"))
    for n, (owner, session) in enumerate(places):
        assert await texts(memory, owner, session) == [f"secret {n}"]
    assert await texts(memory, BOB, "s-2") == []


async def test_a_closed_session_is_empty_and_a_late_turn_does_not_reopen_it(memory: WorkingMemory) -> None:
    await memory.append(ALICE, "s-1", spoken(1))
    await memory.append(ALICE, "s-2", spoken(2, "elsewhere"))
    await memory.close_session(ALICE, "s-1")
    await memory.close_session(ALICE, "s-1")
    assert await texts(memory) == []
    assert not await memory.append(ALICE, "s-1", spoken(3))
    assert await texts(memory) == []
    assert await texts(memory, ALICE, "s-2") == ["elsewhere"]
    assert await memory.append(BOB, "s-1", spoken(3))


async def test_a_session_can_be_closed_before_anything_was_said(memory: WorkingMemory) -> None:
    await memory.close_session(ALICE, "s-1")
    assert not await memory.append(ALICE, "s-1", spoken(1))
    assert await memory.forget_owner(ALICE) == 0


async def test_forgotten_turns_leave_every_session_and_do_not_come_in_again(memory: WorkingMemory) -> None:
    for session in ("s-1", "s-2"):
        for n in range(3):
            await memory.append(ALICE, session, spoken(n))
    await memory.append(BOB, "s-1", spoken(1, "bob's"))
    assert await memory.forget_turns(ALICE, {spoken(1).turn_key, spoken(7).turn_key}) == 2
    for session in ("s-1", "s-2"):
        assert await texts(memory, ALICE, session) == ["question 0", "answer 0", "question 2", "answer 2"]
    # also one that was on its way when it was forgotten
    for n in (1, 7):
        assert not await memory.append(ALICE, "s-1", spoken(n))
    assert await texts(memory, BOB) == ["bob's"]
    assert await memory.forget_turns(ALICE, {spoken(1).turn_key}) == 0
    assert await memory.forget_turns(ALICE, []) == 0


async def test_a_user_is_forgotten_with_all_sessions_and_speaks_again(memory: WorkingMemory) -> None:
    for session in ("s-1", "s-2", "s-3"):
        await memory.append(ALICE, session, spoken(1))
        await memory.append(ALICE, session, spoken(2))
    await memory.append(ALICE_ELSEWHERE, "s-1", spoken(1, "another tenant's"))
    await memory.close_session(ALICE, "s-3")
    assert await memory.forget_owner(ALICE) == 4
    assert await texts(memory) == await texts(memory, ALICE, "s-2") == []
    assert await memory.forget_owner(ALICE) == 0
    assert await texts(memory, ALICE_ELSEWHERE) == ["another tenant's"]
    assert await memory.append(ALICE, "s-1", spoken(3, "again"))
    assert await texts(memory) == ["again"]


async def test_it_says_that_it_is_there(memory: WorkingMemory) -> None:
    await memory.check()


@pytest.mark.parametrize("kind", ["in_memory", "redis"])
async def test_a_silent_session_is_gone_and_every_turn_begins_the_silence_again(
    kind: str, server: RedisServer
) -> None:
    ttl = timedelta(milliseconds=400)
    memory: WorkingMemory = (
        InMemoryWorkingMemory(ttl)
        if kind == "in_memory"
        else RedisWorkingMemory(server.url, Keys(), session_ttl=ttl)
    )
    loop = asyncio.get_running_loop()
    began = loop.time()
    spoke_on = 0
    while loop.time() - began < 1:
        # as long as somebody goes on within the time, nothing is lost, whatever the machine is busy with
        before = loop.time()
        await memory.append(ALICE, "s-1", spoken(spoke_on, "still here"))
        held = await texts(memory)
        assert held or loop.time() - before > 0.3
        spoke_on += 1
        await asyncio.sleep(0.02)
    async with asyncio.timeout(20):
        while await texts(memory):
            await asyncio.sleep(0.02)
    assert await memory.forget_owner(ALICE) == 0
    await memory.close()


async def everything(server: RedisServer) -> bytes:
    """All keys and values of the server, as it holds them."""
    async with Redis.from_url(server.url) as client:
        found = b""
        async for key in client.scan_iter():
            match await client.type(key):
                case b"hash":
                    value = repr(await client.hgetall(key))
                case b"zset":
                    value = repr(await client.zrange(key, 0, -1))
                case _:
                    value = repr(await client.smembers(key))
            assert await client.pttl(key) > 0, "every key expires"
            found += repr((key, value)).encode()
        return found


async def test_neither_text_nor_ids_stand_in_clear_in_the_server(server: RedisServer) -> None:
    async with over(server) as memory:
        await memory.append(
            ALICE, "s" * 32, spoken(1, "my address is Elm Street 7", turn_id="turn-id-in-clear")
        )
        await memory.close_session(ALICE, "c" * 32)
        await memory.forget_turns(ALICE, ["f" * 32])
        held = await everything(server)
        assert b"Elm" not in held
        assert b"turn-id-in-clear" not in held
        assert b"a" * 32 in held


async def test_a_session_that_the_server_no_longer_lists_is_not_shown_and_begins_anew(
    server: RedisServer,
) -> None:
    # a server that is full takes any key, and what is listed nowhere no erasure finds
    async with over(server) as memory, Redis.from_url(server.url) as client:
        for number in (1, 2):
            await memory.append(ALICE, "s-1", spoken(number))
        listed = [key async for key in client.scan_iter() if await client.type(key) != b"hash"]
        await client.delete(*listed)
        await memory.forget_turns(ALICE, [spoken(1).turn_key])
        assert await texts(memory) == []
        assert await memory.append(ALICE, "s-1", spoken(3, "now"))
        assert await texts(memory) == ["now"]


async def test_a_closed_session_stays_closed_where_the_server_lists_none(server: RedisServer) -> None:
    async with over(server) as memory:
        await memory.append(ALICE, "s-1", spoken(1))
        await memory.close_session(ALICE, "s-1")
        await memory.forget_owner(ALICE)
        assert not await memory.append(ALICE, "s-1", spoken(2))
        assert await texts(memory) == []


async def test_what_begins_while_a_user_is_forgotten_is_found_by_the_next_erasure(
    server: RedisServer,
) -> None:
    async with over(server) as memory:
        for number in range(200):
            session = f"s-{number}"
            await asyncio.gather(
                memory.forget_owner(ALICE),
                memory.append(ALICE, "s-beside", spoken(number)),
                memory.append(ALICE, session, spoken(number)),
            )
            await memory.forget_turns(ALICE, [spoken(number).turn_key])
            assert await texts(memory, ALICE, session) == []
        async with Redis.from_url(server.url) as client:
            assert [key async for key in client.scan_iter("*:s:*")] == []


async def test_sessions_that_ended_by_silence_are_not_listed_for_as_long_as_their_user_speaks(
    server: RedisServer,
) -> None:
    async with over(server, ttl=timedelta(milliseconds=200)) as memory:
        await memory.append(ALICE, "ended-long-ago", spoken(1))
        numbers = itertools.count(2)
        async with asyncio.timeout(20), Redis.from_url(server.url) as client:
            (listing,) = [key async for key in client.scan_iter("*:open")]
            while b"ended-long-ago" in await client.zrange(listing, 0, -1):
                await memory.append(ALICE, "goes-on", spoken(next(numbers)))


async def test_another_owners_value_is_an_alarm_and_never_an_answer(server: RedisServer) -> None:
    async with over(server) as memory, Redis.from_url(server.url) as client:
        await memory.append(ALICE, "s-1", spoken(1, "alice's"))
        await memory.append(BOB, "s-1", spoken(1, "bob's"))
        keys = {k.decode().split("{")[1][:9]: k async for k in client.scan_iter("*:s:*")}
        field, value = next(iter((await client.hgetall(keys["default/a"])).items()))
        await client.hset(keys["default/b"], field, value)
        with pytest.raises(OwnerMismatch):
            await memory.latest(BOB, "s-1", ALL)
        assert await texts(memory) == ["alice's"]


async def test_a_value_that_was_moved_or_changed_costs_its_turn_alone(server: RedisServer) -> None:
    async with over(server) as memory, Redis.from_url(server.url) as client:
        await memory.append(ALICE, "s-1", spoken(1, "one"))
        await memory.append(ALICE, "s-1", spoken(2, "two"))
        await memory.append(ALICE, "s-2", spoken(3, "three"))
        (elsewhere,) = [key async for key in client.scan_iter("*:s:s-2")]
        here = elsewhere.replace(b"s-2", b"s-1")
        field, value = next(iter((await client.hgetall(elsewhere)).items()))
        assert isinstance(value, bytes)
        await client.hset(here, field, value)
        await client.hset(here, spoken(2).turn_key, value[:-3] + b"xyz")
        await client.hset(here, "junk", "\xff")
        assert await texts(memory) == ["one"]


async def test_text_of_a_destroyed_key_is_gone_even_where_its_bytes_are_not(server: RedisServer) -> None:
    keys = Keys()
    async with over(server, keys) as memory:
        await memory.append(ALICE, "s-1", spoken(1, "before"))
        await keys.mark_destroyed(ALICE)
        assert await texts(memory) == []
        await memory.append(ALICE, "s-1", spoken(2, "after"))
        assert await texts(memory) == ["after"]


async def test_a_cancelled_call_gives_nobody_anothers_reply_and_the_pool_does_not_run_dry(
    server: RedisServer,
) -> None:
    chance = random.Random(11)
    async with over(server) as memory:
        await memory.append(ALICE, "s-1", spoken(1, "alice's " * 2000))
        await memory.append(BOB, "s-1", spoken(1, "bob's"))
        cancelled = 0
        for number in range(200):
            call = asyncio.create_task(memory.latest(ALICE, "s-1", ALL))
            if number % 2:
                await asyncio.sleep(chance.uniform(0, 0.003))
            else:
                # by steps of the loop, so that it is under way however fast the machine is
                for _ in range(chance.randrange(6)):
                    await asyncio.sleep(0)
            call.cancel()
            assert await texts(memory, BOB) == ["bob's"]
            with suppress(asyncio.CancelledError):
                await call
            cancelled += call.cancelled()
        assert cancelled > 20, "the calls were over before anybody could cancel them"
        # as many at once as there are connections, and more
        both = await asyncio.gather(*(texts(memory, owner) for owner in [ALICE, BOB] * 40))
        assert {text[:5] for (text,) in both[0::2]} == {"alice"}
        assert {text for (text,) in both[1::2]} == {"bob's"}


async def test_while_it_is_away_callers_are_told_soon_and_it_recovers_by_itself(server: RedisServer) -> None:
    async with over(server) as memory:
        await memory.append(ALICE, "s-1", spoken(1))
        pid = server.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            loop = asyncio.get_running_loop()
            began = loop.time()
            for _ in range(10):
                with pytest.raises(RetryLater):
                    await memory.latest(ALICE, "s-1", ALL)
            # three wait for it, the others are told at once
            assert loop.time() - began < 4
        finally:
            os.kill(pid, signal.SIGCONT)
        await until_it_answers(memory)
        assert await texts(memory) == ["question 1", "answer 1"]


async def test_a_server_that_dies_comes_back_empty_under_the_same_address(server: RedisServer) -> None:
    async with over(server) as memory:
        await memory.append(ALICE, "s-1", spoken(1))
        pid, address = server.pid, server.url
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(30):
            while server.restarts < 1:
                await asyncio.sleep(0.01)
        await until_it_answers(memory)
        assert server.url == address
        assert await texts(memory) == []
        assert await memory.append(ALICE, "s-1", spoken(2))


async def until_it_answers(memory: WorkingMemory) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                return await memory.check()
            except RetryLater:
                await asyncio.sleep(0.02)


async def test_a_wrong_password_does_not_pass_by_waiting(server: RedisServer) -> None:
    wrong = RedisWorkingMemory(server.url.replace("redis://:", "redis://:wrong-"), Keys())
    with pytest.raises(StopAndFix) as refused:
        await wrong.check()
    assert "redis_url" in str(refused.value)
    assert "wrong-" not in str(refused.value)
    with pytest.raises(RetryLater):
        await wrong.append(ALICE, "s-1", spoken(1))
    await wrong.close()


async def test_an_address_that_cannot_be_one_is_refused_without_repeating_it() -> None:
    with pytest.raises(StopAndFix) as refused:
        RedisWorkingMemory("http://:secret@host", Keys())
    assert "redis_url" in str(refused.value)
    assert "secret" not in str(refused.value)


async def test_the_server_writes_nothing_to_disk_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with running(tmp_path) as server, over(server) as memory:
        await memory.append(ALICE, "s-1", spoken(1))
        assert (tmp_path / "redis/redis.conf").stat().st_mode & 0o077 == 0
        pid = server.pid
    assert pid is not None
    assert {path.name for path in (tmp_path / "redis").iterdir()} <= {"redis.log"}
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
