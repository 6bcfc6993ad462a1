"""The kinds of log events: their versions and the form of their bodies.

A body is JSON of the domain's own dataclasses. A change that old readers cannot read raises the kind's version;
an older version gets an entry in `_UPCASTERS`; an unknown newer one stops the projection that meets it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from hindsight_common.domain.decisions import Decision
from hindsight_common.domain.memory import Consolidated, Forgotten, LogEvent, TurnGiven
from hindsight_common.errors import GiveUp, StopAndFix

KINDS: Final = {
    "turn": TurnGiven,
    "decision": Decision,
    "forgotten": Forgotten,
    "consolidated": Consolidated,
}
VERSIONS: Final = {"turn": 1, "decision": 1, "forgotten": 1, "consolidated": 1}

_ADAPTERS: Final[dict[str, TypeAdapter[Any]]] = {kind: TypeAdapter(model) for kind, model in KINDS.items()}

# kind → version it reads → how its body becomes the next version's
_UPCASTERS: Final[dict[str, dict[int, Callable[[dict[str, Any]], dict[str, Any]]]]] = {}


def kind_of(event: LogEvent) -> str:
    for kind, model in KINDS.items():
        if isinstance(event, model):
            return kind
    raise TypeError(f"{type(event).__name__} is never written to the log")


def body_of(event: LogEvent) -> bytes:
    """Canonical JSON: the same event gives the same bytes, so its keyed hash can be its id."""
    return _ADAPTERS[kind_of(event)].dump_json(event)


def read_body(kind: str, version: int, body: bytes) -> LogEvent:
    """Raises `StopAndFix` for a kind or version newer than this release, `GiveUp` for a body that is no such event."""
    if kind not in KINDS:
        raise StopAndFix(
            f"the log holds events of kind {kind!r}, which this release does not know: upgrade it"
        )
    if version > VERSIONS[kind]:
        raise StopAndFix(
            f"the log holds {kind!r} events of schema {version}; this release reads up to {VERSIONS[kind]}: upgrade it"
        )
    try:
        if version == VERSIONS[kind]:
            return _ADAPTERS[kind].validate_json(body)  # type: ignore[no-any-return]
        fields = json.loads(body)
        for step in range(version, VERSIONS[kind]):
            fields = _UPCASTERS[kind][step](fields)
        return _ADAPTERS[kind].validate_python(fields)  # type: ignore[no-any-return]
    except (ValidationError, ValueError, KeyError) as fault:
        raise GiveUp("invalid_event", f"a {kind} event does not have the form of its schema") from fault
