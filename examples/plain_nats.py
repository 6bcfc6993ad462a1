"""Everything with a NATS client alone, as it is done from any language: subjects and JSON.

仅用 NATS 客户端完成全部操作，任何语言皆然：主题加 JSON。

    python examples/plain_nats.py
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any
from uuid import uuid4

import nats
from nats.aio.client import Client

URL = os.environ.get("HINDSIGHT_NATS_URL", "nats://127.0.0.1:4222")
USER, SESSION = f"plain-{uuid4().hex[:8]}", "s-1"


async def ask(nc: Client, subject: str, **body: Any) -> dict[str, Any]:
    """An answer, or the error that the service gives in its place."""
    reply = await nc.request(subject, json.dumps(body).encode(), timeout=10)
    answer: dict[str, Any] = json.loads(reply.data)
    if "error" in answer:
        raise RuntimeError(f"{subject}: {answer['error']['code']}: {answer['error']['message']}")
    return answer


async def publish(nc: Client, turn: dict[str, Any]) -> None:
    """By JetStream, which acknowledges once the turn is on disk. A retry sends the same turn_id and Nats-Msg-Id."""
    headers = {"content-type": "application/json", "Nats-Msg-Id": f"{turn['user_id']}.{turn['turn_id']}"}
    await nc.jetstream().publish("conversation.turn", json.dumps(turn).encode(), headers=headers)


async def main() -> None:
    nc = await nats.connect(URL)
    for turn_id, text in (("t-1", "我对花生过敏"), ("t-2", "I live in Lisbon.")):
        messages = [{"role": "user", "content": text}]
        await publish(nc, {"turn_id": turn_id, "user_id": USER, "session_id": SESSION, "messages": messages})

    # wait_for_turn: answer once this turn can be recalled / 等到该轮次可被召回再回答
    for query, turn_id in (("点菜要注意什么？", "t-1"), ("Where do I live?", "t-2")):
        answer = await ask(nc, "memory.recall", user_id=USER, query=query, wait_for_turn=turn_id)
        for memory in answer["memories"]:
            print(f"{memory['score']:.2f} {memory['content']}")

    injected = await ask(nc, "memory.inject", user_id=USER, session_id=SESSION, query="点菜要注意什么？")
    print(injected["snapshot"])

    await nc.jetstream().publish(
        "conversation.closed", json.dumps({"user_id": USER, "session_id": SESSION}).encode()
    )
    forgotten = await ask(nc, "memory.forget", user_id=USER, everything=True, confirm=True)
    print(f"forgotten / 已遗忘: {forgotten['receipt']['status']}")
    await nc.close()


if __name__ == "__main__":
    asyncio.run(main())
