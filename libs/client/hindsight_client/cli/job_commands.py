"""Long jobs that report how far they are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Annotated, Final

import nats.errors
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from hindsight_client.cli import output
from hindsight_client.cli.language import say
from hindsight_client.cli.program import OfUser, Plain, app
from hindsight_client.cli.session import Session
from hindsight_client.client import HindsightClient
from hindsight_common.events.answers import Progress as Step
from hindsight_common.events.streams import LOG

_CHINESE: Final = {
    "consolidation": "整理",
    "events": "事件",
    "graph": "图",
    "position": "位置",
    "promoted": "已整理",
    "switched": "已切换",
    "users": "用户",
    "vectors": "向量",
}


class Store(StrEnum):
    VECTORS = "vectors"
    GRAPH = "graph"
    ALL = "all"


@app.command(
    cls=Plain,
    help=say("Make a store again from the log, beside the live one.", "依据日志在旁重建存储，再一次性切换。"),
)
def rebuild(
    context: typer.Context,
    *,
    store: Annotated[Store, typer.Option(help=say("Which store.", "要重建的存储。"))] = Store.ALL,
) -> None:
    run: Session = context.obj

    async def make_again(client: HindsightClient) -> None:
        results: dict[str, object] = {}
        for name in ("vectors", "graph"):
            if store in (Store.ALL, name):
                results[name] = await _follow(name, client.rebuild(name), await _end_of_log(client))
        _tell(run, results)

    run.run(make_again)


@app.command(cls=OfUser, help=say("Promote a user's facts into the graph.", "将用户的事实整理进图。"))
def consolidate(
    context: typer.Context,
    *,
    user: Annotated[str, typer.Argument(help=say("Whose memory.", "记忆所属的用户。"))],
) -> None:
    run: Session = context.obj

    async def promote(client: HindsightClient) -> None:
        _tell(run, {"consolidation": await _follow("consolidation", client.consolidate(user))})

    run.run(promote)


async def _follow(title: str, steps: AsyncIterator[Step], end: int | None = None) -> dict[str, object]:
    """The result, or the last sign of progress where a job ends without one. `end` is the position to arrive at."""
    last: dict[str, object] = {}
    title = say(title, _CHINESE.get(title, title))
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[facts]}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=end, facts="")
        async for step in steps:
            last = step.result or step.progress or last
            position = last.get("position")
            reached = position if isinstance(position, int) else None
            progress.update(task, completed=reached, facts=_facts(last))
    return last


async def _end_of_log(client: HindsightClient) -> int | None:
    """None where this user of the bus may not ask, or the bus cannot tell: the job goes on without."""
    try:
        return (await client.nc.jetstream().stream_info(LOG.name)).state.last_seq
    except (nats.errors.Error, TimeoutError):
        return None


def _tell(run: Session, results: dict[str, object]) -> None:
    if run.prints_json:
        output.print_json(results)
        return
    for name, result in results.items():
        title = say(name, _CHINESE.get(name, name))
        output.print_line(
            say(f"{title}: ", f"{title}：") + (_facts(result) if isinstance(result, dict) else "")
        )


def _facts(result: dict[str, object]) -> str:
    told = [
        f"{say(name, _CHINESE.get(name, name))} {_value(value)}"
        for name, value in result.items()
        if name != "store" and value is not None
    ]
    return say(", ", "，").join(told) or say("done", "完成")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return say("yes", "是") if value else say("no", "否")
    return str(value)
