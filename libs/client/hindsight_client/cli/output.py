"""What the command line prints: data on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hindsight_client.cli.language import say
from hindsight_common.events.answers import MemoryOut, RecallAnswer, RecalledMemory, Receipt, TurnAnswer

FAILED: Final = 1

_STATUS: Final = {
    "active": "有效",
    "provisional": "暂定",
    "superseded": "已被取代",
    "disputed": "有争议",
    "cold": "冷存",
    "stale": "待更新",
    "quarantined": "已隔离",
}
_OUTCOME: Final = {
    "pending": "处理中",
    "kept": "已记住",
    "empty": "无需记忆",
    "provisional": "暂定",
    "failed": "失败",
    "rejected": "被拒绝",
    "forgotten": "已遗忘",
}


def note(message: str) -> None:
    """For the person, never part of the data."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(message))


def print_json(data: BaseModel | Sequence[BaseModel] | dict[str, object]) -> None:
    if isinstance(data, BaseModel):
        plain: object = data.model_dump(mode="json", by_alias=True)
    elif isinstance(data, dict):
        plain = data
    else:
        plain = [one.model_dump(mode="json", by_alias=True) for one in data]
    sys.stdout.write(json.dumps(plain, ensure_ascii=False, indent=2) + "\n")


def print_line(text: str) -> None:
    """Text of memories is printed as it is: it may look like markup and is none."""
    Console(highlight=False, soft_wrap=True).print(Text(text))


def print_recall(answer: RecallAnswer) -> None:
    for memory in answer.memories:
        print_line(f"{memory.score:.2f}  {_described(memory)}")
    if not answer.memories:
        note(say("nothing remembered matches", "没有匹配的记忆"))
    tell_degraded(answer.degraded)


def tell_degraded(missing: Sequence[str]) -> None:
    if missing:
        note(say("missing from this answer: ", "本次回答缺少：") + ", ".join(missing))


def print_values(memories: Iterable[MemoryOut]) -> None:
    """What memories say now, each with its confidence."""
    found = list(memories)
    if not found:
        note(say("nothing to remember was found in it", "其中没有需要记住的内容"))
    for memory in found:
        pinned = say(", pinned", "，已固定") if memory.pinned else ""
        sure = say(f"confidence {memory.confidence:.2f}", f"置信度 {memory.confidence:.2f}")
        print_line(f"{memory.content} ({sure}{pinned})  {memory.id}")


def print_memories(memories: Iterable[MemoryOut]) -> None:
    found = list(memories)
    if not found:
        note(say("no memories", "没有记忆"))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("id", say("status", "状态"), say("since", "起始")):
        table.add_column(heading, no_wrap=True)
    table.add_column(say("memory", "记忆"), overflow="fold")
    for memory in found:
        since = (memory.valid_from or memory.occurred_at).date().isoformat()
        table.add_row(memory.id, status_of(memory), since, Text(memory.content))
    print_table(table)


def print_table(table: Table) -> None:
    # a file or a pipe has no width that lines would have to keep to
    Console(highlight=False, width=None if sys.stdout.isatty() else 10_000).print(table)


def print_outcome(answer: TurnAnswer) -> None:
    noun = "memory" if answer.memories == 1 else "memories"
    outcome = say(answer.outcome, _OUTCOME.get(answer.outcome, answer.outcome))
    print_line(
        f"{answer.turn_id}: {outcome}, " + say(f"{answer.memories} {noun}", f"{answer.memories} 条记忆")
    )
    if answer.error is not None:
        note(answer.error.message)


def print_receipt(receipt: Receipt) -> None:
    status = say(receipt.status, {"done": "已完成", "pending": "进行中"}[receipt.status])
    print_line(say(f"receipt {receipt.id}: {status}", f"回执 {receipt.id}：{status}"))
    for name, store in receipt.stores.items():
        state = say(store.status, {"done": "已完成", "pending": "进行中"}[store.status])
        detail = f" ({store.detail})" if store.detail else ""
        print_line(
            f"  {name}: {state}, " + say(f"{store.removed} removed", f"已删除 {store.removed}") + detail
        )


def _described(memory: RecalledMemory) -> str:
    sources = ", ".join(f"{source.session_id}/{source.turn_id}" for source in memory.sources)
    state = "" if memory.status == "active" else f" [{status_of(memory)}]"
    return f"[{memory.type}]{state} {memory.content}  ({memory.occurred_at.date().isoformat()}; {sources})"


def status_of(memory: MemoryOut) -> str:
    return say(memory.status, _STATUS.get(memory.status, memory.status))
