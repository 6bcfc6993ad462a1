"""What the pruner would take out of the graph."""

from __future__ import annotations

from typing import Annotated

import typer

from hindsight_client.cli import output
from hindsight_client.cli.language import say
from hindsight_client.cli.program import Plain, app
from hindsight_client.cli.session import Session
from hindsight_client.client import HindsightClient
from hindsight_common.errors import RequestError


@app.command(
    "prune_graph",
    cls=Plain,
    help=say(
        "Show each node that a plan would prune, with its reason.", "列出剪枝计划涉及的每个节点及理由。"
    ),
)
def prune_graph(
    context: typer.Context,
    *,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help=say("Only make the plan; required.", "仅生成计划；必填。")),
    ] = False,
) -> None:
    run: Session = context.obj
    if not dry_run:
        raise typer.BadParameter(
            say(
                "is required: a plan is carried out only after somebody has approved it",
                "为必填项：计划须经人工批准后才会执行",
            ),
            param_hint="--dry-run",
        )

    async def plan(client: HindsightClient) -> None:
        try:
            made = await client.pruning_plan()
        except RequestError as error:
            if error.code != "no_responders":
                raise
            message = "nobody on this bus answers admin.prune; the pruner of this version makes no plans"
            raise RequestError("no_plans", message, status=503) from error
        if run.prints_json:
            output.print_json(made)
            return
        for node in made.nodes:
            output.print_line(f"{node.node}: {node.reason}")
        if not made.nodes:
            output.note(say("nothing would be pruned", "没有需要剪枝的节点"))

    run.run(plan)
