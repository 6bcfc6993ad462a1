"""A chat in the terminal that remembers you from one day to the next.

终端里的聊天程序，隔天也记得你。

    python examples/chat_loop.py --user u-17

With OPENAI_BASE_URL (and OPENAI_MODEL, OPENAI_API_KEY) any OpenAI-compatible LLM answers. Without one, nobody does, and
you see what an LLM would have been given. `/recall QUESTION` asks the memory, Ctrl-D ends the session.
设置 OPENAI_BASE_URL（及 OPENAI_MODEL、OPENAI_API_KEY）后由任意 OpenAI 兼容的模型回答；
未设置时不作回答，只显示本会发给模型的内容。
`/recall 问题` 查询记忆，Ctrl-D 结束会话。
"""

from __future__ import annotations

import argparse
import os
from uuid import uuid4

from hindsight_client import RequestError, SyncHindsightClient, snapshot_paragraph

CHINESE = os.environ.get("LC_ALL", os.environ.get("LANG", "")).startswith("zh")
PARAGRAPH = snapshot_paragraph("zh" if CHINESE else "en")


def answer(system: str, said: str) -> str | None:
    """What the LLM says; None where there is none."""
    if "OPENAI_BASE_URL" not in os.environ:
        print(f"--- no LLM, it would be given / 没有模型，本会发送：\n{system}\n---")
        return None
    from openai import OpenAI

    llm = OpenAI(api_key=os.environ.get("OPENAI_API_KEY", "none"))
    completion = llm.chat.completions.create(
        model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"),
        messages=[{"role": "system", "content": system}, {"role": "user", "content": said}],
    )
    return completion.choices[0].message.content


def remembered(memory: SyncHindsightClient, user: str, session: str, said: str) -> str:
    """The block of memory for this call. Without it the chat still goes on."""
    try:
        return memory.inject(user, session, said).snapshot
    except RequestError as error:
        print(f"(no memory this time / 本次没有记忆: {error})")
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description="A chat that remembers. 有记忆的聊天程序。")
    parser.add_argument("--user", default="u-17")
    parser.add_argument("--nats-url", help="default: HINDSIGHT_NATS_URL, else this machine")
    options = parser.parse_args()
    session = f"chat-{uuid4().hex[:8]}"

    with SyncHindsightClient.connect(options.nats_url) as memory:
        while True:
            try:
                said = input("> ").strip()
            except EOFError:
                memory.close_session(options.user, session)
                return
            if said.startswith("/recall "):
                for found in memory.recall(options.user, said.removeprefix("/recall ")).memories:
                    print(f"{found.score:.2f} {found.content}")
            elif said:
                snapshot = remembered(memory, options.user, session, said)
                reply = answer(f"{PARAGRAPH}\n\n{snapshot}", said)
                messages = [{"role": "user", "content": said}]
                if reply:
                    print(reply)
                    messages.append({"role": "assistant", "content": reply})
                # returns as soon as the bus has it; nobody waits for it to be understood
                memory.publish_turn({"user_id": options.user, "session_id": session, "messages": messages})


if __name__ == "__main__":
    main()
