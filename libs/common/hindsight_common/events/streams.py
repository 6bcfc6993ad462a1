"""Every stream and durable consumer, declared as data; `messaging.provisioning` makes the server agree."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """What a stream must be. Ages and windows in seconds, 0 = unlimited; sizes in bytes."""

    name: str
    subjects: tuple[str, ...]
    description: str
    retention: Literal["limits", "workqueue"] = "limits"
    max_age_s: float = 0
    max_msgs_per_subject: int = -1
    duplicate_window_s: float = 120
    max_msg_size: int = -1
    # single messages may name an earlier end of their own (header Nats-TTL)
    message_ttl: bool = False
    # its messages may be schedules, by which the server itself publishes into it (server 2.14 or later)
    message_schedules: bool = False


@dataclass(frozen=True, slots=True)
class ConsumerSpec:
    """A durable pull consumer with explicit acks. `filter_subjects` empty = the whole stream."""

    stream: str
    durable: str
    description: str
    filter_subjects: tuple[str, ...] = ()
    ack_wait_s: float = 30
    max_ack_pending: int = 256
    # for ever: the delivery boundary decides when a message becomes a dead letter, never the server
    max_deliver: int = -1


@dataclass(frozen=True, slots=True)
class ScheduleSpec:
    """A daily tick: the server publishes `job.{job}` at that time of day in that zone (an IANA name)."""

    job: str
    hour: int
    minute: int = 0
    zone: str = "UTC"

    @property
    def cron(self) -> str:
        """Six fields, seconds first, as the server wants it."""
        return f"0 {self.minute} {self.hour} * * *"

    def last_due(self, now: datetime) -> datetime:
        """The latest time, at most `now` (aware), at which the tick was due."""
        local = now.astimezone(ZoneInfo(self.zone))
        due = local.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        return due if due <= local else due - timedelta(days=1)


INTAKE: Final = StreamSpec(
    "INTAKE",
    ("conversation.turn", "conversation.turn.*", "conversation.closed", "conversation.closed.*"),
    "Raw turns on their way in; the only thing at rest in clear, for as long as it waits",
    retention="workqueue",
    duplicate_window_s=0.1,  # the smallest the server takes; nothing relies on it
    max_msg_size=1024 * 1024,
)
TURNS: Final = StreamSpec(
    "TURNS", ("turn.>",), "Accepted turns, sealed, kept until their outcome is final", max_age_s=30 * DAY_S
)
LOG: Final = StreamSpec("LOG", ("log.>",), "Everything said and decided about memory; the truth")
DEAD: Final = StreamSpec(
    "DEAD",
    ("dead.>",),
    "What could not be processed, sealed, with its cause",
    max_age_s=30 * DAY_S,
    message_ttl=True,
)
KEYS: Final = StreamSpec(
    "KEYS", ("key.>",), "The users' wrapped keys and the markers of destroyed ones", max_msgs_per_subject=1
)
JOBS: Final = StreamSpec(
    "JOBS",
    ("schedule.*", "job.>"),
    "When jobs are due, their ticks, and when they last ran",
    max_msgs_per_subject=1,  # ticks that nobody took are one tick
    message_ttl=True,
    message_schedules=True,
)

STREAMS: Final = (INTAKE, TURNS, LOG, DEAD, KEYS, JOBS)

INTAKE_CONSUMER: Final = ConsumerSpec("INTAKE", "intake", "Validates, redacts, seals and accepts raw turns")
EXTRACTOR_CONSUMER: Final = ConsumerSpec(
    "TURNS", "extractor", "Distils accepted turns into log events", max_ack_pending=64
)
# needed only where an LLM is asked: the embedded form makes it then, and elsewhere what waits for nobody would look
# like a backlog
FIRST_READING_CONSUMER: Final = ConsumerSpec(
    "TURNS", "first-reading", "Reads turns by rules while the LLM is away or slow", max_ack_pending=1024
)
VECTORS_CONSUMER: Final = ConsumerSpec("LOG", "vectors", "Projects the log into vectors and words")
GRAPH_CONSUMER: Final = ConsumerSpec(
    "LOG",
    "graph",
    "Projects consolidations, decisions and tombstones into the graph",
    ("log.*.*.*.consolidated", "log.*.*.*.decision", "log.*.*.*.forgotten"),
)
ERASER_CONSUMER: Final = ConsumerSpec(
    "LOG", "eraser", "Carries out what tombstones say", ("log.*.*.*.forgotten",)
)
NIGHTLY_CONSUMER: Final = ConsumerSpec(
    "JOBS", "nightly", "Consolidates whoever said something since the last time", ("job.nightly",)
)

CONSUMERS: Final = (
    INTAKE_CONSUMER,
    EXTRACTOR_CONSUMER,
    VECTORS_CONSUMER,
    GRAPH_CONSUMER,
    ERASER_CONSUMER,
    NIGHTLY_CONSUMER,
)
# in the server form workers may not make consumers, so this one stands there from the start
SERVER_CONSUMERS: Final = (*CONSUMERS, FIRST_READING_CONSUMER)

NIGHTLY: Final = ScheduleSpec("nightly", hour=3)
SCHEDULES: Final = (NIGHTLY,)
