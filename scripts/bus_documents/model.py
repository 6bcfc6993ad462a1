"""What is said about an event, and about a request with its answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

Sealing = Literal["clear", "user", "deployment"]

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Words:
    """The same sentence in both languages of the documents."""

    en: str
    zh: str


@dataclass(frozen=True, slots=True)
class Event:
    """A message that is published and kept in a stream.

    `subject` has placeholders (`{tenant}`); `tenanted` = the bare subject is the default tenant's and another
    tenant's name is appended. `body` is a type that pydantic can describe, None where there is no body of its
    own; `sealed` says by whose key the body is sealed. Consumers are named `worker/durable`.
    """

    name: str
    subject: str
    stream: str
    producers: tuple[str, ...]
    consumers: tuple[str, ...]
    meaning: Words
    repetition: Words
    body: Any = None
    version: int | None = None
    sealed: Sealing = "clear"
    tenanted: bool = False

    @property
    def placeholders(self) -> tuple[str, ...]:
        return placeholders(self.subject)

    def pattern(self) -> str:
        """The subject as a subscription would name it."""
        return _PLACEHOLDER.sub("*", self.subject)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and what comes back. `progress` = several messages, the last of which is done.

    `answer` is a type that pydantic can describe; `body` None = an empty request.
    """

    name: str
    subject: str
    worker: str
    meaning: Words
    repetition: Words
    answer: Any
    body: Any = None
    tenanted: bool = True
    progress: bool = False


def placeholders(subject: str) -> tuple[str, ...]:
    return tuple(_PLACEHOLDER.findall(subject))
