"""The first question after a start is answered without reading the asker's history."""

from __future__ import annotations

from pathlib import Path

import pytest
from workers import Workers

from hindsight_common.messaging.connection import Bus


async def test_the_first_recall_after_a_start_folds_no_log_and_says_what_it_covers(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Workers(bus, tmp_path) as workers:
        for n in range(3):
            last = await workers.say("u-1", f"t-{n}", f"I moved to city {n}.")
        await workers.say("u-2", "t-1", "I live in Lyon.")
    async with Workers(bus, tmp_path) as workers:

        def unread(*_: object, **__: object) -> None:
            raise AssertionError("the log was read")

        monkeypatch.setattr(workers.core.log, "read", unread)
        answer = await workers.ask("recall", user_id="u-1", query="Which city?", min_score=0)
        assert (answer["covers_up_to"], answer["degraded"]) == (last["position"], [])
        unknown = await workers.ask("recall", user_id="u-3", query="Which city?", min_score=0)
        assert (unknown["covers_up_to"], unknown["memories"]) == (0, [])
        monkeypatch.undo()
