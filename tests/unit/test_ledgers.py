"""The cache of folded logs: bounded by what it weighs, and never further behind than what it was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, cast

from fold_strategies import evidence, given_turn, moment

from hindsight_common.ids import Owner
from hindsight_common.ports.log import Logged, MemoryLog
from hindsight_recall.application.ledgers import Ledgers

USERS = [Owner("default", f"{n:032x}") for n in range(6)]


class WrittenLog:
    """Three turns a user; counts how often each user's log is read."""

    def __init__(self) -> None:
        self.reads: Counter[Owner] = Counter()

    async def read(self, owner: Owner, **_: Any) -> AsyncIterator[Logged]:
        self.reads[owner] += 1
        for n in range(3):
            event = given_turn(f"t{n + 1}", evidence(f"t{n + 1}", day=n))
            yield Logged(10 * (n + 1), owner, f"e{n}", "turn", moment(n), event)


def ledgers(log: WrittenLog, capacity: int) -> Ledgers:
    return Ledgers(cast("MemoryLog", log), capacity=capacity)


async def test_a_ledger_holds_what_lies_below_the_sequence_and_nothing_else() -> None:
    folded = await ledgers(WrittenLog(), 1000).before(USERS[0], 20)
    assert folded.position == 10
    assert len(list(folded.ledger.turns())) == 1


async def test_the_least_recently_used_leaves_when_the_weight_is_too_much() -> None:
    log = WrittenLog()
    cache = ledgers(log, 16)  # a user weighs seven: three turns, three pieces, and itself
    for user in (USERS[0], USERS[1], USERS[0], USERS[2]):
        await cache.before(user, 100)
    assert cache.cached(USERS[1]) is None
    assert cache.cached(USERS[0]) is not None
    assert log.reads == {USERS[0]: 1, USERS[1]: 1, USERS[2]: 1}
    await cache.before(USERS[1], 100)
    assert log.reads[USERS[1]] == 2


async def test_one_that_is_too_large_alone_is_kept_while_it_is_used() -> None:
    cache = ledgers(WrittenLog(), 2)
    await cache.before(USERS[0], 100)
    assert cache.cached(USERS[0]) is not None
    cache.forget(USERS[0])
    cache.forget(USERS[0])
    assert cache.cached(USERS[0]) is None
