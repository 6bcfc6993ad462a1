"""Asking a model about a turn until its reply can be read: with more room, in other words, or about less at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from hindsight_common.ports.chat import ChatFault, ChatModel, ChatRefused, ChatReply
from hindsight_common.ports.extraction import Message, Turn
from hindsight_extractor.application.extraction_telemetry import ExtractionTelemetry
from hindsight_extractor.domain.prompting import REPLY_SCHEMA, Prompt, parts
from hindsight_extractor.domain.replies import Entry, Reading, read_reply

# how much larger the budget of a reply is that was cut off
_WIDER: Final = 4
# below this a part of a turn is not split any further
_SMALLEST_PART: Final = 400

_log = structlog.get_logger(__name__)


class UnreadableReplyError(Exception):
    """The model was asked and said nothing that can be read; the cause is that of the reading."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


@dataclass(slots=True)
class Inquiry:
    """What is asked about one turn, and what it took."""

    turn: Turn
    prompt: Prompt
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def usage(self) -> dict[str, int]:
        return {"calls": self.calls, "input_tokens": self.input_tokens, "output_tokens": self.output_tokens}


@dataclass(frozen=True, slots=True)
class AskModel:
    """`nonce` gives unguessable text, `monotonic` counts seconds."""

    chat: ChatModel
    telemetry: ExtractionTelemetry
    nonce: Callable[[], str]
    max_output_tokens: int = 2048
    monotonic: Callable[[], float] = time.monotonic

    async def about(self, inquiry: Inquiry, part: Sequence[Message]) -> tuple[Entry, ...]:
        """The entries of one part of the turn. Raises `ChatFault` and `UnreadableReplyError`.

        No request is sent twice: the second has more room or other words, those after it have less to read. Where
        nothing is left to try, the finished items of a cut reply count.
        """
        budget = self.max_output_tokens
        first = await self._ask(inquiry, part, budget, again=False)
        if _is_good(first):
            return first.entries
        if first.failure == "too_long":
            return await self._about_halves(inquiry, part, first)
        wider = budget * _WIDER if first.is_cut else budget
        second = await self._ask(inquiry, part, wider, again=not first.is_cut)
        if _is_good(second):
            return second.entries
        best = max(first, second, key=lambda reading: len(reading.entries))
        if second.is_cut or second.failure == "too_long":
            return await self._about_halves(inquiry, part, best)
        return _entries(best, second)

    async def _about_halves(
        self, inquiry: Inquiry, part: Sequence[Message], best: Reading
    ) -> tuple[Entry, ...]:
        size = sum(len(message.content) for message in part)
        smaller = parts(part, size // 2) if size >= _SMALLEST_PART else []
        if len(smaller) < 2:
            return _entries(best, best)
        found: list[Entry] = []
        for half in smaller:
            found += await self.about(inquiry, half)
        return tuple(found)

    async def _ask(self, inquiry: Inquiry, part: Sequence[Message], budget: int, *, again: bool) -> Reading:
        """One request and what its reply says; a request that the endpoint refuses has a reading of its own."""
        messages = inquiry.prompt.messages(inquiry.turn, part, self.nonce(), again=again)
        began, model = self.monotonic(), self.chat.name
        try:
            reply = await self.chat.ask(messages, schema=REPLY_SCHEMA, max_output_tokens=budget)
        except ChatRefused as fault:
            self.telemetry.unanswered(model, self.monotonic() - began, fault.cause)
            return Reading(failure="too_long" if fault.too_long else fault.cause)
        except ChatFault as fault:
            self.telemetry.unanswered(model, self.monotonic() - began, fault.cause)
            raise
        self.telemetry.answered(
            model,
            self.monotonic() - began,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
        )
        inquiry.calls += 1
        inquiry.input_tokens += reply.input_tokens
        inquiry.output_tokens += reply.output_tokens
        return self._read(reply)

    def _read(self, reply: ChatReply) -> Reading:
        reading = Reading(failure="refusal") if reply.refusal else read_reply(reply.text, is_cut=reply.is_cut)
        self.telemetry.dropped(reading.dropped)
        if reading.dropped.get("unknown_id"):
            _log.warning("extraction.unknown_id", count=reading.dropped["unknown_id"])
        if reading.is_cut:
            self.telemetry.cut()
        return reading


def _is_good(reading: Reading) -> bool:
    return reading.failure is None and not reading.is_cut


def _entries(best: Reading, last: Reading) -> tuple[Entry, ...]:
    if best.entries:
        return best.entries
    raise UnreadableReplyError(last.failure or "cut")
