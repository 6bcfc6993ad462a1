"""A chat model: messages in, one reply out, or a fault that says what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from hindsight_common.errors import HindsightError


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """`text` is what the model answered, without what it only thought; `is_cut` = the token budget ended it.

    `refusal` is the model's or the provider's own word that it will not answer, where they say so apart from the
    text. Token counts are 0 where the endpoint does not report them.
    """

    text: str
    is_cut: bool = False
    refusal: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


class ChatFault(HindsightError):
    """No reply. `cause` is a short stable word for metrics and logs; it quotes nothing."""

    def __init__(self, cause: str, reason: str) -> None:
        super().__init__(reason)
        self.cause = cause
        self.reason = reason


class ChatAway(ChatFault):
    """Temporary: busy, broken, unreachable or too slow. `retry_after_s` is the endpoint's own word, if it gave one."""

    def __init__(self, cause: str, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(cause, reason)
        self.retry_after_s = retry_after_s


class ChatMisconfigured(ChatFault):
    """Key, address or model are wrong: no request can succeed until a person changes something."""


class ChatRefused(ChatFault):
    """The endpoint does not take this request; another one may well succeed. `too_long` = it was too large."""

    def __init__(self, cause: str, reason: str, *, too_long: bool = False) -> None:
        super().__init__(cause, reason)
        self.too_long = too_long


class ChatModel(Protocol):
    @property
    def name(self) -> str:
        """The model's name, for provenance."""
        ...

    async def ask(
        self, messages: Sequence[ChatMessage], *, schema: Mapping[str, Any], max_output_tokens: int
    ) -> ChatReply:
        """One reply, asked for once. Raises `ChatFault`.

        `schema` (JSON Schema) is enforced where the endpoint can; elsewhere the reply may be anything, so the
        messages must ask for the form themselves.
        """
        ...

    async def close(self) -> None: ...
