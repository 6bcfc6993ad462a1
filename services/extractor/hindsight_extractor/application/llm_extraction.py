"""Extraction by a model: it is asked, its reply is read, and what the turn bears out is kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, Literal

import structlog

from hindsight_common.errors import GiveUp, RetryLater
from hindsight_common.ports.chat import ChatAway, ChatMisconfigured
from hindsight_common.ports.extraction import Extraction, Turn
from hindsight_extractor.application.asking import AskModel, Inquiry, UnreadableReplyError
from hindsight_extractor.application.extraction_telemetry import ExtractionTelemetry
from hindsight_extractor.application.model_gate import ModelGate
from hindsight_extractor.domain.grounding import grounded
from hindsight_extractor.domain.prompting import Prompt, fingerprint, parts, told_of
from hindsight_extractor.domain.replies import Entry
from hindsight_extractor.domain.rules.prose import language_of

# a turn is asked about by so many deliveries before it becomes a dead letter
_ROUNDS: Final = 3
_REMEMBERED_FAILURES: Final = 10_000

_log = structlog.get_logger(__name__)


class LlmExtractor:
    """Implements `ports.extraction.Extractor` over a chat model.

    A reply that cannot be read is a failure: asked for again by two later deliveries, then a dead letter; never
    "nothing to remember". While the model is away or wrongly configured, turns are turned away uncounted.
    """

    def __init__(
        self,
        ask: AskModel,
        prompts: Mapping[Literal["zh", "en"], Prompt],
        gate: ModelGate,
        telemetry: ExtractionTelemetry,
        *,
        max_input_characters: int = 24_000,
    ) -> None:
        self._ask = ask
        self._prompts = prompts
        # of all languages: a small model that knows one prompt by heart does not mind which it is given
        self._sentinels = tuple(name for prompt in prompts.values() for name in prompt.sentinels)
        self._prompt_hash = fingerprint(prompts[language] for language in sorted(prompts))
        self._gate = gate
        self._telemetry = telemetry
        self._max_input_characters = max_input_characters
        self._failed_rounds: OrderedDict[tuple[str, str, str], int] = OrderedDict()

    @property
    def name(self) -> str:
        return "llm/1"

    @property
    def model(self) -> str | None:
        return self._ask.chat.name

    @property
    def prompt_hash(self) -> str | None:
        return self._prompt_hash

    async def extract(self, turn: Turn) -> Extraction:
        told = told_of(turn)
        spoken = "\n".join(message.content for message in told if message.role == "user")
        if not spoken:
            return Extraction(())
        inquiry = Inquiry(turn, self._prompts[language_of(spoken)])
        found: list[Entry] = []
        with self._gate.admission():
            try:
                for part in parts(told, self._max_input_characters):
                    found += await self._ask.about(inquiry, part)
            except (ChatAway, ChatMisconfigured, UnreadableReplyError) as fault:
                raise self._meaning(turn, fault) from None
            self._gate.answered()
        self._failed_rounds.pop(_key(turn), None)
        items, dropped = grounded(dict.fromkeys(found), turn, self._sentinels)
        self._telemetry.dropped(dropped)
        return Extraction(items, usage=inquiry.usage)

    def _meaning(
        self, turn: Turn, fault: ChatAway | ChatMisconfigured | UnreadableReplyError
    ) -> RetryLater | GiveUp:
        """What a fault means for the turn; the gate hears of it."""
        self._telemetry.failed(fault.cause)
        if isinstance(fault, ChatAway):
            self._gate.away(fault.cause, fault.retry_after_s)
        elif isinstance(fault, ChatMisconfigured):
            self._gate.misconfigured(fault.cause)
        else:
            self._gate.unreadable()
        if self._gate.health.state != "ok":
            return self._gate.come_back()
        return self._failed_round(turn, fault.cause)

    def _failed_round(self, turn: Turn, cause: str) -> RetryLater | GiveUp:
        key = _key(turn)
        rounds = self._failed_rounds.pop(key, 0) + 1
        _log.warning("extraction.unreadable", cause=cause, round=rounds)
        if rounds >= _ROUNDS:
            return GiveUp(
                "unreadable_reply", f"the LLM's replies to this turn could not be read, at last: {cause}"
            )
        self._failed_rounds[key] = rounds
        if len(self._failed_rounds) > _REMEMBERED_FAILURES:
            self._failed_rounds.popitem(last=False)
        return RetryLater(f"the LLM's reply could not be read: {cause}")


def _key(turn: Turn) -> tuple[str, str, str]:
    return (turn.tenant, turn.user_id, turn.turn_id)
