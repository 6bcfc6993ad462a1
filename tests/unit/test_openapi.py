"""The document of the gateway: checked in as it is generated, valid, and true of the routes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from hindsight_gateway.consumers.openapi import document
from hindsight_gateway.document import text

DOCUMENT = document()
OPERATIONS = {
    f"{method.upper()} {path}": said
    for path, methods in DOCUMENT["paths"].items()
    for method, said in methods.items()
}


def resolved(said: Any) -> Any:
    while "$ref" in said:
        *_, kind, name = said["$ref"].split("/")
        said = DOCUMENT["components"][kind][name]
    return said


def check(schema: dict[str, Any], value: object) -> None:
    whole = {**schema, "components": DOCUMENT["components"]}
    OAS31Validator(whole).validate(value)


def test_the_document_that_is_checked_in_is_the_one_that_is_generated() -> None:
    stored = (Path(__file__).parents[2] / "docs/openapi.json").read_text("utf-8")
    assert stored == text(), "run make documents"


def test_it_is_valid_openapi_3_1() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    assert DOCUMENT["openapi"].startswith("3.1")


def test_every_schema_parameter_and_response_is_used() -> None:
    for kind, named in DOCUMENT["components"].items():
        for name in named:
            assert f'"#/components/{kind}/{name}"' in text(), name


def test_functions_that_generators_make_of_it_are_named_plainly_and_once() -> None:
    names = [said["operationId"] for said in OPERATIONS.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name) for name in names)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_refusal_is_a_problem(operation: str) -> None:
    responses = OPERATIONS[operation]["responses"]
    assert {"400", "503"} <= set(responses) or operation == "GET /health"
    for status, said in responses.items():
        if int(status) >= 400 and (operation, status) != ("GET /health", "503"):
            assert list(resolved(said)["content"]) == ["application/problem+json"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_examples_are_there_in_both_languages_and_keep_to_their_schemas(operation: str) -> None:
    said = OPERATIONS[operation]
    if "requestBody" in said:
        assert set(said["requestBody"]["content"]["application/json"]["examples"]) == {"zh", "en"}
    for part in (said.get("requestBody", {}), said["responses"]["200"]):
        content = part.get("content", {}).get("application/json", {})
        for example in content.get("examples", {}).values():
            check(content["schema"], example["value"])
    for parameter in map(resolved, said.get("parameters", ())):
        if "example" in parameter:
            check(parameter["schema"], parameter["example"])


def test_what_examples_ask_for_is_what_the_bus_takes() -> None:
    refused = json.loads(text())["paths"]["/v1/recall"]["post"]["requestBody"]["content"]["application/json"]
    with pytest.raises(Exception, match="userID"):
        check(refused["schema"], {"userID": "u-1", "query": "x"})
