"""Writing turns, asking, listing, forgetting."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from hindsight_client.cli import output
from hindsight_client.cli.language import say
from hindsight_client.cli.program import OfUser, app
from hindsight_client.cli.session import Session
from hindsight_client.client import HindsightClient
from hindsight_common.errors import RequestError
from hindsight_common.events.answers import MemoryOut
from hindsight_common.events.strict_json import read_object

User = Annotated[str, typer.Argument(help=say("Whose memory.", "记忆所属的用户。"))]
SessionName = Annotated[
    str | None, typer.Option("--session", "-s", help=say("Only this session.", "仅限该会话。"))
]


# the conversation that goes on, as distinct from a filter
current_session = Annotated[
    str,
    typer.Option("--session", "-s", envvar="HINDSIGHT_SESSION", help=say("Session.", "会话。")),
]


@app.command(
    cls=OfUser, help=say("Write a turn, or see what became of one.", "写入一轮对话，或查看某一轮的结果。")
)
def turn(
    context: typer.Context,
    *,
    user: User,
    text: Annotated[str | None, typer.Argument(help=say("What the user said.", "用户说的话。"))] = None,
    session: current_session = "cli",
    turn_id: Annotated[
        str | None, typer.Option(help=say("Its id; made if missing.", "轮次编号；缺省时自动生成。"))
    ] = None,
    reply: Annotated[str | None, typer.Option(help=say("What was answered.", "助手的回复。"))] = None,
    role: Annotated[str | None, typer.Option(help=say("Role of the agent.", "智能体角色。"))] = None,
    at: Annotated[
        str | None, typer.Option(help=say("When, with an offset.", "发生时间，须带时区偏移。"))
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            help=say("A whole turn as JSON; - reads stdin.", "JSON 格式的完整轮次；- 表示标准输入。")
        ),
    ] = None,
    outcome_of: Annotated[
        str | None, typer.Option(help=say("Show what became of this turn.", "查看该轮次的处理结果。"))
    ] = None,
) -> None:
    run: Session = context.obj
    if outcome_of is not None:
        if text is not None:
            raise typer.BadParameter(
                say("does not go with --outcome-of", "不能与 --outcome-of 同用"), param_hint="TEXT"
            )
        run.run(lambda client: _show_outcome(run, client, user, outcome_of))
        return
    if file is not None:
        written = {"user_id": user, **_read_turn(file)}
    else:
        written = _spoken(user, _required(text, "TEXT"), session, reply)
        given = {"turn_id": turn_id, "role": role, "occurred_at": at}
        written |= {name: value for name, value in given.items() if value is not None}
    if written["user_id"] != user:
        raise typer.BadParameter(say("is another user's turn", "属于其他用户"), param_hint="--file")
    run.run(lambda client: _write(run, client, written))


@app.command(cls=OfUser, help=say("Ask what is remembered.", "查询记忆。"))
def recall(
    context: typer.Context,
    *,
    user: User,
    query: Annotated[str, typer.Argument(help=say("The question.", "问题。"))],
    top_k: Annotated[int | None, typer.Option(help=say("At most so many.", "最多返回条数。"))] = None,
    min_score: Annotated[
        float | None, typer.Option(help=say("Lowest score, 0 to 1.", "最低得分，0 到 1。"))
    ] = None,
    memory_type: Annotated[
        str | None, typer.Option("--type", help=say("fact or event.", "fact（事实）或 event（事件）。"))
    ] = None,
    role: Annotated[str | None, typer.Option(help=say("Role that asks.", "提问的角色。"))] = None,
    session: SessionName = None,
    valid_at: Annotated[
        str | None, typer.Option(help=say("What was true then.", "查询该时刻成立的内容。"))
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            help=say("Also superseded, cold …; repeatable.", "同时包含 superseded、cold 等，可重复。")
        ),
    ] = None,
    wait_for_turn: Annotated[
        str | None, typer.Option(help=say("Wait until this turn can be recalled.", "等待该轮次可被查询。"))
    ] = None,
) -> None:
    run: Session = context.obj
    options = _given(
        top_k=top_k,
        min_score=min_score,
        memory_type=memory_type,
        role=role,
        session_id=session,
        valid_at=valid_at,
        include=include or None,
        wait_for_turn=wait_for_turn,
    )

    async def ask(client: HindsightClient) -> None:
        answer = await client.recall(user, query, **options)
        output.print_json(answer) if run.prints_json else output.print_recall(answer)
        run.tell_times(answer.took_ms, unit_s=0.001)

    run.run(ask)


@app.command("list", cls=OfUser, help=say("List a user's memories.", "列出用户的记忆。"))
def list_memories(
    context: typer.Context,
    *,
    user: User,
    status: Annotated[
        list[str] | None, typer.Option(help=say("Only with this status; repeatable.", "仅限该状态，可重复。"))
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help=say("At most so many.", "最多条数。"))] = 1000,
) -> None:
    run: Session = context.obj

    async def show(client: HindsightClient) -> None:
        found: list[MemoryOut] = []
        async for memory in client.list_all(user, limit=min(limit, 1000), **_given(status=status or None)):
            if len(found) == limit:
                output.note(say(f"only the first {limit} are shown", f"仅显示前 {limit} 条"))
                break
            found.append(memory)
        output.print_json(found) if run.prints_json else output.print_memories(found)

    run.run(show)


@app.command(
    cls=OfUser,
    help=say("Forget for good; without --yes only show what would go.", "永久遗忘；不加 --yes 仅预览。"),
)
def forget(
    context: typer.Context,
    *,
    user: User,
    memory: Annotated[
        list[str] | None,
        typer.Option("--memory", "-m", help=say("Id of a memory; repeatable.", "记忆编号，可重复。")),
    ] = None,
    session: SessionName = None,
    everything: Annotated[
        bool, typer.Option("--everything", help=say("All that is known of the user.", "该用户的全部记忆。"))
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help=say("Do it.", "确认执行。"))] = False,
) -> None:
    run: Session = context.obj
    if bool(memory) + (session is not None) + everything != 1:
        choices = "--memory, --session, --everything"
        raise typer.BadParameter(
            say("choose exactly one of these", "必须且只能选择其中之一"), param_hint=choices
        )

    async def erase(client: HindsightClient) -> None:
        answer = await client.forget(
            user, memory_ids=memory or None, session_id=session, everything=everything, confirm=yes
        )
        if run.prints_json:
            output.print_json(answer)
        elif answer.receipt is not None:
            output.print_receipt(answer.receipt)
        else:
            output.print_memories(answer.would_forget or ())
        if not yes:
            output.note(say("nothing was forgotten; --yes does it", "尚未遗忘任何内容；加 --yes 执行"))

    run.run(erase)


async def _write(run: Session, client: HindsightClient, written: dict[str, Any]) -> None:
    answer = await client.write(written)
    if run.prints_json:
        output.print_json(answer)
        return
    state = say("already there", "此前已写入") if answer.duplicate else say("accepted", "已接收")
    output.print_line(f"{answer.turn_id}: {state}")


async def _show_outcome(run: Session, client: HindsightClient, user: str, turn_id: str) -> None:
    answer = await client.turn(user, turn_id)
    output.print_json(answer) if run.prints_json else output.print_outcome(answer)


def _spoken(user: str, text: str, session: str, reply: str | None) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    if reply is not None:
        messages.append({"role": "assistant", "content": reply})
    return {"user_id": user, "session_id": session, "messages": messages}


def _read_turn(file: Path) -> dict[str, Any]:
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return read_object(data, code="invalid_turn")
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}", param_hint="--file") from error
    except RequestError as error:
        raise typer.BadParameter(error.message, param_hint="--file") from error


def _required(value: str | None, name: str) -> str:
    if value is None:
        raise typer.BadParameter(say("is required", "为必填项"), param_hint=name)
    return value


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
