"""The prompt: what a model is told of a turn, in the language of the turn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from string import Template
from typing import Any, Final

from hindsight_common.domain.predicates import declared
from hindsight_common.domain.snapshot import without_snapshots
from hindsight_common.ports.chat import ChatMessage
from hindsight_common.ports.extraction import Message, Turn
from hindsight_extractor.domain.grounding import heard

# what the reply to an answer needs of it; a long one adds cost, and none of it is evidence
_LONGEST_CONTEXT: Final = 1000
_CONTEXT_ROLES: Final = ("assistant",)

_NULLABLE_TEXT: Final = {"type": ["string", "null"]}
_UNIT: Final = {"type": "number"}

# the form of a reply, with what places an item in its turn; every field is required because some endpoints
# take no other schemas as strict
REPLY_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["memories"],
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "anyOf": [
                    {
                        "type": "object",
                        "additionalProperties": False,
                        "required": [
                            "type",
                            "subject",
                            "predicate",
                            "object",
                            "negated",
                            "content",
                            "when",
                            "date",
                            "message",
                            "importance",
                        ],
                        "properties": {
                            "type": {"type": "string", "enum": ["fact"]},
                            "subject": {"type": "string"},
                            "predicate": {"type": "string"},
                            "object": {"type": "string"},
                            "negated": {"type": "boolean"},
                            "content": {"type": "string"},
                            "when": _NULLABLE_TEXT,
                            "date": _NULLABLE_TEXT,
                            "message": {"type": "string"},
                            "importance": _UNIT,
                        },
                    },
                    {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["type", "summary", "people", "when", "date", "message", "importance"],
                        "properties": {
                            "type": {"type": "string", "enum": ["event"]},
                            "summary": {"type": "string"},
                            "people": {"type": "array", "items": {"type": "string"}},
                            "when": _NULLABLE_TEXT,
                            "date": _NULLABLE_TEXT,
                            "message": {"type": "string"},
                            "importance": _UNIT,
                        },
                    },
                ]
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One language's prompt. `system` and `turn` are templates with `$names`; `weekdays` begin on Monday.

    `$predicates` in `system`; `$time $weekday $zone $nonce $messages` in `turn`. `again` is said when a reply could
    not be read. `sentinels` are names that stand in the examples and nowhere in the world.
    """

    system: str
    turn: str
    again: str
    weekdays: tuple[str, ...]
    sentinels: tuple[str, ...]

    def messages(self, turn: Turn, said: Sequence[Message], nonce: str, *, again: bool) -> list[ChatMessage]:
        """The request for a part of a turn (`said`, in order); `nonce` marks the block of data and is unguessable."""
        at = turn.occurred_at
        system = Template(self.system).substitute(predicates=", ".join(declared()))
        told = Template(self.turn).substitute(
            time=at.strftime("%Y-%m-%d %H:%M"),
            weekday=self.weekdays[at.weekday()],
            zone=turn.time_zone,
            nonce=nonce,
            messages="\n".join(_lines(turn, said)),
        )
        return [
            ChatMessage("system", system),
            ChatMessage("user", f"{told}\n\n{self.again}" if again else told),
        ]


def fingerprint(prompts: Iterable[Prompt]) -> str:
    """16 hex digits that change with any word of the prompts or of the schema."""
    told = [[p.system, p.turn, p.again, *p.weekdays, *p.sentinels] for p in prompts]
    return hashlib.sha256(json.dumps([told, REPLY_SCHEMA], sort_keys=True).encode()).hexdigest()[:16]


def _lines(turn: Turn, said: Sequence[Message]) -> Iterable[str]:
    """One JSON object a message: no text can pose as a line of its own."""
    speakers = {one.message.id: one.speaker for one in heard(turn)}
    for message in said:
        speaker = speakers.get(message.id, message.role)
        text = message.content if message.role == "user" else message.content[:_LONGEST_CONTEXT]
        line: dict[str, str] = {"id": message.id, "speaker": speaker}
        if message.name and speaker != message.name:
            line["name"] = message.name
        yield json.dumps(line | {"text": without_snapshots(text)}, ensure_ascii=False)


def told_of(turn: Turn) -> tuple[Message, ...]:
    """The messages that a model is shown: of the user side what counts, and the assistant's replies for context."""
    counts = {one.message.id: one.text for one in heard(turn)}
    shown = (
        replace(m, content=counts[m.id] if m.role == "user" else m.content)
        for m in turn.messages
        if m.role == "user" or m.role in _CONTEXT_ROLES
    )
    return tuple(m for m in shown if m.content.strip())


def parts(said: Sequence[Message], most_characters: int) -> list[list[Message]]:
    """The messages in order, in parts of about so many characters; a message longer than that is cut at line ends,
    then sentence ends, then anywhere, and keeps its id.
    """
    found: list[list[Message]] = [[]]
    room = most_characters
    for message in said:
        for piece in _pieces(message.content, most_characters):
            if len(piece) > room and found[-1]:
                found.append([])
                room = most_characters
            found[-1].append(Message(message.id, message.role, piece, message.name))
            room -= len(piece)
    return [part for part in found if any(message.role == "user" for message in part)]


def _pieces(text: str, most_characters: int) -> list[str]:
    found: list[str] = []
    while len(text) > most_characters:
        window = text[:most_characters]
        ends = (max(window.rfind(mark) for mark in marks) + 1 for marks in ("\n", "。！？.!?", " ，,"))
        end = next((at for at in ends if at > most_characters // 2), most_characters)
        found.append(text[:end])
        text = text[end:]
    return [*found, text]
