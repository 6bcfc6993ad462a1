"""What arrives over HTTP goes on to the bus as it is; nothing is decided here that the bus would not."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from hindsight_common.errors import RequestError
from hindsight_common.events import subjects
from hindsight_common.events.fields import fault_of_id
from hindsight_common.events.strict_json import read_object


class Requests(Protocol):
    async def ask(self, subject: str, body: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        """The answer. Raises `RequestError`: refused, 503 when nobody is there, 504 out of time."""
        ...


@dataclass(frozen=True, slots=True)
class Forward:
    """Timeouts in seconds; an erasure visits every store before it answers."""

    requests: Requests
    timeout_s: float = 10.0
    forget_timeout_s: float = 60.0

    async def write(self, tenant: str | None, data: bytes, idempotency_key: str | None) -> dict[str, Any]:
        """A turn. Without a `turn_id` the idempotency key is it, and without one a new id is made."""
        turn = read_object(data, code="invalid_turn")
        if "turn_id" not in turn:
            turn["turn_id"] = _turn_id(idempotency_key)
        return await self._ask(subjects.MEMORY_WRITE, tenant, turn, self.timeout_s)

    async def recall(self, tenant: str | None, data: bytes) -> dict[str, Any]:
        query = read_object(data, code="invalid_request")
        return await self._ask(subjects.MEMORY_RECALL, tenant, query, self.timeout_s)

    async def forget(self, tenant: str | None, data: bytes) -> dict[str, Any]:
        filters = read_object(data, code="invalid_request")
        return await self._ask(subjects.MEMORY_FORGET, tenant, filters, self.forget_timeout_s)

    async def _ask(
        self, base: str, tenant: str | None, body: Mapping[str, Any], timeout_s: float
    ) -> dict[str, Any]:
        name = subjects.DEFAULT_TENANT if tenant is None else tenant
        if not subjects.TENANT_PATTERN.fullmatch(name):
            message = "a tenant is named by 1 to 32 of a-z, 0-9 and -"
            raise RequestError("invalid_tenant", message, field="X-Tenant")
        return await self.requests.ask(subjects.for_tenant(base, name), body, timeout_s=timeout_s)


def _turn_id(idempotency_key: str | None) -> str:
    """The key with or without the quotes that structured header fields have."""
    if idempotency_key is None:
        return uuid.uuid4().hex
    key = idempotency_key.strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if fault := fault_of_id(key):
        raise RequestError("invalid_idempotency_key", f"Idempotency-Key {fault}", field="Idempotency-Key")
    return key
