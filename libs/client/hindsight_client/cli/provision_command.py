"""Making the streams and consumers of a deployment, before its workers start."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

import typer

from hindsight_client.cli import output
from hindsight_client.cli.error_words import described
from hindsight_client.cli.language import say
from hindsight_client.cli.program import Plain, app
from hindsight_client.cli.session import Session
from hindsight_client.deployment import find_credentials, find_nats_url
from hindsight_common.errors import HindsightError
from hindsight_common.events.streams import SCHEDULES, SERVER_CONSUMERS, STREAMS

DRIFTED: Final = 3


@app.command(
    cls=Plain,
    help=say(
        "Create the streams, consumers and schedules of a server deployment, as its operator. What exists is never "
        "changed; what differs is told, with exit status 3.",
        "以运维身份创建服务器部署所需的流、消费者与定时任务。已有的绝不改动；若有差异则逐条列出，并以状态 3 退出。",
    ),
)
def provision(
    context: typer.Context,
    *,
    accept_drift: Annotated[
        bool,
        typer.Option(
            "--accept-drift",
            help=say("Exit with status 0 even where something differs.", "即使存在差异也以状态 0 退出。"),
        ),
    ] = False,
    wait: Annotated[
        float,
        typer.Option(min=0.1, max=600, help=say("Seconds to wait for the server.", "等待服务器的秒数。")),
    ] = 30.0,
) -> None:
    run: Session = context.obj
    try:
        drift = asyncio.run(_provision(run, wait))
    except HindsightError as error:
        output.note(described(error))
        raise typer.Exit(output.FAILED) from None
    if run.prints_json:
        output.print_json(
            {
                "streams": len(STREAMS),
                "consumers": len(SERVER_CONSUMERS),
                "schedules": len(SCHEDULES),
                "drift": drift,
            }
        )
    else:
        for sentence in drift:
            output.print_line(say("drift: ", "差异：") + sentence)
        output.print_line(
            say(
                f"{len(STREAMS)} streams, {len(SERVER_CONSUMERS)} consumers and {len(SCHEDULES)} schedules are there",
                f"{len(STREAMS)} 个流、{len(SERVER_CONSUMERS)} 个消费者、{len(SCHEDULES)} 个定时任务均已就绪",
            )
        )
    if drift and not accept_drift:
        raise typer.Exit(DRIFTED)


async def _provision(run: Session, patience_s: float) -> list[str]:
    # loads the broker, which nothing else on the command line needs
    from hindsight_common.messaging import connection, provisioning  # noqa: PLC0415

    bus = await connection.connect(
        find_nats_url(run.nats_url, run.config),
        name="hindsight-provision",
        credentials=find_credentials(run.nats_user, run.nats_credentials, run.config),
        patience_s=patience_s,
    )
    try:
        return await provisioning.provision(bus.js, consumers=SERVER_CONSUMERS)
    finally:
        await bus.close()
