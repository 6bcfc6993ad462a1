"""What operations of the document share: parameters, problems, and the schemas that no model of the bus has."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any, Final

from hindsight_common.events.subjects import TENANT_PATTERN
from hindsight_common.worker import BEHIND_THE_BUS
from hindsight_gateway.consumers.examples import MEMORY_ID
from hindsight_gateway.domain.problem import MEDIA_TYPE

SCHEMAS: Final = "#/components/schemas/"
PROBLEMS: Final = {
    400: "The request must be changed; `detail` says how, `field` where.",
    403: "A web page of another site asked, or the gateway's NATS user may not.",
    404: "There is no such thing, or it is another user's.",
    408: "The request was not whole in time.",
    409: "The turn's id was used for another turn.",
    413: "The request or its answer is too large.",
    415: "The body is not `application/json`, or is compressed.",
    431: "The head of the request is larger than 16 KiB.",
    500: "A fault of ours; the log says more.",
    502: "A worker gave an answer that cannot be read.",
    503: "What is needed is away, or too much is in hand; try again after `Retry-After` seconds.",
    504: "No answer in time; the request may have taken effect.",
}


def parameters() -> dict[str, Any]:
    identifier = {"type": "string", "minLength": 1, "maxLength": 256}
    said = {
        "Tenant": ("X-Tenant", "header", {"type": "string", "pattern": f"^{TENANT_PATTERN.pattern}$"}),
        "IdempotencyKey": ("Idempotency-Key", "header", identifier),
        "UserIdHeader": ("X-User-Id", "header", identifier),
        "UserIdQuery": ("user_id", "query", identifier),
        "MemoryId": ("memory_id", "path", {"type": "string", "format": "uuid"}),
        "TurnId": ("turn_id", "path", identifier),
    }
    texts = {
        "Tenant": "The tenant that is asked; `default` without it. · 租户，缺省为 `default`",
        "IdempotencyKey": "A key of the caller's for this request; see the operation. · 调用方为本次请求给出的键",
        "UserIdHeader": "The user, in UTF-8, if the body does not name one. · 用户（请求体未指明时）",
        "UserIdQuery": "The user whose it is. · 所属用户",
        "MemoryId": "As recall gives it. · recall 返回的编号",
        "TurnId": "As it was sent or returned; a slash is written %2F. · 发送或返回的轮次编号",
    }
    examples = {"UserIdQuery": "u-17", "MemoryId": MEMORY_ID, "TurnId": "t-1", "UserIdHeader": "u-17"}
    return {
        key: {
            "name": name,
            "in": place,
            "required": place in ("path", "query"),
            "description": texts[key],
            "schema": schema,
            **({"example": examples[key]} if key in examples else {}),
        }
        for key, (name, place, schema) in said.items()
    }


def problem(status: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "description": PROBLEMS[status],
        "content": {MEDIA_TYPE: {"schema": {"$ref": SCHEMAS + "Problem"}}},
    }
    if status == 503:
        said["headers"] = {"Retry-After": {"schema": {"type": "string", "pattern": "^[0-9]+$"}}}
    return said


def name_of(status: int) -> str:
    return re.sub(r"\W", "", HTTPStatus(status).phrase)


def health_schema() -> dict[str, Any]:
    return {
        "title": "HealthAnswer",
        "description": "`missing` names workers that do not answer, or `bus`; `extraction` is there while the LLM is "
        "away or paused, and rules read turns in its place.",
        "type": "object",
        "required": ["status"],
        "properties": {
            "status": {"enum": ["ok", "degraded"]},
            "missing": {"type": "array", "items": {"enum": ["bus", *BEHIND_THE_BUS]}},
            "extraction": {"$ref": SCHEMAS + "ExtractionAnswer"},
        },
    }


def problem_schema() -> dict[str, Any]:
    return {
        "title": "Problem",
        "description": "RFC 9457. `code` is stable and meant for programs, `detail` for people; `field` is a path such "
        "as `messages.0.role`.",
        "type": "object",
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string"},
            "code": {"type": "string"},
            "field": {"type": "string"},
        },
    }
