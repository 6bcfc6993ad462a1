"""What arrives over HTTP goes on to the bus as it is; nothing is decided here that the bus would not."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from hindsight_common.errors import RequestError
from hindsight_common.events import subjects
from hindsight_common.events.fields import Body, Id, fault_of_id
from hindsight_common.events.strict_json import build, read_object

_INVALID = "invalid_request"


class Requests(Protocol):
    async def ask(self, subject: str, body: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        """The answer. Raises `RequestError`: refused, 503 when nobody is there, 504 out of time."""
        ...


class MemoryOf(Body):
    """Whose memory the one in the path is."""

    user_id: Id


@dataclass(frozen=True, slots=True)
class Forward:
    """Timeouts in seconds; an erasure visits every store before it answers.

    `data` is a body as it came, `query` the parameters of the address. What the path names may not be said again in
    either of them. Every method raises `RequestError`.
    """

    requests: Requests
    timeout_s: float = 10.0
    forget_timeout_s: float = 60.0

    async def write(self, tenant: str | None, data: bytes, idempotency_key: str | None) -> dict[str, Any]:
        """A turn. Without a `turn_id` the idempotency key is it, and without one a new id is made."""
        turn = read_object(data, code="invalid_turn")
        key = read_key(idempotency_key)
        if "turn_id" not in turn:
            turn["turn_id"] = key or uuid.uuid4().hex
        return await self._ask(subjects.MEMORY_WRITE, tenant, turn)

    async def recall(self, tenant: str | None, data: bytes) -> dict[str, Any]:
        return await self._ask(subjects.MEMORY_RECALL, tenant, read_object(data, code=_INVALID))

    async def inject(self, tenant: str | None, data: bytes, user_id: str | None = None) -> dict[str, Any]:
        """`user_id` is who was named beside the body; both may name the user, but not two of them."""
        body = read_object(data, code=_INVALID)
        if user_id is not None:
            if fault := fault_of_id(user_id):
                raise RequestError(_INVALID, f"X-User-Id {fault}", field="X-User-Id")
            if body.setdefault("user_id", user_id) != user_id:
                message = "X-User-Id and user_id of the body name different users; send one of them"
                raise RequestError(_INVALID, message, field="X-User-Id")
        return await self._ask(subjects.MEMORY_INJECT, tenant, body)

    async def forget(self, tenant: str | None, data: bytes) -> dict[str, Any]:
        filters = read_object(data, code=_INVALID)
        return await self._ask(subjects.MEMORY_FORGET, tenant, filters, self.forget_timeout_s)

    async def memory(self, tenant: str | None, memory_id: str, query: Mapping[str, str]) -> dict[str, Any]:
        return await self._ask(subjects.MEMORY_GET, tenant, _with(query, "memory_id", memory_id))

    async def decide(self, tenant: str | None, memory_id: str, data: bytes) -> dict[str, Any]:
        """Corrects or pins a memory; asked twice, the second time changes nothing."""
        change = read_object(data, code=_INVALID)
        return await self._ask(subjects.MEMORY_DECIDE, tenant, _with(change, "memory_id", memory_id))

    async def delete(self, tenant: str | None, memory_id: str, data: bytes) -> dict[str, Any]:
        """Forgets one memory, confirmed by the path; 404 once it is gone."""
        whose = build(MemoryOf, read_object(data, code=_INVALID), code=_INVALID)
        filters = {"user_id": whose.user_id, "memory_ids": [memory_id], "confirm": True}
        try:
            return await self._ask(subjects.MEMORY_FORGET, tenant, filters, self.forget_timeout_s)
        except RequestError as error:
            if error.field != "memory_ids.0":
                raise
            message = error.message.replace("memory_ids.0", "memory_id")
            raise RequestError(error.code, message, status=error.status, field="memory_id") from error

    async def turn(self, tenant: str | None, turn_id: str, query: Mapping[str, str]) -> dict[str, Any]:
        return await self._ask(subjects.MEMORY_TURN, tenant, _with(query, "turn_id", turn_id))

    async def _ask(
        self, base: str, tenant: str | None, body: Mapping[str, Any], timeout_s: float | None = None
    ) -> dict[str, Any]:
        name = subjects.DEFAULT_TENANT if tenant is None else tenant
        if not subjects.TENANT_PATTERN.fullmatch(name):
            message = "a tenant is named by 1 to 32 of a-z, 0-9 and -"
            raise RequestError("invalid_tenant", message, field="X-Tenant")
        subject = subjects.for_tenant(base, name)
        return await self.requests.ask(subject, body, timeout_s=timeout_s or self.timeout_s)


def read_key(idempotency_key: str | None) -> str | None:
    """The key without the quotes that structured header fields have. Raises `RequestError`."""
    if idempotency_key is None:
        return None
    key = idempotency_key.strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if fault := fault_of_id(key):
        raise RequestError("invalid_idempotency_key", f"Idempotency-Key {fault}", field="Idempotency-Key")
    return key


def _with(said: Mapping[str, Any], field: str, value: str) -> dict[str, Any]:
    if field in said:
        raise RequestError(_INVALID, f"{field} is in the path; leave it out here", field=field)
    return {**said, field: value}
