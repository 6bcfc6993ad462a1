"""A chat backend: before a call it asks for what is remembered, after it it publishes the turn.

聊天后端：调用模型前取回记忆，调用后发布这一轮对话。

    python examples/fastapi_backend.py --port 8000
    curl -s localhost:8000/chat -H 'Content-Type: application/json' \
        -d '{"user_id": "u-17", "session_id": "s-1", "text": "我对花生过敏"}'

With OPENAI_BASE_URL (and OPENAI_MODEL, OPENAI_API_KEY) any OpenAI-compatible LLM answers; without one `reply` is
null, and `prompt` is what it would have been given.
设置 OPENAI_BASE_URL（及 OPENAI_MODEL、OPENAI_API_KEY）后由任意 OpenAI 兼容的模型回答；
未设置时 reply 为 null，prompt 为本会发送的内容。
"""

from __future__ import annotations

import argparse
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI, Request
from pydantic import BaseModel

from hindsight_client import HindsightClient, RequestError, snapshot_paragraph


class Said(BaseModel):
    user_id: str
    session_id: str
    text: str


class Answered(BaseModel):
    turn_id: str
    reply: str | None
    prompt: str


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """One connection for the life of the process, shared by all requests."""
    async with await HindsightClient.connect() as memory:
        app.state.memory = memory
        yield


app = FastAPI(title="A backend that remembers", lifespan=lifespan)


@app.post("/chat")
async def chat(said: Said, request: Request) -> Answered:
    memory: HindsightClient = request.app.state.memory
    try:
        snapshot = (await memory.inject(said.user_id, said.session_id, said.text)).snapshot
    except RequestError:
        snapshot = ""  # a chat without memory is better than none
    prompt = f"{snapshot_paragraph('zh')}\n\n{snapshot}"
    reply = await ask_llm(prompt, said.text)
    messages = [{"role": "user", "content": said.text}]
    if reply is not None:
        messages.append({"role": "assistant", "content": reply})
    published = await memory.publish_turn(
        {"user_id": said.user_id, "session_id": said.session_id, "messages": messages}
    )
    return Answered(turn_id=published.turn_id, reply=reply, prompt=prompt)


@app.delete("/sessions/{session_id}")
async def close(session_id: str, user_id: str, request: Request) -> dict[str, str]:
    """The conversation is over: what was said in it last is released, what was learnt stays."""
    memory: HindsightClient = request.app.state.memory
    await memory.close_session(user_id, session_id)
    return {"closed": session_id}


async def ask_llm(system: str, text: str) -> str | None:
    """What the LLM says; None where there is none."""
    if "OPENAI_BASE_URL" not in os.environ:
        return None
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key=os.environ.get("OPENAI_API_KEY", "none")) as llm:
        completion = await llm.chat.completions.create(
            model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"),
            messages=[{"role": "system", "content": system}, {"role": "user", "content": text}],
        )
    return completion.choices[0].message.content


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A chat backend that remembers. 有记忆的聊天后端。")
    parser.add_argument("--port", type=int, default=8000)
    uvicorn.run(app, host="127.0.0.1", port=parser.parse_args().port)
