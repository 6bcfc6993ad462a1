"""The LLM that reads turns, as the settings name it."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

import structlog

from hindsight_common.clock import Clock
from hindsight_common.errors import StopAndFix
from hindsight_common.ports.chat import ChatModel
from hindsight_common.settings.model import LlmSettings
from hindsight_extractor.application.asking import AskModel
from hindsight_extractor.application.extraction_telemetry import ExtractionTelemetry
from hindsight_extractor.application.llm_extraction import LlmExtractor
from hindsight_extractor.application.model_gate import ExtractionHealth, ModelGate
from hindsight_extractor.prompt_files import load_prompts

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Llm:
    """A configured model with its gate. `concurrency` turns are read at a time."""

    chat: ChatModel
    gate: ModelGate
    extractor: LlmExtractor
    settings: LlmSettings

    @property
    def health(self) -> ExtractionHealth:
        return self.gate.health


def configured_llm(settings: LlmSettings, clock: Clock, telemetry: ExtractionTelemetry) -> Llm | None:
    """None where no model is configured. Raises `StopAndFix` for half a configuration and for an unusable prompt."""
    if settings.base_url is None and settings.model is None:
        return None
    if settings.base_url is None or settings.model is None:
        missing = (
            "llm.base_url (MEMORY_LLM_BASE_URL)"
            if settings.base_url is None
            else "llm.model (MEMORY_LLM_MODEL)"
        )
        raise StopAndFix(f"{missing} is not set; an LLM needs both its address and the name of its model")
    # a second to load and 40 MB, which only those pay who extract by an LLM
    from hindsight_common.adapters.openai_chat import OpenAiChat  # noqa: PLC0415

    key = settings.api_key
    chat = OpenAiChat(
        base_url=settings.base_url,
        api_key=key.get_secret_value() if key else None,
        model=settings.model,
        timeout_s=settings.timeout_s,
    )
    _log.info("extraction.by_llm", model=settings.model, provider=settings.provider)
    return llm_over(chat, settings, clock, telemetry)


def llm_over(chat: ChatModel, settings: LlmSettings, clock: Clock, telemetry: ExtractionTelemetry) -> Llm:
    """Extraction over any chat model."""
    gate = ModelGate(clock, telemetry, monotonic=time.monotonic)
    ask = AskModel(chat, telemetry, lambda: secrets.token_hex(8), settings.max_output_tokens)
    extractor = LlmExtractor(
        ask,
        load_prompts(settings.prompt_path),
        gate,
        telemetry,
        max_input_characters=settings.max_input_characters,
    )
    return Llm(chat, gate, extractor, settings)
