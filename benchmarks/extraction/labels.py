"""Labelled turns: what was said, what must be kept of it, what may be, and what must not.

Each line of a file is JSON. The full form:

  id, class   `en-…` or `zh-…`, and the kind of difficulty it stands for
  turn        `occurred_at`, `time_zone`, `user_name`, `messages`, as a publisher sends them
  facts       those that are stated: `subject`, `predicate` and `object` (each a list of what is accepted), `negated`,
              `tentative`, and `day` where the text says since when
  events      what happened beside the facts: `words` that its summary must contain, its `day` (the first one of a week,
              month or year) and `granularity`
  may         facts that are true as well but not demanded; `may_event`: an event is neither demanded nor wrong
  never       what must appear in nothing that is kept
  quarantine  true: the turn instructs the memory, so nothing of it may be recalled

The short form has `text` for the turn (said on 2026-06-04 09:15 in Berlin; Chinese: in Shanghai), one value for
`predicate` and `object`, `event` (true: something beside the facts, false: nothing, null: either) and `when` (the day
of whichever memory carries a time).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from hindsight_common.clock import FixedClock
from hindsight_common.ids import IdFactory
from hindsight_common.ports.extraction import Turn
from hindsight_common.ports.turns import Acceptance
from hindsight_extractor.application.intake import Intake
from hindsight_extractor.application.spoken import Spoken
from hindsight_extractor.domain.redaction import redact

_NOW = datetime(2030, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FactLabel:
    subject: str
    predicates: tuple[str, ...]
    objects: tuple[str, ...]
    negated: bool = False
    tentative: bool = False
    day: date | None = None


@dataclass(frozen=True, slots=True)
class EventLabel:
    """Without `words` any event is meant."""

    words: tuple[str, ...] = ()
    day: date | None = None
    granularity: str | None = None


@dataclass(frozen=True, slots=True)
class Labelled:
    """One turn as it reaches the extractor, redacted, with its labels."""

    id: str
    kind: str
    turn: Turn
    facts: tuple[FactLabel, ...]
    events: tuple[EventLabel, ...]
    may: tuple[FactLabel, ...]
    may_event: bool
    never: tuple[str, ...]
    quarantine: bool
    day_of_any: date | None = None

    @property
    def language(self) -> str:
        return self.id[:2]


class _Accepted:
    """Takes the turn that intake accepts."""

    def __init__(self) -> None:
        self.turn: Turn | None = None

    async def accept(self, *given: Any) -> Acceptance:
        self.turn = given[2]
        return Acceptance(sequence=1, duplicate=False)


def read(path: Path) -> list[Labelled]:
    """The turns of a file, each through the intake that every turn passes."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [_labelled(row) for row in rows]


def _labelled(row: Mapping[str, Any]) -> Labelled:
    event = row.get("event")
    days = bool(row["facts"] or row.get("events") or event)
    return Labelled(
        id=row["id"],
        kind=str(row.get("class", "tuning")),
        turn=asyncio.run(_taken_in(row)),
        facts=tuple(map(_fact, row["facts"])),
        events=(EventLabel(),) if event else tuple(map(_event, row.get("events", ()))),
        may=tuple(map(_fact, row.get("may", ()))),
        may_event=row.get("may_event", "event" in row and event is None),
        never=tuple(row.get("never", ())),
        quarantine=row.get("quarantine", False),
        day_of_any=_day(row.get("when")) if days else None,
    )


async def _taken_in(row: Mapping[str, Any]) -> Turn:
    chinese = row["id"].startswith("zh")
    published = row.get("turn") or {
        "occurred_at": "2026-06-04T09:15:00+08:00" if chinese else "2026-06-04T09:15:00+02:00",
        "time_zone": "Asia/Shanghai" if chinese else "Europe/Berlin",
        "messages": [{"role": "user", "content": row["text"]}],
    }
    body = {"turn_id": row["id"], "user_id": "u-1", "session_id": "s-1", **published}
    accepted = _Accepted()
    ids, clock = IdFactory(b"p" * 32), FixedClock(_NOW)
    # a session that is over before it begins: what was said is not remembered beside the turn
    silent = Spoken(accepted, ids, clock, timedelta(0))  # type: ignore[arg-type]  # never asked
    intake = Intake(ids, accepted, lambda text: redact(text).text, clock, silent)  # type: ignore[arg-type]  # takes turns in only
    await intake.accept_published("default", json.dumps(body).encode(), _NOW)
    assert accepted.turn is not None
    return accepted.turn


def _fact(row: Mapping[str, Any]) -> FactLabel:
    return FactLabel(
        subject=row["subject"],
        predicates=_several(row["predicate"]),
        objects=_several(row["object"]),
        negated=row.get("negated", False),
        tentative=row.get("tentative", False),
        day=_day(row.get("day")),
    )


def _event(row: Mapping[str, Any]) -> EventLabel:
    return EventLabel(_several(row["words"]), _day(row.get("day")), row.get("granularity"))


def _several(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _day(value: str | None) -> date | None:
    return date.fromisoformat(value) if value else None
