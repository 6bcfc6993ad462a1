"""The chat adapter against a scripted endpoint: replies in their varieties, and what every fault means."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hindsight_client.llm_stub import LlmStub, Step
from hindsight_common.adapters.openai_chat import OpenAiChat
from hindsight_common.ports.chat import (
    ChatAway,
    ChatFault,
    ChatMessage,
    ChatMisconfigured,
    ChatRefused,
    ChatReply,
)

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
HELLO = [ChatMessage("user", "hello")]


@pytest.fixture
async def stub() -> AsyncIterator[LlmStub]:
    async with LlmStub() as serving:
        yield serving


@pytest.fixture
async def chat(stub: LlmStub) -> AsyncIterator[OpenAiChat]:
    chat = OpenAiChat(base_url=stub.url, api_key=None, model="m", timeout_s=1)
    yield chat
    await chat.close()


async def ask(chat: OpenAiChat) -> ChatReply:
    return await chat.ask(HELLO, schema=SCHEMA, max_output_tokens=100)


async def fault(chat: OpenAiChat) -> ChatFault:
    with pytest.raises(ChatFault) as raised:
        await ask(chat)
    return raised.value


def raw(message: object, finish: str | None = "stop") -> Step:
    """A completion with this message, as other endpoints write it."""
    body = json.dumps({"choices": [{"message": message, "finish_reason": finish}]})
    return Step(status=203, body=body)


async def test_a_reply_comes_with_its_tokens_and_only_once(stub: LlmStub, chat: OpenAiChat) -> None:
    stub.play(always=[Step(reply="hi")])
    reply = await ask(chat)
    assert (reply.text, reply.is_cut, reply.refusal) == ("hi", False, None)
    assert reply.input_tokens > 0
    assert reply.output_tokens > 0
    (asked,) = stub.asked
    assert asked.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert asked.body["response_format"]["json_schema"]["strict"] is True
    assert asked.body["messages"] == [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize(
    ("message", "finish", "text", "cut", "refused"),
    [
        ({"content": None, "reasoning_content": "thoughts"}, "length", "", True, False),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "thinking", "text": "b"}]},
            "stop",
            "a",
            False,
            False,
        ),
        ({"content": None, "refusal": "I will not"}, "stop", "", False, True),
        ({"content": ""}, "content_filter", "", False, True),
        ({"content": "x", "extra": 1}, None, "x", False, False),
    ],
)
async def test_replies_of_other_houses_are_read(
    stub: LlmStub, chat: OpenAiChat, message: object, finish: str | None, text: str, cut: bool, refused: bool
) -> None:
    stub.play(always=[raw(message, finish)])
    reply = await ask(chat)
    assert (reply.text, reply.is_cut, reply.refusal is not None) == (text, cut, refused)


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_a_wrong_key_address_or_model_is_told_apart(
    stub: LlmStub, chat: OpenAiChat, status: int
) -> None:
    stub.play(always=[Step(status=status, body="hello is no key")])
    said = await fault(chat)
    assert isinstance(said, ChatMisconfigured)
    assert said.cause == f"http_{status}"
    assert "hello" not in str(said)
    assert len(stub.asked) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_what_passes_is_asked_once_and_left_to_the_caller(
    stub: LlmStub, chat: OpenAiChat, status: int
) -> None:
    stub.play(always=[Step(status=status)])
    assert isinstance(await fault(chat), ChatAway)
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "Wed, 04 Mar 2026 09:15:30 GMT", "Date": "Wed, 04 Mar 2026 09:15:10 GMT"}, 20.0),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "9999999"}, 3600.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({}, None),
    ],
)
async def test_when_to_come_back_is_read_in_every_form(
    stub: LlmStub, chat: OpenAiChat, headers: dict[str, str], seconds: float | None
) -> None:
    stub.play(always=[Step(status=429, headers=headers)])
    said = await fault(chat)
    assert isinstance(said, ChatAway)
    assert said.retry_after_s == seconds


async def test_a_slow_and_an_unreachable_endpoint_are_away(stub: LlmStub, chat: OpenAiChat) -> None:
    stub.play(always=[Step(delay_s=30)])
    slow = await fault(chat)
    await stub.stop()
    gone = await fault(chat)
    assert [isinstance(said, ChatAway) for said in (slow, gone)] == [True, True]
    assert (slow.cause, gone.cause) == ("timeout", "unreachable")


@pytest.mark.parametrize(
    "body",
    [
        "<html>welcome</html>",
        "[]",
        '{"choices": []}',
        '{"choices": [{}]}',
        '{"choices": [{"message": "x"}]}',
        "null",
    ],
)
async def test_what_is_no_completion_is_away_and_never_an_answer(
    stub: LlmStub, chat: OpenAiChat, body: str
) -> None:
    stub.play(always=[Step(status=203, body=body)])
    said = await fault(chat)
    assert isinstance(said, ChatAway)
    assert said.cause == "unreadable"


@pytest.mark.parametrize(
    ("status", "body", "too_long"),
    [
        (400, "This model's maximum context length is 4096 tokens", True),
        (413, "", True),
        (400, "bad", False),
        (422, "worse", False),
    ],
)
async def test_a_refused_request_is_the_requests_own_fault(
    stub: LlmStub, chat: OpenAiChat, status: int, body: str, too_long: bool
) -> None:
    stub.play(always=[Step(status=status, body=body)])
    said = await fault(chat)
    assert isinstance(said, ChatRefused)
    assert said.too_long == too_long
    # nothing was learned from it
    stub.play(always=[Step(reply="hi")])
    await ask(chat)
    assert stub.asked[-1].body["response_format"]["type"] == "json_schema"


async def test_side_by_side_requests_learn_the_same_dialect(stub: LlmStub, chat: OpenAiChat) -> None:
    stub.play(
        always=[
            Step(status=400, body="response_format is not supported", if_body_has='"response_format"'),
            Step(reply="hi"),
        ]
    )
    replies = await asyncio.gather(*(ask(chat) for _ in range(5)))
    assert {reply.text for reply in replies} == {"hi"}
    before = len(stub.asked)
    await ask(chat)
    assert len(stub.asked) == before + 1
