"""Turns to intake, several at a time; what was accepted before is cheap, so a run that broke off is run again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hindsight_common.errors import RequestError
from hindsight_common.events.answers import WriteAnswer


class Writer(Protocol):
    async def write(self, turn: Mapping[str, Any]) -> WriteAnswer: ...


@dataclass(slots=True)
class Sent:
    """`refused` pairs the place of a turn, counted from 1, with the reason."""

    accepted: int = 0
    duplicates: int = 0
    refused: list[tuple[int, RequestError]] = field(default_factory=list)


async def send_turns(
    writer: Writer, turns: Sequence[Mapping[str, Any]], *, side_by_side: int, on_step: Callable[[], None]
) -> Sent:
    """All turns, in order of beginning. A refused turn is noted and passed over; an outage that outlasts the
    writer's retries ends the run with its `RequestError`.
    """
    sent = Sent()
    waiting = iter(enumerate(turns, 1))

    async def work() -> None:
        for number, turn in waiting:
            try:
                answer = await writer.write(turn)
            except RequestError as error:
                if error.status in (502, 503, 504):
                    raise
                sent.refused.append((number, error))
            else:
                sent.accepted += not answer.duplicate
                sent.duplicates += answer.duplicate
            on_step()

    async with asyncio.TaskGroup() as group:
        for _ in range(side_by_side):
            group.create_task(work())
    sent.refused.sort(key=lambda found: found[0])
    return sent
