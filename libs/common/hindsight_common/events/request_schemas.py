"""What the validators of requests demand beyond types, as a JSON schema says it, for documents and generators."""

from __future__ import annotations

from typing import Any, Final

from hindsight_common.events.fields import MAX_ID_BYTES

MAX_SAID_CHARACTERS: Final = 2000
MEMORY_ID: Final[dict[str, Any]] = {"type": "string", "format": "uuid"}


def one_filter(schema: dict[str, Any]) -> None:
    """One of three filters, none of them null."""
    properties = schema["properties"]
    properties["memory_ids"] = {"type": "array", "items": MEMORY_ID, "minItems": 1, "maxItems": 1000}
    properties["session_id"] = {"type": "string", "minLength": 1, "maxLength": MAX_ID_BYTES}
    properties["everything"] = {"const": True}
    schema["oneOf"] = [{"required": [name]} for name in ("memory_ids", "session_id", "everything")]


def some_change(schema: dict[str, Any]) -> None:
    """At least one change, none of them null."""
    said = {"type": "string", "minLength": 1, "maxLength": MAX_SAID_CHARACTERS}
    schema["properties"] |= {"object": said, "content": said, "pinned": {"type": "boolean"}}
    schema["anyOf"] = [{"required": [name]} for name in ("object", "content", "pinned")]
