"""The state of a deployment, looked at from outside: each finding with what to do about it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

import nats.errors
import nats.js.errors

from hindsight_client.cli.examination import backlog, bus, stores, workers
from hindsight_client.cli.examination.finding import Finding
from hindsight_client.cli.examination.subject import Subject
from hindsight_client.cli.language import say
from hindsight_common.errors import HindsightError

__all__ = ["Finding", "Subject", "examine"]


async def examine(subject: Subject) -> list[Finding]:
    """Every finding, good ones too; each look stands for itself, so that one fault hides no other.

    Only a server that cannot serve at all ends the examination: everything else would fail for that one reason.
    """
    found = await _all_of([bus.server(subject)])
    if any(finding.level == "fault" for finding in found):
        return found
    return found + await _all_of(
        [
            bus.clock(subject),
            bus.streams(subject),
            workers.behind_the_bus(subject),
            workers.gateway(subject),
            workers.llm(subject),
            stores.as_recall_sees_them(subject),
            backlog.dead_letters(subject),
            backlog.consumers(subject),
        ]
    )


async def _all_of(looks: Iterable[AsyncIterator[Finding]]) -> list[Finding]:
    found: list[Finding] = []
    for look in looks:
        try:
            found += [finding async for finding in look]
        except (nats.errors.Error, TimeoutError, HindsightError) as error:
            found.append(
                Finding("fault", say("a look that failed", "检查失败"), f"{type(error).__name__}: {error}")
            )
    return found
