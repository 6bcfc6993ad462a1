"""What goes into a prompt, and what is changed by hand."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

import typer

from hindsight_client.cli import output
from hindsight_client.cli.language import say
from hindsight_client.cli.layer_lines import layer_lines
from hindsight_client.cli.memory_commands import User, current_session
from hindsight_client.cli.program import OfUser, app
from hindsight_client.cli.session import Session
from hindsight_client.client import HindsightClient
from hindsight_client.options import DecideOptions, InjectOptions
from hindsight_common.errors import RequestError
from hindsight_common.events.answers import MemoryOut

OUTCOME_PATIENCE_S: Final = 30.0
_LOOK_AGAIN_S: Final = 0.05


@app.command(
    "inject_query",
    cls=OfUser,
    help=say("Show what a prompt would be given, a line per layer.", "查看将注入提示词的内容，每层一行。"),
)
def inject_query(
    context: typer.Context,
    *,
    user: User,
    query: Annotated[str, typer.Argument(help=say("What the user says now.", "用户此刻说的话。"))],
    session: current_session = "cli",
    role: Annotated[str | None, typer.Option(help=say("Role that asks.", "提问的角色。"))] = None,
    token_budget: Annotated[
        int | None, typer.Option(help=say("Tokens the block may take.", "记忆块可用的词元数。"))
    ] = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help=say("Print the block itself.", "打印记忆块本身。"))
    ] = False,
) -> None:
    run: Session = context.obj
    options: InjectOptions = {}
    if role is not None:
        options["role"] = role
    if token_budget is not None:
        options["token_budget"] = token_budget

    async def show(client: HindsightClient) -> None:
        answer = await client.inject(user, session, query, **options)
        if run.prints_json:
            output.print_json(answer)
        else:
            for line in (answer.snapshot,) if snapshot else layer_lines(answer):
                output.print_line(line)
            output.tell_degraded(answer.degraded)
        run.tell_times(answer.took_ms, unit_s=0.001)

    run.run(show)


@app.command(
    "update_memory",
    cls=OfUser,
    help=say(
        "Say how it is now. With --memory that memory is corrected, without it the words are a turn of their own.",
        "说明现状。给出 --memory 则更正该条记忆，否则作为一轮新的话写入。",
    ),
)
def update_memory(
    context: typer.Context,
    *,
    user: User,
    value: Annotated[str | None, typer.Argument(help=say("What it should say.", "应有的内容。"))] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", "-m", help=say("Id of the memory.", "记忆编号。"))
    ] = None,
    pin: Annotated[
        bool | None,
        typer.Option("--pin/--unpin", help=say("Never prune or cool it.", "永不剪枝或转冷。")),
    ] = None,
    session: current_session = "cli",
) -> None:
    run: Session = context.obj
    if value is None and (memory is None or pin is None):
        raise typer.BadParameter(
            say(
                "is required; only --memory with --pin or --unpin goes without",
                "为必填项，仅设置固定状态时可省略",
            ),
            param_hint="VALUE",
        )
    if memory is None and pin is not None:
        raise typer.BadParameter(say("needs --memory", "需同时给出 --memory"), param_hint="--pin/--unpin")

    async def update(client: HindsightClient) -> None:
        if memory is None:
            changed = await _told(client, user, session, value or "")
        else:
            changed = [await _decided(client, user, memory, value, pin)]
        if run.prints_json:
            output.print_json(changed)
        else:
            output.print_values(changed)

    run.run(update)


async def _decided(
    client: HindsightClient, user: str, memory_id: str, value: str | None, pin: bool | None
) -> MemoryOut:
    decision: DecideOptions = {}
    if value is not None:
        is_fact = (await client.get(user, memory_id)).type == "fact"
        decision |= {"object": value} if is_fact else {"content": value}
    if pin is not None:
        decision["pinned"] = pin
    return (await client.decide(user, memory_id, **decision)).memory


async def _told(client: HindsightClient, user: str, session: str, text: str) -> list[MemoryOut]:
    """The memories that rest on what was just said."""
    turn_id = (
        await client.write(
            {"user_id": user, "session_id": session, "messages": [{"role": "user", "content": text}]}
        )
    ).turn_id
    try:
        async with asyncio.timeout(OUTCOME_PATIENCE_S):
            outcome = await client.turn(user, turn_id)
            while outcome.outcome == "pending":
                await asyncio.sleep(_LOOK_AGAIN_S)
                outcome = await client.turn(user, turn_id)
    except TimeoutError:
        message = f"the turn {turn_id} is kept, but nobody has read it within {OUTCOME_PATIENCE_S:g} s"
        raise RequestError("timeout", message, status=504) from None
    if outcome.error is not None:
        raise RequestError(outcome.error.code, outcome.error.message, field=outcome.error.field)
    await client.recall(user, text, wait_for_turn=turn_id, top_k=1)
    return [
        memory
        async for memory in client.list_all(user, limit=1000)
        if any(source.turn_id == turn_id for source in memory.sources)
    ]
