"""Blocking jobs leave the loop free, queries overtake, and nobody waits for ever."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from hindsight_common.adapters.lanes import Lanes
from hindsight_common.errors import RetryLater


@pytest.fixture
def lanes() -> Iterator[Lanes]:
    one = Lanes(1)
    yield one
    one.close()


class Gate:
    """A job that holds its thread until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self._let_go = threading.Event()

    def __call__(self) -> str:
        self.entered.set()
        self._let_go.wait()
        return "gate"

    def open(self) -> None:
        self._let_go.set()


async def held(lanes: Lanes) -> tuple[Gate, asyncio.Task[list[str]]]:
    gate = Gate()
    task = asyncio.create_task(lanes.run([gate], urgent=False))
    await asyncio.to_thread(gate.entered.wait)
    return gate, task


async def test_results_come_in_the_order_of_the_jobs(lanes: Lanes) -> None:
    assert await lanes.run([partial(pow, 2, n) for n in range(5)], urgent=False) == [1, 2, 4, 8, 16]


async def test_a_query_overtakes_the_passages_that_wait(lanes: Lanes) -> None:
    done: list[str] = []
    gate, holding = await held(lanes)
    passages = asyncio.create_task(
        lanes.run([partial(done.append, f"passage {n}") for n in range(3)], urgent=False)
    )
    await asyncio.sleep(0)
    query = asyncio.create_task(lanes.run([partial(done.append, "query")], urgent=True))
    await asyncio.sleep(0)
    gate.open()
    await asyncio.gather(holding, passages, query)
    assert done == ["query", "passage 0", "passage 1", "passage 2"]


async def test_no_more_jobs_run_at_once_than_there_are_threads() -> None:
    lanes = Lanes(2)
    running, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(2)

    def job() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait()  # passes only when two run together
        with lock:
            running -= 1

    await lanes.run([job] * 8, urgent=False)
    lanes.close()
    assert most == 2


async def test_an_error_reaches_the_caller_and_drops_what_has_not_begun(lanes: Lanes) -> None:
    begun: list[int] = []
    release = threading.Event()

    def fail() -> str:
        raise RetryLater("no memory")

    def hold(number: int) -> None:
        begun.append(number)
        release.wait(30)

    jobs: list[Callable[[], object]] = [fail, *(partial(hold, n) for n in range(50))]
    with pytest.raises(RetryLater, match="no memory"):
        await lanes.run(jobs, urgent=False)
    release.set()
    await lanes.run([int], urgent=False)
    # the one lane may have taken one more job before the caller heard of the fault
    assert len(begun) <= 1


async def test_a_cancelled_caller_leaves_no_work_behind(lanes: Lanes) -> None:
    done: list[int] = []
    gate, holding = await held(lanes)
    call = asyncio.create_task(lanes.run([partial(done.append, n) for n in range(5)], urgent=False))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    gate.open()
    await holding
    await lanes.run([int], urgent=False)
    assert done == []


async def test_closing_tells_the_waiting_and_the_late_to_retry() -> None:
    lanes = Lanes(1)
    gate, holding = await held(lanes)
    waiting = asyncio.create_task(lanes.run([int], urgent=True))
    await asyncio.sleep(0)
    closing = asyncio.create_task(asyncio.to_thread(lanes.close))
    with pytest.raises(RetryLater):
        await waiting
    gate.open()
    await closing
    assert await holding == ["gate"]
    with pytest.raises(RetryLater):
        await lanes.run([int], urgent=True)


async def test_each_thread_is_prepared_before_its_first_job() -> None:
    prepared: list[str] = []
    lanes = Lanes(1, lambda: prepared.append(threading.current_thread().name))
    (name,) = await lanes.run([lambda: threading.current_thread().name], urgent=True)
    lanes.close()
    assert prepared == [name]
