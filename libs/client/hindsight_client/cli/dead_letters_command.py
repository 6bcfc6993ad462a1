"""What could not be processed: when, where and why, never what it said."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from hindsight_client.cli import output
from hindsight_client.cli.language import say
from hindsight_client.cli.program import Plain, app
from hindsight_client.cli.session import Session
from hindsight_client.client import HindsightClient


@app.command(
    "dead-letters",
    cls=Plain,
    help=say(
        "List what could not be processed, newest last: cause and place, never its text. For operators.",
        "列出无法处理的消息（最新的在后）：原因与位置，不含内容。供运维使用。",
    ),
)
def dead_letters(
    context: typer.Context,
    *,
    limit: Annotated[int, typer.Option(min=1, help=say("Only the newest.", "仅显示最新的若干条。"))] = 100,
) -> None:
    run: Session = context.obj

    async def show(client: HindsightClient) -> None:
        # loads the broker, which few commands need
        from hindsight_common.messaging.buried import buried  # noqa: PLC0415

        found = [letter async for letter in buried(client.nc.jetstream())]
        shown = found[-limit:]
        if run.prints_json:
            output.print_json({"dead_letters": [letter.as_dict() for letter in shown], "total": len(found)})
            return
        if not found:
            output.note(say("no dead letters", "没有死信"))
            return
        table = Table(box=None, pad_edge=False)
        headings = (say("when", "时间"), say("cause", "原因"), say("field", "字段"), say("tenant", "租户"))
        for heading in (*headings, say("stream", "流"), say("consumer", "消费者"), say("sequence", "序号")):
            table.add_column(heading, no_wrap=True)
        for letter in shown:
            when = letter.at.astimezone().isoformat(" ", "seconds")
            place = (letter.tenant, letter.stream, letter.consumer, str(letter.sequence))
            table.add_row(when, letter.code, letter.field or "", *place)
        output.print_table(table)
        if len(found) > limit:
            output.note(say(f"{len(found)} in all", f"共 {len(found)} 条"))

    run.run(show)
