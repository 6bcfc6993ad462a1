from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel

from hindsight_client import HindsightClient, RequestError, SyncHindsightClient
from hindsight_client.asking import checked
from hindsight_client.options import DecideOptions, InjectOptions, PageOptions, RecallOptions, Turn
from hindsight_common.events.conversation import ConversationTurn
from hindsight_common.events.requests import DecideRequest, InjectRequest, ListRequest, RecallRequest

ROOT = Path(__file__).parents[2]
# of the async client only: its connection
OWN = {"nc"}


def public(client: type) -> dict[str, Any]:
    return {name: value for name, value in vars(client).items() if not name.startswith("_")}


def test_the_sync_client_has_every_method_of_the_async_one_and_no_other() -> None:
    assert set(public(SyncHindsightClient)) - {"tenant"} == set(public(HindsightClient)) - OWN


@pytest.mark.parametrize("name", sorted(set(public(HindsightClient)) - {"close"}))
def test_both_clients_take_the_same_arguments_and_say_the_same_of_themselves(name: str) -> None:
    theirs, ours = getattr(HindsightClient, name), getattr(SyncHindsightClient, name)
    assert inspect.signature(ours).parameters == inspect.signature(theirs).parameters
    assert ours.__doc__ == theirs.__doc__
    assert not inspect.iscoroutinefunction(ours)


@pytest.mark.parametrize(
    ("options", "model", "fixed"),
    [
        (RecallOptions, RecallRequest, {"user_id": "u", "query": "q"}),
        (InjectOptions, InjectRequest, {"user_id": "u", "session_id": "s", "query": "q"}),
        (PageOptions, ListRequest, {"user_id": "u"}),
        (DecideOptions, DecideRequest, {"user_id": "u", "memory_id": "0f8fad5b-d9cb-469f-a165-70867728950e"}),
        (Turn, ConversationTurn, {}),
    ],
)
def test_every_field_of_a_request_can_be_given_by_name(
    options: type, model: type[BaseModel], fixed: Mapping[str, str]
) -> None:
    fields = {info.alias or name for name, info in model.model_fields.items()}
    offered = set(get_type_hints(options)) | set(fixed)
    assert offered <= fields
    for name in fields - offered:
        with pytest.raises(RequestError) as refused:
            checked(model, {**fixed, name: 7})
        assert refused.value.code == "not_supported", name


SNIPPET = """
from hindsight_client import HindsightClient, SyncHindsightClient, Turn

turn: Turn = {"user_id": "u", "session_id": "s", "messages": [{"role": "user", "content": "hello"}]}

async def told(client: HindsightClient) -> None:
    reveal_type(await client.recall("u", "q", top_k=3))
    reveal_type(await client.write(turn))
    async for memory in client.list_all("u", status=["active"]):
        reveal_type(memory.content)
    await client.recall("u", "q", topk=3)

def waited(client: SyncHindsightClient) -> None:
    reveal_type(client.recall("u", "q", min_score=0.5))
    reveal_type(client.inject("u", "s", "q").snapshot)
    reveal_type([memory.id for memory in client.list_all("u")])
    reveal_type(SyncHindsightClient.connect("nats://127.0.0.1:4222"))
    client.forget("u", everything="yes")
"""


def test_a_program_that_uses_the_client_is_checked_by_its_types(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(SNIPPET)
    places = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--output", "json", *places, str(program)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    revealed = [f["message"].split('"')[1] for f in found if f["severity"] == "note"]
    assert [re.sub(r"\w+\.", "", kind) for kind in revealed] == [
        "RecallAnswer",
        "WriteAnswer",
        "str",
        "RecallAnswer",
        "str",
        "list[str]",
        "SyncHindsightClient",
    ], ran.stdout
    wrong = {f["line"]: f["code"] for f in found if f["severity"] == "error"}
    assert wrong == {11: "call-arg", 18: "arg-type"}, ran.stdout
