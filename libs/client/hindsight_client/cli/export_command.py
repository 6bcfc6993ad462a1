"""Everything that is remembered of a user, to take along."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, TextIO, get_args

import typer

from hindsight_client.cli import output
from hindsight_client.cli.language import say
from hindsight_client.cli.memory_commands import User
from hindsight_client.cli.program import OfUser, app
from hindsight_client.cli.session import Session
from hindsight_client.client import HindsightClient
from hindsight_common.events.requests import Status

EVERY_STATUS: Final = get_args(Status)


@app.command(
    cls=OfUser,
    help=say(
        "Write all memories of a user as JSON lines, whatever their status.",
        "以 JSON Lines 导出用户的全部记忆，不论状态。",
    ),
)
def export(
    context: typer.Context,
    *,
    user: User,
    file: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            help=say(
                "Where to, for this account's eyes only; else stdout.",
                "目标文件，仅本账户可读；缺省为标准输出。",
            ),
        ),
    ] = None,
) -> None:
    run: Session = context.obj

    async def write(client: HindsightClient) -> None:
        number = 0
        with _opened(file) as sink:
            async for memory in client.list_all(user, status=EVERY_STATUS, limit=1000):
                sink.write(memory.model_dump_json(by_alias=True) + "\n")
                number += 1
        output.note(say(f"{number} memories", f"共 {number} 条记忆"))

    run.run(write)


@contextmanager
def _opened(file: Path | None) -> Iterator[TextIO]:
    """A file appears only once it is whole."""
    if file is None:
        yield sys.stdout
        return
    temporary = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}", param_hint="--file") from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as sink:
            yield sink
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
