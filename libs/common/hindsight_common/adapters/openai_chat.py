"""Any OpenAI-compatible endpoint as a chat model, through the `openai` client."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, Final

import openai
import structlog
from openai import AsyncOpenAI

from hindsight_common.adapters.openai_dialects import Dialect, names_a_parameter, says_too_long
from hindsight_common.ports.chat import (
    ChatAway,
    ChatFault,
    ChatMessage,
    ChatMisconfigured,
    ChatRefused,
    ChatReply,
)

# payment required stands here: no request succeeds until somebody pays
_WRONG: Final = frozenset({401, 402, 403, 404})
_ABOUT_THE_REQUEST: Final = frozenset({400, 422})
_TOO_LARGE: Final = 413
# a server that says "come back next week" is looked at again within the hour
_LONGEST_RETRY_AFTER_S: Final = 3600.0

_log = structlog.get_logger(__name__)


class OpenAiChat:
    """Implements `ports.chat.ChatModel`. The dialect that worked is remembered as long as the process lives.

    Retries are nobody's business here: who asks knows what else waits.
    """

    def __init__(self, *, base_url: str, api_key: str | None, model: str, timeout_s: float = 60.0) -> None:
        self._model = model
        self._client = AsyncOpenAI(
            base_url=base_url,
            # the client insists on one; local servers do not look at it
            api_key=api_key or "none",
            max_retries=0,
            timeout=timeout_s,
        )
        self._dialect = Dialect()

    @property
    def name(self) -> str:
        return self._model

    async def ask(
        self, messages: Sequence[ChatMessage], *, schema: Mapping[str, Any], max_output_tokens: int
    ) -> ChatReply:
        dialect, worth_remembering = self._dialect, False
        said = [{"role": message.role, "content": message.content} for message in messages]
        while True:
            body = {"messages": said, **dialect.parameters(schema, max_output_tokens)}
            try:
                reply = await self._post(body)
            except openai.APIStatusError as error:
                refusal = _text_of(error)
                simpler = dialect.after(refusal) if error.status_code in _ABOUT_THE_REQUEST else None
                if simpler is None or says_too_long(refusal):
                    raise _fault(error, refusal) from None
                worth_remembering = worth_remembering or names_a_parameter(refusal)
                dialect = simpler
                continue
            if worth_remembering and dialect != self._dialect:
                self._dialect = dialect
                _log.info("llm.dialect", model=self._model, form=dialect.form, tokens=dialect.tokens)
            return reply

    async def _post(self, body: dict[str, Any]) -> ChatReply:
        try:
            answer = await self._client.chat.completions.with_raw_response.create(model=self._model, **body)
        except openai.APITimeoutError:
            raise ChatAway("timeout", "the LLM did not answer in time") from None
        except openai.APIConnectionError:
            raise ChatAway("unreachable", "the LLM cannot be reached") from None
        return _reply(answer.http_response.text)

    async def close(self) -> None:
        await self._client.close()


def _reply(text: str) -> ChatReply:
    """Read by hand: endpoints leave out, rename and add what the client's types insist on."""
    try:
        answer = json.loads(text)
        choice = answer["choices"][0]
        message = dict(choice["message"])
        usage = dict(answer.get("usage") or {})
    except (ValueError, LookupError, TypeError):
        raise ChatAway(
            "unreadable", "the LLM endpoint answered with something that is no completion"
        ) from None
    finish = choice.get("finish_reason")
    refusal = message.get("refusal")
    return ChatReply(
        text=_content(message.get("content")),
        is_cut=finish in ("length", "max_tokens"),
        refusal=refusal
        if isinstance(refusal, str)
        else "content_filter"
        if finish == "content_filter"
        else None,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _content(content: object) -> str:
    """A string, or a list of parts of which only the text is the answer."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _text_of(error: openai.APIStatusError) -> str:
    with suppress(UnicodeDecodeError):
        return error.response.text[:4000]
    return ""


def _fault(error: openai.APIStatusError, refusal: str) -> ChatFault:
    """By status; the text stays out of the reason, since it may quote the request."""
    status = error.status_code
    if status in _WRONG:
        return ChatMisconfigured(
            f"http_{status}", f"the LLM endpoint answers {status}: check base_url, api_key and model"
        )
    if status in _ABOUT_THE_REQUEST or status == _TOO_LARGE:
        too_long = status == _TOO_LARGE or says_too_long(refusal)
        return ChatRefused(
            f"http_{status}", f"the LLM endpoint refuses the request with {status}", too_long=too_long
        )
    return ChatAway(
        f"http_{status}",
        f"the LLM endpoint answers {status}",
        retry_after_s=_retry_after_s(error.response.headers),
    )


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds, from any of the forms in use; a date is taken against the server's own clock."""
    seconds: float | None = None
    with suppress(KeyError, ValueError):
        seconds = float(headers["retry-after-ms"]) / 1000
    with suppress(KeyError, ValueError):
        seconds = seconds if seconds is not None else float(headers["retry-after"])
    if seconds is None:
        with suppress(KeyError, ValueError, TypeError):
            due, now = (parsedate_to_datetime(headers[name]) for name in ("retry-after", "date"))
            seconds = (due - now).total_seconds()
    if seconds is None or not math.isfinite(seconds):
        return None
    return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER_S)
