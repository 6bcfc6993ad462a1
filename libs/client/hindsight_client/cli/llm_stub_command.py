"""A scripted LLM endpoint for trying things out, in the foreground."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer

from hindsight_client.cli.language import say
from hindsight_client.cli.output import FAILED, note, print_line
from hindsight_client.cli.program import Plain, app
from hindsight_client.llm_stub import FAULTS, LlmStub, Script
from hindsight_common.errors import StopAndFix


@app.command(
    "llm-stub",
    cls=Plain,
    help=say(
        "Serve a scripted OpenAI-compatible endpoint on loopback. Without a fault or a script it echoes what the "
        "user said as events.",
        "在本机启动一个可编排的 OpenAI 兼容接口。不指定故障或脚本时，把用户的话原样作为事件返回。",
    ),
)
def llm_stub(
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help=say("Port; 0 takes a free one.", "端口；0 表示任取空闲端口。")),
    ] = 0,
    fault: Annotated[
        list[str] | None,
        typer.Option(help=say("Any of: ", "可选：") + ", ".join(FAULTS)),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            help=say("The only key that is let in; others get 401.", "唯一接受的密钥，其余一律返回 401。")
        ),
    ] = None,
    script: Annotated[
        Path | None,
        typer.Option(
            help=say("JSON file with the steps to answer.", "描述逐步应答的 JSON 文件。"),
            exists=True,
            dir_okay=False,
        ),
    ] = None,
) -> None:
    try:
        asyncio.run(_serve(_scripted(fault or [], script), port, api_key))
    except StopAndFix as error:
        note(str(error))
        raise typer.Exit(FAILED) from None


def _scripted(faults: list[str], script: Path | None) -> Script:
    if script is not None:
        return Script.of_json(script.read_text(encoding="utf-8"))
    for name in faults:
        if name not in FAULTS:
            raise StopAndFix(
                say(f"{name!r} is no fault; there are ", f"没有名为 {name!r} 的故障，可选：")
                + ", ".join(FAULTS)
            )
    return Script(always=[FAULTS[name] for name in faults])


async def _serve(script: Script, port: int, api_key: str | None) -> None:
    async with LlmStub(script, port=port, api_key=api_key) as stub:
        stopped = asyncio.Event()
        for name in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(name, stopped.set)
        # last: whoever reads it may stop it at once
        print_line(f"MEMORY_LLM_BASE_URL={stub.url} MEMORY_LLM_MODEL=stub")
        await stopped.wait()
    counted = ", ".join(f"{status}: {count}" for status, count in sorted(stub.calls.items()))
    note(say("requests by status: ", "按状态统计的请求数：") + (counted or "0"))
