"""Who may do what on the bus: every user of the NATS server, as data. `server_users` writes it as configuration.

Workers and the operator share the account that has the streams. Tenants' clients have one of their own and reach the
few subjects that it imports: whoever publishes into a stream names the subject of the acknowledgement, and the
server writes there without asking for permission. In an account without streams there is nothing to be written over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from hindsight_common.events import subjects
from hindsight_common.events.streams import (
    DEAD,
    ERASER_CONSUMER,
    EXTRACTOR_CONSUMER,
    FIRST_READING_CONSUMER,
    GRAPH_CONSUMER,
    INTAKE,
    INTAKE_CONSUMER,
    JOBS,
    KEYS,
    LOG,
    NIGHTLY,
    NIGHTLY_CONSUMER,
    TURNS,
    VECTORS_CONSUMER,
    ConsumerSpec,
    StreamSpec,
)
from hindsight_common.messaging.credentials import inbox_prefix

OPERATOR: Final = "operator"
TENANT_PREFIX: Final = "tenant-"

# where answers go: to inboxes, and by the server's own detour to inboxes of another account
_REPLIES: Final = ("_INBOX.>", "_R_.>")
# what a worker asks at its start: is JetStream there, what time is it, is all as declared
_LOOKING: Final = ("$JS.API.INFO", "$JS.API.STREAM.INFO.*", "$JS.API.CONSUMER.INFO.*.*")
_ROLL_CALL: Final = "$SRV.PING"
_KEY_MARKERS: Final = "key.*.*.*.destroyed"

# by service; each listens on the subject alone and with a tenant behind it
ENDPOINTS: Final = {
    "extractor": (
        subjects.MEMORY_WRITE,
        subjects.MEMORY_TURN,
        subjects.MEMORY_DECIDE,
        subjects.ADMIN_EXTRACTION,
    ),
    "recall": (
        subjects.MEMORY_RECALL,
        subjects.MEMORY_LIST,
        subjects.MEMORY_GET,
        subjects.MEMORY_INJECT,
        subjects.ADMIN_STATUS,
        subjects.ADMIN_REBUILD_VECTORS,
    ),
    "consolidator": (subjects.ADMIN_CONSOLIDATE, subjects.ADMIN_REBUILD_GRAPH),
    "pruner": (subjects.MEMORY_FORGET,),
}

# what other accounts may send into that of the workers; each is answered once
EXPORTED: Final = (
    *(
        each
        for base in (subjects.CONVERSATION_TURN, subjects.CONVERSATION_CLOSED)
        for each in (base, f"{base}.*")
    ),
    "memory.*",
    "memory.*.*",
)


@dataclass(frozen=True, slots=True)
class BusUser:
    """A user of the NATS server with all it may do; what is not listed is refused."""

    name: str
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    publish_never: tuple[str, ...] = ()
    account: Literal["HINDSIGHT", "CLIENTS"] = "HINDSIGHT"

    @property
    def password_variable(self) -> str:
        """The environment variable from which the server takes its password."""
        return f"NATS_{self.name.upper().replace('-', '_')}_PASSWORD"


def _reads(*streams: StreamSpec) -> tuple[str, ...]:
    return tuple(f"$JS.API.DIRECT.GET.{stream.name}" for stream in streams)


def _erases(*streams: StreamSpec) -> tuple[str, ...]:
    return tuple(f"$JS.API.STREAM.MSG.DELETE.{stream.name}" for stream in streams)


def _consumes(*specs: ConsumerSpec) -> tuple[str, ...]:
    """Pulls and acknowledges, and buries what can never succeed. Servers name acknowledgements in two forms."""
    return tuple(
        subject
        for spec in specs
        for subject in (
            f"$JS.API.CONSUMER.MSG.NEXT.{spec.stream}.{spec.durable}",
            f"$JS.ACK.{spec.stream}.{spec.durable}.>",
            f"$JS.ACK.*.*.{spec.stream}.{spec.durable}.>",
            subjects.dead(spec.stream, spec.durable, "*", "*"),
        )
    )


def _rewinds(spec: ConsumerSpec) -> str:
    return f"$JS.API.CONSUMER.RESET.{spec.stream}.{spec.durable}"


def _worker(name: str, *publish: str, subscribe: Iterable[str] = (), may_mark_keys: bool = False) -> BusUser:
    """A worker behind the bus: it seals, answers and can be discovered."""
    return BusUser(
        name,
        # a user's first event makes the user's key
        publish=(
            *_LOOKING,
            _ROLL_CALL,
            subjects.seat(name),
            *_REPLIES,
            *_reads(LOG, KEYS),
            subjects.MASTER_PROOF,
            "key.*.*.*.*",
            *publish,
        ),
        publish_never=() if may_mark_keys else (_KEY_MARKERS,),
        subscribe=(
            f"{inbox_prefix(name)}.>",
            _KEY_MARKERS,
            subjects.seat(name),
            *_discovery(name),
            *(each for base in ENDPOINTS[name] for each in (base, f"{base}.*")),
            *subscribe,
        ),
    )


def _discovery(service: str) -> tuple[str, ...]:
    return tuple(
        f"$SRV.{verb}{which}"
        for verb in ("PING", "INFO", "STATS")
        for which in ("", f".{service}", f".{service}.*")
    )


EXTRACTOR: Final = _worker(
    "extractor",
    *_consumes(INTAKE_CONSUMER, EXTRACTOR_CONSUMER, FIRST_READING_CONSUMER),
    *_reads(TURNS, DEAD),
    # an accepted turn goes when its outcome is final or a tombstone covers it; nothing else of it can be erased here
    *_erases(TURNS),
    "turn.*.*.*.*",
    "log.*.*.*.turn",
    "log.*.*.*.decision",
)
RECALL: Final = _worker("recall", *_consumes(VECTORS_CONSUMER), _rewinds(VECTORS_CONSUMER))
CONSOLIDATOR: Final = _worker(
    "consolidator",
    *_consumes(GRAPH_CONSUMER, NIGHTLY_CONSUMER),
    _rewinds(GRAPH_CONSUMER),
    *_reads(JOBS),
    "log.*.*.*.consolidated",
    subjects.job_ran(NIGHTLY.job),
)
# whatever is erased, it erases; it also seals anew what remains of a user, so it writes every kind
PRUNER: Final = _worker(
    "pruner",
    *_consumes(ERASER_CONSUMER),
    *_reads(INTAKE, TURNS, DEAD),
    *_erases(INTAKE, TURNS, LOG, DEAD, KEYS),
    "turn.*.*.*.*",
    "log.*.*.*.*",
    may_mark_keys=True,
)
# in front of the bus: it asks for every tenant, and holds no key
GATEWAY: Final = BusUser(
    "gateway",
    publish=(
        "$JS.API.INFO",
        f"$JS.API.STREAM.INFO.{INTAKE.name}",
        _ROLL_CALL,
        "memory.*",
        "memory.*.*",
        subjects.ADMIN_STATUS,
        subjects.ADMIN_EXTRACTION,
    ),
    subscribe=(f"{inbox_prefix('gateway')}.>",),
)
# at a terminal: it makes streams and consumers and starts jobs, but writes and erases nothing of what they hold
OPERATOR_USER: Final = BusUser(
    OPERATOR,
    publish=(
        "$JS.API.>",
        "$SRV.>",
        "admin.>",
        "memory.*",
        "memory.*.*",
        *INTAKE.subjects,
        "schedule.*",
    ),
    publish_never=("$JS.API.STREAM.MSG.DELETE.>", "$JS.API.STREAM.PURGE.>"),
    subscribe=(f"{inbox_prefix(OPERATOR)}.>",),
)
WORKERS: Final = (EXTRACTOR, RECALL, CONSOLIDATOR, PRUNER, GATEWAY)


def tenant_user(tenant: str) -> BusUser:
    """A tenant's backend: it publishes turns and asks, for that tenant alone."""
    name = f"{TENANT_PREFIX}{tenant}"
    asked = "memory.*" if tenant == subjects.DEFAULT_TENANT else f"memory.*.{tenant}"
    return BusUser(
        name,
        publish=(
            subjects.for_tenant(subjects.CONVERSATION_TURN, tenant),
            subjects.for_tenant(subjects.CONVERSATION_CLOSED, tenant),
            asked,
        ),
        subscribe=(f"{inbox_prefix(name)}.>",),
        account="CLIENTS",
    )


def bus_users(tenants: Iterable[str] = (subjects.DEFAULT_TENANT,)) -> tuple[BusUser, ...]:
    """Everybody, in the order of the configuration."""
    return (*WORKERS, OPERATOR_USER, *(tenant_user(tenant) for tenant in tenants))
