"""Looking a deployment over, with what to do about each finding."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from hindsight_client.cli import output
from hindsight_client.cli.error_words import described
from hindsight_client.cli.examination import Finding, examine
from hindsight_client.cli.language import say
from hindsight_client.cli.program import app
from hindsight_client.cli.session import Session
from hindsight_client.errors import NoServer
from hindsight_common.errors import HindsightError

_MARKS = {"ok": "✓", "warning": "!", "fault": "✗"}


@app.command(help=say("Examine the deployment and say what to do.", "检查部署并给出处理建议。"))
def doctor(
    context: typer.Context,
    *,
    wait: Annotated[
        float,
        typer.Option(
            min=0.05, max=30, help=say("Seconds to wait for workers.", "等待各工作进程应答的秒数。")
        ),
    ] = 1.0,
) -> None:
    run: Session = context.obj
    findings = asyncio.run(_look(run, wait))
    if run.prints_json:
        output.print_json({"findings": [finding.as_dict() for finding in findings]})
    else:
        for finding in findings:
            output.print_line(f"{_MARKS[finding.level]} {finding.what}: {finding.found}")
            if finding.way_out:
                output.print_line(f"    → {finding.way_out}")
    if any(finding.level == "fault" for finding in findings):
        raise typer.Exit(output.FAILED)


async def _look(run: Session, wait_s: float) -> list[Finding]:
    try:
        client = await run.connect()
    except NoServer as error:
        found = say(
            f"no server answers at {error.places} within {error.patience_s:g} s",
            f"{error.places} 在 {error.patience_s:g} 秒内没有服务器应答",
        )
        way_out = say(
            "start Hindsight (make run), or name another address with --nats-url",
            "请先启动 Hindsight（make run），或用 --nats-url 指定其他地址",
        )
        return [Finding("fault", "NATS", found, way_out)]
    except HindsightError as error:
        return [Finding("fault", say("configuration", "配置"), described(error))]
    async with client:
        return await examine(client.nc, wait_s=wait_s)
