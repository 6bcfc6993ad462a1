"""Recalls that wait for something to become visible, and the others beside them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from workers import Workers

from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.service import DEFAULT_CONCURRENCY


async def test_any_number_that_wait_hold_up_nobody(bus: Bus, tmp_path: Path) -> None:
    async with Workers(bus, tmp_path) as workers:
        await workers.say("u-1", "t-1", "I am allergic to peanuts.")
        waiting = [
            asyncio.create_task(workers.ask("recall", user_id=f"w-{n}", query="x", wait_for_turn="never"))
            for n in range(3 * DEFAULT_CONCURRENCY)
        ]
        answered = asyncio.create_task(
            workers.ask("recall", user_id="u-1", query="allergic to peanuts", min_score=0)
        )
        first, _ = await asyncio.wait([answered, *waiting], return_when=asyncio.FIRST_COMPLETED)
        assert answered in first
        assert (await answered)["memories"]
        for late in await asyncio.gather(*waiting):
            assert "not_caught_up" in late["degraded"]
