"""The OpenAPI 3.1 document, made from the models that the bus itself is read by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from hindsight_gateway.application.forwarding import MemoryOf
from hindsight_gateway.consumers.examples import ANSWERS, BODIES
from hindsight_gateway.consumers.openapi_parts import (
    PROBLEMS,
    SCHEMAS,
    health_schema,
    name_of,
    parameters,
    problem,
    problem_schema,
)
from hindsight_gateway.consumers.operations import OPERATIONS, Operation

_JSON: Final = "application/json"
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
            "parameters": parameters(),
            "responses": {name_of(status): problem(status) for status in PROBLEMS},
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
        "schema": {"$ref": SCHEMAS + operation.answer.__name__},
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
                str(status): {"$ref": f"#/components/responses/{name_of(status)}"}
                for status in sorted(statuses)
            },
        },
    }
    if operation.description:
        said["description"] = operation.description.strip()
    if operation.body is not None:
        content = {"schema": {"$ref": SCHEMAS + operation.body}, **_examples(BODIES[operation.id])}
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
            "schema": {"$ref": SCHEMAS + "HealthAnswer"},
            "examples": {
                "ok": {"value": {"status": "ok"}},
                "paused": {
                    "value": {
                        "status": "degraded",
                        "missing": [],
                        "extraction": {
                            "model": "qwen3",
                            "state": "paused",
                            "cause": "http_401",
                            "since": "2026-03-04T13:04:05Z",
                        },
                    }
                },
            },
        }
    }
    problems = {
        str(status): {"$ref": f"#/components/responses/{name_of(status)}"} for status in (408, 431, 500)
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
        health_schema(),
        problem_schema(),
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
    _, found = models_json_schema(models, ref_template=SCHEMAS + "{model}", schema_generator=_Plain)
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


def _examples(by_language: Mapping[str, Any] | None) -> dict[str, Any]:
    if by_language is None:
        return {}
    examples = {key: {"summary": _LANGUAGES[key], "value": value} for key, value in by_language.items()}
    return {"examples": examples}
