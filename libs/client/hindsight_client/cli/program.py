"""The program and its options; the commands are in modules beside this one."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hindsight_client.cli.language import say
from hindsight_client.cli.session import Session

app = typer.Typer(
    name="hindsight-cli",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help=say("Long-term memory for LLM agents.", "LLM 智能体的长期记忆。"),
)


class Output(StrEnum):
    PRETTY = "pretty"
    JSON = "json"


@app.callback()
def options(
    context: typer.Context,
    nats_url: Annotated[
        str | None,
        typer.Option(help=say("Address of the bus.", "消息总线的地址。"), envvar="HINDSIGHT_NATS_URL"),
    ] = None,
    tenant: Annotated[str, typer.Option(help=say("Tenant to work for.", "所属租户。"))] = "default",
    config: Annotated[
        Path | None, typer.Option(help=say("Configuration file.", "配置文件。"), dir_okay=False)
    ] = None,
    output: Annotated[
        Output,
        typer.Option("--output", "-o", help=say("Form of the data on stdout.", "标准输出的数据格式。")),
    ] = Output.PRETTY,
) -> None:
    context.obj = Session(nats_url, tenant, config, "json" if output is Output.JSON else "pretty")
