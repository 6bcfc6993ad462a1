"""Every subject of the bus, in one place."""

from __future__ import annotations

import re
from typing import Final

from hindsight_common.errors import GiveUp
from hindsight_common.ids import Owner

DEFAULT_TENANT: Final = "default"
TENANT_PATTERN: Final = re.compile(r"[a-z0-9-]{1,32}")

_OWNED: Final = re.compile(
    rf"[a-z]+\.[0-9a-f]{{2}}\.(?P<tenant>{TENANT_PATTERN.pattern})\.(?P<user_key>[0-9a-f]{{32}})\."
)

CONVERSATION_TURN: Final = "conversation.turn"
CONVERSATION_CLOSED: Final = "conversation.closed"

MEMORY_RECALL: Final = "memory.recall"
MEMORY_WRITE: Final = "memory.write"
MEMORY_TURN: Final = "memory.turn"
MEMORY_LIST: Final = "memory.list"
MEMORY_FORGET: Final = "memory.forget"
MEMORY_GET: Final = "memory.get"
MEMORY_DECIDE: Final = "memory.decide"
MEMORY_INJECT: Final = "memory.inject"

ADMIN_REBUILD_VECTORS: Final = "admin.rebuild"
ADMIN_REBUILD_GRAPH: Final = "admin.rebuild-graph"
ADMIN_CONSOLIDATE: Final = "admin.consolidate"
ADMIN_STATUS: Final = "admin.status"
ADMIN_EXTRACTION: Final = "admin.extraction"


def tenant_of(subject: str, base: str) -> str:
    """The tenant that a subject names after `base`; the default tenant for the bare subject."""
    return subject[len(base) + 1 :] or DEFAULT_TENANT


def for_tenant(base: str, tenant: str) -> str:
    return base if tenant == DEFAULT_TENANT else f"{base}.{tenant}"


def turn(owner: Owner, turn_key: str) -> str:
    return f"turn.{owner.partition}.{owner.tenant}.{owner.user_key}.{turn_key}"


def turns_of(owner: Owner) -> str:
    return turn(owner, "*")


def log(owner: Owner, kind: str) -> str:
    return f"log.{owner.partition}.{owner.tenant}.{owner.user_key}.{kind}"


def log_of(owner: Owner) -> str:
    return log(owner, "*")


def key(owner: Owner, place: int) -> str:
    """Of the owner's key with that number: how many were destroyed before it."""
    return f"key.{owner.partition}.{owner.tenant}.{owner.user_key}.{place}"


MASTER_PROOF: Final = "key.master"
"""Of the secret that wraps all keys; it stands beside them because they are lost and restored together."""


def keys_of(owner: Owner) -> str:
    return f"key.{owner.partition}.{owner.tenant}.{owner.user_key}.*"


def destroyed_keys(owner: Owner) -> str:
    return f"key.{owner.partition}.{owner.tenant}.{owner.user_key}.destroyed"


def schedule(name: str) -> str:
    return f"schedule.{name}"


def job(name: str) -> str:
    return f"job.{name}"


def job_ran(name: str) -> str:
    return f"job.{name}.ran"


def seat(worker: str) -> str:
    """Where the process answers that has the place of a worker of which there is one."""
    return f"seat.{worker}"


def dead(stream: str, consumer: str, tenant: str, user_key: str | None) -> str:
    return f"dead.{stream}.{consumer}.{tenant}.{user_key or '_'}"


def dead_of(owner: Owner) -> str:
    return f"dead.*.*.{owner.tenant}.{owner.user_key}"


def owner_of(subject: str) -> Owner:
    """The owner named in a `turn.…`, `log.…` or `key.…` subject. Raises `GiveUp` for a subject that names none."""
    named = _OWNED.match(subject)
    if named is None:
        raise GiveUp("invalid_subject", "the subject names no user of a tenant")
    return Owner(named["tenant"], named["user_key"])
