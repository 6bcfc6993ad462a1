"""The catalogue as an AsyncAPI 3.0 document: what a program of any language needs to speak on the bus."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from hindsight_common import VERSION
from hindsight_common.events.answers import ErrorAnswer
from hindsight_common.events.subjects import TENANT_PATTERN
from scripts.bus_documents.events import EVENTS
from scripts.bus_documents.model import Event, Exchange, placeholders
from scripts.bus_documents.requests import EXCHANGES

_SCHEMAS: Final = "#/components/schemas/"

_PARAMETERS: Final = {
    "tenant": f"One customer of the deployment: {TENANT_PATTERN.pattern}; `default` is left out.",
    "p": "The first byte of the user key, two hexadecimal digits.",
    "user_key": "A keyed hash of tenant and user id, 32 hexadecimal digits.",
    "turn_key": "A keyed hash of tenant, user and turn id.",
    "place": "How many keys of the user were destroyed before this one.",
    "stream": "The stream that the message could not be processed from.",
    "consumer": "The consumer that gave up.",
    "job": "The name of a job, such as nightly.",
}
_HEADERS: Final = {
    "type": "object",
    "properties": {
        "content-type": {"type": "string", "const": "application/json"},
        "Nats-Msg-Id": {
            "type": "string",
            "description": "Wanted if the publisher retries; unique over tenant, user and turn.",
        },
        "traceparent": {"type": "string", "description": "W3C trace context."},
    },
}
_ERROR_HEADERS: Final = {
    "type": "object",
    "properties": {
        "Nats-Service-Error": {"type": "string", "description": "What went wrong, one line."},
        "Nats-Service-Error-Code": {"type": "string", "description": "An HTTP status, such as 404."},
    },
}


_SEALED: Final = {
    "type": "string",
    "format": "binary",
    "description": "A line of clear JSON, a line break and a sealed box; x-sealed-payload is what the box holds.",
}


class _Schemas:
    """Collects the schemas of components; each is named once."""

    def __init__(self) -> None:
        self.named: dict[str, Any] = {}

    def of(self, kind: Any, name: str) -> dict[str, Any]:
        """A reference to the schema of a type under a name of its own."""
        schema = TypeAdapter(kind).json_schema(ref_template=_SCHEMAS + "{model}", mode="validation")
        for inner, described in schema.pop("$defs", {}).items():
            self._put(inner, described)
        self._put(name, schema)
        return {"$ref": _SCHEMAS + name}

    def _put(self, name: str, schema: dict[str, Any]) -> None:
        if self.named.setdefault(name, schema) != schema:
            raise ValueError(f"two different schemas are called {name}")


class _Document:
    def __init__(self) -> None:
        self.schemas = _Schemas()
        self.channels: dict[str, Any] = {}
        self.operations: dict[str, Any] = {}
        self.messages: dict[str, Any] = {}

    def message(self, name: str, described: dict[str, Any]) -> None:
        self.messages[name] = {"name": name, **described}

    def channel(self, name: str, subject: str | None, messages: list[str], description: str) -> None:
        channel: dict[str, Any] = {
            "address": subject,
            "description": description,
            "messages": {message: {"$ref": f"#/components/messages/{message}"} for message in messages},
        }
        if subject is not None and (named := placeholders(subject)):
            channel["parameters"] = {each: {"description": _PARAMETERS[each]} for each in named}
        self.channels[name] = channel

    def event(self, event: Event) -> None:
        described: dict[str, Any] = {
            "summary": event.meaning.en,
            "description": f"Repetition: {event.repetition.en}.",
            "x-stream": event.stream,
            "x-sealed": event.sealed,
        }
        if event.version is not None:
            described["x-schema-version"] = event.version
        described |= _carried(event)
        if event.body is not None:
            schema = self.schemas.of(event.body, _type_name(event.body))
            described["payload" if event.sealed == "clear" else "x-sealed-payload"] = schema
        self.message(event.name, described)
        for suffix, subject in _subjects(event.subject, tenanted=event.tenanted):
            name = event.name + suffix
            self.channel(name, subject, [event.name], event.meaning.en)
            self._operation(f"publish{name}", "send", name, [event.name], event.producers)
            if event.consumers:
                self._operation(f"consume{name}", "receive", name, [event.name], event.consumers)

    def exchange(self, exchange: Exchange) -> None:
        request, answer = f"{exchange.name}Request", f"{exchange.name}Answer"
        described: dict[str, Any] = {
            "summary": exchange.meaning.en,
            "description": f"Repetition: {exchange.repetition.en}.",
            "contentType": "application/json",
            "headers": _HEADERS,
            "payload": self.schemas.of(exchange.body, _type_name(exchange.body))
            if exchange.body is not None
            else {"type": "object", "description": "Empty."},
        }
        self.message(request, described)
        payload = self.schemas.of(exchange.answer, _type_name(exchange.answer, exchange.name))
        summary = "several messages; the last one has done: true" if exchange.progress else "the answer"
        self.message(answer, {"summary": summary, "contentType": "application/json", "payload": payload})
        replies = f"{exchange.name}Reply"
        self.channel(replies, None, [answer, "RequestError"], "The inbox that the request names.")
        for suffix, subject in _subjects(exchange.subject, tenanted=exchange.tenanted):
            name = exchange.name + suffix
            self.channel(name, subject, [request], exchange.meaning.en)
            self._operation(f"answer{name}", "receive", name, [request], (exchange.worker,))
            self.operations[f"answer{name}"]["reply"] = {
                "address": {"location": "$message.header#/reply"},
                "channel": {"$ref": f"#/channels/{replies}"},
                "messages": [
                    {"$ref": f"#/channels/{replies}/messages/{message}"}
                    for message in (answer, "RequestError")
                ],
            }

    def _operation(
        self, name: str, action: str, channel: str, messages: list[str], who: tuple[str, ...]
    ) -> None:
        self.operations[name] = {
            "action": action,
            "summary": f"by {', '.join(who)}",
            "channel": {"$ref": f"#/channels/{channel}"},
            "messages": [{"$ref": f"#/channels/{channel}/messages/{message}"} for message in messages],
        }


def _carried(event: Event) -> dict[str, Any]:
    """How the body is on the wire."""
    if event.sealed == "clear":
        payload = {"description": "As the meaning says; no schema of its own."}
        return {"contentType": "application/json", "headers": _HEADERS, "payload": payload}
    return {"contentType": "application/octet-stream", "payload": _SEALED}


def document() -> dict[str, Any]:
    """The whole document, in a stable order."""
    made = _Document()
    for event in EVENTS:
        made.event(event)
    errors = made.schemas.of(ErrorAnswer, "ErrorAnswer")
    made.message(
        "RequestError",
        {
            "summary": "the request was not answered",
            "contentType": "application/json",
            "headers": _ERROR_HEADERS,
            "payload": errors,
        },
    )
    for exchange in EXCHANGES:
        made.exchange(exchange)
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Hindsight on the bus",
            "version": VERSION,
            "description": "Long-term memory for LLM agents: what is published, kept and asked on NATS. docs/events.md "
            "says the same for people.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "nats": {
                "host": "127.0.0.1:4222",
                "pathname": "",
                "protocol": "nats",
                "description": "NATS 2.14 or later with JetStream",
            }
        },
        "channels": made.channels,
        "operations": made.operations,
        "components": {"schemas": made.schemas.named, "messages": made.messages},
    }


def _subjects(subject: str, *, tenanted: bool) -> list[tuple[str, str]]:
    """Suffix of the name and subject: the default tenant's, and that with a tenant's name behind it."""
    return [("", subject), ("OfTenant", f"{subject}.{{tenant}}")] if tenanted else [("", subject)]


def _type_name(kind: Any, otherwise: str = "") -> str:
    return getattr(kind, "__name__", "") if isinstance(kind, type) else f"{otherwise}Content"
