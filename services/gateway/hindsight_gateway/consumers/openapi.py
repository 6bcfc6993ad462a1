"""The OpenAPI 3.1 document, made from the models that the bus itself is read by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from hindsight_common import VERSION
from hindsight_common.events.answers import ExtractionAnswer
from hindsight_common.events.requests import (
    DecideRequest,
    ForgetRequest,
    InjectRequest,
    RecallRequest,
    WriteRequest,
)
from hindsight_common.events.subjects import TENANT_PATTERN
from hindsight_common.worker import BEHIND_THE_BUS
from hindsight_gateway.application.forwarding import MemoryOf
from hindsight_gateway.consumers.examples import ANSWERS, BODIES, MEMORY_ID
from hindsight_gateway.consumers.operations import OPERATIONS, Operation
from hindsight_gateway.domain.problem import MEDIA_TYPE

_JSON: Final = "application/json"
_SCHEMAS: Final = "#/components/schemas/"
_ALWAYS: Final = (400, 403, 408, 413, 431, 500, 502, 503, 504)
_WITH_BODY: Final = (415,)
_BODIES: Final[tuple[type[BaseModel], ...]] = (
    WriteRequest,
    RecallRequest,
    InjectRequest,
    ForgetRequest,
    DecideRequest,
    MemoryOf,
)
_LANGUAGES: Final = {"zh": "中文", "en": "English"}
_PROBLEMS: Final = {
    400: "The request must be changed; `detail` says how, `field` where.",
    403: "A web page of another site asked; ask from your backend.",
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


class _Plain(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - no field
        """A title that only repeats the name becomes a class of its own in some generators."""
        return False


def document() -> dict[str, Any]:
    """The whole document, equal for every run of one version."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Hindsight",
            "version": VERSION,
            "summary": "Long-term memory for LLM agents · 面向 LLM 智能体的长期记忆",
            "description": "Bodies are the ones of the bus. Unknown fields and parameters are refused, so that a "
            "misspelt name never widens a request.\n\n请求体与总线上的相同。未知字段与参数会被拒绝，"
            "拼错的名字绝不会扩大请求范围。",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "parameters": _parameters(),
            "responses": {_name(status): _problem(status) for status in _PROBLEMS},
        },
    }


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {"/health": {"get": _health()}}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _operation(operation)
    return paths


def _operation(operation: Operation) -> dict[str, Any]:
    statuses = {*_ALWAYS, *operation.statuses, *(_WITH_BODY if operation.body else ())}
    answer = {
        "schema": {"$ref": _SCHEMAS + operation.answer.__name__},
        **_examples(ANSWERS.get(operation.id)),
    }
    said: dict[str, Any] = {
        "operationId": operation.id,
        "summary": f"{operation.summary} · {operation.summary_zh}",
        "parameters": [
            {"$ref": f"#/components/parameters/{name}"} for name in (*operation.parameters, "Tenant")
        ],
        "responses": {
            "200": {"description": "OK", "content": {_JSON: answer}, **_links(operation)},
            **{
                str(status): {"$ref": f"#/components/responses/{_name(status)}"}
                for status in sorted(statuses)
            },
        },
    }
    if operation.description:
        said["description"] = operation.description.strip()
    if operation.body is not None:
        content = {"schema": {"$ref": _SCHEMAS + operation.body}, **_examples(BODIES[operation.id])}
        said["requestBody"] = {"required": True, "content": {_JSON: content}}
    return said


def _links(operation: Operation) -> dict[str, Any]:
    if not operation.links:
        return {}
    links = {name: {"operationId": name, "parameters": dict(found)} for name, found in operation.links}
    return {"links": links}


def _health() -> dict[str, Any]:
    content = {
        _JSON: {
            "schema": {"$ref": _SCHEMAS + "HealthAnswer"},
            "examples": {
                "ok": {"value": {"status": "ok"}},
                "paused": {
                    "value": {
                        "status": "degraded",
                        "missing": [],
                        "extraction": {
                            "model": "qwen3",
                            "state": "paused",
                            "cause": "unauthorized",
                            "since": "2026-03-04T13:04:05Z",
                        },
                    }
                },
            },
        }
    }
    problems = {
        str(status): {"$ref": f"#/components/responses/{_name(status)}"} for status in (408, 431, 500)
    }
    return {
        "operationId": "getHealth",
        "summary": "Whether all is well, and what is wrong if not · 查看是否正常，以及哪里不正常",
        "responses": {
            "200": {"description": "All is well, or a part is missing", "content": content},
            "503": {"description": "The bus is away: nothing can be answered", "content": content},
            **problems,
        },
    }


def _schemas() -> dict[str, Any]:
    found = _schemas_of_the_bus()
    write, change, delete = (found.pop(model.__name__) for model in (WriteRequest, DecideRequest, MemoryOf))
    own = (
        _variant(write, "WriteRequest", optional=["turn_id"]),
        _variant(change, "ChangeRequest", without=["memory_id"]),
        _variant(delete, "DeleteRequest"),
        _variant(found["InjectRequest"], "InjectMemoryRequest", optional=["user_id"]),
        _health_schema(),
        _problem_schema(),
    )
    return dict(sorted({**found, **{schema["title"]: schema for schema in own}}.items()))


def _schemas_of_the_bus() -> dict[str, Any]:
    answers: list[type[BaseModel]] = [
        ExtractionAnswer,
        *dict.fromkeys(operation.answer for operation in OPERATIONS),
    ]
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((model, "validation") for model in _BODIES),
        *((model, "serialization") for model in answers),
    ]
    _, found = models_json_schema(models, ref_template=_SCHEMAS + "{model}", schema_generator=_Plain)
    schemas: dict[str, Any] = found["$defs"]
    return schemas


def _variant(
    schema: Mapping[str, Any], title: str, *, optional: Iterable[str] = (), without: Iterable[str] = ()
) -> dict[str, Any]:
    """The body over HTTP, where part of what the bus demands comes from elsewhere."""
    gone, elsewhere = set(without), {*optional, *without}
    properties = {name: said for name, said in schema["properties"].items() if name not in gone}
    required = [name for name in schema["required"] if name not in elsewhere]
    return {**schema, "title": title, "properties": properties, "required": required}


def _parameters() -> dict[str, Any]:
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


def _problem(status: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "description": _PROBLEMS[status],
        "content": {MEDIA_TYPE: {"schema": {"$ref": _SCHEMAS + "Problem"}}},
    }
    if status == 503:
        said["headers"] = {"Retry-After": {"schema": {"type": "string", "pattern": "^[0-9]+$"}}}
    return said


def _name(status: int) -> str:
    return re.sub(r"\W", "", HTTPStatus(status).phrase)


def _examples(by_language: Mapping[str, Any] | None) -> dict[str, Any]:
    if by_language is None:
        return {}
    examples = {key: {"summary": _LANGUAGES[key], "value": value} for key, value in by_language.items()}
    return {"examples": examples}


def _health_schema() -> dict[str, Any]:
    return {
        "title": "HealthAnswer",
        "description": "`missing` names workers that do not answer, or `bus`; `extraction` is there while the LLM is "
        "away or paused, and rules read turns in its place.",
        "type": "object",
        "required": ["status"],
        "properties": {
            "status": {"enum": ["ok", "degraded"]},
            "missing": {"type": "array", "items": {"enum": ["bus", *BEHIND_THE_BUS]}},
            "extraction": {"$ref": _SCHEMAS + "ExtractionAnswer"},
        },
    }


def _problem_schema() -> dict[str, Any]:
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
