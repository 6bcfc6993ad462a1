"""Looking a deployment over, with what to do about each finding."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from hindsight_client.cli import output
from hindsight_client.cli.error_words import described
from hindsight_client.cli.examination import Finding, Subject, examine
from hindsight_client.cli.examination.machine import (
    DEFAULT_LEAST_FREE_GIB,
    configuration,
    data_directory,
    http_url,
)
from hindsight_client.cli.language import say
from hindsight_client.cli.program import Plain, app
from hindsight_client.cli.session import Session
from hindsight_client.deployment import find_nats_url
from hindsight_client.errors import AccessDenied, NoServer
from hindsight_common.errors import HindsightError

_MARKS = {"ok": "✓", "warning": "!", "fault": "✗"}


@app.command(
    cls=Plain,
    help=say(
        "Examine the deployment and say what to do; exit status 1 if there is anything to do.",
        "检查部署并给出处理建议；若有需处理之处则以状态 1 退出。",
    ),
)
def doctor(
    context: typer.Context,
    *,
    wait: Annotated[
        float,
        typer.Option(
            min=0.05, max=30, help=say("Seconds to wait for workers.", "等待各工作进程应答的秒数。")
        ),
    ] = 1.0,
    http_at: Annotated[
        str | None,
        typer.Option(
            "--http-url",
            envvar="HINDSIGHT_HTTP_URL",
            help=say("Address of the gateway.", "网关的地址。"),
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(help=say("Data directory of the embedded form.", "嵌入式部署的数据目录。")),
    ] = None,
    min_free: Annotated[
        float,
        typer.Option(min=0, help=say("GiB that should be free there.", "该处应有的剩余空间（GiB）。")),
    ] = DEFAULT_LEAST_FREE_GIB,
) -> None:
    run: Session = context.obj
    settings, findings = configuration(run.config)
    if settings is not None:
        if data_dir is not None or settings.memory_store == "embedded":
            findings += data_directory(data_dir or settings.data_dir, min_free)
        http_at = http_at or http_url(settings, find_nats_url(run.nats_url, run.config))
    known = {finding.found for finding in findings}
    findings += [one for one in asyncio.run(_look(run, wait, http_at)) if one.found not in known]
    if run.prints_json:
        output.print_json({"findings": [finding.as_dict() for finding in findings]})
    else:
        for finding in findings:
            output.print_line(f"{_MARKS[finding.level]} {finding.what}: {finding.found}")
            if finding.way_out:
                output.print_line(f"    → {finding.way_out}")
    if any(finding.level != "ok" for finding in findings):
        raise typer.Exit(output.FAILED)


async def _look(run: Session, wait_s: float, http_at: str | None) -> list[Finding]:
    try:
        client = await run.connect()
    except NoServer as error:
        return [_not_let_in(error)]
    except HindsightError as error:
        return [Finding("fault", say("configuration", "配置"), described(error))]
    async with client:
        return await examine(Subject(client.nc, wait_s, http_at))


def _not_let_in(error: NoServer) -> Finding:
    if isinstance(error, AccessDenied):
        way_out = say(
            "check HINDSIGHT_NATS_USER and HINDSIGHT_NATS_PASSWORD, or --nats-credentials",
            "请检查 HINDSIGHT_NATS_USER 与 HINDSIGHT_NATS_PASSWORD，或 --nats-credentials",
        )
        found = say(f"{error.places} refuses the credentials", f"{error.places} 拒绝了凭证")
        return Finding("fault", "NATS", found, way_out)
    found = say(
        f"no server answers at {error.places} within {error.patience_s:g} s",
        f"{error.places} 在 {error.patience_s:g} 秒内没有服务器应答",
    )
    way_out = say(
        "start Hindsight (make run), or name another address with --nats-url",
        "请先启动 Hindsight（make run），或用 --nats-url 指定其他地址",
    )
    return Finding("fault", "NATS", found, way_out)
