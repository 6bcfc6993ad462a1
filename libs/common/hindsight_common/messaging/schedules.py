"""Ticks of the bus: messages by which the server itself publishes at a time of day; and when a job last ran."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Final

from nats.js import JetStreamContext

from hindsight_common.events import subjects
from hindsight_common.events.streams import JOBS, ScheduleSpec
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.faults import server_faults
from hindsight_common.messaging.publishing import publish
from hindsight_common.messaging.reading import last_message
from hindsight_common.ports.jobs import JobRun

_CRON: Final = "Nats-Schedule"
_ZONE: Final = "Nats-Schedule-Time-Zone"
_TARGET: Final = "Nats-Schedule-Target"


async def ensure_schedule(js: JetStreamContext, spec: ScheduleSpec) -> list[str]:
    """Sets the schedule unless one of its name stands; what differs, as sentences."""
    found = await compare_schedule(js, spec)
    if found is None:
        with server_faults(f"setting the schedule of {spec.job}"):
            await js.publish(subjects.schedule(spec.job), b"", headers=_headers(spec))
    return found or []


async def compare_schedule(js: JetStreamContext, spec: ScheduleSpec) -> list[str] | None:
    """What differs, as sentences; None when no such schedule stands."""
    standing = await last_message(js, JOBS.name, subjects.schedule(spec.job))
    if standing is None:
        return None
    return [
        f"schedule {spec.job}: {name} is {standing.headers.get(name)!r} on the server, declared is {want!r}"
        for name, want in _headers(spec).items()
        if standing.headers.get(name) != want
    ]


def _headers(spec: ScheduleSpec) -> dict[str, str]:
    return {_CRON: spec.cron, _ZONE: spec.zone, _TARGET: subjects.job(spec.job)}


class NatsJobRuns:
    """Implements `ports.jobs.JobRuns`: the last message of a subject of its own."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def last(self, job: str) -> JobRun | None:
        message = await last_message(self._bus.js, JOBS.name, subjects.job_ran(job))
        if message is None:
            return None
        ran = json.loads(message.data)
        return JobRun(at=datetime.fromisoformat(ran["at"]), position=int(ran["position"]))

    async def record(self, job: str, run: JobRun) -> None:
        ran = {"at": run.at.isoformat(), "position": run.position}
        await publish(self._bus, subjects.job_ran(job), json.dumps(ran).encode())
