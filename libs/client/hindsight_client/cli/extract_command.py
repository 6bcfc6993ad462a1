"""What would be kept of a file's turns: asked of the extractor that is installed beside this program."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from hindsight_client.cli.language import say, speaks_chinese
from hindsight_client.cli.output import FAILED, note
from hindsight_client.cli.program import Plain, app
from hindsight_client.cli.session import Session

_EXTRACTOR: Final = "hindsight-extractor"


@app.command(
    "extract",
    cls=Plain,
    help=say(
        "Show what the rules would keep of each sentence of a file, or why not. Nothing is stored; no server is "
        "needed.",
        "逐句显示规则会保留什么，或为何不保留。不保存任何内容，也不需要服务器。",
    ),
)
def extract(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, help=say("One turn of JSON a line.", "每行一个 JSON 轮次。")
        ),
    ],
    *,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help=say("Required: this command never stores anything.", "必填：此命令从不保存任何内容。"),
        ),
    ] = False,
) -> None:
    run: Session = context.obj
    if not dry_run:
        note(
            say(
                "extract only shows: add --dry-run. To store the turns, use `import`.",
                "extract 只显示结果：请加 --dry-run。要保存这些轮次，请用 import。",
            )
        )
        raise typer.Exit(2)
    program = _installed()
    if program is None:
        note(
            say(
                "The extractor is not installed here: pip install hindsight-memory-extractor",
                "此处没有安装抽取器：pip install hindsight-memory-extractor",
            )
        )
        raise typer.Exit(FAILED)
    command = [program, "--dry-run", str(file), "--lang", "zh" if speaks_chinese() else "en"]
    command += ["--json"] if run.prints_json else []
    done = subprocess.run(command, check=False)  # noqa: S603 - our own program and a file that exists
    if done.returncode:
        raise typer.Exit(done.returncode)


def _installed() -> str | None:
    """The extractor of this environment, else the one on the path."""
    beside = Path(sys.executable).with_name(_EXTRACTOR)
    return str(beside) if beside.exists() else shutil.which(_EXTRACTOR)
