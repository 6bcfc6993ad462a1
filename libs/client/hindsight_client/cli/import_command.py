"""Bringing in histories, turn by turn, with their own times."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hindsight_client.cli import output
from hindsight_client.cli.error_words import described
from hindsight_client.cli.language import say
from hindsight_client.cli.program import Plain, app
from hindsight_client.cli.session import Session
from hindsight_client.client import HindsightClient
from hindsight_client.importing.locomo import read_locomo
from hindsight_client.importing.sending import Sent, send_turns
from hindsight_client.importing.turn_lines import read_turn_lines
from hindsight_common.errors import StopAndFix

# More refusals than this say nothing new
_SHOWN_REFUSALS = 10


class Format(StrEnum):
    LOCOMO = "locomo"
    TURNS = "turns"


@app.command(
    "import",
    cls=Plain,
    help=say(
        "Write the turns of a file. Running it again after a break goes on where it stopped.",
        "写入文件中的全部轮次；中断后重新运行即可继续。",
    ),
)
def import_file(
    context: typer.Context,
    *,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help=say("The file.", "文件。"))],
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help=say(
                "locomo: conversations as in LoCoMo; turns: one turn of JSON a line.",
                "locomo：LoCoMo 格式的对话；turns：每行一个 JSON 轮次。",
            ),
        ),
    ],
    user_prefix: Annotated[
        str,
        typer.Option(
            help=say(
                "locomo: put before each sample_id, which names the user.",
                "locomo：加在作为用户名的 sample_id 之前。",
            )
        ),
    ] = "",
    side_by_side: Annotated[
        int, typer.Option(min=1, max=256, help=say("Turns in flight.", "并行写入的轮次数。"))
    ] = 16,
) -> None:
    run: Session = context.obj
    try:
        turns = read_locomo(file, user_prefix) if form is Format.LOCOMO else read_turn_lines(file)
    except StopAndFix as error:
        output.note(str(error))
        raise typer.Exit(output.FAILED) from error

    async def bring_in(client: HindsightClient) -> None:
        sent = await _send(client, turns, side_by_side)
        _report(run, sent, len(turns))
        if sent.refused:
            raise typer.Exit(output.FAILED)

    run.run(bring_in)


async def _send(client: HindsightClient, turns: list[dict[str, Any]], side_by_side: int) -> Sent:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(say("turns", "轮次"), total=len(turns))
        return await send_turns(
            client, turns, side_by_side=side_by_side, on_step=lambda: progress.advance(task)
        )


def _report(run: Session, sent: Sent, total: int) -> None:
    if run.prints_json:
        refused = [
            {"number": number, "code": error.code, "message": error.message} for number, error in sent.refused
        ]
        output.print_json(
            {"turns": total, "accepted": sent.accepted, "duplicates": sent.duplicates, "refused": refused}
        )
    else:
        output.print_line(
            say(
                f"{total} turns: {sent.accepted} accepted, {sent.duplicates} already there, "
                f"{len(sent.refused)} refused",
                f"共 {total} 轮：新接收 {sent.accepted}，此前已有 {sent.duplicates}，被拒绝 {len(sent.refused)}",
            )
        )
    for number, error in sent.refused[:_SHOWN_REFUSALS]:
        output.note(say(f"turn {number}", f"第 {number} 轮") + f": {described(error)}")
