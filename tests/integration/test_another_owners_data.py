"""A store that returns what is somebody else's: whatever was asked, no answer leaves, and the alert is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from workers import Workers

from hindsight_common.errors import RequestError
from hindsight_common.ids import Owner
from hindsight_common.messaging.connection import Bus
from hindsight_common.ports.memory_index import IndexFilter, IndexPage, IndexRow
from hindsight_recall.application.telemetry import RecallTelemetry

ASKED: dict[str, dict[str, Any]] = {
    "recall": {"query": "Where do I live?"},
    "inject": {"query": "Where do I live?", "session_id": "c-1"},
    "list": {},
    "get": {"memory_id": None},
}


@pytest.mark.parametrize("what", ASKED)
async def test_another_owners_row_stops_the_answer_and_raises_the_alarm(
    what: str, bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alarms: list[RecallTelemetry] = []

    def alarm(telemetry: RecallTelemetry) -> None:
        alarms.append(telemetry)

    monkeypatch.setattr(RecallTelemetry, "mismatch", alarm)
    async with Workers(bus, tmp_path) as workers:
        await workers.say("u-1", "t-1", "I live in Lyon.")
        listed = await workers.ask("list", user_id="u-1")
        body = {**ASKED[what]}
        if "memory_id" in body:
            body["memory_id"] = listed["memories"][0]["id"]
        index = workers.recaller.now()
        anothers = workers.core.ids.owner("default", "somebody else")
        get, outline, page = index.get, index.outline, index.list

        def swapped(rows: Sequence[IndexRow]) -> list[IndexRow]:
            return [replace(row, owner=anothers) for row in rows]

        async def foreign_get(owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
            return swapped(await get(owner, memory_ids))

        async def foreign_outline(owner: Owner, memory_ids: Sequence[str]) -> list[IndexRow]:
            return swapped(await outline(owner, memory_ids))

        async def foreign_list(owner: Owner, where: IndexFilter, cursor: str | None, limit: int) -> IndexPage:
            found = await page(owner, where, cursor, limit)
            return IndexPage(tuple(swapped(found.rows)), found.cursor)

        monkeypatch.setattr(index, "get", foreign_get)
        monkeypatch.setattr(index, "outline", foreign_outline)
        monkeypatch.setattr(index, "list", foreign_list)
        with pytest.raises(RequestError) as stopped:
            await workers.ask(what, user_id="u-1", **body)
        assert (stopped.value.code, stopped.value.status) == ("owner_mismatch", 500)
        assert alarms
        monkeypatch.undo()
