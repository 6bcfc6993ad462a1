"""What goes on in the server form while its parts are killed: people speak and agents ask, over plain NATS."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from server_form.deployment import ServerForm, ask

USERS = tuple(f"person-{number}" for number in range(6))
# how long the asker itself waits: longer than any answer may take, shorter than a test
ANSWER_S = 10.0
_BETWEEN_QUESTIONS_S = 0.02


def said(number: int) -> dict[str, Any]:
    """A turn that gives one memory, which nobody else's turn and no other turn gives: its number stands in it."""
    text = f"我买了编号{number}的台灯。" if number % 2 else f"I bought a lamp in town {number}."
    return {
        "turn_id": f"t-{number}",
        "user_id": USERS[number % len(USERS)],
        "session_id": "c-1",
        "occurred_at": "2026-03-04T09:15:00+08:00",
        "time_zone": "Asia/Shanghai",
        "messages": [{"role": "user", "content": text}],
    }


class Speakers:
    """Publish turn after turn, each again until it is acknowledged, as far as they are allowed to.

    The allowance keeps turns flowing through every kill, instead of all before the first one.
    """

    def __init__(self, nc: Client, at_once: int = 4) -> None:
        self._nc = nc
        self._numbers = itertools.count()
        self._allowed = asyncio.Semaphore(0)
        self.acknowledged: list[int] = []
        self._tasks = [asyncio.create_task(self._speak(), name="speaker") for _ in range(at_once)]
        self.allowed = 0

    def allow(self, count: int) -> None:
        self.allowed += count
        for _ in range(count):
            self._allowed.release()

    @property
    def is_silent(self) -> bool:
        """All that was allowed is acknowledged."""
        self.raise_faults()
        return len(self.acknowledged) == self.allowed

    def raise_faults(self) -> None:
        for task in self._tasks:
            if task.done():
                task.result()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _speak(self) -> None:
        while True:
            await self._allowed.acquire()
            number = next(self._numbers)
            body = json.dumps(said(number)).encode()
            while True:
                try:
                    await self._nc.jetstream().publish("conversation.turn", body, timeout=2)
                except (nats.errors.Error, nats.js.errors.Error, TimeoutError):
                    await asyncio.sleep(0.05)
                else:
                    self.acknowledged.append(number)
                    break


@dataclass
class Heard:
    """What the answers to one kind of question said, in one period."""

    answered: int = 0
    whole: int = 0
    with_memories: int = 0
    degraded: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    longest_s: float = 0.0


class Asker:
    """Asks for memories and snapshots all the time; `heard` is what it heard since `listen_anew`, by kind."""

    def __init__(self, nc: Client) -> None:
        self._nc = nc
        self.heard: dict[str, Heard] = {}
        self.listen_anew()
        self._task = asyncio.create_task(self._ask(), name="asker")

    def listen_anew(self) -> dict[str, Heard]:
        """Begins a new period; what was heard in the one before."""
        before, self.heard = self.heard, {"recall": Heard(), "inject": Heard()}
        return before

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _ask(self) -> None:
        for round_ in itertools.count():
            user = USERS[round_ % len(USERS)]
            query = "which lamp, in which town?" if round_ % 2 == 0 else "买了哪盏台灯？"
            await self._one("recall", user_id=user, query=query, min_score=0)
            await self._one("inject", user_id=user, session_id="c-1", query=query)
            await asyncio.sleep(_BETWEEN_QUESTIONS_S)

    async def _one(self, kind: str, **body: Any) -> None:
        period, began = self.heard[kind], time.monotonic()
        try:
            answer = await ask(self._nc, kind, timeout_s=ANSWER_S, **body)
        except (nats.errors.Error, TimeoutError, OSError) as fault:
            period.failed[type(fault).__name__] += 1
            return
        finally:
            period.longest_s = max(period.longest_s, time.monotonic() - began)
        if "error" in answer:
            period.failed[answer["error"]["code"]] += 1
            return
        period.answered += 1
        period.whole += not answer["degraded"]
        period.degraded.update(answer["degraded"])
        period.with_memories += bool(answer["memories"] if kind == "recall" else answer["parts"]["episodic"])


@asynccontextmanager
async def speaking_and_asking(form: ServerForm) -> AsyncIterator[tuple[Client, Speakers, Asker]]:
    """Each over a connection of its own, as applications have them; the first is the test's."""
    async with form.client() as own, form.client() as spoken, form.client() as asked:
        speakers, asker = Speakers(spoken), Asker(asked)
        try:
            yield own, speakers, asker
        finally:
            await speakers.stop()
            await asker.stop()


async def until(
    form: ServerForm, what: str, reached: Callable[[], Any], seen: Callable[[], Any], *, within_s: float = 90
) -> float:
    """Seconds until `reached`, a plain or an awaited truth. Past `within_s` it fails with what it saw, and all logs."""
    began = time.monotonic()
    while True:
        found = reached()
        if asyncio.iscoroutine(found):
            found = await found
        if found:
            return time.monotonic() - began
        if time.monotonic() - began > within_s:
            raise AssertionError(f"waited {within_s:g} s for {what}; seen: {seen()}\n{form.logs()}")
        await asyncio.sleep(0.05)
